import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';

/** Tokens that none of our constants names: their contract's tick, step and minimum hold, on paper too. */
const venue = sharedTestEngine();
const paper = sharedTestEngine({ paperMode: true });

const CONTRACTS_AGE_MS = 3_600_001;

describe.each([
  ['the exchanges', venue],
  ['paper', paper],
])('at %s', (_, engine) => {
  describe.each(EXCHANGE_PLATFORMS)('%s', (exchangePlatform) => {
    test.each(
      firstCases([
        [`SHIB${exchangePlatform.toUpperCase()}`, '0.00001234'],
        [`JASMY${exchangePlatform.toUpperCase()}`, '0.0062'],
        [`SATS${exchangePlatform.toUpperCase()}`, '0.0000000213'],
      ]),
    )('%s at %s is bought near its price, with stop and target at their distance', async (token, price) => {
      engine.clock.advance(CONTRACTS_AGE_MS);
      const { userId, signalId } = await storeTradedSignal(engine, {
        settings: { exchangePlatform },
        signal: { token, price },
      });
      await engine.settle();
      const [trade] = (await engine.trades(signalId)).filter((one) => one.userId === userId);
      if (trade === undefined) throw new Error('nothing was traded');
      expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
      const away = (value: string) => D(value).div(price).minus(1).toNumber();
      expect(away(trade.entryPrice)).toBeGreaterThan(0);
      expect(away(trade.entryPrice)).toBeLessThan(0.002);
      expect(Math.abs(away(trade.stopLoss) + 0.02)).toBeLessThan(0.001);
      expect(Math.abs(away(trade.takeProfit) - 0.04)).toBeLessThan(0.001);
    });
  });
});
