import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { findHalt } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import { accountReadings, userSettings } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { firstCases, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken, reasonFor } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { userIdOfVenueKey } from '#test/venues/venue-credentials.ts';
import { createReadAhead } from './read-ahead.ts';
import { runWorkflow } from './run-workflow.ts';

const CANDLE_MS = 15 * 60_000;
/** Contracts and prices are asked for again after this time. */
const CACHED_MS = 61_000;

const sent: { userId: string; path: string }[] = [];

const engine = sharedTestEngine({
  sharesLimits: true,
  config: { readAhead: true },
  watch: {
    async before({ headers, path }: VenueRequest) {
      const userId = userIdOfVenueKey(headers['access-key'] ?? headers['x-bapi-api-key'] ?? '');
      if (userId !== null) sent.push({ userId, path });
    },
  },
});

const pathsOf = (userId: string) => sent.flatMap((one) => (one.userId === userId ? [one.path] : []));
const isOrder = (path: string) => /\/(place-order|order\/create)$/.test(path);
/** Requests of the user's account up to and with its first order. */
function untilOrder(userId: string): number {
  const place = pathsOf(userId).findIndex(isOrder);
  expect(place).toBeGreaterThanOrEqual(0);
  return place + 1;
}

const readingsOf = (userId: string) =>
  engine.db.select().from(accountReadings).where(eq(accountReadings.userId, userId));

async function addUser(exchangePlatform: ExchangePlatform, settings: { tradeOrderSet?: string } = {}) {
  return await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform, ...settings });
}

async function closeByTarget(token: string): Promise<void> {
  await engine.storeCandle({ token, price: '110' });
  engine.clock.advance(CACHED_MS);
  await engine.storeCandle({ token, price: '100' });
}

/** Users who have traded a token and are flat again; two seconds are left until the candle of a new series closes. */
async function beforeClose(exchangePlatform: ExchangePlatform, users = 1) {
  const token = nextToken();
  const userIds: string[] = [];
  for (let number = 0; number < users; number += 1) {
    const tradeOrderSet = String.fromCharCode(65 + number);
    userIds.push(await addUser(exchangePlatform, { tradeOrderSet }));
  }
  await engine.storeCandle({ token, price: '100' });
  engine.clock.advance(CACHED_MS);
  const { signalId } = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  const trades = await engine.trades(signalId);
  expect(trades).toHaveLength(users);
  expect(trades.every(({ success }) => success)).toBe(true);
  await closeByTarget(token);
  const candle = engine.clock.now();
  engine.clock.set(new Date(candle.getTime() + CANDLE_MS - 2_000));
  sent.length = 0;
  const [userId = ''] = userIds;
  return { token, userId, userIds, trades };
}

const readAhead = (deps: EngineDeps = engine.deps) => createReadAhead(deps).run();

/** The candle has closed, and its signal arrives. */
async function signal(token: string, { afterMs = 4_000 } = {}) {
  engine.clock.advance(afterMs);
  sent.length = 0;
  return await engine.storeSignal({ token, price: '100' });
}

async function openByHand(userId: string, token: string, side: 'buy' | 'sell', quantity: string) {
  const account = await engine.deps.findAccount(userId, 'Bitget');
  if (account === null) throw new Error('no account');
  const clientOrderId = timeOrderedId().replaceAll('-', '');
  const prices =
    side === 'buy' ? { stopLoss: '90', takeProfit: '120' } : { stopLoss: '120', takeProfit: '80' };
  const order = { token, side, clientOrderId, price: '100', quantity, leverage: 10, ...prices };
  const notAfter = new Date(engine.clock.now().getTime() + 5_000);
  const placed = await engine.deps.exchanges.get('Bitget').placeOrder(account, order, { notAfter });
  expect(placed.outcome).toBe('placed');
}

describe.each(EXCHANGE_PLATFORMS)('an order at %s', (platform) => {
  const test = testInTurn(EXCHANGE_PLATFORMS, platform);

  test('takes one request up to eleven seconds after the close of the candle', async () => {
    const { token, userId } = await beforeClose(platform);
    await readAhead();
    expect(pathsOf(userId)).toHaveLength(2);
    const { signalId } = await signal(token, { afterMs: 13_000 });
    await engine.settle();
    expect(untilOrder(userId)).toBe(1);
    const [trade] = await engine.trades(signalId);
    expect(trade).toMatchObject({ success: true, protectionStatus: 'verified' });
    expect(trade?.accountReadAt).not.toBeNull();
    expect(await findHalt(engine.db, userId)).toBeNull();
    expect(pathsOf(userId)).toHaveLength(2);
  });

  test('reads the account again when the reading is older', async () => {
    const { token, userId } = await beforeClose(platform);
    await readAhead();
    const { signalId } = await signal(token, { afterMs: 14_500 });
    await engine.settle();
    expect(untilOrder(userId)).toBe(3);
    expect(await engine.trades(signalId)).toMatchObject([{ success: true, accountReadAt: null }]);
    expect(pathsOf(userId)).toHaveLength(4);
  });
});

testEveryCase('a reading is not used after another order of the account', async () => {
  const { token, userId } = await beforeClose('Bitget');
  await readAhead();
  const other = nextToken();
  await engine.storeSignal({ token: other, price: '100' });
  await engine.settle({ deps: answering(engine.deps, () => ({ fetchTicker: async () => null })) });
  // Refused without an order: nothing has changed.
  expect(await readingsOf(userId)).toHaveLength(1);
  const between = await engine.storeSignal({ token: other, price: '100' });
  const [trade] = await engine.plan(between.workflowId);
  expect(trade).toBeDefined();
  const { signalId } = await signal(token, { afterMs: 12_000 });
  await engine.settle();
  expect(await engine.trades(signalId)).toMatchObject([{ accountReadAt: null }]);
});

