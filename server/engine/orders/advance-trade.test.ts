import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { users } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { planByHand } from '#test/app/plan-by-hand.ts';
import { ALWAYS, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import type { VenueFault } from '#test/venues/faults.ts';

const engine = sharedTestEngine();
const restsAlways = { kind: 'restFirst', on: { times: ALWAYS } } as const;
const plan = (options: Parameters<typeof planTrade>[1] = {}) => planTrade(engine, options);
const sinceMs = (from: Date) => engine.clock.now().getTime() - from.getTime();

describe('two attempts', () => {
  // Planned 164.901 at 100.06 with the stop at 98, 2.06 away; at 100.3503 the stop is 2.3503 away, so that
  // 164.901 · 2.06 / 2.3503 = 144.533 keeps the planned loss. The sell is its mirror image at 99.94.
  // Requirements: trading-constants-8
  test.each(
    firstCases([
      { action: 'buy', fresh: '100.2', price: '100.3503', quantity: '144.533', stop: '98', target: '104' },
      { action: 'sell', fresh: '99.8', price: '99.6503', quantity: '144.743', stop: '102', target: '96' },
    ] as const),
  )(
    'cancels and reads a $action that is not filled in time, and sends it once more at the fresh price and two and a half epsilon',
    async ({ action, fresh, price, quantity, stop, target }) => {
      engine.venue.setFaults([restsAlways]);
      const { token, userId, trade, plannedAt } = await plan({ signal: { action } });
      await engine.advance(trade.id);
      await engine.storeCandle({ token, price: fresh });

      await engine.advance(trade.id);
      expect(sinceMs(plannedAt)).toBe(5_000);
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling' }]);

      await engine.advance(trade.id);
      expect(sinceMs(plannedAt)).toBe(7_000);
      expect(await engine.attempts(trade.id)).toMatchObject([
        { state: 'unfilled', quantity: trade.plannedQuantity },
        { state: 'open', price, quantity },
      ]);

      const { calls } = await engine.events(trade.id);
      const sent = calls.filter((type) => ['place-order', 'cancel-order', 'find-order'].includes(type));
      expect(sent).toEqual(['place-order', 'find-order', 'cancel-order', 'find-order', 'place-order']);
      for (const order of await engine.exchangeOrders(userId)) {
        expect(order).toMatchObject({ presetStopLoss: stop, presetTakeProfit: target });
      }

      engine.venue.setFaults([]);
      await engine.storeCandle({ token, price });
      const done = await engine.advance(trade.id);
      expect(sinceMs(plannedAt)).toBe(15_000);
      expect(done).toMatchObject({ success: true, fillStatus: 'filled', filledQuantity: quantity });
      expect(await engine.holding(userId, token)).toMatchObject({
        position: { size: quantity },
        stopLoss: stop,
        takeProfit: target,
      });
    },
  );

  // Requirements: trading-calculator-and-execution-12, trading-constants-8
  test('waits ten and fifteen seconds for an order by hand, and doubles the epsilon for the second attempt', async () => {
    engine.venue.setFaults([restsAlways]);
    const { token, trade, userId } = await planByHand(engine, { token: 'HAND', price: '100' });
    const plannedAt = engine.clock.now();
    expect(trade.entryPrice).toBe('100.5');
    await engine.advance(trade.id);
    await engine.storeCandle({ token, price: '100.6' });
    await engine.advance(trade.id);
    expect(sinceMs(plannedAt)).toBe(10_000);
    await engine.advance(trade.id);
    expect(sinceMs(plannedAt)).toBe(12_000);
    // 100.6 + 2 · 0.5 % of 100.6
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unfilled' }, { price: '101.606' }]);
    await engine.advance(trade.id);
    expect(sinceMs(plannedAt)).toBe(27_000);
    const done = await engine.advance(trade.id);
    expect(sinceMs(plannedAt)).toBe(29_000);
    expect(done.error).toBe('The order was not filled after two attempts');
    expect((await engine.exchangeOrders(userId)).map(({ state }) => state)).toEqual(['canceled', 'canceled']);
  });

  testEveryCase('applies the configured waits to both profiles', async () => {
    const config = { ...engine.deps.config, verifyFirstMs: 200, verifySecondMs: 300, cancelDelayMs: 100 };
    const deps = { ...engine.deps, config };
    engine.venue.setFaults([restsAlways]);
    const automatic = (await plan()).trade;
    const manual = (await planByHand(engine, { token: 'WAITS', price: '100' })).trade;
    for (const { id } of [automatic, manual]) {
      const waits: number[] = [];
      let before = engine.clock.now();
      await engine.advance(id, deps);
      for (;;) {
        const { state } = await engine.advance(id, deps);
        waits.push(sinceMs(before));
        before = engine.clock.now();
        if (state === 'done') break;
      }
      expect(waits).toEqual([200, 100, 300, 100]);
    }
  });

  const refusal = { kind: 'refuse', code: '40762', message: 'too dear' } as const;
  const unfilled = { success: false, fillStatus: 'unfilled', filledQuantity: '0' };

  // Requirements: trading-calculator-and-execution-13
  test.each<[string, VenueFault[], string[], string[], object]>(
    firstCases(
      [
        [
          'that fills has no second attempt',
          [],
          ['filled'],
          ['filled'],
          { success: true, fillStatus: 'filled', error: null },
        ],
        [
          'that the exchange refuses has no second attempt',
          [{ ...refusal, on: { path: 'place-order' } }],
          ['refused'],
          [],
          { ...unfilled, error: 'Bitget: too dear (40762)' },
        ],
        [
          'that rests twice fails and says so',
          [restsAlways],
          ['unfilled', 'unfilled'],
          ['canceled', 'canceled'],
          { ...unfilled, error: 'The order was not filled after two attempts' },
        ],
      ],
      2,
    ),
  )('an order %s', async (_name, faults, attempts, orders, end) => {
    const { trade, userId, token } = await plan({ faults });
    await engine.settle();
    expect((await engine.attempts(trade.id)).map(({ state }) => state)).toEqual(attempts);
    expect((await engine.exchangeOrders(userId)).map(({ state }) => state)).toEqual(orders);
    const done = await engine.trade(trade.id);
    expect(done).toMatchObject(end);
    expect((await engine.holding(userId, token)).position === null).toBe(done.success === false);
  });

  // Requirements: order-execution-2
  test('orders the unfilled rest of the first attempt with the second', async () => {
    engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.5' }]);
    const { trade, userId, token } = await plan();
    await engine.advance(trade.id);
    await engine.storeCandle({ token, price: '100.2' });
    engine.venue.setFaults([restsAlways]);
    await engine.advance(trade.id);
    await engine.advance(trade.id);
    // 82.450 filled, 82.451 left; 82.451 · 2.06 / 2.3503 = 72.266 keeps the rest of the planned loss.
    expect(await engine.attempts(trade.id)).toMatchObject([
      { state: 'unfilled', filledQuantity: '82.45' },
      { state: 'open', quantity: '72.266' },
    ]);
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    await engine.settle();
    expect(await engine.trade(trade.id)).toMatchObject({
      success: true,
      fillStatus: 'partial',
      filledQuantity: '82.45',
    });
  });

  // Requirements: order-execution-10
  test('does not order a rest below the minimum, and reports the fill as a success with the reason', async () => {
    engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.9999' }]);
    const { trade, userId } = await plan();
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({
      success: true,
      fillStatus: 'partial',
      error: null,
    });
    const { timeline } = await engine.events(trade.id);
    expect(timeline.at(-1)).toMatch(/^Done: filled 164\.884 .*; no second attempt: Order value .* is below/);
  });

  test.each(
    firstCases([
      ['has fallen through the stop', '97.5', 'Stop loss'],
      ['has run through the target', '104.5', 'Take profit'],
    ]),
  )('makes no second attempt when the price %s, and the error says why', async (_name, price, what) => {
    const { trade, token, userId } = await plan({ faults: [restsAlways] });
    await engine.advance(trade.id);
    await engine.advance(trade.id);
    // The exchange has cancelled the order already; the next step reads it once more.
    await engine.storeCandle({ token, price });
    const done = await engine.advance(trade.id);
    expect(done).toMatchObject({ state: 'done', success: false, fillStatus: 'unfilled' });
    expect(done.error).toMatch(
      new RegExp(
        `^The order was not filled after one attempt; no second attempt: ${what} would trigger at once`,
      ),
    );
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  });

  testEveryCase(
    'makes no second attempt when the planned loss leaves less than the minimum size, and the error says why',
    async () => {
      engine.venue.setFaults([restsAlways]);
      const settings = { positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.02' } as const;
      const { trade, token, userId } = await plan({ settings, signal: { token: 'BTC', price: '65000' } });
      expect(trade.plannedQuantity).toBe('0.01');
      await engine.advance(trade.id);
      await engine.storeCandle({ token, price: '65400' });
      await engine.settle();
      const { error, success } = await engine.trade(trade.id);
      expect(success).toBe(false);
      expect(error).toMatch(/; no second attempt: Quantity 0 BTC is below the minimum size of 0\.01 BTC$/);
      expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    },
  );

  test('does not send an order that waited for more than five minutes', async () => {
    const { trade, userId } = await plan();
    engine.clock.advance(5 * 60_000 + 1);
    await engine.advance(trade.id);
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect((await engine.trade(trade.id)).error).toMatch(
      /^The calculation is 5\.0 minutes old, the limit is/,
    );
  });

  test('does not send the second attempt when trading is switched off during the first', async () => {
    engine.venue.setFaults([restsAlways]);
    const { trade, userId } = await plan();
    await engine.advance(trade.id);
    await engine.db.update(users).set({ isActive: false });
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({ success: false, error: 'User is inactive' });
  });
});

test('records the same fill, price, fee and order as the ledger', async () => {
  engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.3' }]);
  const { trade, userId, token } = await plan();
  await engine.advance(trade.id);
  await engine.storeCandle({ token, price: '100.1' });
  await engine.settle();
  const orders = await engine.exchangeOrders(userId);
  const sum = (name: 'filledSize' | 'filledValue' | 'fee') =>
    orders.reduce((total, order) => total.plus(order[name]), D(0));
  const { filledQuantity, averagePrice, fee, orderId } = await engine.trade(trade.id);
  expect(orders).toHaveLength(2);
  expect(D(filledQuantity).eq(sum('filledSize'))).toBe(true);
  expect(
    D(averagePrice ?? 0)
      .minus(sum('filledValue').div(sum('filledSize')))
      .abs()
      .lt('1e-9'),
  ).toBe(true);
  expect(D(fee ?? 0).eq(sum('fee'))).toBe(true);
  expect(orderId).toBe(String(orders.at(-1)?.id));
});
