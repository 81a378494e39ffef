import { and, eq, inArray } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions, users } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { flatten, openLongByHand, oppositeSignal, withLong } from '#test/app/token-holders.ts';
import { createProtectionAudit } from './audit-protection.ts';
import { createAccountReader } from './read-account.ts';

/** The exchange's clock differs from ours: what we opened stays ours. */
describe.each([
  ['90 seconds ahead', 90_000],
  ['90 seconds behind', -90_000],
  ['20 minutes ahead', 20 * 60_000],
  ['20 minutes behind', -20 * 60_000],
])('with an exchange whose clock is %s', (_name, venueAheadMs) => {
  const engine = sharedTestEngine({ venueAheadMs });

  async function runAudit(): Promise<void> {
    const audit = createProtectionAudit(engine.deps);
    const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
    await withLease(key, (lease) => audit.run(lease));
  }

  test('a position opened by hand after ours was closed is still not ours', async () => {
    const { userId, token } = await withLong(engine);
    await flatten(engine, { userId, token });
    engine.clock.advance(10 * 60_000);
    await openLongByHand(engine, userId, token);
    const reading = await createAccountReader(engine.deps).read({ userId, exchangePlatform: 'Bitget' }, 0);
    expect(reading).toMatchObject({ open: [{ token, tradeId: null, differences: ['Not opened here'] }] });
  });

  describe.each(EXCHANGE_PLATFORMS)('on %s', (exchangePlatform) => {
    test('an open position counts as ours, and its trade is not recorded as closed', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      engine.clock.advance(60_000);
      const reading = await createAccountReader(engine.deps).read({ userId, exchangePlatform }, 0);
      expect(reading).toMatchObject({ open: [{ token, tradeId: trade.id, differences: [] }] });
      expect(
        await engine.db.select().from(closedPositions).where(eq(closedPositions.tradeId, trade.id)),
      ).toEqual([]);
    });

    test('a stop that was lost is placed again', async () => {
      const { userId, token, trade } = await withLong(engine, { exchangePlatform });
      await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
      await engine.db
        .update(paperTriggerOrders)
        .set({ state: 'cancelled' })
        .where(
          and(
            eq(paperTriggerOrders.userId, userId),
            inArray(paperTriggerOrders.planType, ['pos_loss', 'pos_profit']),
          ),
        );
      engine.clock.advance(60_000);
      await runAudit();
      await engine.settle();
      expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({ stopLoss: '98' });
      expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', positionClosedAt: null });
    });

    test('an opposite signal closes the position and opens the other side', async () => {
      const { userId, token } = await withLong(engine, { exchangePlatform });
      engine.clock.advance(60_000);
      const { workflowId } = await oppositeSignal(engine, token);
      await runWorkflow(engine.deps, workflowId);
      await engine.settle();
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
      const { position } = await engine.holding(userId, token, exchangePlatform);
      expect(position).toMatchObject({ side: 'short' });
    });
  });
});
