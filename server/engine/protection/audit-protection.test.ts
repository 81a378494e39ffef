import { and, eq, inArray, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, trades, tradingHalts, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { acquireLease } from '#server/platform/jobs/leases.ts';
import { auditOnce } from '#test/app/followed-trades.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import { nextToken, withLong } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import {
  accountModeOf,
  platformOf,
  SUITE_DIALECTS,
  type SuiteDialect,
} from '#test/venues/exchange-suite-words.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { createProtectionAudit, startProtectionAudit } from './audit-protection.ts';
import { createAccountReader } from './read-account.ts';

/** Positions that were protected once and have lost their protection (I4). */
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 1_000 } });
let audit: ReturnType<typeof createProtectionAudit>;

beforeEach(() => {
  audit = createProtectionAudit(engine.deps);
});

const noStop: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };
const noClose: VenueFault = { kind: 'closeRefused', on: { times: ALWAYS } };

/** A user with an open long position at 100, its stop at 98 and its target at 104. */
async function withPosition(exchangePlatform: ExchangePlatform = 'Bitget') {
  const { userId, token, trade } = await withLong(engine, { exchangePlatform });
  expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
  return { userId, token, trade };
}

/** The exchange drops stop or target without notice. */
const lose = (userId: string, ...plans: ('pos_loss' | 'pos_profit')[]) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), inArray(paperTriggerOrders.planType, plans)));

const linesOf = async (tradeId: string) => (await engine.events(tradeId)).timeline;
const haltsOf = (userId: string) =>
  engine.db.select().from(tradingHalts).where(eq(tradingHalts.userId, userId));

const closedOf = (userId: string) =>
  engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId));

const haltFor = (trade: { id?: string; userId: string; token: string; exchangePlatform?: string }) =>
  engine.db.insert(tradingHalts).values({
    id: timeOrderedId(),
    userId: trade.userId,
    exchangePlatform: trade.exchangePlatform ?? 'Bitget',
    token: trade.token,
    tradeId: trade.id ?? null,
    kind: 'unprotected',
    reason: 'A test',
    since: engine.clock.now(),
  });

/** An audit whose list of all positions shows no stops; runs `meanwhile` after the list is read. */
const auditOfBareList = (meanwhile: (userId: string) => Promise<unknown> = async () => {}) =>
  createProtectionAudit(
    answering(engine.deps, ({ fetchHoldings }) => ({
      async fetchHoldings(...call) {
        const { holdings } = await fetchHoldings(...call);
        await meanwhile(call[0].userId);
        const bare = { stopLoss: null, takeProfit: null };
        return {
          holdings: holdings.map(({ position }) => ({ position, protection: bare })),
          unreadable: [],
        };
      },
    })),
  );

/** One of the exchanges for each of three tests; all of them in `audit-protection.long.test.ts`. */
const dialects = (own: SuiteDialect) => oneOfEachKind(SUITE_DIALECTS, (dialect) => dialect === own);

testEveryCase(
  'a position whose trade cannot be found is unknown, and the others of the account are read',
  async () => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const [lost, found] = [nextToken(), nextToken()];
    for (const token of [lost, found]) {
      await engine.storeSignal({ token, price: '100' });
      await engine.settle();
    }
    const reader = createAccountReader(
      answering(engine.deps, ({ fetchHoldings }) => ({
        async fetchHoldings(...call) {
          const { holdings, unreadable } = await fetchHoldings(...call);
          // Its time does not fit, so the history is asked, which fails.
          const openedAt = new Date(engine.clock.now().getTime() - 20 * 60_000);
          return {
            holdings: holdings.map((one) =>
              one.position.token === lost ? { ...one, position: { ...one.position, openedAt } } : one,
            ),
            unreadable,
          };
        },
        async fetchClosedPositions() {
          throw new Error('a bug');
        },
      })),
    );
    const reading = await reader.read({ userId, exchangePlatform: 'Bitget' }, 0);
    expect(reading).toMatchObject({
      outcome: 'read',
      open: [{ token: found, tradeId: expect.any(String) }],
      unreadable: [{ token: lost, problem: 'it is not known whether it was opened here' }],
      doubtful: [{ trade: { token: lost } }],
    });
  },
);

