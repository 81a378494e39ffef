import { describe, expect, test } from 'vitest';
import { testClock } from '#test/app/fake-clock.ts';
import { TransportError } from '../ccxt/transport-error.ts';
import type { CallPriority } from '../exchange.ts';
import { createRateLimiter, type Pass, type Turn } from './rate-limiter.ts';
import type { LimitRefusal } from './rate-limits.ts';
import { createOwnSlots, type SlotStore } from './rate-slots.ts';

function open(change: (slots: SlotStore) => SlotStore = (slots) => slots) {
  const clock = testClock();
  const limiter = createRateLimiter({ slots: change(createOwnSlots(1, clock)), clock });
  const passes = new Map<string, Pass>();
  const left: string[] = [];
  const late: string[] = [];
  const turnOf = (changes: Partial<Turn> & { user?: string }): Turn => ({
    egress: { key: 'address', perSecond: 80 },
    bucket: { key: `${changes.user ?? 'u'} endpoint`, perSecond: 10 },
    account: changes.user ?? 'u',
    endpoint: 'endpoint',
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
        (pass) => {
          left.push(name);
          passes.set(name, pass);
        },
        () => late.push(name),
      );
      return taken;
    },
    /** Reports the exchange's answer to a request that has left. */
    async answer(name: string, refusal: LimitRefusal | null = null) {
      await limiter.answered(passes.get(name) ?? expect.fail(`${name} has not left`), { refusal });
    },
    /** Reports a refusal of an earlier request. */
    refuse: (changes: Partial<Turn> & { user?: string }, refusal: LimitRefusal) =>
      limiter.answered({ turn: turnOf(changes), probes: { egress: null, bucket: null } }, { refusal }),
    pass: clock.advance,
  };
}

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test('protection leaves before look-ups, look-ups before entries, each in order of arrival', async () => {
  const { ask, left, pass } = open();
  // Use up the burst first.
  for (const name of names('first', 20)) ask(name, { priority: 'protect' });
  await pass(1);
  left.length = 0;
  const kinds: CallPriority[] = ['background', 'follow', 'prepare', 'place', 'look-up', 'protect'];
  for (const index of [0, 1]) for (const priority of kinds) ask(`${priority} ${index}`, { priority });
  await pass(2_000);
  expect(left).toEqual([...kinds].reverse().flatMap((kind) => [`${kind} 0`, `${kind} 1`]));
});

test('a later request of lower priority does not overtake a waiting one', async () => {
  const { ask, left, pass } = open();
  for (const name of names('first', 10)) ask(name);
  ask('order');
  // A slot is free, but nobody has asked for it yet.
  await pass(15);
  ask('preparation', { priority: 'prepare' });
  await pass(1);
  expect(left).toEqual(names('first', 10));
  await pass(100);
  expect(left.slice(10)).toEqual(['order', 'preparation']);
});

test('a busy address is asked for many requests at once, and at its full rate', async () => {
  let statements = 0;
  const { ask, left, pass } = open((slots) => ({
    ...slots,
    take(requests) {
      statements += 1;
      return slots.take(requests);
    },
  }));
  for (const name of names('entry', 40)) ask(name);
  for (let number = 0; number < 100; number += 1) {
    await pass(10);
    ask(`later${number}`);
    if (number % 2 === 0) ask(`look-up${number}`, { priority: 'look-up' });
  }
  expect(left.length).toBeGreaterThanOrEqual(85);
  expect(statements).toBeLessThanOrEqual(16);
  ask('stop', { priority: 'protect' });
  await pass(0);
  expect(left).toContain('stop');
});

test('accepted orders are followed behind a thousand placements, but by every tenth request', async () => {
  const { ask, left, pass } = open();
  for (const name of names('entry', 300)) ask(name);
  for (const name of names('follow', 300)) ask(name, { priority: 'follow' });
  await pass(3_000);
  const followed = left.filter((name) => name.startsWith('follow'));
  expect(followed).toEqual(names('follow', followed.length));
  expect(followed.length / left.length).toBeGreaterThan(0.08);
  expect(followed.length / left.length).toBeLessThanOrEqual(0.1);
});

