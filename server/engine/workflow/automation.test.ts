import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { signals, userSettings, workflowUsers } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';
import { retryWorkflow, triggerWorkflow } from './trigger-workflow.ts';

const engine = sharedTestEngine();
const outcomes = (workflowId: string) => engine.outcomes(workflowId);

test('turns one signal into a protected order per eligible user, and a reason for every other user', async () => {
  const byRisk = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const byPortion = await engine.createUser({ positionSizingMethod: 'Portfolio Allocation' });
  const byAnalysis = await engine.createUser({ positionSizingMethod: 'Technical Analysis' });
  const off = await engine.createUser({ activeTrading: false });
  await engine.storeCandle({ token: 'BTC', price: '65000', atr: '300', matureTrend: 'up' });
  const { signalId, workflowId } = await engine.storeSignal();

  await engine.settle();

  const workflow = await engine.workflow(workflowId);
  expect(workflow).toMatchObject({ status: 'completed', eligibleUsersCount: 3, successfulUsersCount: 3 });
  const trades = await engine.trades(signalId);
  expect(trades.map(({ userId }) => userId).sort()).toEqual([byRisk, byPortion, byAnalysis].sort());
  for (const trade of trades) {
    expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
    expect(D(trade.stopLoss).lt(trade.entryPrice)).toBe(true);
    expect(D(trade.takeProfit).gt(trade.entryPrice)).toBe(true);
    const orders = await engine.exchangeOrders(trade.userId);
    expect(orders).toHaveLength(1);
    expect(orders[0]).toMatchObject({ state: 'filled', size: trade.plannedQuantity });
    expect(D(trade.filledQuantity).eq(orders[0]?.filledSize ?? 0)).toBe(true);
  }
  const users = await outcomes(workflowId);
  expect(users.get(off)).toMatchObject({ status: 'not eligible', reason: 'Active trading is off' });
  const steps = await engine.steps(workflowId);
  expect(steps.map(({ stepNumber }) => stepNumber)).toEqual(
    Array.from({ length: 16 }, (_, index) => index + 1),
  );
  expect(steps.every(({ status }) => status === 'completed')).toBe(true);
});

test('completes a workflow without eligible users with its last step skipped', async () => {
  await engine.createUser({ activeTrading: false });
  const { workflowId } = await engine.storeSignal({ token: 'ETH', price: '3000' });
  await engine.settle();
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', eligibleUsersCount: 0 });
  const steps = await engine.steps(workflowId);
  expect(steps.at(-2)).toMatchObject({ stepName: 'Select Eligible Users', status: 'completed' });
  expect(steps.at(-1)).toMatchObject({ stepName: 'Process All Users', status: 'skipped' });
});

// Requirements: workflows-4, position-sizing-6
test.each([
  ['that waited more than thirty minutes', 'SIGNAL_EXPIRED', /^Signal expired: /],
  [
    'more than ten percent away from the live price',
    'SIGNAL_INVALID',
    /^Signal validation failed: the signal price/,
  ],
  [
    'whose own time is more than 400 days old',
    'SIGNAL_INVALID',
    /^Signal validation failed: its own time is more than 400 days old, so it may be one that was traded before$/,
  ],
])('a signal %s is not traded', async (what, failureType, message) => {
  const { userId, token, signalId, workflowId } = await storeTradedSignal(engine);
  if (what.startsWith('that waited')) engine.clock.advance(30 * 60_000 + 1);
  if (what.startsWith('more than')) await engine.storeCandle({ token, price: '113' });
  if (what.startsWith('whose own time')) await setSignalTime(signalId, 401);
  await engine.settle();
  const workflow = await engine.workflow(workflowId);
  expect(workflow).toMatchObject({ status: 'failed', errorDetails: { failureType } });
  expect(workflow.errorMessage).toMatch(message);
  expect(await engine.exchangeOrders(userId)).toEqual([]);
});

const setSignalTime = (signalId: string, daysAgo: number) =>
  engine.db
    .update(signals)
    .set({ signalTimeServer: new Date(engine.clock.now().getTime() - daysAgo * 24 * 3_600_000) })
    .where(eq(signals.id, signalId));

test('trades a signal whose own time is 399 days old', async () => {
  const { signalId, workflowId } = await storeTradedSignal(engine);
  await setSignalTime(signalId, 399);
  await engine.settle();
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 1 });
});

test('skips a user of Technical Analysis without ATR while the others trade', async () => {
  const skipped = await engine.createUser({ positionSizingMethod: 'Technical Analysis' });
  const traded = await engine.createUser({ positionSizingMethod: 'Portfolio Allocation' });
  const { workflowId } = await engine.storeSignal({ token: 'XRP', price: '2' });
  await engine.settle();
  const users = await outcomes(workflowId);
  expect(users.get(skipped)?.outcome).toBe('skipped');
  expect(users.get(traded)?.outcome).toBe('success');
  const steps = await engine.steps(workflowId);
  const failed = steps.find(({ userId, status }) => userId === skipped && status === 'failed');
  expect(failed?.errorMessage).toBe('ATR is required for Technical Analysis; user will be skipped');
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 1 });
});

