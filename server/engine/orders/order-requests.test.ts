import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { findHalt } from '#server/admin/halts/trading-halts.store.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { ExchangeError, type OrderFill, type OrderReport } from '#server/exchanges/exchange.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { entriesOf, planTrade, sharedTestEngine, tradingOn } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { userIdOfVenueKey } from '#test/venues/venue-credentials.ts';

/* How many requests of an account reach the exchange for one order, from the signal to the end of its trade. */

/** Contracts and prices are asked for again after this time. */
const CACHED_MS = 61_000;
const sent: { userId: string; path: string }[] = [];

const engine = sharedTestEngine({
  sharesLimits: true,
  watch: {
    async before({ headers, path }: VenueRequest) {
      const userId = userIdOfVenueKey(headers['access-key'] ?? headers['x-bapi-api-key'] ?? '');
      if (userId !== null) sent.push({ userId, path });
    },
  },
});

const pathsOf = (userId: string) => sent.flatMap((one) => (one.userId === userId ? [one.path] : []));
const untilOrder = (userId: string) =>
  pathsOf(userId).findIndex((path) => /\/(place-order|order\/create)$/.test(path)) + 1;

const isLookUp = (path: string) => /\/(order-info|order\/detail|order\/realtime)$/.test(path);

async function trade(token: string): Promise<string> {
  await engine.storeCandle({ token, price: '100' });
  engine.clock.advance(CACHED_MS);
  sent.length = 0;
  const { signalId } = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  const trades = await engine.trades(signalId);
  expect(trades).toMatchObject([{ success: true, fillStatus: 'filled', protectionStatus: 'verified' }]);
  return trades[0]?.id ?? '';
}

async function closeByTarget(token: string): Promise<void> {
  await engine.storeCandle({ token, price: '110' });
  engine.clock.advance(CACHED_MS);
}

async function auditOnce(deps = engine.deps): Promise<void> {
  const { db, clock, log } = deps;
  const lease = { db, clock, key: 'protection:audit', holder: 'test', log };
  await withLease(lease, (own) => createProtectionAudit(deps).run(own));
}

describe.each(
  firstCases([
    { dialect: 'Bitget', afterOrder: 1, lookedUp: 'later' },
    { dialect: 'Bitget unified', afterOrder: 2, lookedUp: 'at once' },
    { dialect: 'Bybit', afterOrder: 1, lookedUp: 'later' },
  ] as const),
)('an order at $dialect that fills at once', ({ dialect, afterOrder, lookedUp }) => {
  const exchangePlatform = tradingOn(engine, dialect);

  test('takes five requests as the first one in a token, three as a prepared one; five in all with its fee', async () => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
    // One-way mode is set once for the whole account.
    const other = nextToken();
    await trade(other);
    await closeByTarget(other);
    const token = nextToken();
    await trade(token);
    expect(untilOrder(userId)).toBe(5);
    expect(pathsOf(userId)).toHaveLength(5 + afterOrder);
    await closeByTarget(token);
    const prepared = await trade(token);
    expect(untilOrder(userId)).toBe(3);
    expect(pathsOf(userId)).toHaveLength(3 + afterOrder);
    const { fee } = await engine.trade(prepared);
    expect(fee !== null).toBe(lookedUp === 'at once');
    engine.clock.advance(61_000);
    await auditOnce();
    expect(pathsOf(userId).filter(isLookUp)).toHaveLength(1);
    const [attempt] = await engine.attempts(prepared);
    const entries = await entriesOf(engine, userId);
    const order = entries.find(({ clientOrderId }) => clientOrderId === attempt?.clientOrderId);
    const ended = await engine.trade(prepared);
    expect(D(ended.fee ?? '-1').eq(order?.fee ?? '-2')).toBe(true);
  });
});