test('requests to an endpoint whose limit others have used up wait until it resets, except for stops', async () => {
  const { limiter, ask, left, turnOf, pass } = open();
  const turn = turnOf({ user: 'busy' });
  const usage = { perSecond: null, left: 0, resetMs: 700 };
  await limiter.answered({ turn, probes: { egress: null, bucket: null } }, { refusal: null, usage });
  ask('entry', { user: 'busy' });
  ask('stop', { user: 'busy', priority: 'protect' });
  ask('other');
  await pass(650);
  expect(left.toSorted()).toEqual(['other', 'stop']);
  await pass(100);
  expect(left).toContain('entry');
});

test('a stop that arrives last leaves immediately, however many entries wait', async () => {
  const { ask, left, pass } = open();
  for (const name of names('entry', 300)) ask(name);
  await pass(100);
  ask('stop', { priority: 'protect' });
  await pass(30);
  expect(left).toContain('stop');
  expect(left.length).toBeLessThan(40);
});

test('entries leave in order, at the rate of the address', async () => {
  const { ask, left, limiter, pass } = open();
  const entries = names('entry', 200);
  for (const name of entries) ask(name);
  await pass(1_000);
  // Half of the burst is reserved.
  expect(left.length).toBeGreaterThanOrEqual(85);
  expect(left.length).toBeLessThanOrEqual(91);
  expect(limiter.countWaiting('address', 'place')).toBe(200 - left.length);
  await pass(2_000);
  expect(left).toEqual(entries);
});

test('one user’s limit delays nobody else', async () => {
  const { ask, left, limiter, pass } = open();
  for (const name of names('busy', 15)) ask(name, { user: 'busy' });
  for (const name of names('other', 5)) ask(name);
  await pass(250);
  expect(left.filter((name) => name.startsWith('other'))).toHaveLength(5);
  expect(left.filter((name) => name.startsWith('busy'))).toHaveLength(9);
  expect(limiter.countWaiting('address', 'place')).toBe(0);
  await pass(2_000);
  expect(left.filter((name) => name.startsWith('busy'))).toEqual(names('busy', 15));
});

test('refuses a request that cannot leave before its deadline immediately, with the reason and the time to retry', async () => {
  const { ask, refuse, late, pass } = open();
  await refuse({ user: 'held' }, { of: 'account', waitMs: 30_000 });
  const told = ask('held', { patienceMs: 5_000 }).catch((error: unknown) => error);
  // A known hold is not waited for.
  await pass(50);
  expect(late).toEqual(['held']);
  const error = await told;
  expect(error).toBeInstanceOf(TransportError);
  expect(error).toMatchObject({
    phase: 'limited',
    message: 'not sent: the exchange throttles this account’s requests to endpoint; try again in 30 s',
  });
  expect((error as TransportError).retryAfterMs).toBeGreaterThan(29_000);
});

test('a queue that is too long ends the wait at the deadline', async () => {
  const { ask, left, late, pass } = open();
  for (const name of names('entry', 200)) ask(name, { patienceMs: 1_000 });
  await pass(1_100);
  expect(left.length + late.length).toBe(200);
  expect(late.length).toBeGreaterThan(100);
});

test('after an account hold one request leaves, and the others follow in order once it is answered', async () => {
  const { ask, refuse, answer, left, pass } = open();
  await refuse({ user: 'u' }, { of: 'account', waitMs: 2_000 });
  for (const name of names('waits', 3)) ask(name, { user: 'u' });
  await pass(1_900);
  expect(left).toEqual([]);
  ask('waits3', { user: 'u' });
  await pass(1_500);
  expect(left).toEqual(['waits0']);
  await answer('waits0');
  await pass(50);
  expect(left).toEqual(names('waits', 4));
});

test('an account that keeps being refused sends less and less', async () => {
  const { ask, answer, left, pass } = open();
  ask('first', { user: 'u' });
  await pass(1);
  for (const name of names('waits', 50)) ask(name, { user: 'u', patienceMs: 120_000 });
  await answer('first', { of: 'account', waitMs: null });
  left.splice(0);
  const sentAfter: number[] = [];
  for (let second = 1; second <= 33; second += 1) {
    await pass(1_000);
    for (const name of left.splice(0)) {
      sentAfter.push(second);
      await answer(name, { of: 'account', waitMs: null });
    }
  }
  // The account's own stops wait for the hold to end, so no hold exceeds eight seconds.
  expect(sentAfter).toEqual([2, 5, 10, 19, 28]);
});

