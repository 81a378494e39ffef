import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import type { CallPriority } from '../exchange.ts';
import { ACCOUNT_HOLD, type Refused } from './rate-holds.ts';
import { bucketSlots, egressSlots, rankOf } from './rate-limits.ts';
import { createSharedSlots, type SlotRequest, type SlotStore } from './rate-slots.ts';

let database: TestDatabase;
const stores: SlotStore[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const store of stores.splice(0)) store.close();
  await database.database.pool.query('delete from exchange_slots');
});
afterAll(() => database.close());

/** Without an answer in time a store uses its own share of the limit, which a busy machine must not bring about. */
function open(
  pool: Parameters<typeof createSharedSlots>[0]['pool'] = database.database.pool,
  answerLimitMs = 30_000,
) {
  const said: string[] = [];
  const note = (_: unknown, text?: string) => void said.push(text ?? '');
  const log = { warn: note, info: (text: string) => note(null, text) } as never;
  const store = createSharedSlots({ pool, clock: systemClock, log, answerLimitMs });
  stores.push(store);
  return { store, said };
}

const request = (priority: CallPriority, { user = 'u', egress = 'a', perSecond = 80 } = {}): SlotRequest => ({
  account: user,
  rank: rankOf(priority),
  egress: egressSlots(egress, perSecond, priority),
  bucket: bucketSlots(user, 1_000, priority),
});

const granted = (answers: { blockedBy: unknown }[]) =>
  answers.filter(({ blockedBy }) => blockedBy === null).length;

const ofAccount = (changes: Partial<Refused> = {}): Refused => ({
  account: 'u',
  isNamed: true,
  askedMs: null,
  terms: ACCOUNT_HOLD,
  probeOf: null,
  ...changes,
});
test('three instances together stay within the limit of an address and use it', async () => {
  const instances = [open().store, open().store, open().store];
  const startedMs = performance.now();
  const counts = await Promise.all(
    instances.map(async (store, instance) => {
      let count = 0;
      while (performance.now() - startedMs < 1_500) {
        const asked = Array.from({ length: 5 }, (_, one) => request('place', { user: `${instance}-${one}` }));
        count += granted(await store.take(asked));
        await sleep(5);
      }
      return count;
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const budget = 80 * seconds + 10;
  const total = counts.reduce((sum, count) => sum + count, 0);
  // A busy machine leaves some of the limit unused.
  expect(total).toBeGreaterThan(budget * 0.5);
  expect(total).toBeLessThan(budget * 1.1);
});

test('a user’s endpoint takes its limit immediately, then nothing for a second; entries leave one request to a close', async () => {
  const [first, second] = [open().store, open().store];
  const ask = (store: SlotStore, priority: CallPriority) =>
    store.take(
      Array.from({ length: 10 }, () => ({
        ...request(priority),
        egress: egressSlots('a', 1_000, priority),
        bucket: bucketSlots('u', 5, priority),
      })),
    );
  expect(granted(await ask(first, 'place'))).toBe(4);
  const answers = await ask(second, 'protect');
  expect(granted(answers)).toBe(1);
  const waits = answers.slice(1).map(({ waitMs }) => waitMs);
  // Until the first request is a second old, plus the arrival jitter.
  expect(Math.min(...waits)).toBeGreaterThan(900);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_300);
  await sleep(Math.max(...waits) + 20);
  expect(granted(await ask(first, 'place'))).toBeGreaterThanOrEqual(3);
});

test('without the database an instance uses a quarter, logs that once, and recovers', async () => {
  const { pool } = database.database;
  let isAway = true;
  const flaky = {
    query: (...call: unknown[]) =>
      isAway ? Promise.reject(new Error('away')) : pool.query(...(call as [string])),
  };
  const { store, said } = open(flaky as never, 100);
  const ask = () =>
    store.take(Array.from({ length: 30 }, (_, one) => request('protect', { user: `u${one}` })));
  expect(granted(await ask())).toBe(5);
  expect(granted(await ask())).toBeLessThan(3);
  await store.hold('u0', ofAccount());
  expect(said).toHaveLength(1);
  isAway = false;
  await expect.poll(() => said.length, { timeout: 5_000 }).toBe(2);
  expect(granted(await ask())).toBe(20);
});
