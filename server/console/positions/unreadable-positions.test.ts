import { and, eq, isNull } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, tradingHalts, users } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { firstCases, inTurn, testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken, openLongByHand, withLong } from '#test/app/token-holders.ts';
import type { VenueContract } from '#test/venues/contracts.ts';
import { accountModeOf, platformOf, SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { readAccounts } from './list-positions.ts';

/** Accounts that show a position which cannot be read, beside others (I4). */
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 1_000 } });

/** The exchange drops the stops without notice. */
const loseStops = (userId: string) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));

async function runAudit(audit = createProtectionAudit(engine.deps)): Promise<void> {
  const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
  await withLease(key, (lease) => audit.run(lease));
}

const openHalts = (userId: string) =>
  engine.db
    .select()
    .from(tradingHalts)
    .where(and(eq(tradingHalts.userId, userId), isNull(tradingHalts.endedAt)));

async function shownTo(userId: string, exchangePlatform: ExchangePlatform) {
  const accounts = [{ userId, exchangePlatform, username: 'anybody' }];
  const [account] = await readAccounts(engine.deps, createAccountReader(engine.deps), { accounts });
  return account;
}

const UNREADABLE: [string, (token: string) => Partial<VenueContract>, (token: string) => string][] = [
  ['without a size', () => ({ isSizeMissing: true }), (token) => `${token}USDT`],
  ['whose contract was renamed', (token) => ({ symbol: `${token}X` }), (token) => `${token}X`],
];
const CASES = inTurn(firstCases(SUITE_DIALECTS), UNREADABLE).map(
  ([dialect, kind]) => [dialect, ...kind] as const,
);

test.each(CASES)(
  'at %s, a position %s hides no other, is not taken for closed, and halts its user until it can be read',
  async (dialect, _name, changed, symbolOf) => {
    engine.setAccountMode(accountModeOf(dialect));
    const exchangePlatform = platformOf(dialect);
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
    const [unreadable, other] = [nextToken(), nextToken()];
    for (const token of [unreadable, other]) {
      await engine.storeSignal({ token, price: '100' });
      await engine.settle();
    }
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    engine.venue.setContracts([{ platform: exchangePlatform, token: unreadable, ...changed(unreadable) }]);
    const audit = createProtectionAudit(engine.deps);
    await loseStops(userId);
    await runAudit(audit);
    await engine.settle();
    expect((await engine.holding(userId, other, exchangePlatform)).stopLoss).toBe('98');
    for (let round = 0; round < 2; round += 1) {
      engine.clock.advance(30_000);
      await runAudit(audit);
      expect(await openHalts(userId)).toMatchObject([
        { token: unreadable, kind: 'unverified', reason: expect.stringContaining(symbolOf(unreadable)) },
      ]);
    }
    expect(await shownTo(userId, exchangePlatform)).toMatchObject({
      open: [{ token: other }],
      unreachable: { message: expect.stringContaining(`${symbolOf(unreadable)} cannot be read`) },
    });
    expect(await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId))).toEqual(
      [],
    );

    engine.venue.setContracts([]);
    engine.clock.advance(30_000);
    await runAudit(audit);
    await engine.settle();
    engine.clock.advance(30_000);
    await runAudit(audit);
    expect((await engine.holding(userId, unreadable, exchangePlatform)).stopLoss).toBe('98');
    expect(await openHalts(userId)).toEqual([]);
  },
);

test.each(firstCases(SUITE_DIALECTS))(
  'a dated contract of %s that is held is shown as not opened here, and blocks nothing',
  async (dialect) => {
    engine.setAccountMode(accountModeOf(dialect));
    const exchangePlatform = platformOf(dialect);
    const { userId, token } = await withLong(engine, { exchangePlatform });
    const dated = nextToken();
    await engine.storeCandle({ token: dated, price: '100' });
    await openLongByHand(engine, { userId, token: dated, platform: exchangePlatform });
    const symbol = `${dated}USDT-25DEC26`;
    engine.venue.setContracts([{ platform: exchangePlatform, token: dated, symbol }]);
    const audit = createProtectionAudit(engine.deps);
    for (let round = 0; round < 2; round += 1) {
      engine.clock.advance(30_000);
      await runAudit(audit);
    }
    expect(await openHalts(userId)).toEqual([]);
    const shown = await shownTo(userId, exchangePlatform);
    expect(shown?.unreachable).toBeNull();
    expect(shown?.open).toHaveLength(2);
    expect(shown?.open).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ token: symbol, tradeId: null, differences: ['Not opened here'] }),
        expect.objectContaining({ token, differences: [] }),
      ]),
    );
    engine.venue.setContracts([]);
  },
);