test('waiting requests of a throttled account take no places in a statement from others', async () => {
  const asked: string[][] = [];
  const { ask, refuse, left, pass } = open((slots) => ({
    ...slots,
    take(requests) {
      asked.push(requests.map(({ account }) => account));
      return slots.take(requests);
    },
  }));
  await refuse({ user: 'throttled' }, { of: 'account', waitMs: 3_000 });
  for (const name of names('throttled', 100)) ask(name, { user: 'throttled' });
  for (const name of names('other', 15)) ask(name, { priority: 'protect' });
  await pass(5);
  expect(left).toEqual(names('other', 15));
  for (const accounts of asked) {
    expect(accounts.filter((account) => account === 'throttled').length).toBeLessThanOrEqual(5);
  }
});

test('holds the address for all if the exchange names it; stops leave first afterwards', async () => {
  const { ask, refuse, answer, left, pass } = open();
  await refuse({}, { of: 'address', waitMs: 8_000 });
  for (const priority of ['place', 'look-up', 'protect'] as const) {
    for (const name of names(priority, 3)) ask(name, { priority });
  }
  await pass(7_900);
  expect(left).toEqual([]);
  await pass(1_000);
  expect(left).toEqual(['protect0']);
  await answer('protect0');
  await pass(100);
  expect(left).toEqual([...names('protect', 3), ...names('look-up', 3), ...names('place', 3)]);
});

test('holds the address when three accounts are refused in quick succession, but lets closes leave', async () => {
  const { ask, refuse, answer, left, pass } = open();
  for (const user of names('refused', 3)) await refuse({ user }, { of: 'account', waitMs: null });
  ask('entry');
  ask('stop', { priority: 'protect' });
  await pass(50);
  expect(left).toEqual(['stop']);
  // Its answer counts like a probe's.
  await answer('stop');
  await pass(5);
  expect(left).toEqual(['stop', 'entry']);
});

describe('inferring an address limit from its accounts', () => {
  const holds = async (refusedAccounts: string[], { asked = 0, apartMs = 1 } = {}) => {
    const { ask, refuse, left, pass } = open();
    for (const name of names('asks', asked)) ask(name, { priority: 'protect', egress: FAST });
    await pass(20);
    left.splice(0);
    for (const user of refusedAccounts) {
      await refuse({ user, egress: FAST }, { of: 'account', waitMs: null });
      await pass(apartMs);
    }
    ask('probe', { egress: FAST });
    await pass(20);
    return left.length === 0;
  };
  const FAST = { key: 'address', perSecond: 10_000 };

  test('infers nothing from one account, however often and at however many endpoints it is refused', async () => {
    const { ask, refuse, left, pass } = open();
    for (const endpoint of names('endpoint', 30)) {
      const bucket = { key: `same ${endpoint}`, perSecond: 10 };
      await refuse({ user: 'same', bucket }, { of: 'account', waitMs: null });
    }
    ask('entry');
    await pass(20);
    expect(left).toEqual(['entry']);
  });
  test.each<[string, string[], { asked?: number; apartMs?: number }, boolean]>([
    ['two accounts, each of them twice', ['a', 'b', 'a', 'b'], {}, false],
    ['three accounts within two seconds', ['a', 'b', 'c'], {}, true],
    ['three accounts one after the other', ['a', 'b', 'c'], { apartMs: 1_100 }, false],
    ['three of fifteen accounts that asked', ['a', 'b', 'c'], { asked: 12 }, true],
    ['three of sixteen accounts that asked', ['a', 'b', 'c'], { asked: 13 }, false],
  ])('%s are refused', async (_, accounts, asking, isHeld) => {
    expect(await holds(accounts, asking)).toBe(isHeld);
  });
  test('ignores refused public requests', async () => {
    const { ask, refuse, left, pass } = open();
    for (const endpoint of ['tickers', 'contracts', 'time', 'candles']) {
      const turn = { account: null, bucket: { key: endpoint, perSecond: 10 } };
      await refuse(turn, { of: 'account', waitMs: null });
    }
    ask('entry');
    await pass(20);
    expect(left).toEqual(['entry']);
  });
});
