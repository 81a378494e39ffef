import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Change } from '#contract/events.ts';
import { CHANGES_CHANNEL } from '#server/platform/change-feed.ts';
import { systemClock } from '#server/platform/clock.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { randomId } from '#server/platform/ids.ts';
import { createLog } from '#server/platform/log.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';
import { createDeliveryAnnouncer } from './announce-deliveries.ts';

const EVERY_MS = 150;

let board: World;
let listener: pg.Client;
let heard: Change[];
let owners: { hookId: string; userId: string }[];

beforeAll(async () => {
  board = await startWorld();
  owners = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const { client, user } = await board.createUser();
      return { hookId: (await createSender({ app: board.app, client })).hook.id, userId: user.id };
    }),
  );
});
afterAll(() => board.close());

beforeEach(async () => {
  heard = [];
  listener = new pg.Client(board.database.connection);
  await listener.connect();
  listener.on('notification', ({ payload }) => heard.push(JSON.parse(payload ?? '')));
  await listener.query(`listen ${CHANGES_CHANNEL}`);
});
afterEach(() => listener.end());

const announcerFor = (db = board.database.db, log = createLog({ level: 'silent' })) =>
  createDeliveryAnnouncer({ db, clock: systemClock, log, everyMs: EVERY_MS });
/** A database whose statements wait before they are sent. */
const withWait = (wait: () => Promise<void>) =>
  new Proxy(board.database.db, {
    get: (target, name) =>
      name !== 'execute'
        ? Reflect.get(target, name)
        : async (...args: Parameters<typeof target.execute>) => {
            await wait();
            return target.execute(...args);
          },
  });
const hookOf = (index: number) => owners[index]?.hookId ?? '';
const deliveryOf = (index: number) => ({ topic: 'deliveries', userId: owners[index]?.userId });

test('announces a delivery after a pause immediately, to the owner of its webhook', async () => {
  const announcer = announcerFor();
  announcer.note({ hookIds: [hookOf(0)], candles: false });
  await expect.poll(() => heard, { interval: 5 }).toEqual([deliveryOf(0)]);
  announcer.note({ hookIds: [hookOf(1)], candles: true });
  await expect.poll(() => heard).toHaveLength(3);
  expect(heard).toEqual(expect.arrayContaining([deliveryOf(1), { topic: 'price-logs' }]));
});

describe('by a clock that the test moves', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('announces at most once per interval, and does not drop the last delivery', async () => {
    const announcer = announcerFor();
    const INTERVALS = 3;
    for (let passedMs = 0; passedMs < INTERVALS * EVERY_MS; passedMs += 5) {
      announcer.note({ hookIds: [hookOf(0)], candles: false });
      await vi.advanceTimersByTimeAsync(5);
    }
    announcer.note({ hookIds: [hookOf(1)], candles: false });
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    await expect.poll(() => heard).toContainEqual(deliveryOf(1));
    const times = heard.filter(({ userId }) => userId === owners[0]?.userId).length;
    expect(times).toBeGreaterThan(1);
    expect(times).toBeLessThanOrEqual(INTERVALS + 1);
  });

  test('makes one announcement at a time while the database is slow, and drops none', async () => {
    const answer = Promise.withResolvers<void>();
    let [underWay, most] = [0, 0];
    const announcer = announcerFor(
      withWait(async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await answer.promise;
        underWay -= 1;
      }),
    );
    for (let interval = 0; interval < 4; interval += 1) {
      announcer.note({ hookIds: [hookOf(0)], candles: false });
      await vi.advanceTimersByTimeAsync(EVERY_MS);
    }
    expect(underWay).toBe(1);
    announcer.note({ hookIds: [hookOf(1)], candles: false });
    const idle = announcer.idle();
    answer.resolve();
    await idle;
    expect([underWay, most]).toEqual([0, 1]);
    await expect.poll(() => heard).toContainEqual(deliveryOf(1));
  });

  test('announces no sooner after an interval in which the database was slow', async () => {
    const answers: PromiseWithResolvers<void>[] = [];
    const announcer = announcerFor(
      withWait(() => {
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        return answer.promise;
      }),
    );
    for (let interval = 0; interval < 4; interval += 1) {
      announcer.note({ hookIds: [hookOf(0)], candles: false });
      await vi.advanceTimersByTimeAsync(EVERY_MS);
    }
    answers[0]?.resolve();
    await expect.poll(() => answers).toHaveLength(2);
    announcer.note({ hookIds: [hookOf(1)], candles: false });
    answers[1]?.resolve();
    await expect.poll(() => heard).toEqual([deliveryOf(0), deliveryOf(0)]);
    // What follows an announcement at once has begun by now.
    await board.database.db.execute('select 1');
    expect(answers).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    await expect.poll(() => answers).toHaveLength(3);
    answers[2]?.resolve();
    await announcer.idle();
  });
});

test('names no owner for many webhooks, and announces nothing for a deleted webhook', async () => {
  const announcer = announcerFor();
  announcer.note({ hookIds: [hookOf(0), ...Array.from({ length: 20 }, randomId)], candles: false });
  await announcer.idle();
  await expect.poll(() => heard).toEqual([{ topic: 'deliveries' }]);
  announcer.note({ hookIds: [randomId()], candles: true });
  await announcer.idle();
  await expect.poll(() => heard).toEqual([{ topic: 'deliveries' }, { topic: 'price-logs' }]);
});

test('announces everything noted before it is idle', async () => {
  const announcer = announcerFor();
  announcer.note({ hookIds: [hookOf(0)], candles: false });
  await announcer.idle();
  announcer.note({ hookIds: [hookOf(1)], candles: false });
  await announcer.idle();
  await expect.poll(() => heard).toEqual([deliveryOf(0), deliveryOf(1)]);
});

test('logs a failed announcement and makes the next one', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  const gone = openPool({ connection: board.database.connection, log });
  let isGone = true;
  const db = new Proxy(gone.db, {
    get: (target, name) => Reflect.get(isGone ? target : board.database.db, name),
  });
  await gone.close();
  const announcer = announcerFor(db, log);
  announcer.note({ hookIds: [hookOf(0)], candles: false });
  await announcer.idle();
  expect(lines).toEqual([expect.stringContaining('new deliveries could not be announced')]);
  isGone = false;
  announcer.note({ hookIds: [hookOf(1)], candles: false });
  await announcer.idle();
  await expect.poll(() => heard).toEqual([deliveryOf(1)]);
});

test.each([
  ['candle', { Close: '101' }, ['deliveries', 'price-logs']],
  ['signal', { price: '102' }, ['deliveries', 'signals', 'workflows']],
] as const)(
  'announces every %s that was stored, the first as well as later ones',
  async (kind, fields, topics) => {
    const { client, user } = await board.createUser();
    const sender = await createSender({ app: board.app, client });
    for (const change of ['1', '2']) {
      heard.length = 0;
      const price = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value + change]));
      expect((await sender[kind](price)).statusCode).toBe(200);
      await expect.poll(() => heard.map(({ topic }) => topic)).toEqual(expect.arrayContaining([...topics]));
      expect(heard).toContainEqual({ topic: 'deliveries', userId: user.id });
    }
  },
);

test('announces a refused delivery because its webhook logs it', async () => {
  const { client, user } = await board.createUser();
  const sender = await createSender({ app: board.app, client });
  expect((await sender.candle({ Close: 'much' })).statusCode).toBe(400);
  await expect.poll(() => heard).toContainEqual({ topic: 'deliveries', userId: user.id });
});
