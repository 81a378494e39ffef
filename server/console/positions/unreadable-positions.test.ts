import { and, eq, isNull } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, tradingHalts, users } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { readAccounts } from './list-positions.ts';

/** Accounts that show a position which cannot be read, beside others (I4). */
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 1_000 } });

/** The exchange drops the stops without notice. */
const loseStops = (userId: string) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));

describe.each(EXCHANGE_PLATFORMS)('a position without a size in the list of %s', (exchangePlatform) => {
  test('hides no other, is not taken for closed, and halts its user until it can be read', async () => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
    const [unreadable, other] = [nextToken(), nextToken()];
    for (const token of [unreadable, other]) {
      await engine.storeSignal({ token, price: '100' });
      await engine.settle();
    }
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    engine.venue.setContracts([{ platform: exchangePlatform, token: unreadable, isSizeMissing: true }]);
    const audit = createProtectionAudit(engine.deps);
    const runAudit = async () => {
      const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
      await withLease(key, (lease) => audit.run(lease));
    };
    const openHalts = () =>
      engine.db
        .select()
        .from(tradingHalts)
        .where(and(eq(tradingHalts.userId, userId), isNull(tradingHalts.endedAt)));
    await loseStops(userId);
    await runAudit();
    await engine.settle();
    expect((await engine.holding(userId, other, exchangePlatform)).stopLoss).toBe('98');
    for (let round = 0; round < 2; round += 1) {
      engine.clock.advance(30_000);
      await runAudit();
      expect(await openHalts()).toMatchObject([
        { token: unreadable, kind: 'unverified', reason: expect.stringContaining(`${unreadable}USDT`) },
      ]);
    }
    const [account] = await readAccounts(createAccountReader(engine.deps), {
      accounts: [{ userId, exchangePlatform, username: 'anybody' }],
    });
    expect(account).toMatchObject({
      open: [{ token: other }],
      unreachable: { message: expect.stringContaining(`${unreadable}USDT cannot be read`) },
    });
    expect(await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId))).toEqual(
      [],
    );

    engine.venue.setContracts([]);
    engine.clock.advance(30_000);
    await runAudit();
    await engine.settle();
    engine.clock.advance(30_000);
    await runAudit();
    expect((await engine.holding(userId, unreadable, exchangePlatform)).stopLoss).toBe('98');
    expect(await openHalts()).toEqual([]);
  });
});