// Requirements: webhook-deliveries-26
test("trades an ordinary user's own signal for that user only", async () => {
  const owner = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const other = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { workflowId } = await engine.storeSignal({ token: 'OWN', price: '10', ownerUserId: owner });
  await engine.settle();
  const users = await outcomes(workflowId);
  expect(users.get(owner)?.outcome).toBe('success');
  expect(users.get(other)).toMatchObject({
    status: 'not eligible',
    reason: 'Signal belongs to another user',
  });
  expect(await engine.exchangeOrders(other)).toEqual([]);
});

// Requirements: workflows-6
test('skips a second signal in the same direction, and reverses or skips an opposite one by the settings', async () => {
  const byRisk = { positionSizingMethod: 'Risk Management' };
  const reversing = await engine.createUser({ ...byRisk, oppositeSignal: 'reverse' });
  const keeping = await engine.createUser({ ...byRisk, oppositeSignal: 'skip' });
  await engine.storeSignal({ token: 'SUI', price: '3' });
  await engine.settle();

  const again = await engine.storeSignal({ token: 'SUI', price: '3.001' });
  await engine.settle();
  const second = await outcomes(again.workflowId);
  expect(second.get(reversing)?.outcome).toBe('skipped');
  expect(second.get(keeping)?.outcome).toBe('skipped');

  const opposite = await engine.storeSignal({ token: 'SUI', price: '3.002', action: 'sell' });
  await engine.settle();
  const third = await outcomes(opposite.workflowId);
  expect(third.get(reversing)?.outcome).toBe('success');
  expect(third.get(keeping)?.outcome).toBe('skipped');
  const orders = await engine.exchangeOrders(reversing);
  expect(orders.map(({ side, reduceOnly }) => [side, reduceOnly])).toEqual([
    ['buy', false],
    ['sell', true],
    ['sell', false],
  ]);
});

// Requirements: accounts-states-8
test('opens nothing when trading is switched off after the calculation', async () => {
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { workflowId } = await engine.storeSignal({ token: 'PEPE', price: '0.00001' });
  // The exchange rejects the order for a moment, so it stays planned; then an administrator switches trading off.
  engine.venue.setFaults([{ kind: 'tooManyRequests', on: { path: 'place-order', times: 1 } }]);
  await runWorkflow(engine.deps, workflowId);
  await planUser(engine.deps, { workflowId, userId });
  await engine.db.update(userSettings).set({ activeTrading: false }).where(eq(userSettings.userId, userId));
  await engine.settle();
  expect((await outcomes(workflowId)).get(userId)?.outcome).toBe('failed');
  expect(await engine.exchangeOrders(userId)).toEqual([]);
});

// Requirements: workflows-10
testEveryCase('runs workflows of one token one after another in the order of their signals', async () => {
  await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const first = await engine.storeSignal({ token: 'ADA', price: '1' });
  const second = await engine.storeSignal({ token: 'ADA', price: '1' });
  await runWorkflow(engine.deps, second.workflowId);
  await runWorkflow(engine.deps, first.workflowId);
  const waiting = (await engine.steps(second.workflowId)).at(-1);
  expect(waiting).toMatchObject({
    stepName: 'Acquire Processing Slot',
    status: 'processing',
    metadata: { waitingFor: first.workflowId },
  });
  await engine.settle();
  const [one, two] = [await engine.workflow(first.workflowId), await engine.workflow(second.workflowId)];
  expect([one.status, two.status]).toEqual(['completed', 'completed']);
  expect(one.completedAt?.getTime()).toBeLessThanOrEqual(
    (await engine.steps(second.workflowId))[2]?.completedAt?.getTime() ?? 0,
  );
});

// Requirements: workflows-11
test('runs a workflow for all users in a token before those of users’ own signals', async () => {
  const owner = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const own = { token: 'TRX', price: '1', ownerUserId: owner };
  const [running, waiting] = [await engine.storeSignal(own), await engine.storeSignal(own)];
  await runWorkflow(engine.deps, running.workflowId);
  await runWorkflow(engine.deps, waiting.workflowId);
  const forAll = await engine.storeSignal({ token: 'TRX', price: '1' });
  const waitsFor = async ({ workflowId }: { workflowId: string }) => {
    await runWorkflow(engine.deps, workflowId);
    return (await engine.steps(workflowId)).at(-1)?.metadata;
  };
  expect(await waitsFor(forAll)).toEqual({ waitingFor: running.workflowId });
  await engine.settle();
  const endOf = async ({ workflowId }: { workflowId: string }) => {
    const { status, completedAt } = await engine.workflow(workflowId);
    expect(status).toBe('completed');
    return completedAt?.getTime() ?? 0;
  };
  const slotOf = async ({ workflowId }: { workflowId: string }) =>
    (await engine.steps(workflowId))[2]?.completedAt?.getTime() ?? 0;
  expect(await slotOf(forAll)).toBeGreaterThanOrEqual(await endOf(running));
  expect(await slotOf(waiting)).toBeGreaterThanOrEqual(await endOf(forAll));
});

