import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { expect } from 'vitest';
import type { NoticeCode } from '#contract/notices.ts';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { type Received, startReceiver } from './test-receivers.ts';
import type { TestServerProcess } from './test-server-process.ts';

/** Of different kinds, so that none waits for another to be put together with it. */
const CODES: NoticeCode[] = [
  'database_back',
  'workflow_failed',
  'exchange_unreachable',
  'exchange_recovered',
  'key_refused',
  'webhook_refused',
  'stop_set',
  'stop_lifted',
  'flatten_done',
  'limit_reached',
];
export const MESSAGES = CODES.length;

const DELIVERY_LIMIT_MS = 30_000;

/** Where the program is killed: when the message has come, or when its receiver has accepted it. */
export interface Kill {
  message: number;
  when: 'before the answer' | 'after the answer';
}

/** What a receiver gets of ten notices while the program that sends them is killed and started again. */
export async function startMessageStory(cluster: string) {
  const receiver = await startReceiver();
  /** The messages of the story, as they came. */
  const received: { index: number; id: string }[] = [];
  /** Those that were answered: what was not has to come again. */
  const accepted = new Set<number>();
  let kill: (Kill & { run: () => void }) | null = null;
  receiver.answerAlways((response, message) => {
    const index = indexOf(message);
    if (index !== null) received.push({ index, id: String(message.headers['webhook-id']) });
    const due = kill !== null && index === kill.message ? kill : null;
    if (index !== null && due?.when !== 'before the answer') accepted.add(index);
    if (due === null) return accept(response);
    kill = null;
    if (due.when === 'before the answer') due.run();
    else accept(response, due.run);
  });

  async function query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    const { host, port } = (await findPostmaster(cluster)) ?? { host: '', port: 0 };
    const client = new pg.Client({ host, port, user: 'postgres', database: 'signal_board' });
    await client.connect();
    try {
      return await client.query(text, values);
    } finally {
      await client.end();
    }
  }

  return {
    received,
    /** Makes the receiver a channel of the administrator. */
    async addChannel({ url, adminUsername: username, adminPassword: password }: TestServerProcess) {
      const post = (path: string, body: object, cookie = '') =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: url, cookie },
          body: JSON.stringify(body),
        });
      const login = await post('/api/auth/login', { username, password });
      const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
      const channel = { kind: 'webhook', name: 'Ops', config: { url: receiver.url } };
      expect((await post('/api/notification-channels', channel, cookie)).status).toBe(201);
    },
    /** Kills the program at this point; resolves when it is gone. */
    killedAt(program: TestServerProcess, at: Kill): Promise<void> {
      const gone = Promise.withResolvers<void>();
      kill = { ...at, run: () => program.kill9().then(gone.resolve, gone.reject) };
      return gone.promise;
    },
    async note() {
      await query(
        `insert into notice_events (at, code, data)
         select now(), code, jsonb_build_object('index', index - 1)
         from unnest($1::text[]) with ordinality as event (code, index) order by index`,
        [CODES],
      );
    },
    /** Waits for all of them, and checks that none is lost or overtaken, and that doubles have the same id. */
    async expectAllInOrder() {
      await expect.poll(() => accepted.size, { timeout: DELIVERY_LIMIT_MS }).toBe(MESSAGES);
      const states = async () =>
        (
          await query(
            "select distinct state from notice_deliveries join notices on notices.id = notice_id where data ? 'index'",
          )
        ).rows;
      await expect.poll(states, { timeout: DELIVERY_LIMIT_MS }).toEqual([{ state: 'sent' }]);
      const idOf = new Map(received.map(({ index, id }) => [index, id]));
      expect(new Set(idOf.values()).size).toBe(MESSAGES);
      for (const { index, id } of received) expect(id).toBe(idOf.get(index));
      const order = received.map(({ index }) => index);
      expect(order).toEqual(order.toSorted((one, other) => one - other));
    },
    close: receiver.close,
  };
}

function indexOf({ body }: Received): number | null {
  const { data } = JSON.parse(body) as { data: { index?: number } };
  return data.index ?? null;
}

const accept = (response: ServerResponse, done?: () => void) => response.writeHead(204).end(done);