test.each(dialects('Bitget unified'))(
  'a position on %s that cannot be read keeps no other from getting its stop back, and halts its user at the second audit',
  async (dialect) => {
    engine.setAccountMode(accountModeOf(dialect));
    const exchangePlatform = platformOf(dialect);
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
    const tokens = [nextToken(), nextToken()];
    for (const token of tokens) {
      await engine.storeSignal({ token, price: '100' });
      await engine.settle();
    }
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    for (const unreadable of tokens) {
      await lose(userId, 'pos_loss');
      const blind = createProtectionAudit(
        answering(engine.deps, ({ fetchHolding }) => ({
          async fetchHolding(account, token, context) {
            if (token === unreadable) throw new ExchangeError('unknown', 'the answer has no size');
            return fetchHolding(account, token, context);
          },
        })),
      );
      await auditOnce(engine, blind);
      await engine.settle();
      for (const token of tokens) {
        expect((await engine.holding(userId, token, exchangePlatform)).stopLoss).toBe(
          token === unreadable ? null : '98',
        );
      }
      engine.clock.advance(30_000);
      await auditOnce(engine, blind);
      expect((await haltsOf(userId)).filter(({ endedAt }) => endedAt === null)).toMatchObject([
        { token: unreadable, kind: 'unverified', reason: expect.stringContaining('the answer has no size') },
      ]);
      engine.clock.advance(30_000);
      await auditOnce(engine, blind);
      await auditOnce(engine, audit);
      await engine.settle();
      expect((await haltsOf(userId)).filter(({ endedAt }) => endedAt === null)).toEqual([]);
      expect((await engine.holding(userId, unreadable, exchangePlatform)).stopLoss).toBe('98');
    }
  },
);

