import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, EventName } from '#contract/events.ts';

export interface HeardEvent {
  event: EventName;
  data: unknown;
  at: number;
}

export interface TestStream {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  heard: HeardEvent[];
  /** All changes heard so far. */
  changes(): Change[];
  /** Resolves with what `find` returns once it returns something; fails after the limit. */
  wait<Found>(
    find: (stream: TestStream) => Found | undefined | false | null,
    limitMs?: number,
  ): Promise<Found>;
  /** Resolves when the stream has ended. */
  ended: Promise<void>;
  close(): void;
}

/** Reads GET /api/events as a browser does, over a real connection. */
export async function openStream(origin: string, cookie: string): Promise<TestStream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${origin}/api/events`, { headers: { cookie }, agent: false }, resolve).on('error', reject);
  });
  const heard: HeardEvent[] = [];
  const stream: TestStream = {
    status: response.statusCode,
    headers: response.headers,
    heard,
    changes: () => heard.filter(({ event }) => event === 'changes').flatMap(({ data }) => data as Change[]),
    async wait(find, limitMs = 3_000) {
      const deadline = Date.now() + limitMs;
      for (;;) {
        const found = find(stream);
        if (found) return found;
        if (Date.now() > deadline)
          throw new Error(`The event did not arrive; received ${JSON.stringify(heard)}`);
        await sleep(10);
      }
    },
    ended: read(response, heard),
    close: () => response.destroy(),
  };
  return stream;
}

async function read(response: IncomingMessage, heard: HeardEvent[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const part of response) {
      rest += decoder.decode(part as Buffer, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
        heard.push({ event: event as EventName, data: JSON.parse(data || 'null'), at: Date.now() });
      }
    }
  } catch {
    // The test closed the stream.
  }
}
