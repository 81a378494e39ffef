import { describe, expect } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { assessAgain } from '#test/app/followed-trades.ts';
import { firstCases, testInTurn } from '#test/app/in-turn.ts';
import {
  ALWAYS,
  entriesOf,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
} from '#test/app/shared-test-engine.ts';
import { reasonFor, withLong } from '#test/app/token-holders.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { readLivePrice } from './generate-position.ts';

/** The exchange answers a price of an hour ago as if it were the present one. */
const engine = sharedTestEngine();
const oldPrices = (ageMs: number): VenueFault => ({ kind: 'oldPrices', ageMs });
const HOUR_MS = 3_600_000;

describe.each(EXCHANGE_PLATFORMS)('with old prices at %s', (exchangePlatform) => {
  const exchange = () => engine.deps.exchanges.get(exchangePlatform);
  const test = testInTurn(EXCHANGE_PLATFORMS, exchangePlatform);

  // Requirements: trading-constants-22
  test('a signal is not traded', async () => {
    engine.venue.setFaults([oldPrices(HOUR_MS)]);
    const { userId, token, workflowId } = await storeTradedSignal(engine, { settings: { exchangePlatform } });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      new RegExp(
        `^No live price of ${token} is available: ${exchangePlatform}: the price of ${token} is from .*, 36\\d\\d s ago, which is not the present`,
      ),
    );
    expect(await entriesOf(engine, userId)).toEqual([]);
  });

  test('a second attempt is not made', async () => {
    const { trade, userId } = await planTrade(engine, {
      settings: { exchangePlatform },
      faults: [{ kind: 'restFirst', on: { times: ALWAYS } }, oldPrices(HOUR_MS)],
    });
    await advanceTrade(engine.deps, trade.id);
    await engine.settle();
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect((await engine.trade(trade.id)).error).toContain('no fresh price for a second attempt');
  });

  test('an order by hand is denied', async () => {
    const { trade } = await withLong(engine, { exchangePlatform });
    engine.venue.setFaults([oldPrices(HOUR_MS)]);
    const { denial } = await assessAgain(engine, trade);
    expect(denial?.reason).toMatch(/the price of H\d+ is from .*, which is not the present/);
  });

  test.each(
    firstCases(
      [
        [9_000, '100'],
        [11_000, null],
        [-11_000, null],
      ],
      2,
    ),
  )('one of %i ms ago counts as %s', async (ageMs, price) => {
    const { token } = await storeTradedSignal(engine, { settings: { exchangePlatform } });
    engine.venue.setFaults([oldPrices(ageMs)]);
    expect(await readLivePrice(engine.deps, exchange(), { token }, null)).toBe(price);
  });

  test.each(firstCases([20 * 60_000, -20 * 60_000]))(
    'the age is by the exchange’s clock, which is %i ms ahead of ours',
    async (aheadMs) => {
      const { token } = await storeTradedSignal(engine, { settings: { exchangePlatform } });
      engine.setVenueAhead(aheadMs);
      expect(await readLivePrice(engine.deps, exchange(), { token }, null)).toBe('100');
      engine.venue.setFaults([oldPrices(11_000)]);
      expect(await readLivePrice(engine.deps, exchange(), { token }, null)).toBeNull();
      engine.setVenueAhead(0);
      engine.venue.setFaults([]);
      expect(await readLivePrice(engine.deps, exchange(), { token }, null)).toBe('100');
    },
  );
});
