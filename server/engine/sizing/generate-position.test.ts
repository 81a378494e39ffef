import { and, eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { tradeUser } from '#server/engine/workflow/trade-user.ts';
import { orderAttempts, priceLogs, tradeEvents, trades, users } from '#server/platform/db/schema.ts';
import { calculateByHand } from '#test/app/plan-by-hand.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';
import { findWorkflowCalculation, sumUnknownMargin } from './position-generator.store.ts';

let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterEach(async () => {
  engine.venue.setFaults([]);
  await engine.db.update(users).set({ isActive: false });
  await engine.settle();
});
afterAll(() => engine.close());

async function twoSignals() {
  count += 1;
  const userId = await engine.createUser({
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.2',
  });
  const first = await engine.storeSignal({ token: `P${count}A`, price: '100' });
  const second = await engine.storeSignal({ token: `P${count}B`, price: '100' });
  await runWorkflow(engine.deps, first.workflowId);
  await runWorkflow(engine.deps, second.workflowId);
  return { userId, first, second };
}

async function tradesOf(userId: string) {
  return await engine.db.select().from(trades).where(eq(trades.userId, userId)).orderBy(trades.createdAt);
}

// Requirements: position-sizing-7
test('two signals at once are sized one after the other: the second sees what the first has committed', async () => {
  const { userId, first, second } = await twoSignals();
  await Promise.all([
    tradeUser(engine.deps, { workflowId: first.workflowId, userId }),
    tradeUser(engine.deps, { workflowId: second.workflowId, userId }),
  ]);
  const planned = (await tradesOf(userId)).sort((a, b) => D(b.plannedMargin).cmp(a.plannedMargin));
  expect(planned).toHaveLength(2);
  const [larger, smaller] = planned;
  // 20 % of 10000, then 20 % of the 8000 that are left; down to the step.
  expect(
    D(larger?.plannedMargin ?? 0)
      .minus(2_000)
      .abs()
      .lt('0.1'),
  ).toBe(true);
  expect(
    D(smaller?.plannedMargin ?? 0)
      .minus(1_600)
      .abs()
      .lt('0.1'),
  ).toBe(true);
});

// Requirements: position-sizing-7
test('an order that the exchange takes while the next one is sized is counted, not missed', async () => {
  const { userId, first, second } = await twoSignals();
  await tradeUser(engine.deps, { workflowId: first.workflowId, userId });
  const [trade] = await tradesOf(userId);
  if (trade === undefined) throw new Error('nothing was planned');
  let sent = false;
  const deps = atExchangeCall(engine.deps, {
    call: 'fetchBalance',
    when: 'after',
    async happens() {
      if (sent) return;
      sent = true;
      await advanceTrade(engine.deps, trade.id);
    },
  });
  await tradeUser(deps, { workflowId: second.workflowId, userId });
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'open' }]);
  const [, later] = await tradesOf(userId);
  expect(D(later?.plannedMargin ?? 0).lte(1_600)).toBe(true);
});

test.each([
  ['planned', true],
  ['submitting', true],
  ['unknown', true],
  ['open', false],
  ['filled', false],
  ['never_placed', false],
] as const)('the margin of an order that is %s is taken off: %j', async (state, counts) => {
  const { userId, first } = await twoSignals();
  await tradeUser(engine.deps, { workflowId: first.workflowId, userId });
  const [trade] = await tradesOf(userId);
  if (trade === undefined) throw new Error('nothing was planned');
  const put = (to: string) =>
    engine.db.update(orderAttempts).set({ state: to }).where(eq(orderAttempts.tradeId, trade.id));
  await put(state);
  const margin = await sumUnknownMargin(engine.db, { userId, exchangePlatform: 'Bitget' });
  expect(margin).toBe(counts ? trade.plannedMargin : '0');
  await put('planned');
});

test('a refused calculation is recorded with its reason', async () => {
  const userId = await engine.createUser({ positionSizingMethod: 'Technical Analysis' });
  const { signalId } = await engine.storeSignal({ token: 'NOATR', price: '100' });
  await expect(calculateByHand(engine, { userId, signalId })).rejects.toThrow(
    'ATR is required for Technical Analysis',
  );
});

// Requirements: price-log-and-trend-2
test.each([
  ['a trend', { mature_trend: 1e-100, immediate_trend: 1e300 }, { aligned: true, atr: null }],
  [
    'an ATR that leaves no room',
    { atr: 1e-100 },
    'Stop loss would trigger at once: 100 is not below the price 100',
  ],
  ['an ATR beyond all prices', { atr: 1e300 }, 'Stop loss must be above zero'],
] as const)(
  'a candle with numbers of three-digit exponents is calculated with: %s',
  async (_name, figures, expected) => {
    count += 1;
    const token = `P${count}`;
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const candleId = await engine.storeCandle({ token, price: '100' });
    await engine.db
      .update(priceLogs)
      .set({ parameters: { close: '100', ...figures } })
      .where(eq(priceLogs.id, candleId));
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.plan(workflowId);
    const calculation = await findWorkflowCalculation(engine.db, { workflowId, userId });
    if (typeof expected === 'string') expect(calculation?.error).toContain(expected);
    else expect(calculation?.position).toMatchObject(expected);
  },
);

test('an order that was too large for the exchange is never planned: margin within a third of the balance', async () => {
  const userId = await engine.createUser({
    positionSizingMethod: 'Risk Management',
    maximumRiskPerTrade: '0.15',
  });
  const { signalId } = await engine.storeSignal({ token: 'LARGE', price: '100' });
  const { position } = await calculateByHand(engine, { userId, signalId });
  expect(D(position?.investment ?? 0).lte(3_300)).toBe(true);
  expect(D(position?.riskPercentage ?? 1).lte('0.15')).toBe(true);
});

test('how the account stands is asked while its position is sized; without an answer it is asked again before the order', async () => {
  count += 1;
  const token = `P${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  engine.venue.setFaults([{ kind: 'refuse', code: '40034', on: { path: '/account/account' } }]);
  await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
  const [trade] = await tradesOf(userId);
  const calls = await engine.db
    .select({ type: tradeEvents.text })
    .from(tradeEvents)
    .where(and(eq(tradeEvents.tradeId, trade?.id ?? ''), eq(tradeEvents.kind, 'call')))
    .orderBy(tradeEvents.id);
  expect(calls.slice(0, 2).map(({ type }) => type)).toEqual(['account', 'account']);
});
