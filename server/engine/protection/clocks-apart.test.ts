import { and, eq, inArray, sql } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { clockConditions } from '#server/console/attention/clock-conditions.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, trades, users } from '#server/platform/db/schema.ts';
import { assessAgain, auditOnce } from '#test/app/followed-trades.ts';
import { firstCases, inTurn, testInTurn } from '#test/app/in-turn.ts';
import {
  ALWAYS,
  entriesOf,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
} from '#test/app/shared-test-engine.ts';
import { flatten, openLongByHand, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { createAccountReader } from './read-account.ts';

const engine = sharedTestEngine();
afterEach(() => engine.setVenueAhead(0));

const APART = [
  ['90 seconds ahead', 90_000],
  ['90 seconds behind', -90_000],
  ['20 minutes ahead', 20 * 60_000],
  ['20 minutes behind', -20 * 60_000],
] as const;

const PLACES = inTurn(APART, EXCHANGE_PLATFORMS).map(([[apart, ms], exchangePlatform]) => ({
  apart,
  ms,
  exchangePlatform,
}));

async function loseStop(userId: string): Promise<void> {
  const plans = inArray(paperTriggerOrders.planType, ['pos_loss', 'pos_profit']);
  await engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), plans));
}

const closingsOf = (tradeId: string) =>
  engine.db.select().from(closedPositions).where(eq(closedPositions.tradeId, tradeId));

/** As if our clock had been this far behind the exchange's when the trade was made, and was set since. */
const shiftTrade = (tradeId: string, ms: number) =>
  engine.db
    .update(trades)
    .set({
      createdAt: sql`${trades.createdAt} - make_interval(secs => ${ms / 1000})`,
      completedAt: sql`${trades.completedAt} - make_interval(secs => ${ms / 1000})`,
    })
    .where(eq(trades.id, tradeId));

/** Both ways in which the times of a position and of its trade come to differ. */
describe.each(
  firstCases([
    [
      'our clock was set after the position was opened',
      (tradeId: string, ms: number) => shiftTrade(tradeId, ms),
    ],
    [
      'the clocks went apart after the position was opened',
      async (_: string, ms: number) => engine.setVenueAhead(ms),
    ],
  ]),
)('when %s', (_how, setApart) => {
  describe.each(PLACES)('by $exchangePlatform, whose clock is $apart', (place) => {
    const { exchangePlatform, ms } = place;
    const test = testInTurn(PLACES, place);

    test('a position opened by hand after ours was closed is not ours where the exchange says when it was opened', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      await setApart(trade.id, ms);
      await auditOnce(engine);
      await flatten(engine, { userId, token, platform: exchangePlatform });
      engine.clock.advance(10 * 60_000);
      await openLongByHand(engine, { userId, token, platform: exchangePlatform });
      const reading = await createAccountReader(engine.deps).read({ userId, exchangePlatform }, 0);
      // Bybit does not: until the closing is read, the position counts as ours, and shows how it differs.
      const { tradeId, difference } =
        exchangePlatform === 'Bitget'
          ? { tradeId: null, difference: 'Not opened here' }
          : { tradeId: trade.id, difference: 'The exchange holds 1, 164.901 was bought or sold here' };
      const differences = expect.arrayContaining([difference]);
      expect(reading).toMatchObject({ open: [{ token, tradeId, differences }] });
    });

    test('an open position counts as ours, and its trade is not recorded as closed', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      await setApart(trade.id, ms);
      const reader = createAccountReader(engine.deps);
      for (let times = 0; times < 3; times += 1) {
        engine.clock.advance(60_000);
        const reading = await reader.read({ userId, exchangePlatform }, 0);
        expect(reading).toMatchObject({ open: [{ token, tradeId: trade.id, differences: [] }] });
      }
      expect(await closingsOf(trade.id)).toEqual([]);
    });

    test('a stop that was lost is placed again', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      await setApart(trade.id, ms);
      await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
      await loseStop(userId);
      engine.clock.advance(60_000);
      await auditOnce(engine);
      await engine.settle();
      expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({ stopLoss: '98' });
      expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', positionClosedAt: null });
    });

    test('the end of a position is recorded from the history of the exchange', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      await setApart(trade.id, ms);
      engine.clock.advance(30 * 60_000);
      await auditOnce(engine);
      await flatten(engine, { userId, token, platform: exchangePlatform });
      engine.clock.advance(1_000);
      await createAccountReader(engine.deps).read({ userId, exchangePlatform }, 0);
      expect(await closingsOf(trade.id)).toMatchObject([
        { entryPrice: '100', quantity: trade.filledQuantity },
      ]);
    });
  });
});

