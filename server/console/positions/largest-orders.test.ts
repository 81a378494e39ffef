import { asc, eq } from 'drizzle-orm';
import { describe, expect } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import type { Clock } from '#server/platform/clock.ts';
import { positionCloses, tradingHalts } from '#server/platform/db/schema.ts';
import { firstCases, oneOfEachKind, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import {
  ALWAYS,
  entriesOf,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
  strike,
  tradingOn,
} from '#test/app/shared-test-engine.ts';
import { nextToken, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import { dyingAt } from '#test/venues/dying-exchange.ts';
import { SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { closeOpenPosition } from './close-open-position.ts';

/** Contracts whose largest market order is smaller than what is held in them (I4: always closable). */
const engine = sharedTestEngine();

const CONTRACTS_AGE_MS = 3_600_001;
const MAXIMUM = '60';

/** The exchange sets the contract's largest orders, and the program reads the list again. */
function bound(
  platform: ExchangePlatform,
  token: string,
  maxima: { maximumQuantity?: string; maximumMarketQuantity?: string },
): void {
  engine.venue.setContracts([{ platform, token, ...maxima }]);
  engine.clock.advance(CONTRACTS_AGE_MS);
}

const closesOf = (userId: string) =>
  engine.db
    .select()
    .from(positionCloses)
    .where(eq(positionCloses.userId, userId))
    .orderBy(asc(positionCloses.id));

const closingOrders = async (userId: string) =>
  (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);

const sumOf = (orders: { size: string }[]) => toPlain(orders.reduce((sum, { size }) => sum.plus(size), D(0)));

/** More than one order, none above the largest, each with an id of its own, together what was held. */
async function expectParts(userId: string, held: string): Promise<void> {
  const orders = await closingOrders(userId);
  expect(orders.length).toBeGreaterThan(1);
  expect(orders.every(({ size }) => D(size).lte(MAXIMUM))).toBe(true);
  expect(new Set(orders.map(({ clientOrderId }) => clientOrderId)).size).toBe(orders.length);
  expect(sumOf(orders)).toBe(toPlain(held));
}

const closeByHand = (userId: string, token: string, percent = 100, deps = engine.deps) =>
  closeOpenPosition(deps, createAccountReader(deps), {
    userId,
    token,
    percent,
    requestedBy: userId,
  });

/** What closes sees this much time pass between two looks at its clock. */
function secondsPerLook(seconds: number): EngineDeps {
  let nowMs = 0;
  function monotonicMs(): number {
    nowMs += seconds * 1_000;
    return nowMs;
  }
  const clock: Clock = { ...engine.clock, monotonicMs };
  return { ...engine.deps, clock };
}

const ENTRY_DIALECTS = oneOfEachKind(SUITE_DIALECTS, (dialect) => dialect !== 'Bitget');
describe.each(ENTRY_DIALECTS)('at %s, an entry above the largest order', (dialect) => {
  const exchangePlatform = tradingOn(engine, dialect);
  const test = testInTurn(ENTRY_DIALECTS, dialect);

  // Requirements: order-execution-13
  test('is denied with both figures before anything is sent', async () => {
    const token = nextToken();
    bound(exchangePlatform, token, { maximumQuantity: '100' });
    const { userId, workflowId } = await storeTradedSignal(engine, {
      settings: { exchangePlatform },
      signal: { token },
    });
    await engine.settle();
    const reason = await reasonFor(engine, { workflowId, userId });
    expect(reason).toMatch(
      new RegExp(
        `^Quantity 1\\d\\d(\\.\\d+)? ${token} is above the exchange's largest order of 100 ${token};`,
      ),
    );
    expect(await engine.exchangeOrders(userId)).toEqual([]);
  });

  test('is not sent either when the maximum came after it was planned', async () => {
    const { trade, userId, token } = await planTrade(engine, { settings: { exchangePlatform } });
    engine.venue.setContracts([{ platform: exchangePlatform, token, maximumQuantity: '100' }]);
    // Reads the list of contracts again.
    await engine.deps.exchanges.get(exchangePlatform).fetchContract('NOSUCHTOKEN');
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect((await engine.trade(trade.id)).error).toContain(`is above the largest order of 100 ${token}`);
  });
});

const AT_BITGET = ['Bitget', 'Bitget unified'] as const;
describe.each(AT_BITGET)('at %s, the stop of a position above the largest market order', (dialect) => {
  tradingOn(engine, dialect);
  const test = testInTurn(AT_BITGET, dialect);

  const withLarge = async () => {
    const held = await withLong(engine);
    bound('Bitget', held.token, { maximumMarketQuantity: MAXIMUM });
    return held;
  };
  const heldBy = async (userId: string, token: string) => {
    const account = await engine.deps.findAccount(userId, 'Bitget');
    if (account === null) throw new Error('no account');
    return { account, exchange: engine.deps.exchanges.get('Bitget'), token };
  };
  const inTime = () => ({ notAfter: new Date(engine.clock.now().getTime() + 60_000) });

  test('is placed again for the whole position, without a size', async () => {
    const { userId, token, trade } = await withLarge();
    const { account, exchange } = await heldBy(userId, token);
    await exchange.cancelProtection(account, token);
    const quantity = trade.filledQuantity;
    const stop = { token, side: 'long' as const, quantity, stopLoss: '98', takeProfit: '104' };
    await exchange.placeProtection(account, { ...stop, clientOrderId: 'stop-again' }, inTime());
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });

  test('is not moved where its size is refused, and the present one stays', async () => {
    const { userId, token, trade } = await withLarge();
    const { account, exchange } = await heldBy(userId, token);
    const quantity = trade.filledQuantity;
    const move = { token, side: 'long' as const, quantity, stopLoss: '99', takeProfit: null };
    const moving = exchange.moveProtection(account, { ...move, clientOrderId: 'stop-moved' }, inTime());
    await expect(moving).rejects.toMatchObject(
      dialect === 'Bitget'
        ? {
            kind: 'refused',
            code: 'not-sent',
            message: expect.stringContaining(`the largest market order of ${MAXIMUM} ${token}`),
          }
        : { kind: 'refused', code: '45112' },
    );
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });
});

describe.each(SUITE_DIALECTS)('at %s, a position above the largest market order', (dialect) => {
  const exchangePlatform = tradingOn(engine, dialect);
  const test = testInTurn(SUITE_DIALECTS, dialect);

  const withLarge = async () => {
    const held = await withLong(engine, { exchangePlatform });
    bound(exchangePlatform, held.token, { maximumMarketQuantity: MAXIMUM });
    return held;
  };

  // Requirements: order-execution-13
  test('is closed by hand in parts', async () => {
    const { userId, token, trade } = await withLarge();
    expect(await closeByHand(userId, token)).toMatchObject({ success: true });
    expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({
      position: null,
      stopLoss: null,
    });
    await expectParts(userId, trade.filledQuantity);
    expect((await closesOf(userId)).every(({ state }) => state === 'closed')).toBe(true);
  });

  testEveryCase('is closed by hand to a fifth in parts, which count as taken off the trade', async () => {
    const { userId, token, trade } = await withLarge();
    expect(await closeByHand(userId, token, 80)).toMatchObject({ success: true });
    const { position, stopLoss } = await engine.holding(userId, token, exchangePlatform);
    const left = toPlain(position?.size ?? '0');
    await expectParts(userId, toPlain(D(trade.filledQuantity).minus(left)));
    expect(stopLoss).toBe('98');
    expect(await closesOf(userId)).toMatchObject(
      (await closingOrders(userId)).map(({ size }) => ({ quantity: toPlain(size), leftQuantity: left })),
    );
  });

  testEveryCase('is closed by hand for longer than fifteen seconds while more of it closes', async () => {
    const { userId, token, trade } = await withLarge();
    strike(engine, userId, [{ kind: 'tooManyRequests', on: { operation: 'close-position', nth: 2 } }]);
    expect(await closeByHand(userId, token, 100, secondsPerLook(10))).toMatchObject({ success: true });
    await expectParts(userId, trade.filledQuantity);
  });

  testEveryCase(
    'is not closed by hand without an end, and the answer says what is closed and what is open',
    async () => {
      const { userId, token, trade } = await withLarge();
      strike(engine, userId, [{ kind: 'tooManyRequests', on: { operation: 'close-position', nth: 2 } }]);
      const { success, message } = await closeByHand(userId, token, 100, secondsPerLook(61));
      const open = toPlain((await engine.holding(userId, token, exchangePlatform)).position?.size ?? '0');
      const closed = toPlain(D(trade.filledQuantity).minus(open));
      expect(success).toBe(false);
      expect(message).toContain(
        `${closed} of ${toPlain(trade.filledQuantity)} ${token} is closed so far, and ${open} is still open`,
      );
      expect(D(closed).gt(0) && D(open).gt(0)).toBe(true);
      expect(await closeByHand(userId, token)).toMatchObject({ success: true });
      await expectParts(userId, trade.filledQuantity);
    },
  );

  testEveryCase('says what is closed when the exchange refuses the rest', async () => {
    const { userId, token, trade } = await withLarge();
    strike(engine, userId, [
      { kind: 'closeRefused', on: { operation: 'close-position', nth: 2, times: ALWAYS } },
    ]);
    const { success, message } = await closeByHand(userId, token);
    const open = toPlain((await engine.holding(userId, token, exchangePlatform)).position?.size ?? '0');
    const closed = toPlain(D(trade.filledQuantity).minus(open));
    expect(success).toBe(false);
    expect(message).toMatch(
      `${closed} of ${toPlain(trade.filledQuantity)} ${token} is closed so far, and ${open} is still open`,
    );
  });

  testEveryCase('is closed by a signal that closes in parts, and the step tells all of it', async () => {
    const { userId, token, trade } = await withLarge();
    const parameters = { action: 'close' as const };
    const { workflowId } = await engine.storeSignal({ token, price: '100', ...parameters, parameters });
    await engine.settle();
    await expectParts(userId, trade.filledQuantity);
    const steps = await engine.steps(workflowId);
    expect(steps.find(({ stepType }) => stepType === 'order_submission')?.outputData).toMatchObject({
      closed: toPlain(trade.filledQuantity),
      left: '0',
    });
  });

  testEveryCase('is reversed', async () => {
    const { userId, token, trade } = await withLarge();
    await engine.storeCandle({ token, price: '100' });
    await oppositeSignal(engine, token);
    await engine.settle();
    expect((await engine.holding(userId, token, exchangePlatform)).position).toMatchObject({ side: 'short' });
    await expectParts(userId, trade.filledQuantity);
  });

  test('is closed in parts within ten seconds when its stop cannot be placed', async () => {
    const token = nextToken();
    bound(exchangePlatform, token, { maximumMarketQuantity: MAXIMUM });
    const { trade, userId } = await planTrade(engine, {
      settings: { exchangePlatform },
      signal: { token },
      faults: [{ kind: 'stopDropped' }, { kind: 'stopRefused', on: { times: ALWAYS } }],
    });
    await engine.settle();
    const done = await engine.trade(trade.id);
    expect(done).toMatchObject({ state: 'done', protectionStatus: 'closed' });
    await expectParts(userId, done.filledQuantity);
    expect(await engine.db.select().from(tradingHalts).where(eq(tradingHalts.userId, userId))).toEqual([]);
  });

  test.each(firstCases(['before', 'after']))(
    'is closed once when the process dies %s a part',
    async (when) => {
      const { userId, token, trade } = await withLarge();
      await engine.storeCandle({ token, price: '100' });
      await oppositeSignal(engine, token);
      await expect(engine.settle({ deps: dyingAt(engine.deps, 'closePosition', when, 2) })).rejects.toThrow();
      await engine.restart();
      await engine.settle();
      expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({
        position: { side: 'short' },
      });
      await expectParts(userId, trade.filledQuantity);
      expect(await entriesOf(engine, userId)).toHaveLength(2);
    },
  );

  testEveryCase('is closed though the largest order became smaller since the list was read', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    engine.venue.setContracts([{ platform: exchangePlatform, token, maximumMarketQuantity: MAXIMUM }]);
    expect(await closeByHand(userId, token)).toMatchObject({ success: true });
    await expectParts(userId, trade.filledQuantity);
  });

  testEveryCase('is closed when the exchange refuses a part for the moment', async () => {
    const { userId, token, trade } = await withLarge();
    strike(engine, userId, [{ kind: 'tooManyRequests', on: { operation: 'close-position', nth: 2 } }]);
    expect(await closeByHand(userId, token, 80)).toMatchObject({ success: true });
    const { position } = await engine.holding(userId, token, exchangePlatform);
    await expectParts(userId, toPlain(D(trade.filledQuantity).minus(position?.size ?? '0')));
    const counted = (await closesOf(userId)).filter(({ state }) => state === 'closed');
    expect(sumOf(counted.map(({ quantity }) => ({ size: quantity })))).toBe(
      toPlain(D(trade.filledQuantity).minus(position?.size ?? '0')),
    );
    expect(counted.every(({ leftQuantity }) => leftQuantity !== null)).toBe(true);
  });
});
