import type { ServerResponse } from 'node:http';
import type { Change, EventName } from '#contract/events.ts';
import type { Clock } from '#server/platform/clock.ts';

/** Changes within this time are sent together, so that a browser fetches once for all of them. */
const GATHER_MS = 100;
/** Above this number only topics are sent, without ids: the browser fetches lists anyway. */
const MOST_CHANGES = 100;
/** A browser that does not read is disconnected instead of buffered; it reconnects and fetches everything. */
const MOST_UNREAD_BYTES = 256 * 1024;

/** An unread stream must not delay a shutdown. */
const END_LIMIT_MS = 300;

export interface EventStream {
  send(event: EventName, data?: unknown): void;
  add(change: Change): void;
  end(): void;
}

/** Server-sent events over one response. */
export function createEventStream(response: ServerResponse, clock: Clock): EventStream {
  const waiting = new Map<string, Change>();
  let cancel: (() => void) | null = null;

  function send(event: EventName, data: unknown = {}): void {
    if (!response.headersSent || response.writableEnded || response.destroyed) return;
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
  }

  function flush(): void {
    cancel = null;
    const changes = [...waiting.values()];
    waiting.clear();
    send('changes', changes.length > MOST_CHANGES ? topicsOf(changes) : changes);
  }

  return {
    send,
    add(change) {
      waiting.set(JSON.stringify(change), change);
      cancel ??= clock.after(GATHER_MS, flush);
    },
    end() {
      cancel?.();
      cancel = null;
      response.end();
      clock.after(END_LIMIT_MS, () => response.destroy());
    },
  };
}

function topicsOf(changes: readonly Change[]): Change[] {
  return [...new Set(changes.map(({ topic }) => topic))].map((topic) => ({ topic }));
}