testEveryCase('an account with an order at work is not kept', async () => {
  const { userId } = await beforeClose('Bitget');
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
  const now = engine.clock.now();
  await runWorkflow(engine.deps, workflowId);
  await planUser(engine.deps, { workflowId, userId });
  expect(engine.clock.now()).toEqual(now);
  await readAhead();
  expect(await readingsOf(userId)).toEqual([]);
});

describe('somebody who trades by hand after the reading', () => {
  test.each(
    firstCases([
      [
        'on the same side',
        'buy',
        '100',
        /position on Bitget is [\d.]+ H\d+, and the order has filled [\d.]+: /,
      ],
      [
        'on the other side',
        'sell',
        '400',
        /position on Bitget is on the other side, and the order has filled /,
      ],
    ]),
  )('%s halts the user, and the position is not touched', async (_name, side, quantity, reason) => {
    const { token, userId } = await beforeClose('Bitget');
    await readAhead();
    await openByHand(userId, token, side, quantity);
    const { signalId } = await signal(token);
    await engine.settle();
    const [trade] = await engine.trades(signalId);
    expect(trade?.accountReadAt).not.toBeNull();
    const halt = await findHalt(engine.db, userId);
    expect(halt).toMatchObject({ kind: 'surplus', tradeId: trade?.id, endedAt: null });
    expect(halt?.reason).toMatch(reason);
    const { timeline } = await engine.events(trade?.id ?? '');
    expect(timeline).toContain(`Trading of this user is halted: ${halt?.reason}`);
    const { position, stopLoss } = await engine.holding(userId, token);
    expect(position).not.toBeNull();
    expect(stopLoss).not.toBeNull();
    const next = await engine.storeSignal({ token: nextToken(), price: '100' });
    await engine.settle();
    expect((await engine.outcomes(next.workflowId)).get(userId)?.outcome).not.toBe('success');
  });

  testEveryCase('gets no order if it leaves so late that the position is read again', async () => {
    const { token, userId } = await beforeClose('Bitget');
    await readAhead();
    const { workflowId } = await signal(token, { afterMs: 12_500 });
    const [trade] = await engine.plan(workflowId);
    expect(trade?.accountReadAt).not.toBeNull();
    engine.clock.advance(2_000);
    await openByHand(userId, token, 'buy', '100');
    sent.length = 0;
    await engine.settle();
    expect(pathsOf(userId).filter(isOrder)).toEqual([]);
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(/position/i);
    expect(await findHalt(engine.db, userId)).toBeNull();
  });
});

describe('accounts are read', () => {
  test('so that they end about a second before the close, once, by one instance', async () => {
    const { userId } = await beforeClose('Bitget');
    engine.clock.advance(-500);
    await readAhead();
    expect(pathsOf(userId)).toEqual([]);
    engine.clock.advance(500);
    await Promise.all([readAhead(), readAhead(), readAhead()]);
    expect(pathsOf(userId)).toHaveLength(2);
    engine.clock.advance(500);
    await readAhead();
    expect(pathsOf(userId)).toHaveLength(2);
    expect(await readingsOf(userId)).toHaveLength(1);
  });

  testEveryCase(
    'the earlier the more they are, in the order of trading, as many as are young when their turn comes',
    async () => {
      const { userIds } = await beforeClose('Bitget', 3);
      // Each takes four seconds of what half of the address may send.
      const deps = answering(engine.deps, () => ({ requestsPerSecond: 1 }));
      engine.clock.advance(-8_500);
      await readAhead(deps);
      expect(userIds.map((userId) => pathsOf(userId).length)).toEqual([0, 0, 0]);
      engine.clock.advance(500);
      await readAhead(deps);
      expect(userIds.map((userId) => pathsOf(userId).length)).toEqual([2, 2, 0]);
    },
  );

  testEveryCase('only when the candles of the timeframe are delivered', async () => {
    const { userId } = await beforeClose('Bitget');
    engine.clock.advance(4 * CANDLE_MS);
    await readAhead();
    expect(pathsOf(userId)).toEqual([]);
  });

  testEveryCase('and an account that cannot be read is read for the order', async () => {
    const { token, userId } = await beforeClose('Bitget');
    engine.venue.setFaults([{ kind: 'badGatewayBefore', on: { path: 'single-position', userId } }]);
    await readAhead();
    expect(await readingsOf(userId)).toEqual([]);
    const { signalId } = await signal(token);
    await engine.settle();
    expect(await engine.trades(signalId)).toMatchObject([{ success: true, accountReadAt: null }]);
  });

  testEveryCase('except those with a position in the token', async () => {
    const { token, userId } = await beforeClose('Bitget');
    await openByHand(userId, token, 'buy', '1');
    await readAhead();
    expect(await readingsOf(userId)).toEqual([]);
  });
});

testEveryCase('a series whose users cannot be selected keeps no other from being read ahead', async () => {
  const { token, userId } = await beforeClose('Bitget');
  await engine.db.update(userSettings).set({ signalProcessor: 'Any' }).where(eq(userSettings.userId, userId));
  // Two series of the same candles; the order in which they are read does not matter.
  await engine.storeSignal({ token, price: '100', processor: 'UD Bot' });
  let calls = 0;
  const { accountGuard } = engine.deps;
  const failing: typeof accountGuard = {
    ...accountGuard,
    readDenials() {
      calls += 1;
      return calls === 1 ? Promise.reject(new TypeError('a bug')) : accountGuard.readDenials();
    },
  };
  await readAhead({ ...engine.deps, accountGuard: failing });
  expect(calls).toBe(2);
  expect(await readingsOf(userId)).not.toEqual([]);
});
