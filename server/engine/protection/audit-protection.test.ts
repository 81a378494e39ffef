import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, trades, tradingHalts, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { acquireLease, withLease } from '#server/platform/jobs/leases.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import type { VenueFault, VenueFaultKind } from '#test/venues/faults.ts';
import { createProtectionAudit } from './audit-protection.ts';
import { startProtectionAudit } from './watch-protection.ts';

/** Positions that were protected once, and are not any more (I4). */
let engine: TestEngine;
let audit: ReturnType<typeof createProtectionAudit>;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine({ config: { exchangeTimeoutMs: 300 } });
});
beforeEach(() => {
  audit = createProtectionAudit(engine.deps);
});
afterEach(async () => {
  engine.venue.setFaults([]);
  await engine.settle();
  await engine.db.update(users).set({ isActive: false });
});
afterAll(() => engine.close());

const always = Number.POSITIVE_INFINITY;
type Fault = VenueFaultKind & { on?: VenueFault['on'] };
const noStop: Fault = { kind: 'stopRefused', on: { times: always } };
const noClose: Fault = { kind: 'closeRefused', on: { times: always } };

function fail(userId: string, ...faults: Fault[]): void {
  engine.venue.setFaults(faults.map((fault) => ({ ...fault, on: { ...fault.on, userId } })));
}

async function runAudit(by = audit): Promise<void> {
  const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
  const leased = await withLease(key, (lease) => by.run(lease));
  expect(leased.held).toBe(true);
}

