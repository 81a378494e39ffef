import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/test-database.ts';
import type { CallPriority } from './exchange.ts';
import { bucketSlots, egressSlots } from './rate-limits.ts';
import { createSharedSlots, type SlotRequest, type SlotStore } from './rate-slots.ts';

let database: TestDatabase;
const stores: SlotStore[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const store of stores.splice(0)) store.close();
  await database.database.pool.query('truncate exchange_slots');
});
afterAll(() => database.close());

function open(pool: Parameters<typeof createSharedSlots>[0]['pool'] = database.database.pool) {
  const said: string[] = [];
  const note = (_: unknown, text?: string) => void said.push(text ?? '');
  const log = { warn: note, info: (text: string) => note(null, text) } as never;
  const store = createSharedSlots({ pool, log, answerLimitMs: 100 });
  stores.push(store);
  return { store, said };
}

const request = (priority: CallPriority, { user = 'u', egress = 'a', perSecond = 80 } = {}): SlotRequest => ({
  egress: egressSlots(egress, perSecond, priority),
  bucket: bucketSlots(user, 1_000, priority),
});

const granted = (answers: { blockedBy: unknown }[]) =>
  answers.filter(({ blockedBy }) => blockedBy === null).length;

test('three instances together stay within the limit of an address, and use it', async () => {
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
  // A machine that is busy with something else leaves some unused.
  expect(total).toBeGreaterThan(budget * 0.5);
  expect(total).toBeLessThan(budget * 1.1);
});

test('what entries leave is there for look-ups, and what those leave for protection, in every instance', async () => {
  const [first, second] = [open().store, open().store];
  const ask = async (store: SlotStore, priority: CallPriority) =>
    granted(
      await store.take(
        Array.from({ length: 30 }, (_, one) => request(priority, { user: `${priority}${one}` })),
      ),
    );
  const startedMs = performance.now();
  const entries = (await ask(first, 'place')) + (await ask(second, 'place'));
  // Some slots come in meanwhile.
  expect(entries).toBeGreaterThanOrEqual(10);
  expect(entries).toBeLessThanOrEqual(10 + ((performance.now() - startedMs) / 1_000) * 80 + 1);
  expect(await ask(second, 'look-up')).toBeGreaterThanOrEqual(5);
  expect(await ask(first, 'protect')).toBeGreaterThanOrEqual(5);
});

test('what its own limit holds back takes no slot of the address', async () => {
  const { store } = open();
  const own = { ...request('protect', { perSecond: 10 }), bucket: bucketSlots('slow', 1, 'protect') };
  const answers = await store.take(Array.from({ length: 10 }, () => own));
  expect(answers.map(({ blockedBy }) => blockedBy)).toEqual([null, ...Array(9).fill('bucket')]);
  expect(granted(await store.take([request('protect', { perSecond: 10 })]))).toBe(1);
});

test('a hold is a hold for every instance', async () => {
  const [first, second] = [open().store, open().store];
  await first.hold('a', 2_000);
  const [answer] = await second.take([request('protect')]);
  expect(answer?.blockedBy).toBe('egress');
  expect(answer?.waitMs).toBeGreaterThan(1_500);
  await first.hold('a', 10);
  const [later] = await second.take([request('protect')]);
  expect(later?.waitMs).toBeGreaterThan(1_000);
});

test('a user’s endpoint takes its limit at once and then nothing for a second; an entry leaves one to a close', async () => {
  const [first, second] = [open().store, open().store];
  const ask = (store: SlotStore, priority: CallPriority) =>
    store.take(
      Array.from({ length: 10 }, () => ({
        egress: egressSlots('a', 1_000, priority),
        bucket: bucketSlots('u', 5, priority),
      })),
    );
  expect(granted(await ask(first, 'place'))).toBe(4);
  const answers = await ask(second, 'protect');
  expect(granted(answers)).toBe(1);
  const waits = answers.slice(1).map(({ waitMs }) => waitMs);
  // Until the first one is a second old, and a little for the way.
  expect(Math.min(...waits)).toBeGreaterThan(900);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_300);
  await sleep(Math.max(...waits) + 20);
  expect(granted(await ask(first, 'place'))).toBeGreaterThanOrEqual(3);
});

test('without the database an instance goes on with a quarter, says so once, and comes back', async () => {
  const { pool } = database.database;
  let isAway = true;
  const flaky = {
    query: (...call: unknown[]) =>
      isAway ? Promise.reject(new Error('away')) : pool.query(...(call as [string])),
  };
  const { store, said } = open(flaky as never);
  const ask = () =>
    store.take(Array.from({ length: 30 }, (_, one) => request('protect', { user: `u${one}` })));
  expect(granted(await ask())).toBe(5);
  expect(granted(await ask())).toBeLessThan(3);
  await store.hold('u0', 100);
  expect(said).toHaveLength(1);
  isAway = false;
  await expect.poll(() => said.length, { timeout: 5_000 }).toBe(2);
  expect(granted(await ask())).toBe(20);
});

test('a database that does not answer does not hold a stop up', async () => {
  const { store } = open({ query: () => new Promise(() => {}) } as never);
  const startedMs = performance.now();
  expect(granted(await store.take([request('protect')]))).toBe(1);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});
