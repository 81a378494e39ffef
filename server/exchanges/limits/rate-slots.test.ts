import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import type { CallPriority } from '../exchange.ts';
import { ACCOUNT_HOLD, INFERRED_ADDRESS_HOLD, NAMED_ADDRESS_HOLD, type Refused } from './rate-holds.ts';
import { bucketSlots, egressSlots, rankOf } from './rate-limits.ts';
import { createOwnSlots, createSharedSlots, type SlotRequest, type SlotStore } from './rate-slots.ts';

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

test('entries leave slots to look-ups, and look-ups to protection, in every instance', async () => {
  const [first, second] = [open().store, open().store];
  const ask = async (store: SlotStore, priority: CallPriority) =>
    granted(
      await store.take(
        Array.from({ length: 30 }, (_, one) => request(priority, { user: `${priority}${one}` })),
      ),
    );
  const startedMs = performance.now();
  const entries = (await ask(first, 'place')) + (await ask(second, 'place'));
  // Some slots become free in the meantime.
  expect(entries).toBeGreaterThanOrEqual(10);
  expect(entries).toBeLessThanOrEqual(10 + ((performance.now() - startedMs) / 1_000) * 80 + 1);
  expect(await ask(second, 'look-up')).toBeGreaterThanOrEqual(5);
  expect(await ask(first, 'protect')).toBeGreaterThanOrEqual(5);
});

test('a request blocked by its own limit takes no slot of the address', async () => {
  const { store } = open();
  const own = { ...request('protect', { perSecond: 10 }), bucket: bucketSlots('slow', 1, 'protect') };
  const answers = await store.take(Array.from({ length: 10 }, () => own));
  expect(answers.map(({ blockedBy }) => blockedBy)).toEqual([null, ...Array(9).fill('bucket')]);
  expect(granted(await store.take([request('protect', { perSecond: 10 })]))).toBe(1);
});

const ofAccount = (changes: Partial<Refused> = {}): Refused => ({
  account: 'u',
  isNamed: true,
  askedMs: null,
  terms: ACCOUNT_HOLD,
  probeOf: null,
  ...changes,
});
const ofAddress = (changes: Partial<Refused> = {}) => ofAccount({ terms: NAMED_ADDRESS_HOLD, ...changes });
const inferred = (changes: Partial<Refused> = {}) =>
  ofAccount({ isNamed: false, terms: INFERRED_ADDRESS_HOLD, ...changes });

test('a hold applies to every instance, and the longest one counts', async () => {
  const [first, second] = [open().store, open().store];
  await first.hold('a', ofAddress({ askedMs: 60_000 }));
  const [answer] = await second.take([request('protect')]);
  expect(answer).toMatchObject({ blockedBy: 'egress', isHeld: true });
  expect(answer?.waitMs).toBeGreaterThan(30_000);
  await first.hold('a', ofAddress({ askedMs: 10 }));
  const [later] = await second.take([request('protect')]);
  expect(later?.waitMs).toBeGreaterThan(30_000);
});