describe('stops and targets of Bitget that are listed without a price', () => {
  const exchangePlatform = 'Bitget';

  /** Two positions; of the first, the plans of this kind cannot be read, and the position shows none itself. */
  async function withUnreadable(kind: 'stop' | 'target') {
    const { userId, token } = await withLong(engine);
    const other = nextToken();
    await engine.storeSignal({ token: other, price: '100' });
    await engine.settle();
    const [whole, sized] =
      kind === 'stop' ? (['pos_loss', 'loss_plan'] as const) : (['pos_profit', 'profit_plan'] as const);
    await engine.db
      .update(paperTriggerOrders)
      .set({ planType: sized })
      .where(
        and(
          eq(paperTriggerOrders.userId, userId),
          eq(paperTriggerOrders.token, token),
          eq(paperTriggerOrders.planType, whole),
        ),
      );
    engine.venue.setContracts([{ platform: exchangePlatform, token, unreadablePlans: [kind] }]);
    return { userId, token, other };
  }

  test('a stop makes its own position unknown, halts its user, and hides no other', async () => {
    const { userId, token, other } = await withUnreadable('stop');
    const audit = createProtectionAudit(engine.deps);
    for (let round = 0; round < 2; round += 1) {
      engine.clock.advance(30_000);
      await runAudit(audit);
    }
    expect(await openHalts(userId)).toMatchObject([
      { token, kind: 'unverified', reason: expect.stringContaining('stop loss') },
    ]);
    expect(await shownTo(userId, exchangePlatform)).toMatchObject({
      open: [{ token: other, stopLoss: '98', takeProfit: '104', differences: [] }],
      unreachable: { message: expect.stringContaining(`${token}USDT cannot be read`) },
    });
    const plans = await engine.db
      .select()
      .from(paperTriggerOrders)
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.state, 'live')));
    expect(plans).toHaveLength(4);
    engine.venue.setContracts([]);
  });

  testEveryCase(
    'a target is said to be unknown, and neither placed again nor taken for a missing stop',
    async () => {
      const { userId, token } = await withUnreadable('target');
      const audit = createProtectionAudit(engine.deps);
      for (let round = 0; round < 2; round += 1) {
        engine.clock.advance(30_000);
        await runAudit(audit);
        await engine.settle();
      }
      expect(await openHalts(userId)).toEqual([]);
      const shown = await shownTo(userId, exchangePlatform);
      expect(shown?.unreachable).toBeNull();
      expect(shown?.open.find((position) => position.token === token)).toMatchObject({
        stopLoss: '98',
        takeProfit: null,
        differences: [expect.stringContaining('take profit cannot be read')],
      });
      const plans = await engine.db
        .select()
        .from(paperTriggerOrders)
        .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.token, token)));
      expect(plans.filter(({ state }) => state === 'live')).toHaveLength(2);
      engine.venue.setContracts([]);
    },
  );

  test('a stop that the position shows itself is known', async () => {
    const { userId, token } = await withLong(engine);
    engine.venue.setContracts([{ platform: exchangePlatform, token, unreadablePlans: ['stop', 'target'] }]);
    expect(await shownTo(userId, exchangePlatform)).toMatchObject({
      open: [{ token, stopLoss: '98', takeProfit: '104', differences: [] }],
      unreachable: null,
    });
    engine.venue.setContracts([]);
  });
});

test('an account whose reading fails unexpectedly hides no other, and is said to be missing', async () => {
  const { userId, token } = await withLong(engine);
  const reader = createAccountReader(engine.deps);
  const failing: typeof reader = {
    ...reader,
    read: (key, maxAgeMs) =>
      key.userId === userId ? reader.read(key, maxAgeMs) : Promise.reject(new TypeError('a bug')),
  };
  const other = '00000000-0000-0000-0000-000000000001';
  const accounts = [other, userId].map((id) => ({
    userId: id,
    exchangePlatform: 'Bitget',
    username: `user of ${id}`,
  }));
  expect(await readAccounts(engine.deps, failing, { accounts })).toMatchObject([
    { open: [], unreachable: { userId: other, message: expect.stringContaining('see the server log') } },
    { open: [{ token }], unreachable: null },
  ]);
});
