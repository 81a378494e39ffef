import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { judgeSelection, judgeSizing } from '#domain/workflow/decision.ts';
import { type NewStop, stopEntries } from '#server/admin/stops/stop-entries.ts';
import type { EngineDeps } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { recallSelection, recallSizing } from '#server/engine/records/decision-record.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { decisions, signals, tradingStops } from '#server/platform/db/schema.ts';
import { nextStatement } from '#test/app/count-statements.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  entriesOf,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
  strike,
} from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { ledgerOf, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';

/** What a stop of new entries does to orders wherever they stand, with the ledger of the exchange as the witness. */
const requests: string[] = [];
const engine = sharedTestEngine({
  watch: {
    async before({ path }) {
      requests.push(path);
    },
  },
});

afterEach(async () => {
  await engine.db.delete(tradingStops);
});

const stopIn = (deps: Pick<EngineDeps, 'db' | 'jobs'>, scope: StopScope, more: Partial<NewStop> = {}) =>
  stopEntries(
    { ...engine.deps, db: deps.db, jobs: deps.jobs },
    { scope, reason: 'news', until: null, by: OPERATOR, userId: null, ...more },
  );
const stop = (scope: StopScope, more: Partial<NewStop> = {}) => stopIn(engine.deps, scope, more);
const ALL: StopScope = { kind: 'all', value: null };

/** Each kind of scope as it covers the user's entry in the token. */
const SCOPES: [string, (of: { userId: string; token: string }) => StopScope][] = [
  ['everybody', () => ALL],
  ['its strategy, in any case', () => ({ kind: 'strategy', value: 'tesla' })],
  ['its token', ({ token }) => ({ kind: 'token', value: token })],
  ['its user', ({ userId }) => ({ kind: 'user', value: userId })],
];

describe('a stop that is made before the signal is taken up', () => {
  // Requirements: additions-stops-1, additions-stops-2
  test.each(SCOPES)('keeps a stop for %s: no order, and no request for the user', async (_name, scopeOf) => {
    const signal = await storeTradedSignal(engine);
    await stop(scopeOf(signal));
    requests.length = 0;
    await engine.settle();
    expect(await engine.trades(signal.signalId)).toEqual([]);
    expect(requests.filter((path) => !/market|ticker|contracts/.test(path))).toEqual([]);
    const [decision] = await engine.db.select().from(decisions).where(eq(decisions.userId, signal.userId));
    const seen = recallSelection(decision?.record as Record<string, unknown>);
    expect(seen.user.tradingStop).toMatchObject({ ...scopeOf(signal), by: 'ops', reason: 'news' });
    expect(judgeSelection(seen)).toMatchObject({
      status: 'not eligible',
      rule: 'New entries',
      reason: expect.stringMatching(/^New entries are stopped for .+ since \d\d:\d\d by ops \(news\)$/),
    });
  });

  // Requirements: additions-stops-1
  test.each<[string, StopScope]>(
    firstCases([
      ['another strategy', { kind: 'strategy', value: 'UD Bot' }],
      ['another token', { kind: 'token', value: 'NEVER' }],
      ['another user', { kind: 'user', value: '01890a5d-ac96-774b-bcce-b302099a8057' }],
    ]),
  )('does not concern the entry when it is for %s', async (_name, scope) => {
    await stop(scope);
    const signal = await storeTradedSignal(engine);
    await engine.settle();
    expect(await entriesOf(engine, signal.userId)).toMatchObject([{ state: 'filled' }]);
  });

  test('ends by itself at its time', async () => {
    await stop(ALL, { until: new Date(engine.clock.now().getTime() + 60_000) });
    engine.clock.advance(60_001);
    const signal = await storeTradedSignal(engine);
    await engine.settle();
    expect(await entriesOf(engine, signal.userId)).toHaveLength(1);
  });
});

describe('a stop that is made while the signal is traded', () => {
  // Requirements: additions-stops-2
  test('skips users who are not sized yet, with a decision that can be computed again', async () => {
    const signal = await storeTradedSignal(engine);
    await runWorkflow(engine.deps, signal.workflowId);
    await stop({ kind: 'token', value: signal.token });
    await engine.settle();
    expect(await engine.exchangeOrders(signal.userId)).toEqual([]);
    const reason = await reasonFor(engine, signal);
    expect(reason).toMatch(/^New entries are stopped for .* by ops \(news\); user will be skipped$/);
    const [decision] = await engine.db.select().from(decisions).where(eq(decisions.userId, signal.userId));
    const seen = recallSizing(decision?.record as Record<string, unknown>);
    if (seen === null) throw new Error('no sizing was recorded');
    expect(judgeSizing(seen)).toEqual({ ok: false, reason: reason?.replace('; user will be skipped', '') });
  });

  // Requirements: additions-stops-1
  test('sends no planned order', async () => {
    const { userId, trade } = await planTrade(engine);
    await stop({ kind: 'strategy', value: 'Tesla' });
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect((await engine.trade(trade.id)).error).toMatch(
      /^New entries are stopped for strategy Tesla since /,
    );
  });

  // Requirements: additions-stops-1
  testEveryCase('does not send an order again that was deferred', async () => {
    const { userId, trade } = await planTrade(engine, {
      faults: [{ kind: 'tooManyRequests', on: { path: 'place-order' } }],
    });
    await engine.advance(trade.id);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'planned' }]);
    await stop({ kind: 'user', value: userId });
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toEqual([]);
  });

  // Requirements: additions-stops-1
  test('closes no opposite position for an entry that will not come', async () => {
    const { userId, token } = await withLong(engine);
    const opposite = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, opposite.workflowId);
    // Found before the close: made after everything about the user was read.
    const deps = atExchangeCall(engine.deps, {
      call: 'readTradeAccount',
      when: 'after',
      happens: async () => void (await stop({ kind: 'token', value: token })),
    });
    await engine.settle({ deps });
    expect(await ledgerOf(engine, userId)).toEqual([['buy', false, 'filled']]);
    expect((await engine.holding(userId, token)).stopLoss).toBe('98');
    expect(await reasonFor(engine, { userId, ...opposite })).toMatch(/^New entries are stopped for /);
  });

  // Requirements: additions-stops-4
  test('cancels what rests unfilled within five seconds, without a second attempt', async () => {
    const { userId, trade } = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    await engine.advance(trade.id);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'live' }]);
    const from = engine.clock.now().getTime();
    await stop(ALL);
    await engine.settle();
    expect(engine.clock.now().getTime() - from).toBeLessThan(5_000);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    const { error, state } = await engine.trade(trade.id);
    expect(state).toBe('done');
    expect(error).toMatch(/after one attempt; no second attempt: New entries are stopped for everybody/);
    expect((await engine.events(trade.id)).timeline).toContainEqual(
      expect.stringMatching(
        /^Attempt 1: new entries are stopped \(0 of .* known to be filled\), cancelling$/,
      ),
    );
  });

  // Requirements: additions-stops-4
  testEveryCase('cancels an order at once that comes to rest after the stop', async () => {
    const { userId, trade } = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    const queue = testJobs(engine.clock);
    const queued = engine.depsWith({ jobs: queue.jobs });
    let answered: Promise<unknown> | undefined;
    const deps = atExchangeCall(queued, {
      call: 'placeOrder',
      when: 'before',
      async happens() {
        answered = stopIn(queued, ALL);
        await expect.poll(() => engine.db.select().from(tradingStops)).toHaveLength(1);
        // The call of the stop to cancel what rests finds the trade at work on another instance.
        const another = { ...engine.deps.config, instanceId: 'another-instance' };
        await advanceTrade(engine.depsWith({ jobs: queue.jobs, config: another }), trade.id);
      },
    });
    const from = engine.clock.now();
    requests.length = 0;
    await advanceTrade(deps, trade.id);
    await answered;
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    expect(engine.clock.now()).toEqual(from);
    // Nothing is read before the cancel.
    const paths = requests.filter((path) => !/market|ticker|contracts/.test(path));
    expect(paths[paths.findIndex((path) => path.endsWith('place-order')) + 1]).toMatch(/cancel-order$/);
    await queue.drain(queued);
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', fillStatus: 'unfilled' });
  });

  // Requirements: additions-stops-4
  test('cancels what rests at once while its worker waits for the exchange', async () => {
    const { userId, trade } = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    const queue = testJobs(engine.clock);
    const queued = engine.depsWith({ jobs: queue.jobs });
    await advanceTrade(queued, trade.id);
    const cancels = () => requests.filter((path) => path.endsWith('cancel-order')).length;
    // Its fills are looked at now and then; two calls come meanwhile, the second one again.
    engine.clock.advance(2_000);
    const deps = atExchangeCall(queued, {
      call: 'fetchHolding',
      when: 'before',
      async happens() {
        if (cancels() > 0) return;
        await stopIn(queued, ALL);
        const another = { ...engine.deps.config, instanceId: 'another-instance' };
        const { jobs } = queue;
        await advanceTrade(engine.depsWith({ jobs, config: another }), trade.id);
        expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
      },
    });
    requests.length = 0;
    await advanceTrade(deps, trade.id);
    await queue.drain(queued);
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', fillStatus: 'unfilled' });
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    expect((await engine.events(trade.id)).calls).toContain('cancel-order');
  });

  // Requirements: additions-stops-4
  test('keeps and protects what a resting order has filled', async () => {
    const { userId, token, trade } = await planTrade(engine, {
      faults: [{ kind: 'partialFill', fraction: '0.5' }, { kind: 'stopDropped' }],
    });
    await engine.advance(trade.id);
    await stop(ALL);
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled', reduceOnly: false }]);
    expect((await engine.holding(userId, token)).stopLoss).toBe('98');
    expect(await engine.trade(trade.id)).toMatchObject({ fillStatus: 'partial', success: true });
  });

  // Requirements: additions-stops-3
  test('closes a position that gets no stop all the same', async () => {
    const { userId, token, trade } = await planTrade(engine);
    strike(engine, userId, [{ kind: 'stopDropped' }, { kind: 'stopRefused', on: { times: 99 } }]);
    await engine.advance(trade.id);
    await stop(ALL);
    await engine.settle();
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect(await engine.trade(trade.id)).toMatchObject({ protectionStatus: 'closed' });
  });
});