describe('an order of a unified account of Bitget whose report does not prove a whole, protected fill', () => {
  const exchangePlatform = tradingOn(engine, 'Bitget unified');
  const claims: [string, (fill: OrderFill) => OrderFill][] = [
    ['it is still open', ({ report }) => ({ report: { ...report, state: 'open' }, protection: null })],
    ['less is filled', (fill) => ({ ...fill, report: { ...fill.report, filledQuantity: '0.001' } })],
    ['it is of another side', (fill) => ({ ...fill, report: { ...fill.report, side: 'sell' } })],
    [
      'its price is beyond the limit',
      (fill) => ({ ...fill, report: { ...fill.report, averagePrice: '200' } }),
    ],
    ['there is no stop', (fill) => ({ ...fill, protection: { stopLoss: null, takeProfit: '1' } })],
    ['the stop is elsewhere', (fill) => ({ ...fill, protection: { stopLoss: '1', takeProfit: '1' } })],
  ];

  test('is asked for once, and has its position read', async () => {
    for (const [claim, changed] of firstCases(claims, 2)) {
      const { trade: planned } = await planTrade(engine, { settings: { exchangePlatform } });
      await engine.advance(planned.id);
      const deps = answering(engine.deps, ({ fetchFill }) => ({
        async fetchFill(...request) {
          const fill = await fetchFill(...request);
          return fill === null ? null : changed(fill);
        },
      }));
      engine.clock.advance(1_001);
      await advanceTrade(deps, planned.id);
      expect((await engine.events(planned.id)).calls, claim).toContain('positions');
      await engine.settle();
      const ended = await engine.trade(planned.id);
      expect(ended, claim).toMatchObject({ success: true, protectionStatus: 'verified', fee: null });
      expect((await engine.events(planned.id)).calls.filter((call) => call === 'find-order')).toHaveLength(1);
      engine.clock.advance(61_000);
      await auditOnce();
      expect((await engine.trade(planned.id)).fee, claim).not.toBeNull();
    }
  });
});

describe('an order whose position has no turn at the exchange, behind the orders of others', () => {
  /** The position is read once the order was sent so long ago. */
  async function readAfter(ms: number) {
    engine.clock.advance(CACHED_MS);
    const planned = await planTrade(engine);
    await engine.advance(planned.trade.id);
    const from = engine.clock.now().getTime() + ms;
    const deps = answering(engine.deps, ({ fetchHolding }) => ({
      async fetchHolding(...request) {
        if (engine.clock.now().getTime() >= from) return await fetchHolding(...request);
        throw new ExchangeError('retry-later', 'the request limit is reached');
      },
    }));
    await engine.settle({ deps });
    const ended = await engine.trade(planned.trade.id);
    expect(ended).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
    engine.clock.advance(CACHED_MS);
    return await engine.events(planned.trade.id);
  }

  test('is not looked up: its position, read when it has one, proves fill and stop', async () => {
    expect((await readAfter(40_000)).calls).not.toContain('find-order');
  });

  test('is looked up after a minute', async () => {
    expect((await readAfter(80_000)).calls).toContain('find-order');
  });
});

describe('an order whose fill its position has proven', () => {
  async function filled() {
    const planned = await planTrade(engine);
    await engine.settle();
    expect(await engine.trade(planned.trade.id)).toMatchObject({ success: true, fee: null });
    expect((await engine.events(planned.trade.id)).calls).not.toContain('find-order');
    return planned;
  }

  test('is looked up for its fee a minute later, once', async () => {
    const { trade: planned, userId } = await filled();
    engine.clock.advance(30_000);
    await auditOnce();
    expect((await engine.trade(planned.id)).fee).toBeNull();
    engine.clock.advance(31_000);
    await auditOnce();
    const [order] = await entriesOf(engine, userId);
    const ended = await engine.trade(planned.id);
    expect(D(ended.fee ?? '0').eq(order?.fee ?? '-1')).toBe(true);
    expect(ended.exchangeResponse).toMatchObject({ fee: ended.fee, priceAvg: ended.averagePrice });
    sent.length = 0;
    await auditOnce();
    expect(pathsOf(userId).filter((path) => path.endsWith('order/detail'))).toEqual([]);
  });

  testEveryCase(
    'is cancelled while it is open, and halts its user if it ends with less: somebody has traded by hand',
    async () => {
      const { trade: planned, userId } = await filled();
      const cancelled: string[] = [];
      const showing = (state: OrderReport['state']) =>
        answering(engine.deps, ({ findOrder }) => ({
          async findOrder(...request) {
            const report = await findOrder(...request);
            return report === null ? null : { ...report, state, filledQuantity: '1' };
          },
          async cancelOrder(_account, { clientOrderId }) {
            cancelled.push(clientOrderId);
            return { outcome: 'accepted' };
          },
        }));
      engine.clock.advance(61_000);
      await auditOnce(showing('partially-filled'));
      const [attempt] = await engine.attempts(planned.id);
      expect(cancelled).toEqual([attempt?.clientOrderId]);
      expect(await findHalt(engine.db, userId)).toBeNull();
      await auditOnce(showing('cancelled'));
      expect(await findHalt(engine.db, userId)).toMatchObject({ kind: 'surplus', tradeId: planned.id });
      expect(await engine.trade(planned.id)).toMatchObject({ success: true, protectionStatus: 'verified' });
    },
  );
});
