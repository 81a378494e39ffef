import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CallPriority } from './exchange.ts';
import { createEgressHolds } from './rate-holds.ts';
import { createRateLimiter, type Turn } from './rate-limiter.ts';
import { createOwnSlots, type SlotStore } from './rate-slots.ts';
import { TransportError } from './transport-error.ts';

afterEach(() => {
  vi.useRealTimers();
});

function open(slots: SlotStore = createOwnSlots(1)) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const limiter = createRateLimiter({ slots, random: () => 0 });
  const left: string[] = [];
  const late: string[] = [];
  const turnOf = (changes: Partial<Turn> & { user?: string }): Turn => ({
    egress: { key: 'address', perSecond: 80 },
    bucket: { key: `${changes.user ?? 'u'} endpoint`, perSecond: 10 },
    priority: 'place',
    patienceMs: 10_000,
    ...changes,
  });
  return {
    limiter,
    left,
    late,
    turnOf,
    ask(name: string, changes: Partial<Turn> & { user?: string } = {}) {
      const taken = limiter.take(turnOf({ user: name, ...changes }));
      void taken.then(
        () => left.push(name),
        () => late.push(name),
      );
      return taken;
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  };
}

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test('protection leaves before look-ups, look-ups before entries, each in the order of arrival', async () => {
  const { ask, left, pass } = open();
  // What may leave in one go is used up first.
  for (const name of names('first', 20)) ask(name, { priority: 'protect' });
  await pass(1);
  left.length = 0;
  const kinds: CallPriority[] = ['background', 'prepare', 'place', 'look-up', 'protect'];
  for (const index of [0, 1]) for (const priority of kinds) ask(`${priority} ${index}`, { priority });
  await pass(2_000);
  expect(left).toEqual([...kinds].reverse().flatMap((kind) => [`${kind} 0`, `${kind} 1`]));
});

test('what comes later and matters less does not slip in between two questions', async () => {
  const { ask, left, pass } = open();
  for (const name of names('first', 10)) ask(name);
  ask('order');
  // A slot is free, and nobody has asked for it yet.
  await pass(15);
  ask('preparation', { priority: 'prepare' });
  await pass(1);
  expect(left).toEqual(names('first', 10));
  await pass(50);
  expect(left.slice(10)).toEqual(['order', 'preparation']);
});

test('a stop that comes last leaves at once, however many entries wait', async () => {
  const { ask, left, pass } = open();
  for (const name of names('entry', 300)) ask(name);
  await pass(100);
  ask('stop', { priority: 'protect' });
  await pass(30);
  expect(left).toContain('stop');
  expect(left.length).toBeLessThan(40);
});

test('entries leave in their order, at the rate of the address', async () => {
  const { ask, left, pass } = open();
  const entries = names('entry', 200);
  for (const name of entries) ask(name);
  await pass(1_000);
  // Half of the burst is kept from entries.
  expect(left.length).toBeGreaterThanOrEqual(85);
  expect(left.length).toBeLessThanOrEqual(91);
  await pass(2_000);
  expect(left).toEqual(entries);
});

test('one user’s limit holds back that user alone', async () => {
  const { ask, left, pass } = open();
  for (const name of names('busy', 15)) ask(name, { user: 'busy' });
  for (const name of names('other', 5)) ask(name);
  await pass(250);
  expect(left.filter((name) => name.startsWith('other'))).toHaveLength(5);
  expect(left.filter((name) => name.startsWith('busy'))).toHaveLength(9);
  await pass(2_000);
  expect(left.filter((name) => name.startsWith('busy'))).toEqual(names('busy', 15));
});

test('whoever cannot leave before the deadline is told so, with the time until it may help', async () => {
  const { ask, limiter, turnOf, late, pass } = open();
  await limiter.holdBack(turnOf({ user: 'held' }), { of: 'bucket', waitMs: 30_000 });
  const told = ask('held', { patienceMs: 5_000 }).catch((error: unknown) => error);
  // What is known beforehand is not waited for.
  await pass(50);
  expect(late).toEqual(['held']);
  const error = await told;
  expect(error).toBeInstanceOf(TransportError);
  expect(error).toMatchObject({ phase: 'limited' });
  expect((error as TransportError).retryAfterMs).toBeGreaterThan(29_000);
});

test('a queue that is too long ends the wait at the deadline', async () => {
  const { ask, left, late, pass } = open();
  for (const name of names('entry', 200)) ask(name, { patienceMs: 1_000 });
  await pass(1_100);
  expect(left.length + late.length).toBe(200);
  expect(late.length).toBeGreaterThan(100);
});

test('a limit that the exchange named is held back, and those who waited keep their places', async () => {
  const { ask, limiter, turnOf, left, pass } = open();
  await limiter.holdBack(turnOf({ user: 'u' }), { of: 'bucket', waitMs: 2_000 });
  for (const name of names('waits', 3)) ask(name, { user: 'u' });
  await pass(1_900);
  expect(left).toEqual([]);
  ask('waits3', { user: 'u' });
  await pass(2_000);
  expect(left).toEqual(names('waits', 4));
});

test('the address is held back for all when the exchange says that it is the address', async () => {
  const { ask, limiter, turnOf, left, pass } = open();
  await limiter.holdBack(turnOf({}), { of: 'egress', waitMs: 3_000 });
  for (const name of names('user', 3)) ask(name, { priority: 'protect' });
  await pass(2_900);
  expect(left).toEqual([]);
  await pass(300);
  expect(left).toEqual(names('user', 3));
});

describe('how long an address is held back', () => {
  const bucket = (key: string, nowMs: number) => ({
    egress: 'a',
    bucket: key,
    refusal: { of: 'bucket' as const, waitMs: null },
    nowMs,
  });
  const egress = (nowMs: number, waitMs: number | null = null) => ({
    egress: 'a',
    bucket: 'x',
    refusal: { of: 'egress' as const, waitMs },
    nowMs,
  });

  test('one user alone, however often, says nothing of the address; three within two seconds do', () => {
    const holds = createEgressHolds();
    for (let time = 0; time < 10; time += 1) expect(holds.holdMs(bucket('u1', time))).toBeNull();
    expect(holds.holdMs(bucket('u2', 10))).toBeNull();
    expect(holds.holdMs(bucket('u3', 5_000))).toBeNull();
    expect(holds.holdMs(bucket('u4', 5_001))).toBeNull();
    expect(holds.holdMs(bucket('u5', 5_002))).toBe(5_000);
  });

  test('a hold that was too short is followed by one twice as long, up to ten minutes, until it was quiet', () => {
    const holds = createEgressHolds();
    let atMs = 0;
    const lengths = Array.from({ length: 9 }, () => {
      const waitMs = holds.holdMs(egress(atMs)) ?? 0;
      // Answers to what had left before change nothing.
      expect(holds.holdMs(egress(atMs + 1))).toBeNull();
      atMs += waitMs + 1;
      return waitMs / 1_000;
    });
    expect(lengths).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600]);
    expect(holds.holdMs(egress(atMs + 60_001))).toBe(5_000);
  });

  test('the exchange’s own word counts', () => {
    expect(createEgressHolds().holdMs(egress(0, 7_000))).toBe(7_000);
  });
});