// Requirements: workflows-5
test('creates a new workflow by a manual trigger, which skips users who traded the signal and never runs concurrently', async () => {
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'LINK', price: '15' });
  await expect(
    triggerWorkflow(engine.deps, { signalId, username: 'ops', actor: OPERATOR }),
  ).rejects.toMatchObject({
    status: 409,
    failureType: 'CONCURRENCY_CONFLICT',
  });
  await engine.settle();
  await expect(
    retryWorkflow(engine.deps, { signalId, username: 'ops', actor: OPERATOR }),
  ).rejects.toMatchObject({
    status: 409,
  });

  const manual = await triggerWorkflow(engine.deps, { signalId, username: 'ops', actor: OPERATOR });
  await engine.settle();
  expect(manual).not.toBe(workflowId);
  expect(await engine.workflow(manual)).toMatchObject({
    status: 'completed',
    trigger: 'manual',
    triggerReason: 'Manual trigger by ops',
  });
  expect((await outcomes(manual)).get(userId)?.outcome).toBe('skipped');
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
});

// Requirements: workflows-1
test('records and aborts the automatic workflow outside production, where a manual one still trades', async () => {
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const deps = {
    ...engine.deps,
    config: { ...engine.deps.config, appEnv: 'development', autoTrade: { enabled: false, configured: true } },
  };
  const { signalId, workflowId } = await engine.storeSignal({ token: 'DOT', price: '7' });
  await engine.settle({ deps });
  const workflow = await engine.workflow(workflowId);
  expect(workflow.status).toBe('aborted');
  expect(workflow.errorMessage).toMatch(/^Auto-trading is disabled /);
  expect((await engine.steps(workflowId)).map(({ status }) => status)).toEqual(['completed', 'aborted']);
  expect(await engine.exchangeOrders(userId)).toEqual([]);

  await triggerWorkflow(deps, { signalId, username: 'ops', actor: OPERATOR });
  await engine.settle({ deps });
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
});

testEveryCase.each([
  [
    'a bug',
    { message: 'a bug' },
    async () => {
      throw new TypeError('a bug');
    },
  ],
  // A wrong number of values fails like too many values: a bug, not an outage.
  ['a statement that breaks the protocol', { code: '08P01' }, () => engine.db.$client.query('select 1', [0])],
])(
  'after three tries %s ends the workflow as failed, and the next one runs',
  async (_name, error, breaks) => {
    const poisoned = await storeTradedSignal(engine);
    const next = await engine.storeSignal({ token: poisoned.token, price: '100' });
    const deps = answering(engine.deps, () => ({
      async fetchTicker() {
        await breaks();
        return null;
      },
    }));
    await expect(runWorkflow(deps, poisoned.workflowId)).rejects.toMatchObject(error);
    await expect(runWorkflow(deps, poisoned.workflowId)).rejects.toMatchObject(error);
    await runWorkflow(deps, poisoned.workflowId);
    const workflow = await engine.workflow(poisoned.workflowId);
    expect(workflow).toMatchObject({ status: 'failed', errorDetails: { failureType: 'PROCESSING_ERROR' } });
    const steps = await engine.steps(poisoned.workflowId);
    expect(steps.map(({ status }) => status)).toEqual([...Array(4).fill('completed'), 'failed']);
    await engine.settle();
    expect((await engine.workflow(next.workflowId)).status).toBe('completed');
  },
);

testEveryCase(
  'calls for the users of a resumed workflow again, and trades only the unfinished ones',
  async () => {
    for (let count = 0; count < 4; count += 1)
      await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { signalId, workflowId } = await engine.storeSignal({ token: 'AGAIN', price: '100' });
    const queue = testJobs(engine.clock);
    const deps = engine.depsWith({ jobs: queue.jobs });
    for (const run of [1, 2]) {
      await runWorkflow(deps, workflowId);
      expect(queue.waiting()).toHaveLength(run);
    }
    expect(queue.waiting()).toMatchObject(Array(2).fill({ name: 'trade-wave', data: { workflowId } }));
    const parts = [...(await engine.outcomes(workflowId)).values()];
    const [, over, ...others] = parts.flatMap(({ position, userId }) => (position === null ? [] : [userId]));
    await engine.db
      .update(workflowUsers)
      .set({ outcome: 'skipped' })
      .where(eq(workflowUsers.userId, over ?? ''));
    await queue.drain(deps);
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 3 });
    const traded = (await engine.trades(signalId)).map(({ userId }) => userId);
    expect(traded).toHaveLength(1 + others.length);
    expect(traded).not.toContain(over);
  },
);
