import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { orderAttempts, priceLogs, trades } from '#server/platform/db/schema.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { calculateByHand } from '#test/app/plan-by-hand.ts';
import { findWorkflowCalculation, planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';
import { sumUnknownMargin } from './position-generator.store.ts';

const engine = sharedTestEngine();

async function twoSignals() {
  const settings = { positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.2' };
  const { userId, ...first } = await storeTradedSignal(engine, { settings });
  const second = await engine.storeSignal({ token: nextToken(), price: '100' });
  await runWorkflow(engine.deps, first.workflowId);
  await runWorkflow(engine.deps, second.workflowId);
  return { userId, first, second };
}

const tradesOf = (userId: string) =>
  engine.db.select().from(trades).where(eq(trades.userId, userId)).orderBy(trades.createdAt);

async function firstTradeOf(userId: string) {
  const [trade] = await tradesOf(userId);
  if (trade === undefined) throw new Error('nothing was planned');
  return trade;
}

// Requirements: position-sizing-7
test('sizes two concurrent signals one after the other: the second sees the margin that the first committed', async () => {
  const { userId, first, second } = await twoSignals();
  const planBoth = () =>
    Promise.all([first, second].map(({ workflowId }) => planUser(engine.deps, { workflowId, userId })));
  // The one that finds the user's lease taken comes again.
  await planBoth();
  await planBoth();
  const margins = (await tradesOf(userId)).map(({ plannedMargin }) => D(plannedMargin));
  // 20 % of 10000, then 20 % of the remaining 8000; down to the step.
  const [smaller, larger] = margins.sort((a, b) => a.cmp(b)).map((margin) => margin.toNumber());
  expect(margins).toHaveLength(2);
  expect(larger).toBeCloseTo(2_000, 0);
  expect(smaller).toBeCloseTo(1_600, 0);
});

// Requirements: position-sizing-7
testEveryCase('counts an order that the exchange accepts while the next one is sized', async () => {
  const { userId, first, second } = await twoSignals();
  await planUser(engine.deps, { workflowId: first.workflowId, userId });
  const trade = await firstTradeOf(userId);
  let sent = false;
  const deps = atExchangeCall(engine.deps, {
    call: 'readTradeAccount',
    when: 'after',
    async happens() {
      if (sent) return;
      sent = true;
      await advanceTrade(engine.deps, trade.id);
    },
  });
  await planUser(deps, { workflowId: second.workflowId, userId });
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'open' }]);
  const [, later] = await tradesOf(userId);
  expect(D(later?.plannedMargin ?? 0).lte(1_600)).toBe(true);
});

test.each(
  oneOfEachKind(
    [
      ['planned', true],
      ['submitting', true],
      ['unknown', true],
      ['open', false],
      ['filled', false],
      ['never_placed', false],
    ] as const,
    ([state]) => state === 'planned' || state === 'filled',
  ),
)('subtracts the margin of an order that is %s: %j', async (state, counts) => {
  const { userId, first } = await twoSignals();
  await planUser(engine.deps, { workflowId: first.workflowId, userId });
  const trade = await firstTradeOf(userId);
  const put = (to: string) =>
    engine.db.update(orderAttempts).set({ state: to }).where(eq(orderAttempts.tradeId, trade.id));
  await put(state);
  const margin = await sumUnknownMargin(engine.db, { userId, exchangePlatform: 'Bitget' });
  expect(margin).toBe(counts ? trade.plannedMargin : '0');
  await put('planned');
});

test('records a refused calculation with its reason', async () => {
  const stored = await storeTradedSignal(engine, {
    settings: { positionSizingMethod: 'Technical Analysis' },
  });
  await expect(calculateByHand(engine, stored)).rejects.toThrow('ATR is required for Technical Analysis');
});

// Requirements: price-log-and-trend-2
test.each([
  ['a trend', { mature_trend: 1e-100, immediate_trend: 1e300 }, { aligned: true, atr: null }],
  [
    'an ATR that leaves no room',
    { atr: 1e-100 },
    'The candle cannot be used: ATR "1e-100" is not between 1e-12 and 1e12',
  ],
  [
    'an ATR beyond all prices',
    { atr: 1e300 },
    'The candle cannot be used: ATR "1e+300" is not between 1e-12 and 1e12',
  ],
] as const)('reads numbers of three-digit exponents in a candle: %s', async (_name, figures, expected) => {
  const token = nextToken();
  const candleId = await engine.storeCandle({ token, price: '100' });
  await engine.db
    .update(priceLogs)
    .set({ parameters: { close: '100', ...figures } })
    .where(eq(priceLogs.id, candleId));
  const { userId, workflowId } = await storeTradedSignal(engine, { signal: { token } });
  await engine.plan(workflowId);
  const calculation = await findWorkflowCalculation(engine.db, { workflowId, userId });
  if (typeof expected === 'string') expect(calculation?.error).toContain(expected);
  else expect(calculation?.position).toMatchObject(expected);
});

test('keeps the margin of an order within a third of the balance', async () => {
  const stored = await storeTradedSignal(engine, { settings: { maximumRiskPerTrade: '0.15' } });
  const { position } = await calculateByHand(engine, stored);
  expect(D(position?.investment ?? 0).lte(3_300)).toBe(true);
  expect(D(position?.riskPercentage ?? 1).lte('0.15')).toBe(true);
});
