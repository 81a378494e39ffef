import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createRightOfWay } from './right-of-way.ts';

let now = 0;
let utilization = 1;

beforeEach(() => {
  now = 0;
  utilization = 1;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const create = () =>
  createRightOfWay({ clock: { ...systemClock, monotonicMs: () => now }, utilization: () => utilization });
type Way = ReturnType<typeof create>;

/** A tenth of a second with `transactions` of `each` deliveries. */
function deliver(way: Way, { transactions, each }: { transactions: number; each: number }) {
  for (let number = 0; number < transactions; number += 1) {
    now += 100 / transactions;
    way.noteStored(each);
  }
}
const MANY = { transactions: 10, each: 20 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Starts pieces of work that never end; returns them in the order in which they begin. */
async function begin(lane: ReturnType<Way['createLane']>, count: number) {
  const begun: number[] = [];
  for (let number = 0; number < count; number += 1) {
    void lane(() => {
      begun.push(number);
      return new Promise(() => {});
    });
  }
  await turn();
  return begun;
}

async function pass(ms: number) {
  now += ms;
  vi.advanceTimersByTime(ms);
  await turn();
}

test('begins everything immediately without deliveries', async () => {
  expect(await begin(create().createLane(), 20)).toHaveLength(20);
});

test('begins one piece of work after the other in each lane while deliveries come too fast', async () => {
  const way = create();
  deliver(way, MANY);
  const [users, workflows] = [await begin(way.createLane(), 4), await begin(way.createLane(), 2)];
  expect([users, workflows]).toEqual([[0], [0]]);
  expect(way.waiting()).toBe(4);
  deliver(way, MANY);
  now += 50;
  vi.advanceTimersByTime(149);
  await turn();
  expect([users, workflows]).toEqual([[0], [0]]);
  vi.advanceTimersByTime(1);
  await turn();
  expect([users, workflows]).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test.each([
  ['that come one by one', { transactions: 50, each: 1 }, 1],
  ['that a slow database gathers, while this process has time', { transactions: 5, each: 50 }, 0.5],
])('holds nothing up for deliveries %s', async (_, load, busy) => {
  const way = create();
  utilization = busy;
  deliver(way, load);
  expect(await begin(way.createLane(), 5)).toHaveLength(5);
});

test('begins waiting work when the deliveries have ended', async () => {
  const way = create();
  deliver(way, MANY);
  const begun = await begin(way.createLane(), 5);
  expect(begun).toEqual([0]);
  await pass(150);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(way.waiting()).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('passes on results and errors of the work', async () => {
  const lane = create().createLane();
  await expect(lane(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
  expect(await lane(async () => 'next')).toBe('next');
});