describe.each(EXCHANGE_PLATFORMS)('on %s', (exchangePlatform) => {
  const test = testInTurn(EXCHANGE_PLATFORMS, exchangePlatform);

  test('after our clock was set, an opposite signal closes the position and opens the other side', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    await shiftTrade(trade.id, 20 * 60_000);
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    await engine.settle();
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    const { position } = await engine.holding(userId, token, exchangePlatform);
    expect(position).toMatchObject({ side: 'short' });
  });

  test('a position that one reading does not show is not recorded as gone', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    engine.clock.advance(60_000);
    let isShown = false;
    const deps = answering(engine.deps, ({ fetchHoldings }) => ({
      fetchClosedPositions: async () => [],
      fetchHoldings: async (...parameters) =>
        isShown ? await fetchHoldings(...parameters) : { holdings: [], unreadable: [] },
    }));
    const reader = createAccountReader(deps);
    const read = () => reader.read({ userId, exchangePlatform }, 0);
    await read();
    expect(await closingsOf(trade.id)).toEqual([]);
    isShown = true;
    expect(await read()).toMatchObject({ open: [{ token, tradeId: trade.id }] });
    isShown = false;
    await read();
    expect(await closingsOf(trade.id)).toEqual([]);
    engine.clock.advance(1_000);
    await read();
    expect(await closingsOf(trade.id)).toMatchObject([{ exchangePositionId: null }]);
  });

  describe('when the history of the exchange does not show the position that has ended,', () => {
    /** The user trades the token by hand ten minutes later, and the account is read twice. */
    async function tradedByHand(by: { price: string; larger: number }) {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      const platform = exchangePlatform;
      const forgotten = new Set<string>();
      const deps = answering(engine.deps, ({ fetchClosedPositions }) => ({
        async fetchClosedPositions(...parameters) {
          const positions = await fetchClosedPositions(...parameters);
          return positions.filter(({ positionId }) => !forgotten.has(positionId));
        },
      }));
      await flatten(engine, { userId, token, platform });
      const account = await engine.deps.findAccount(userId, platform);
      if (account === null) throw new Error('no account');
      const closed = await engine.deps.exchanges
        .get(platform)
        .fetchClosedPositions(account, { since: trade.createdAt });
      for (const { positionId } of closed) forgotten.add(positionId);
      engine.clock.advance(10 * 60_000);
      await engine.storeCandle({ token, price: by.price });
      const quantity = toPlain(D(trade.filledQuantity).plus(by.larger));
      await openLongByHand(engine, { userId, token, platform, quantity });
      await engine.storeCandle({ token, price: '103' });
      await flatten(engine, { userId, token, platform });
      const reader = createAccountReader(deps);
      for (let times = 0; times < 3; times += 1) {
        engine.clock.advance(10_000);
        await reader.read({ userId, exchangePlatform }, 0);
      }
      return await closingsOf(trade.id);
    }

    test.each([
      ['of the same size at another price', { price: '101', larger: 0 }],
      ['that is larger at the same price', { price: '100', larger: 1 }],
    ])('one that its owner traded by hand %s is not its end: that is unknown', async (_name, by) => {
      expect(await tradedByHand(by)).toMatchObject([
        { exchangePositionId: null, closedBy: 'unknown', realisedProfit: null, closePrice: null },
      ]);
    });
  });

  test.each(firstCases([20_000, -20_000]))(
    'a clock that is %i ms ahead is signed for: nothing is refused',
    async (ms) => {
      engine.setVenueAhead(ms);
      const { trade, userId, token } = await withLong(engine, { exchangePlatform });
      expect((await engine.events(trade.id)).timeline.join()).not.toMatch(/timestamp|not placed/);
      expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({ stopLoss: '98' });
    },
  );
});