/** A user with a long position of ours at 100, its stop at 98 and its target at 104. */
async function withPosition(exchangePlatform: ExchangePlatform = 'Bitget') {
  count += 1;
  const token = `V${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
  const { signalId } = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  const trade = (await engine.trades(signalId)).find((one) => one.userId === userId);
  if (trade === undefined) throw new Error('no trade');
  expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
  return { userId, token, trade };
}

/** The exchange loses them, and tells nobody. */
const lose = (userId: string, ...plans: ('pos_loss' | 'pos_profit')[]) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), inArray(paperTriggerOrders.planType, plans)));

const linesOf = async (tradeId: string) => (await engine.events(tradeId)).timeline;
const haltsOf = (userId: string) =>
  engine.db.select().from(tradingHalts).where(eq(tradingHalts.userId, userId));

const haltFor = ({ id: tradeId, userId, exchangePlatform, token }: typeof trades.$inferSelect) =>
  engine.db.insert(tradingHalts).values({
    id: timeOrderedId(),
    userId,
    exchangePlatform,
    token,
    tradeId,
    kind: 'unprotected',
    reason: 'A test',
    since: engine.clock.now(),
  });

describe('an open position of ours', () => {
  test.each(EXCHANGE_PLATFORMS)(
    'that lost its stop on %s gets it again, and its timeline says so',
    async (platform) => {
      const { userId, token, trade } = await withPosition(platform);
      await lose(userId, 'pos_loss', 'pos_profit');
      await runAudit();
      expect(await engine.trade(trade.id)).toMatchObject({
        state: 'protecting',
        protectionStatus: 'missing',
      });
      await engine.settle();
      expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
      const done = await engine.trade(trade.id);
      expect(done).toMatchObject({ state: 'done', success: true, protectionStatus: 'repaired' });
      expect(done.completedAt).toEqual(trade.completedAt);
      expect((await linesOf(trade.id)).slice(-2)).toEqual([
        'The audit found the open position without its stop loss: placing it again',
        'Protection was missing and is placed: stop 98, target 104',
      ]);
      expect(await haltsOf(userId)).toEqual([]);
    },
  );

  /** Somebody moves it by hand, at the exchange. */
  const moveStop = (userId: string, triggerPrice: string) =>
    engine.db
      .update(paperTriggerOrders)
      .set({ triggerPrice })
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));

  test('whose stop is on the wrong side of it has none, and gets its own', async () => {
    const { userId, token, trade } = await withPosition();
    await moveStop(userId, '102');
    await haltFor(trade);
    await runAudit();
    expect(await haltsOf(userId)).toMatchObject([{ clearedAt: null }]);
    await engine.settle();
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', protectionStatus: 'repaired' });
    expect(await haltsOf(userId)).toMatchObject([
      { clearedHow: 'Protection was missing and is placed: stop 98, target 104' },
    ]);
  });

  test('whose stop has followed the price beyond its entry is left alone', async () => {
    const { userId, token, trade } = await withPosition();
    await engine.storeCandle({ token, price: '103' });
    await moveStop(userId, '102');
    await runAudit();
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  test('that its stop closes between two looks was not without one', async () => {
    const { userId, token, trade } = await withPosition();
    const exchanges: typeof engine.deps.exchanges = {
      ...engine.deps.exchanges,
      get(platform) {
        const exchange = engine.deps.exchanges.get(platform);
        return {
          ...exchange,
          async fetchHoldings(...call) {
            const holdings = await exchange.fetchHoldings(...call);
            // Positions of the tests before are looked at as well.
            if (call[0].userId !== userId) return holdings;
            await engine.storeCandle({ token, price: '97' });
            return holdings.map(({ position }) => ({
              position,
              protection: { stopLoss: null, takeProfit: null },
            }));
          },
        };
      },
    };
    const lines = await linesOf(trade.id);
    await runAudit(createProtectionAudit({ ...engine.deps, exchanges }));
    expect(await engine.trade(trade.id)).toEqual(trade);
    expect(await linesOf(trade.id)).toEqual(lines);
  });

  test('that has its stop and target is left alone', async () => {
    const { trade } = await withPosition();
    const before = await engine.events(trade.id);
    await runAudit();
    expect(await engine.events(trade.id)).toEqual(before);
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  test('that lost its stop while the price passed it is closed at market', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_loss');
    await engine.storeCandle({ token, price: '97.5' });
    await runAudit();
    const foundAt = engine.clock.now().getTime();
    await engine.settle();
    expect(engine.clock.now().getTime() - foundAt).toBeLessThan(2_000);
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect(await engine.trade(trade.id)).toMatchObject({
      state: 'done',
      success: true,
      protectionStatus: 'closed',
    });
    expect((await linesOf(trade.id)).at(-1)).toBe(
      'Closed: The stop loss was lost and could not be placed again, so the position was closed at market',
    );
    await runAudit();
    const [closed] = await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId));
    expect(closed).toMatchObject({ closedBy: 'protection' });
  });

  test.each(EXCHANGE_PLATFORMS)(
    'whose stop %s does not take again is closed after five seconds',
    async (platform) => {
      const { userId, token, trade } = await withPosition(platform);
      await lose(userId, 'pos_loss');
      fail(userId, noStop);
      await runAudit();
      const foundAt = engine.clock.now().getTime();
      await engine.settle();
      const tookMs = engine.clock.now().getTime() - foundAt;
      expect(tookMs).toBeGreaterThanOrEqual(5_000);
      expect(tookMs).toBeLessThanOrEqual(10_000);
      expect((await engine.holding(userId, token)).position).toBeNull();
      expect(await engine.trade(trade.id)).toMatchObject({ protectionStatus: 'closed' });
      expect(await haltsOf(userId)).toEqual([]);
    },
  );

  test('that can be neither protected nor closed halts its user; what the exchange shows then clears the halt', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_loss');
    fail(userId, noStop, noClose);
    await runAudit();
    await expect(engine.settle({ maxRounds: 26 })).rejects.toThrow('work was left');
    expect(await haltsOf(userId)).toMatchObject([{ kind: 'unprotected', token, clearedAt: null }]);
    // Somebody places a stop by hand, at the exchange.
    await engine.db
      .update(paperTriggerOrders)
      .set({ state: 'live' })
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));
    await runAudit();
    const [halt] = await haltsOf(userId);
    expect(halt).toMatchObject({ clearedHow: 'The exchange shows the stop 98', endedAt: null });
    await engine.settle();
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
    expect((await engine.holding(userId, token)).position).not.toBeNull();
  });

  test('whose stop is missing in the list of all, and there when it is asked for alone, is left alone', async () => {
    const { trade } = await withPosition();
    const exchanges: typeof engine.deps.exchanges = {
      ...engine.deps.exchanges,
      get(platform) {
        const exchange = engine.deps.exchanges.get(platform);
        return {
          ...exchange,
          fetchHoldings: async (...call) =>
            (await exchange.fetchHoldings(...call)).map(({ position }) => ({
              position,
              protection: { stopLoss: null, takeProfit: null },
            })),
        };
      },
    };
    await runAudit(createProtectionAudit({ ...engine.deps, exchanges }));
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  test('that vanished is recorded as closed, and clears the halt that waited for it', async () => {
    const { userId, token, trade } = await withPosition();
    await haltFor(trade);
    await engine.storeCandle({ token, price: '97' });
    await runAudit();
    const rows = await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId));
    expect(rows).toMatchObject([{ closedBy: 'stop loss' }]);
    expect(await haltsOf(userId)).toMatchObject([{ clearedHow: 'The exchange shows no position' }]);
  });
});

// Requirements: additions-order-and-positions-9
test.each([
  ['another mode', { exchangeMode: 'live' }],
  ['another account', { exchangeAccountId: '4711' }],
] as const)(
  'what is not found of a position in %s is neither closed nor ends the halt for it',
  async (_name, other) => {
    const { userId, token, trade } = await withPosition();
    await haltFor(trade);
    await engine.db.update(trades).set(other).where(eq(trades.id, trade.id));
    await engine.storeCandle({ token, price: '97' });
    for (const days of [0, 2]) {
      engine.clock.advance(days * 24 * 3_600_000);
      await runAudit();
    }
    expect(await engine.trade(trade.id)).toEqual({ ...trade, ...other });
    expect(await haltsOf(userId)).toMatchObject([{ clearedAt: null }]);
    expect(await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId))).toEqual(
      [],
    );
  },
);

// Requirements: additions-order-and-positions-10
test('a halt for a position of demo mode is an administrator’s to end in another one', async () => {
  const { userId, trade } = await withPosition();
  await haltFor(trade);
  await engine.db.update(trades).set({ exchangeMode: 'demo' }).where(eq(trades.id, trade.id));
  await runAudit();
  expect(await haltsOf(userId)).toMatchObject([
    { clearedHow: 'The position is one of demo mode', endedAt: null },
  ]);
});

describe('a take profit that is missing', () => {
  test('is placed again, and nothing else is said or done', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_profit');
    await runAudit();
    await engine.settle();
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    expect((await linesOf(trade.id)).at(-1)).toBe(
      'Protection was missing and is placed: stop 98, target 104',
    );
  });

  test('and cannot be placed is tried less and less often, without filling the timeline', async () => {
    const { userId, trade } = await withPosition();
    await lose(userId, 'pos_profit');
    fail(userId, noStop);
    const lines = await linesOf(trade.id);
    const triesAt: number[] = [];
    const startedAt = engine.clock.now().getTime();
    for (let round = 0; round < 10; round += 1) {
      await runAudit();
      if ((await engine.trade(trade.id)).state === 'protecting') triesAt.push(round * 30_000);
      await engine.settle();
      engine.clock.set(new Date(startedAt + (round + 1) * 30_000));
    }
    expect(triesAt).toEqual([0, 30_000, 90_000, 210_000]);
    expect(await linesOf(trade.id)).toEqual(lines);
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', protectionStatus: 'verified' });
    expect(await haltsOf(userId)).toEqual([]);
  });

  test('and was passed by the price is not placed, since it would trigger at once', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_profit');
    await engine.storeCandle({ token, price: '105' });
    await runAudit();
    expect((await engine.trade(trade.id)).state).toBe('done');
    expect(await engine.holding(userId, token)).toMatchObject({ takeProfit: null, stopLoss: '98' });
  });
});

describe('an exchange that does not answer', () => {
  test.each<[string, Fault]>([
    ['of stops with a 502', { kind: 'badGatewayBefore', on: { operation: 'protection', times: always } }],
    ['of stops with nothing readable', { kind: 'html200', on: { operation: 'protection', times: always } }],
    ['of positions', { kind: 'badGatewayBefore', on: { operation: 'positions', times: always } }],
    ['of positions with an empty 200', { kind: 'empty200', on: { operation: 'positions', times: always } }],
  ])('%s is not one that has no stop: nothing is done', async (_name, fault) => {
    const { userId, trade } = await withPosition();
    await lose(userId, 'pos_loss');
    fail(userId, fault);
    await runAudit();
    expect(await engine.trade(trade.id)).toEqual(trade);
    expect(await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId))).toEqual(
      [],
    );
    engine.venue.setFaults([]);
    await lose(userId);
    await runAudit(createProtectionAudit(engine.deps));
    expect((await engine.trade(trade.id)).state).toBe('protecting');
  });

  test('for one user has the others repaired all the same, and is asked less and less often', async () => {
    const silent = await withPosition();
    const other = await withPosition();
    await lose(silent.userId, 'pos_loss');
    await lose(other.userId, 'pos_loss');
    fail(silent.userId, { kind: 'timeout', on: { operation: 'positions', times: always } });
    await runAudit();
    expect((await engine.trade(other.trade.id)).state).toBe('protecting');
    await engine.settle();
    engine.venue.setFaults([]);
    await runAudit();
    expect((await engine.trade(silent.trade.id)).state).toBe('done');
    engine.clock.advance(30_000);
    await runAudit();
    expect((await engine.trade(silent.trade.id)).state).toBe('protecting');
  });
});

test('a position that was not opened here is not touched, with or without a stop', async () => {
  count += 1;
  const token = `V${count}`;
  const userId = await engine.createUser();
  await engine.storeCandle({ token, price: '100' });
  const account = await engine.deps.findAccount(userId, 'Bitget');
  if (account === null) throw new Error('no account');
  const exchange = engine.deps.exchanges.get('Bitget');
  await exchange.prepareAccount(account, { token, leverage: 5 });
  await exchange.placeOrder(
    account,
    {
      token,
      side: 'buy',
      clientOrderId: 'by-hand-at-the-exchange',
      price: '110',
      quantity: '1',
      leverage: 5,
      stopLoss: '50',
      takeProfit: '150',
    },
    { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
  );
  await lose(userId, 'pos_loss', 'pos_profit');
  // The account is looked at, since something of ours may be open in it.
  await engine.db.insert(tradingHalts).values({
    id: timeOrderedId(),
    userId,
    exchangePlatform: 'Bitget',
    token: 'ELSE',
    kind: 'unprotected',
    reason: 'A test',
    since: engine.clock.now(),
  });
  await runAudit();
  await engine.settle();
  const held = await engine.holding(userId, token);
  expect(held).toMatchObject({ stopLoss: null, takeProfit: null, position: { size: '1' } });
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
});

test('an audit whose instance froze is begun by another one as soon as that has lost it, not a round later', async () => {
  const { userId, token, trade } = await withPosition();
  await lose(userId, 'pos_loss');
  const frozen = await acquireLease({ db: engine.db, key: 'protection:audit', holder: 'frozen' });
  expect(frozen).not.toBeNull();
  const stop = startProtectionAudit(engine.deps, { everyMs: 600_000, heldRetryMs: 20 });
  try {
    await sleep(100);
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done' });
    await engine.db.execute(sql`update leases set lease_until = now() where key = 'protection:audit'`);
    await vi.waitFor(
      async () => expect(await engine.trade(trade.id)).toMatchObject({ state: 'protecting' }),
      5_000,
    );
  } finally {
    stop();
  }
  await engine.settle();
  expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98' });
});

test('a crash at any point of the repair leaves a position with its stop, or none', async () => {
  // 1 tries every point and takes some minutes.
  const stride = (short: number) => Number(process.env.CRASH_STRIDE ?? short);
  for (const [closes, every] of [
    [false, stride(23)],
    [true, stride(97)],
  ] as const) {
    let died = true;
    for (let diesAt = 1; died; diesAt += every) {
      const { userId, token, trade } = await withPosition();
      await lose(userId, 'pos_loss', 'pos_profit');
      if (closes) fail(userId, noStop);
      await runAudit();
      const mortal = engine.mortal(diesAt);
      await mortal.live();
      died = mortal.point.isDead();
      await mortal.bury();
      await engine.restart();
      await engine.settle();
      const { position, stopLoss } = await engine.holding(userId, token);
      expect(position === null).toBe(closes);
      if (!closes) expect(stopLoss).toBe('98');
      const reduced = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);
      expect(reduced).toHaveLength(closes ? 1 : 0);
      expect(await engine.trade(trade.id)).toMatchObject({
        state: 'done',
        success: true,
        protectionStatus: closes ? 'closed' : 'repaired',
      });
      engine.venue.setFaults([]);
    }
  }
}, 900_000);