// The database decides for all instances, these functions for one without a database: both must agree.
describe.each(['the database', 'a single instance'])('holds counted by %s', (kind) => {
  /** Two instances; without the database there is only one. */
  function openPair(): [SlotStore, SlotStore] {
    if (kind === 'the database') return [open().store, open().store];
    const own = createOwnSlots(1, systemClock);
    return [own, own];
  }
  const take = (store: SlotStore, ...requests: SlotRequest[]) => store.take(requests);
  /** Lets time pass; in the database by making its rows older. */
  async function age(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await database.database.pool.query(
      `update exchange_slots set held_until_ms = held_until_ms - $1, probe_until_ms = probe_until_ms - $1,
         next_at_ms = next_at_ms - $1, taken_ms = array(select t - $1 from unnest(taken_ms) t)`,
      [ms],
    );
  }
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const SHORT = { firstMs: 2_000, longestMs: 6_000, longestAskedMs: 6_000 };
  /** After the end of the first hold and the extra waits of lower priorities. */
  const PAST_STEPS_MS = 2_450;
  const probeOf = (answers: { probes: { egress: number | null } }[]) =>
    answers[0]?.probes.egress ?? expect.fail('no probe left');

  test('one request leaves after the hold, from any instance, and the others after its answer', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(PAST_STEPS_MS);
    const probes = await take(second, request('place'), request('place', { user: 'v' }));
    expect(probes.map(({ blockedBy }) => blockedBy)).toEqual([null, 'egress']);
    expect(await take(first, request('protect', { user: 'w' }))).toMatchObject([{ blockedBy: 'egress' }]);
    await second.endHold('a', probeOf(probes));
    const after = await take(first, request('place', { user: 'w' }), request('place', { user: 'x' }));
    expect(after).toMatchObject([
      { blockedBy: null, probes: { egress: null } },
      { blockedBy: null, probes: { egress: null } },
    ]);
  });

  test('the request with the highest priority is the probe', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(2_010);
    const [audit, stop] = await take(second, request('background'), request('protect', { user: 'v' }));
    expect(audit?.blockedBy).toBe('egress');
    expect(stop?.blockedBy).toBeNull();
  });

  test('a refused probe doubles the hold, up to the maximum', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    const lengths: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const waits = await take(second, request('protect'));
      lengths.push(waits[0]?.waitMs ?? 0);
      await age((waits[0]?.waitMs ?? 0) + 10);
      const probe = await take(second, request('protect'));
      await second.hold('a', ofAddress({ terms: SHORT, probeOf: probeOf(probe) }));
    }
    const [one, two, three] = lengths;
    expect(one).toBeLessThanOrEqual(2_000);
    expect(two).toBeGreaterThan(2_000);
    expect(two).toBeLessThanOrEqual(4_000);
    expect(three).toBeGreaterThan(4_000);
    expect(three).toBeLessThanOrEqual(6_000);
  });

  test('an unanswered probe lets the next one leave', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(PAST_STEPS_MS);
    const lost = await take(first, request('protect'));
    expect(await take(second, request('protect', { user: 'v' }))).toMatchObject([{ blockedBy: 'egress' }]);
    await first.passProbeOn('a', probeOf(lost));
    expect(await take(second, request('protect', { user: 'v' }))).toMatchObject([{ blockedBy: null }]);
  });

  test('a probe that is never answered counts for five seconds', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(PAST_STEPS_MS);
    await take(first, request('protect'));
    await age(3_000);
    expect(await take(second, request('protect', { user: 'v' }))).toMatchObject([{ blockedBy: 'egress' }]);
    await age(2_500);
    expect(await take(second, request('protect', { user: 'v' }))).toMatchObject([{ blockedBy: null }]);
  });

  test('answers to requests from before a hold change nothing, nor does the answer to an old probe', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(2_010);
    const probe = await take(second, request('protect'));
    await second.hold('a', ofAddress({ terms: SHORT, probeOf: probeOf(probe) }));
    await second.endHold('a', probeOf(probe));
    expect(await take(first, request('protect'))).toMatchObject([{ blockedBy: 'egress', isHeld: true }]);
  });

  test('an inferred hold lets closes and stops leave, and ends with the first one that is not refused', async () => {
    const [first, second] = openPair();
    await first.hold('a', inferred());
    const [entry, stop] = await take(second, request('place'), request('protect', { user: 'v' }));
    expect(entry?.blockedBy).toBe('egress');
    expect(stop?.blockedBy).toBeNull();
    await second.endHold('a', stop?.probes.egress ?? expect.fail('no probe'));
    expect(await take(first, request('place'))).toMatchObject([{ blockedBy: null }]);
  });

  test('an account with its own refusals prolongs an inferred hold only for itself', async () => {
    const [first, second] = openPair();
    const terms = { ...SHORT, longestMs: 60_000 };
    await first.hold('a', inferred({ terms }));
    await age(PAST_STEPS_MS);
    const probe = await take(first, request('place', { user: 'throttled' }));
    await first.hold('a', inferred({ account: 'throttled', terms, probeOf: probeOf(probe) }));
    await age(2_300);
    const [own, other] = await take(
      second,
      request('place', { user: 'throttled' }),
      request('place', { user: 'v' }),
    );
    // It does not block lower priorities either.
    expect(own?.blockedBy).toBe('bucket');
    expect(other?.blockedBy).toBeNull();
    // A second refused account confirms the address limit.
    await second.hold('a', inferred({ account: 'v', terms, probeOf: other?.probes.egress ?? null }));
    const [after] = await take(first, request('look-up', { user: 'w' }));
    expect(after).toMatchObject({ blockedBy: 'egress', isHeld: true });
    expect(after?.waitMs).toBeGreaterThan(300);
  });

  test('a probe that reaches its account’s limit opens the address again', async () => {
    const [first, second] = openPair();
    await first.hold('a', ofAddress({ terms: SHORT }));
    await age(PAST_STEPS_MS);
    const probe = await take(first, request('protect'));
    await first.hold('a', inferred({ probeOf: probeOf(probe) }));
    expect(await take(second, request('place', { user: 'v' }))).toMatchObject([
      { blockedBy: null, probes: { egress: null } },
    ]);
  });

  test('an account waits as long as the exchange asks, at most ten minutes', async () => {
    const [first, second] = openPair();
    await first.hold('u', ofAccount({ askedMs: 300_000 }));
    await age(240_000);
    const [held] = await take(second, request('protect', { user: 'u' }));
    expect(held).toMatchObject({ blockedBy: 'bucket', isHeld: true });
    await first.hold('u', ofAccount({ askedMs: 3_600_000 }));
    const [longer] = await take(second, request('protect', { user: 'u' }));
    expect(longer?.waitMs).toBeGreaterThan(500_000);
    expect(longer?.waitMs).toBeLessThanOrEqual(600_000);
  });

  test('an account hold takes no slot of the address and has its own probe', async () => {
    const [first, second] = openPair();
    await first.hold('u', ofAccount({ terms: SHORT }));
    const held = await take(second, request('place', { user: 'u' }), request('place', { user: 'v' }));
    expect(held.map(({ blockedBy }) => blockedBy)).toEqual(['bucket', null]);
    await age(PAST_STEPS_MS);
    const [own, next, other] = await take(
      second,
      request('place', { user: 'u' }),
      request('place', { user: 'u' }),
      request('place', { user: 'v' }),
    );
    expect([own?.blockedBy, next?.blockedBy, other?.blockedBy]).toEqual([null, 'bucket', null]);
    expect(own?.probes).toEqual({ egress: null, bucket: expect.any(Number) });
    await second.endHold('u', own?.probes.bucket ?? expect.fail('no probe'));
    expect(await take(first, request('place', { user: 'u' }))).toMatchObject([
      { blockedBy: null, probes: { bucket: null } },
    ]);
  });
});

test('an unresponsive database does not delay a stop', async () => {
  const { store } = open({ query: () => new Promise(() => {}) } as never, 100);
  expect(granted(await store.take([request('protect')]))).toBe(1);
});