describe('an open position that the engine opened', () => {
  test.each(dialects('Bybit'))(
    'that lost its stop on %s gets it back, and its timeline says so',
    async (dialect) => {
      engine.setAccountMode(accountModeOf(dialect));
      const { userId, token, trade } = await withPosition(platformOf(dialect));
      await lose(userId, 'pos_loss', 'pos_profit');
      await auditOnce(engine, audit);
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
        'The audit found the open position without its stop loss (planned: 98): placing it again',
        'Protection was missing and is placed: stop 98, target 104',
      ]);
      expect(await haltsOf(userId)).toEqual([]);
    },
  );

  /** The owner moves the stop by hand at the exchange. */
  const moveStop = (userId: string, triggerPrice: string) =>
    engine.db
      .update(paperTriggerOrders)
      .set({ triggerPrice })
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));

  testEveryCase(
    'with a stop on the wrong side counts as unprotected, and gets the planned stop',
    async () => {
      const { userId, token, trade } = await withPosition();
      await moveStop(userId, '102');
      await haltFor(trade);
      await auditOnce(engine, audit);
      expect(await haltsOf(userId)).toMatchObject([{ clearedAt: null }]);
      await engine.settle();
      expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
      expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', protectionStatus: 'repaired' });
      expect(await haltsOf(userId)).toMatchObject([
        { clearedHow: 'Protection was missing and is placed: stop 98, target 104' },
      ]);
    },
  );

  testEveryCase('with a stop that followed the price beyond the entry is left alone', async () => {
    const { userId, token, trade } = await withPosition();
    await engine.storeCandle({ token, price: '103' });
    await moveStop(userId, '102');
    await auditOnce(engine, audit);
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  testEveryCase('does not count as unprotected when its stop closes it between two reads', async () => {
    const { userId, token, trade } = await withPosition();
    const lines = await linesOf(trade.id);
    // Positions of earlier tests are audited as well.
    await auditOnce(
      engine,
      auditOfBareList(async (audited) => {
        if (audited === userId) await engine.storeCandle({ token, price: '97' });
      }),
    );
    expect(await engine.trade(trade.id)).toEqual(trade);
    expect(await linesOf(trade.id)).toEqual(lines);
  });

  test('with its stop and target is left alone', async () => {
    const { trade } = await withPosition();
    const before = await engine.events(trade.id);
    await auditOnce(engine, audit);
    expect(await engine.events(trade.id)).toEqual(before);
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  testEveryCase('that lost its stop while the price passed the stop is closed at market', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_loss');
    await engine.storeCandle({ token, price: '97.5' });
    await auditOnce(engine, audit);
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
    await auditOnce(engine, audit);
    expect(await closedOf(userId)).toMatchObject([{ closedBy: 'protection' }]);
  });

  test.each(dialects('Bitget'))(
    'is closed after five seconds when %s rejects the new stop',
    async (dialect) => {
      engine.setAccountMode(accountModeOf(dialect));
      const { userId, token, trade } = await withPosition(platformOf(dialect));
      await lose(userId, 'pos_loss');
      strike(engine, userId, [noStop]);
      await auditOnce(engine, audit);
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

  testEveryCase(
    'that can be neither protected nor closed halts its user; a stop seen later clears the halt',
    async () => {
      const { userId, token, trade } = await withPosition();
      await lose(userId, 'pos_loss');
      strike(engine, userId, [noStop, noClose]);
      await auditOnce(engine, audit);
      await expect(engine.settle({ maxRounds: 26 })).rejects.toThrow('work was left');
      expect(await haltsOf(userId)).toMatchObject([{ kind: 'unprotected', token, clearedAt: null }]);
      // The owner places a stop by hand at the exchange.
      await engine.db
        .update(paperTriggerOrders)
        .set({ state: 'live' })
        .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));
      await auditOnce(engine, audit);
      const [halt] = await haltsOf(userId);
      expect(halt).toMatchObject({ clearedHow: 'The exchange shows the stop 98', endedAt: null });
      await engine.settle();
      expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
      expect((await engine.holding(userId, token)).position).not.toBeNull();
    },
  );

  test('is left alone when only the list of all positions lacks its stop, and a separate read shows it', async () => {
    const { trade } = await withPosition();
    await auditOnce(engine, auditOfBareList());
    expect(await engine.trade(trade.id)).toEqual(trade);
  });

  test('that vanished is recorded as closed, which clears its halt', async () => {
    const { userId, token, trade } = await withPosition();
    await haltFor(trade);
    await engine.storeCandle({ token, price: '97' });
    await auditOnce(engine, audit);
    expect(await closedOf(userId)).toMatchObject([{ closedBy: 'stop loss' }]);
    expect(await haltsOf(userId)).toMatchObject([{ clearedHow: 'The exchange shows no position' }]);
  });
});

// Requirements: additions-order-and-positions-9
test.each(
  firstCases([
    ['another mode', { exchangeMode: 'live' }],
    ['another account', { exchangeAccountId: '4711' }],
  ] as const),
)('neither records a missing position in %s as closed nor clears its halt', async (_name, other) => {
  const { userId, token, trade } = await withPosition();
  await haltFor(trade);
  await engine.db.update(trades).set(other).where(eq(trades.id, trade.id));
  await engine.storeCandle({ token, price: '97' });
  for (const days of [0, 2]) {
    engine.clock.advance(days * 24 * 3_600_000);
    await auditOnce(engine, audit);
  }
  expect(await engine.trade(trade.id)).toEqual({ ...trade, ...other });
  expect(await haltsOf(userId)).toMatchObject([{ clearedAt: null }]);
  expect(await closedOf(userId)).toEqual([]);
});

// Requirements: additions-order-and-positions-10
testEveryCase(
  'requires an administrator to end a halt for a demo position while another mode runs',
  async () => {
    const { userId, trade } = await withPosition();
    await haltFor(trade);
    await engine.db.update(trades).set({ exchangeMode: 'demo' }).where(eq(trades.id, trade.id));
    await auditOnce(engine, audit);
    expect(await haltsOf(userId)).toMatchObject([
      { clearedHow: 'The position is one of demo mode', endedAt: null },
    ]);
  },
);

describe('a missing take profit', () => {
  test('is placed again, and nothing else changes', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_profit');
    await auditOnce(engine, audit);
    await engine.settle();
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    expect((await linesOf(trade.id)).at(-1)).toBe(
      'Protection was missing and is placed: stop 98, target 104',
    );
  });

  testEveryCase(
    'is retried less and less often when it cannot be placed, without filling the timeline',
    async () => {
      const { userId, trade } = await withPosition();
      await lose(userId, 'pos_profit');
      strike(engine, userId, [noStop]);
      const lines = await linesOf(trade.id);
      const triesAt: number[] = [];
      const startedAt = engine.clock.now().getTime();
      for (let round = 0; round < 10; round += 1) {
        await auditOnce(engine, audit);
        if ((await engine.trade(trade.id)).state === 'protecting') triesAt.push(round * 30_000);
        await engine.settle();
        engine.clock.set(new Date(startedAt + (round + 1) * 30_000));
      }
      expect(triesAt).toEqual([0, 30_000, 90_000, 210_000]);
      expect(await linesOf(trade.id)).toEqual(lines);
      expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', protectionStatus: 'verified' });
      expect(await haltsOf(userId)).toEqual([]);
    },
  );

  test('is not placed after the price has passed it, because it would trigger immediately', async () => {
    const { userId, token, trade } = await withPosition();
    await lose(userId, 'pos_profit');
    await engine.storeCandle({ token, price: '105' });
    await auditOnce(engine, audit);
    expect((await engine.trade(trade.id)).state).toBe('done');
    expect(await engine.holding(userId, token)).toMatchObject({ takeProfit: null, stopLoss: '98' });
  });
});