describe.each(PLACES)('with $exchangePlatform, whose clock is $apart,', (place) => {
  const { exchangePlatform, ms } = place;
  const test = testInTurn(PLACES, place);
  const apart = new RegExp(
    `The clock of ${exchangePlatform} is ${(Math.abs(ms) / 1000).toFixed(1)} s ${ms < 0 ? 'behind' : 'ahead of'} the clock of this machine, the limit is 30 s`,
  );

  // Requirements: order-execution-14
  test('a signal opens nothing and says why', async () => {
    engine.setVenueAhead(ms);
    const { userId, workflowId } = await storeTradedSignal(engine, { settings: { exchangePlatform } });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(apart);
    expect(await entriesOf(engine, userId)).toEqual([]);
  });

  // Requirements: order-execution-14
  test('an opposite signal closes and opens nothing, and the position keeps its stop', async () => {
    const { userId, token } = await withLong(engine, { exchangePlatform });
    engine.setVenueAhead(ms);
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(apart);
    const held = await engine.holding(userId, token, exchangePlatform);
    expect(held).toMatchObject({ position: { side: 'long' }, stopLoss: '98' });
  });

  // Requirements: order-execution-14
  test('an order that was planned before is not sent', async () => {
    const { trade, userId } = await planTrade(engine, { settings: { exchangePlatform } });
    engine.setVenueAhead(ms);
    await engine.settle();
    expect((await engine.trade(trade.id)).error).toMatch(apart);
    expect(await entriesOf(engine, userId)).toEqual([]);
  });

  // Requirements: order-execution-14
  test('a second attempt is not made; the fill of the first is protected', async () => {
    const { trade, userId, token } = await planTrade(engine, {
      settings: { exchangePlatform },
      faults: [{ kind: 'partialFill', fraction: '0.5', on: { times: ALWAYS } }],
    });
    await advanceTrade(engine.deps, trade.id);
    engine.setVenueAhead(ms);
    await engine.settle();
    expect(await engine.attempts(trade.id)).toHaveLength(1);
    expect((await engine.events(trade.id)).timeline.at(-1)).toMatch(apart);
    expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({ stopLoss: '98' });
  });

  // Requirements: order-execution-14
  test('an order by hand is denied', async () => {
    const { trade } = await withLong(engine, { exchangePlatform });
    engine.setVenueAhead(ms);
    await auditOnce(engine);
    const { denial } = await assessAgain(engine, trade);
    expect(denial?.reason).toMatch(apart);
  });
});

describe('what administrators are told about the clocks', () => {
  const told = () => clockConditions({ exchanges: engine.deps.exchanges })();

  // Requirements: order-execution-14
  test.each(
    inTurn(
      [
        [4_000, null],
        [6_000, 'warning'],
        [31_000, 'critical'],
      ] as const,
      [1, -1],
    ).map(([[ms, severity], sign]) => [sign * ms, severity] as const),
  )('of a difference of %i ms: %s', async (ms, severity) => {
    await withLong(engine);
    engine.setVenueAhead(ms);
    engine.clock.advance(60_000);
    await auditOnce(engine);
    const seconds = `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms < 0 ? 'behind' : 'ahead of'}`;
    const text = expect.stringContaining(`The clock of Bitget is ${seconds} the clock of `);
    const conditions = await told();
    const bitget = conditions.filter((one) => one.text.includes('Bitget'));
    expect(bitget).toMatchObject(severity === null ? [] : [{ code: 'clock_apart', severity, text }]);
  });
});
