import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { startHalt } from '#server/admin/halts/trading-halts.store.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { orderAttempts, positionCloses, trades, userSettings, users } from '#server/platform/db/schema.ts';
import { acquireLease, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { stepUntil } from '#test/app/followed-trades.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { calculateByHand, commitByHand, planByHand } from '#test/app/plan-by-hand.ts';
import { findWorkflowCalculation, planUser } from '#test/app/plan-user.ts';
import {
  ALWAYS,
  giveBack,
  overtakenAt,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
  takeOver,
  withTransaction,
} from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { answering, atExchangeCall, readingEachPrice } from '#test/venues/dying-exchange.ts';
import { advanceTrade } from './advance-trade.ts';
import { commitOrderIntent } from './commit-order-intent.ts';

const engine = sharedTestEngine();

async function calculated() {
  const stored = await storeTradedSignal(engine);
  const log = await calculateByHand(engine, stored);
  const { position } = log;
  if (position === null) throw new Error('no position');
  return { ...stored, log, position };
}

async function leaseOf(userId: string): Promise<Lease> {
  const lease = await acquireLease({ db: engine.db, key: `user:${userId}`, holder: 'test' });
  if (lease === null) throw new Error('the lease is held');
  return lease;
}

const outcomeOf = async ({ workflowId, userId }: { workflowId: string; userId: string }) =>
  (await engine.outcomes(workflowId)).get(userId)?.outcome;

test('makes an intent wait for a halt that is being written, and see it', async () => {
  const { log, position, userId } = await calculated();
  const lease = await leaseOf(userId);
  const [locked, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const halting = engine.db.transaction(async (tx) => {
    const halt = {
      userId,
      exchangePlatform: 'Bitget',
      token: log.token,
      tradeId: null,
      now: engine.clock.now(),
    };
    const { audit } = engine.deps;
    await startHalt(tx, { ...halt, kind: 'unprotected', reason: 'no stop loss', audit });
    locked.resolve();
    await committed.promise;
  });
  await locked.promise;
  const intent = commitOrderIntent(engine.deps, { log, position, triggerType: 'manual', lease });
  await expect.poll(() => countWaitingForLocks(engine.db)).toBe(1);
  committed.resolve();
  await halting;
  expect(await intent).toMatchObject({ ok: false, denial: { code: 'trading_halted' } });
});

describe('one trade, however often it is requested', () => {
  // Requirements: order-execution-1
  test('creates one trade for two concurrent requests of a calculation', async () => {
    const { log, position, signalId } = await calculated();
    // Both under one lease, like two concurrent requests that slipped through: the unique key decides.
    const lease = await leaseOf(log.userId);
    const request = { log, position, triggerType: 'manual' as const, lease };
    const intents = await Promise.all([1, 2, 3].map(() => commitOrderIntent(engine.deps, request)));
    expect(intents.filter(({ ok }) => ok)).toHaveLength(1);
    const [trade, ...more] = await engine.trades(signalId);
    expect(more).toEqual([]);
    for (const intent of intents) {
      if (intent.ok) continue;
      expect(intent).toMatchObject({ reason: 'already-traded', standing: { id: trade?.id } });
    }
    expect(await engine.attempts(trade?.id ?? '')).toHaveLength(1);
  });

  test('creates one trade for two calculations of one signal and user', async () => {
    const { log, userId, signalId } = await calculated();
    const other = await calculateByHand(engine, { userId, signalId });
    const intents = await Promise.all([commitByHand(engine, log), commitByHand(engine, other)]);
    expect(intents.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await engine.trades(signalId)).toHaveLength(1);
  });

  test('creates one trade for concurrent runs of one workflow and user', async () => {
    const { signalId, workflowId, userId } = await calculated();
    await runWorkflow(engine.deps, workflowId);
    const task = { workflowId, userId };
    await Promise.all([
      planUser(engine.deps, task),
      planUser(engine.deps, task),
      planUser(engine.deps, task),
    ]);
    expect(await engine.trades(signalId)).toHaveLength(1);
    const log = await findWorkflowCalculation(engine.db, task);
    if (log?.position == null) throw new Error('no calculation');
    const { position } = log;
    const { id } = await calculateByHand(engine, { userId, signalId });
    await engine.db
      .update(trades)
      .set({ state: 'done', fillStatus: 'unfilled' })
      .where(eq(trades.signalId, signalId));
    // No standing order, another calculation, no concurrent work: still, the workflow has had its trade.
    const intent = await withLease({ db: engine.db, key: `user:${userId}`, holder: 'test' }, (lease) =>
      commitOrderIntent(engine.deps, { log: { ...log, id }, position, triggerType: 'automatic', lease }),
    );
    expect(intent).toMatchObject({ held: true, result: { ok: false, reason: 'already-traded' } });
    expect(await engine.trades(signalId)).toHaveLength(1);
  });

  test.each([
    ['working', null, false],
    ['closing', null, false],
    ['done', 'filled', false],
    ['done', 'partial', false],
    ['done', 'unknown', false],
    ['done', 'unfilled', true],
  ] as const)(
    'after a trade that is %s (%s) another trade is allowed: %j',
    async (state, fillStatus, allowed) => {
      const { userId, signalId, trade } = await planByHand(engine, { token: nextToken(), price: '100' });
      const log = await calculateByHand(engine, { userId, signalId });
      await engine.db.update(trades).set({ state, fillStatus }).where(eq(trades.id, trade.id));
      const intent = await commitByHand(engine, log);
      expect(intent).toMatchObject(
        allowed ? { ok: true } : { ok: false, reason: 'already-traded', standing: { id: trade.id } },
      );
      await engine.db.update(trades).set({ state: 'done' }).where(eq(trades.signalId, signalId));
    },
  );
});

describe('permission is read with the intent', () => {
  const inAnHour = () => new Date(engine.clock.now().getTime() + 3_600_000);
  type Switch = (userId: string) => Promise<unknown>;
  const settings =
    (values: object): Switch =>
    (userId) =>
      engine.db.update(userSettings).set(values).where(eq(userSettings.userId, userId));
  const user =
    (values: object): Switch =>
    (userId) =>
      engine.db.update(users).set(values).where(eq(users.id, userId));

  // Requirements: users-22
  test.each<[string, string, () => Switch, boolean]>([
    ['an inactive user', 'User is inactive', () => user({ isActive: false }), true],
    ['a regular user in paper mode', 'Regular users trade only', () => user({ isTestUser: false }), true],
    ['a user with trading off', 'Active trading is off', () => settings({ activeTrading: false }), false],
    ['a paused user', 'Trading is paused', () => settings({ tradingPausedUntil: inAnHour() }), false],
  ])('%s gets no order of a workflow', async (_name, reason, change, alsoByHand) => {
    const { userId, signalId, workflowId } = await calculated();
    await runWorkflow(engine.deps, workflowId);
    await change()(userId);
    await planUser(engine.deps, { workflowId, userId });
    expect(await engine.trades(signalId)).toEqual([]);
    expect(await outcomeOf({ workflowId, userId })).toBe('skipped');
    const step = (await engine.steps(workflowId)).find(({ errorMessage }) => errorMessage !== null);
    expect(step?.errorMessage).toMatch(new RegExp(`^${reason}.*; user will be skipped$`));

    // Switch and pause steer the automation; they do not hold back an operator's own order.
    const byHand = await commitByHand(engine, await calculateByHand(engine, { userId, signalId }));
    if (alsoByHand) expect(byHand).toMatchObject({ ok: false, reason: 'denied' });
    else expect(byHand).toMatchObject({ ok: true });
    await engine.db.update(trades).set({ state: 'done' }).where(eq(trades.signalId, signalId));
  });

  testEveryCase('ignores a pause that is over', async () => {
    const { userId, signalId, workflowId } = await calculated();
    await settings({ tradingPausedUntil: new Date(engine.clock.now().getTime() - 1) })(userId);
    await engine.settle();
    expect(await outcomeOf({ workflowId, userId })).toBe('success');
    expect(await engine.trades(signalId)).toHaveLength(1);
  });

  test('holds the request back when trading is switched off after the intent', async () => {
    const { userId, trade } = await planTrade(engine);
    const deps = atExchangeCall(engine.deps, {
      call: 'prepareAccount',
      when: 'after',
      happens: async () => void (await settings({ activeTrading: false })(userId)),
    });
    await advanceTrade(deps, trade.id);
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect(await engine.trade(trade.id)).toMatchObject({ success: false, error: 'Active trading is off' });
  });
});

describe('a worker that lost its lease writes nothing and sends nothing', () => {
  test('commits no intent under a lease that was taken over', async () => {
    const { log, position, signalId } = await calculated();
    const lease = await leaseOf(log.userId);
    await takeOver(engine, lease.key);
    const intent = commitOrderIntent(engine.deps, { log, position, triggerType: 'manual', lease });
    await expect(intent).rejects.toBeInstanceOf(LeaseLostError);
    expect(await engine.trades(signalId)).toEqual([]);
    await giveBack(engine, lease.key);
  });

  test.each(['fetchTicker', 'readTradeAccount'] as const)(
    'leaves no calculation, ended step or order of a sizing that is overtaken at %s',
    async (call) => {
      const { workflowId, signalId, userId } = await calculated();
      await runWorkflow(engine.deps, workflowId);
      const key = `user:${userId}`;
      await planUser(readingEachPrice(overtakenAt(engine, { key, call })), { workflowId, userId });
      expect(await findWorkflowCalculation(engine.db, { workflowId, userId })).toBeNull();
      expect(await engine.trades(signalId)).toEqual([]);
      expect(await outcomeOf({ workflowId, userId })).toBe('waiting');
      const steps = (await engine.steps(workflowId)).filter((step) => step.userId === userId);
      // The start of the step is written concurrently with the calls: before the takeover or not at all.
      expect([[], ['completed', 'processing']]).toContainEqual(steps.map(({ status }) => status));
      await giveBack(engine, key);
      await engine.settle();
      expect(await outcomeOf({ workflowId, userId })).toBe('success');
      expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    },
  );

  testEveryCase(
    'does not skip a user for an overtaken sizing that fails while its successor trades',
    async () => {
      const { workflowId, userId } = await calculated();
      await runWorkflow(engine.deps, workflowId);
      const key = `user:${userId}`;
      engine.venue.setFaults([{ kind: 'refuse', code: '40014', on: { path: 'single-position', userId } }]);
      const overtaken = overtakenAt(engine, { key, call: 'readTradeAccount', when: 'before' });
      await planUser(overtaken, { workflowId, userId });
      expect(await outcomeOf({ workflowId, userId })).toBe('waiting');
      await giveBack(engine, key);
      await engine.settle();
      expect(await outcomeOf({ workflowId, userId })).toBe('success');
    },
  );

  test.each([
    ['prepareAccount', 'planned', []],
    ['placeOrder', 'submitting', ['filled']],
    ['fetchHolding', 'open', ['filled']],
  ] as const)('stops an execution that is overtaken at %s', async (call, state, orders) => {
    const { userId, trade } = await planTrade(engine);
    const key = `trade:${trade.id}`;
    if (call === 'fetchHolding') await engine.advance(trade.id);
    await engine.advance(trade.id, overtakenAt(engine, { key, call }));
    expect(await engine.attempts(trade.id)).toMatchObject([{ state }]);
    expect((await engine.exchangeOrders(userId)).map((order) => order.state)).toEqual(orders);
    await giveBack(engine, key);
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({ success: true });
  });

  test.each([
    ['places no stop', 'fetchHolding', 'place-stop-loss'],
    ['closes nothing', 'fetchPosition', 'close-position'],
  ] as const)('an execution that is overtaken %s', async (_name, call, request) => {
    const { userId, trade } = await planTrade(engine, {
      faults: [
        { kind: 'stopDropped' },
        ...(request === 'close-position' ? [{ kind: 'stopRefused', on: { times: ALWAYS } } as const] : []),
      ],
    });
    await engine.advance(trade.id);
    if (request === 'close-position') {
      await stepUntil(engine, trade.id, ({ state }) => state === 'closing', closeIsDue);
    }
    const countRequests = async () =>
      (await engine.events(trade.id)).calls.filter((type) => type === request).length;
    const before = await countRequests();
    const key = `trade:${trade.id}`;
    await engine.advance(trade.id, overtakenAt(engine, { key, call }));
    expect(await countRequests()).toBe(before);
    expect(await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId))).toEqual(
      [],
    );
    await giveBack(engine, key);
    engine.venue.setFaults([]);
    await engine.settle();
    expect((await engine.trade(trade.id)).state).toBe('done');

    // Up to 'closing', and no step further.
    async function closeIsDue(id: string) {
      const stopping = atExchangeCall(engine.deps, {
        call: 'closePosition',
        when: 'before',
        happens() {
          throw new Error('not yet');
        },
      });
      await engine.advance(id, stopping).catch(() => undefined);
      await engine.db.delete(positionCloses).where(eq(positionCloses.userId, userId));
      return await engine.trade(id);
    }
  });

  test('ends neither trade nor user when the execution is overtaken before it writes the end', async () => {
    const { workflowId, userId, trade } = await planTrade(engine);
    const key = `trade:${trade.id}`;
    const db = withTransaction(engine.db, async (work, config) => {
      const [attempt] = await engine.attempts(trade.id);
      if (attempt?.state === 'open') await takeOver(engine, key);
      return await engine.db.transaction(work, config);
    });
    await engine.advance(trade.id);
    await engine.advance(trade.id, engine.depsWith({ db }));
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'open' }]);
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'working', success: null });
    expect(await outcomeOf({ workflowId, userId })).toBe('waiting');
    await giveBack(engine, key);
    await engine.settle();
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
    expect(await outcomeOf({ workflowId, userId })).toBe('success');
  });

  test('does not count the retry of a preparation by an overtaken worker', async () => {
    const { trade } = await planTrade(engine, {
      faults: [{ kind: 'badGatewayBefore', on: { path: 'set-leverage' } }],
    });
    const key = `trade:${trade.id}`;
    const deps = answering(engine.deps, ({ prepareAccount }) => ({
      prepareAccount: (...parameters) => prepareAccount(...parameters).finally(() => takeOver(engine, key)),
    }));
    await advanceTrade(deps, trade.id);
    const [attempt] = await engine.db.select().from(orderAttempts).where(eq(orderAttempts.tradeId, trade.id));
    expect(attempt).toMatchObject({ state: 'planned', placementTries: 0, error: null });
    await giveBack(engine, key);
  });
});
