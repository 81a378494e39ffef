import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Preview, PreviewAnswer } from '#contract/position-generator.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { calculatePosition, type PositionResult } from '#domain/sizing/position.ts';
import { ownTokenRules } from '#domain/sizing/token-rules.ts';
import { DEFAULT_USER_SETTINGS, SIZING_METHODS } from '#domain/user-settings.ts';
import { priceLogs } from '#server/platform/db/schema.ts';
import { type HandTrading, startHandTrading } from '#test/app/hand-trading.ts';

/** 500 random cases, truly over the API, against the domain's own arithmetic. */
const TOKENS = ['BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE'] as const;
const PRICES: Record<string, string> = {
  BTC: '97313.7',
  ETH: '3012.55',
  SOL: '171.234',
  TON: '5.4321',
  SUI: '3.2109',
  XRP: '2.2222',
  PEPE: '0.00001187',
};
const CASES = 500;
const CASES_A_SIGNAL = 18;

let trading: HandTrading;

beforeAll(async () => {
  trading = await startHandTrading({ engine: false });
});
afterAll(() => trading.close());

const fraction = (max: number) =>
  fc.oneof(
    fc.constant(null),
    fc.integer({ min: 1, max }).map((n) => D(n).div(1000).toFixed()),
  );

const signalCase = fc.record({
  token: fc.constantFrom(...TOKENS),
  action: fc.constantFrom('buy' as const, 'sell' as const),
  // Up to 3% away from the live price, so that both prices are chosen.
  livePerMille: fc.integer({ min: 970, max: 1030 }),
  atrPerMille: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 90 })),
  matureTrend: fc.constantFrom('up', 'down', '0.49', '0.5', '-0.75', 'flat'),
  balance: fc.integer({ min: 5, max: 200_000 }).map(String),
});
type SignalCase = typeof signalCase extends fc.Arbitrary<infer Case> ? Case : never;
const settingsCase = fc.record({
  positionSizingMethod: fc.constantFrom(...SIZING_METHODS),
  investmentPortion: fraction(330),
  maximumRiskPerTrade: fraction(150),
});

function shown(result: PositionResult): object {
  if (!result.ok) return { success: false, error: result.denial.reason };
  const {
    rules: _rules,
    hyperparameters: _values,
    calculationReason,
    calculationDetail,
    ...position
  } = result.position;
  return { success: true, position, calculationReason, calculationDetail };
}

const compared = (preview: Preview): object =>
  preview.success
    ? {
        success: true,
        position: preview.position,
        calculationReason: preview.calculationReason,
        calculationDetail: preview.calculationDetail,
      }
    : { success: false, error: preview.error };

// Requirements: position-sizing-2
test('sizing through the API equals the domain’s for 500 random cases', { timeout: 240_000 }, async () => {
  const seed = 20_260_504;
  const signals = fc.sample(signalCase, { seed, numRuns: Math.ceil(CASES / CASES_A_SIGNAL) });
  const settings = fc.sample(settingsCase, { seed, numRuns: CASES });
  const { db } = trading.board.database;
  let successes = 0;
  const compareAll = async (index: number, one: SignalCase) => {
    const { userId, accountId } = await trading.createTrader();
    await trading.board.admin.get(`/api/admin/account-balance/${userId}`);
    await trading.site.setBalance(accountId, one.balance);
    const price = PRICES[one.token] ?? '1';
    const livePrice = toPlain(D(price).times(one.livePerMille).div(1000));
    const atr = one.atrPerMille === null ? null : toPlain(D(price).times(one.atrPerMille).div(1000));
    const { token, action, matureTrend } = one;
    await db.delete(priceLogs).where(eq(priceLogs.token, one.token));
    const signalId = await trading.storeSignal({
      token,
      action,
      price,
      livePrice,
      ...(atr === null ? {} : { atr, matureTrend }),
    });
    // What the others ask at the same time must not use up the price service.
    await trading.liftPriceLimit();
    for (const edited of settings.slice(index * CASES_A_SIGNAL, (index + 1) * CASES_A_SIGNAL)) {
      const answer = await trading.board.admin.post('/api/internal/position-generator/preview', {
        signalId,
        userId,
        settings: edited,
      });
      expect(answer.statusCode, answer.body).toBe(200);
      const { chosen, isEstimate } = answer.json<PreviewAnswer>();
      const expected = calculatePosition({
        signal: { token, action, price },
        priceLog: atr === null ? null : { atr, immediateTrend: undefined, matureTrend },
        livePrice,
        settings: { ...DEFAULT_USER_SETTINGS, ...edited },
        availableBalance: one.balance,
        profile: 'manual',
        rules: { ...ownTokenRules(token), maximumLeverage: 125 },
      });
      expect(compared(chosen), JSON.stringify({ ...one, ...edited })).toEqual(shown(expected));
      expect(isEstimate).toBe(false);
      if (chosen.success) successes += 1;
    }
  };
  // A user's balance is asked for a few times a second only: the tokens are worked through side by side.
  const lanes = Map.groupBy(signals.entries(), ([, { token }]) => token);
  await Promise.all(
    [...lanes.values()].map(async (lane) => {
      for (const [index, one] of lane) {
        await compareAll(index, one);
        await trading.outlivePrices();
      }
    }),
  );
  // Most of them trade, and some are refused: the comparison is of both.
  expect(successes).toBeGreaterThan(CASES / 4);
  expect(successes).toBeLessThan(CASES);
});