describe('the answer to a stop', () => {
  // Requirements: additions-stops-1
  test('waits for a commit in progress and for its request, which is on the wire', async () => {
    const { userId, trade } = await planTrade(engine);
    const events: string[] = [];
    let answered: Promise<unknown> | undefined;
    const deps = atExchangeCall(engine.deps, {
      call: 'placeOrder',
      when: 'before',
      async happens() {
        // Announced, and not sent yet.
        answered = stop(ALL).then(() => events.push('answer'));
        await expect.poll(() => engine.db.select().from(tradingStops)).toHaveLength(1);
        // It asks again and again whether anything is on its way.
        for (let time = 0; time < 3; time += 1) await nextStatement('"submitted_at" >');
        events.push('sent');
      },
    });
    await engine.advance(trade.id, deps);
    await answered;
    expect(events).toEqual(['sent', 'answer']);
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  });

  // Requirements: additions-stops-1
  testEveryCase('comes after an order that is being announced, and the next one sees the stop', async () => {
    const { userId, trade } = await planTrade(engine);
    const other = await planTrade(engine);
    let made: Promise<unknown> | undefined;
    const entered = Promise.withResolvers<void>();
    const holding = engine.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock_shared(5046219)`);
      made = stop(ALL);
      await expect.poll(() => countWaitingForLocks(engine.db)).toBeGreaterThan(0);
      entered.resolve();
      // One that comes now waits behind the stop.
      const behind = engine.advance(other.trade.id);
      await expect.poll(() => countWaitingForLocks(engine.db)).toBeGreaterThan(1);
      return { behind };
    });
    await entered.promise;
    await (await holding).behind;
    await made;
    await engine.settle();
    expect(await engine.exchangeOrders(other.userId)).toEqual([]);
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect((await engine.trade(trade.id)).error).toMatch(/^New entries are stopped /);
  });
});

describe('a process that dies', () => {
  const POINTS = [1, 3, 5, 7, 9, 11, 13, 15, 18, 21, 25];

  // Requirements: additions-stops-1
  test.each(oneOfEachKind(POINTS, (point) => POINTS.indexOf(point) === 3))(
    'at change %i after a stop was made leaves no entry behind it',
    async (change) => {
      const signal = await storeTradedSignal(engine);
      engine.venue.setFaults([{ kind: 'restFirst' }]);
      const { point, live, bury } = engine.mortal({ afterChanges: change });
      await live();
      const before = (await entriesOf(engine, signal.userId)).length;
      await bury();
      await engine.restart();
      await stop(ALL);
      const atAnswer = (await entriesOf(engine, signal.userId)).length;
      expect(atAnswer).toBe(before);
      await engine.settle();
      const entries = await entriesOf(engine, signal.userId);
      expect(entries).toHaveLength(atAnswer);
      if (point.isDead()) expect(entries.every(({ state }) => state !== 'live')).toBe(true);
    },
  );
});

test('a strategy is found by the name that its signals carry', async () => {
  const signal = await storeTradedSignal(engine);
  await engine.db.update(signals).set({ processor: ' TESLA ' }).where(eq(signals.id, signal.signalId));
  const { workflowId } = signal;
  await runWorkflow(engine.deps, workflowId);
  await stop({ kind: 'strategy', value: 'Tesla' });
  await engine.settle();
  expect(await engine.exchangeOrders(signal.userId)).toEqual([]);
});