describe('an exchange that answers', () => {
  const unclear: [string, VenueFault][] = [
    ['for stops with a 502', { kind: 'badGatewayBefore', on: { operation: 'protection' } }],
    ['for stops with something unreadable', { kind: 'html200', on: { operation: 'protection' } }],
    ['for positions with a 502', { kind: 'badGatewayBefore', on: { operation: 'positions' } }],
    ['for positions with an empty 200', { kind: 'empty200', on: { operation: 'positions' } }],
  ];
  const neighbours = ['for stops with something unreadable', 'for positions with a 502'];
  test.each(oneOfEachKind(unclear, ([name]) => !neighbours.includes(name)))(
    '%s does not count as showing no stop: nothing is done',
    async (_name, fault) => {
      const { userId, trade } = await withPosition();
      await lose(userId, 'pos_loss');
      strike(engine, userId, [{ ...fault, on: { ...fault.on, times: ALWAYS } }]);
      await auditOnce(engine, audit);
      expect(await engine.trade(trade.id)).toEqual(trade);
      expect(await closedOf(userId)).toEqual([]);
      engine.venue.setFaults([]);
      await auditOnce(engine, createProtectionAudit(engine.deps));
      expect((await engine.trade(trade.id)).state).toBe('protecting');
    },
  );

  test('not at all for one user does not delay the others, and is asked less and less often', async () => {
    const silent = await withPosition();
    const other = await withPosition();
    await lose(silent.userId, 'pos_loss');
    await lose(other.userId, 'pos_loss');
    strike(engine, silent.userId, [{ kind: 'timeout', on: { operation: 'positions', times: ALWAYS } }]);
    await auditOnce(engine, audit);
    expect((await engine.trade(other.trade.id)).state).toBe('protecting');
    await engine.settle();
    engine.venue.setFaults([]);
    await auditOnce(engine, audit);
    expect((await engine.trade(silent.trade.id)).state).toBe('done');
    engine.clock.advance(30_000);
    await auditOnce(engine, audit);
    expect((await engine.trade(silent.trade.id)).state).toBe('protecting');
  });
});

test('does not touch a position opened elsewhere, with or without a stop', async () => {
  const token = nextToken();
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
  // Audited because of a halt in another token.
  await haltFor({ userId, token: 'ELSE' });
  await auditOnce(engine, audit);
  await engine.settle();
  const held = await engine.holding(userId, token);
  expect(held).toMatchObject({ stopLoss: null, takeProfit: null, position: { size: '1' } });
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
});

test('continues on another instance as soon as a frozen instance has lost the lease', async () => {
  const { userId, token, trade } = await withPosition();
  await lose(userId, 'pos_loss');
  const frozen = await acquireLease({ db: engine.db, key: 'protection:audit', holder: 'frozen' });
  expect(frozen).not.toBeNull();
  let tries = 0;
  const counting = new Proxy(engine.db, {
    get(target, name) {
      if (name === 'execute') tries += 1;
      const found = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  const stop = startProtectionAudit({ ...engine.deps, db: counting }, { everyMs: 600_000, heldRetryMs: 20 });
  try {
    await expect.poll(() => tries, { interval: 10 }).toBeGreaterThan(2);
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
