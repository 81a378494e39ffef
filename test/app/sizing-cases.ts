import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Preview, PreviewAnswer } from '#contract/position-generator.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { calculatePosition, type PositionResult } from '#domain/sizing/position.ts';
import { ownTokenRules } from '#domain/sizing/token-rules.ts';
import { DEFAULT_USER_SETTINGS, SIZING_METHODS } from '#domain/user-settings.ts';
import { priceLogs } from '#server/platform/db/schema.ts';
import type { WorldByHand } from '#test/world/by-hand.ts';

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
const fraction = (max: number) =>
  fc.oneof(
    fc.constant(null),
    fc.integer({ min: 1, max }).map((n) => D(n).div(1000).toFixed()),
  );

const signalCase = fc.record({
  token: fc.constantFrom(...TOKENS),
  action: fc.constantFrom('buy' as const, 'sell' as const),
  // Up to 3% away from the signal's price, so either price may be used.
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

/** Compares sizing through the API with the domain's arithmetic, for random signals and settings. */
export async function compareSizing(
  trading: WorldByHand,
  counts: { signals: number; settingsEach: number },
): Promise<void> {
  const seed = 20_260_504;
  const { settingsEach } = counts;
  const cases = counts.signals * settingsEach;
  const signals = fc.sample(signalCase, { seed, numRuns: counts.signals });
  const settings = fc.sample(settingsCase, { seed, numRuns: cases });
  const { db } = trading.database;
  let successes = 0;
  const compareAll = async (index: number, one: SignalCase) => {
    const { userId, accountId } = await trading.createTrader();
    await trading.admin.get(`/api/admin/account-balance/${userId}`);
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
    // Concurrent requests for other tokens must not use up the limit of the price service.
    await trading.liftPriceLimit();
    for (const edited of settings.slice(index * settingsEach, (index + 1) * settingsEach)) {
      const answer = await trading.admin.post('/api/internal/position-generator/preview', {
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
  // A token's price is cached for a second, so work through the tokens concurrently.
  const lanes = Map.groupBy(signals.entries(), ([, { token }]) => token);
  await Promise.all(
    [...lanes.values()].map(async (lane) => {
      for (const [index, one] of lane) {
        await compareAll(index, one);
        await trading.outlivePrices();
      }
    }),
  );
  // Trades and refusals both occurred.
  expect(successes).toBeGreaterThan(cases / 4);
  expect(successes).toBeLessThan(cases);
}
