import type { Position } from '#domain/sizing/position.ts';
import { CALCULATION_MAX_AGE_MINUTES } from '#domain/sizing/trading-constants.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { findCredentials } from '#server/admin/keys/exchange-credentials.store.ts';
import type { Deps } from '#server/deps.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { withCommit } from '#server/platform/db/drizzle-over.ts';
import { orderAttempts, trades } from '#server/platform/db/schema.ts';
import { together } from '#server/platform/db/together.ts';
import { randomId, timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease, withLastTransaction } from '#server/platform/jobs/leases.ts';
import { clientOrderId } from './client-order-id.ts';
import { addTimeline, findStandingTrade, findTradeOfCalculation, type TradeRow } from './trades.store.ts';
import { readTradingPermission } from './trading-permission.ts';

type Intent =
  | { ok: true; tradeId: string }
  | { ok: false; reason: 'denied'; denial: Denial }
  | { ok: false; reason: 'already-traded'; standing: TradeRow | null };

/**
 * Commits a trade and its first attempt with its client order id before any request leaves. I2: one trade per
 * calculation, per workflow and user, and per signal and user with a standing order, enforced by unique keys and the
 * user's lease. I9: permission is read in the same transaction. A calculation that waited too long is refused.
 */
export async function commitOrderIntent(
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'jobs'>,
  request: {
    log: PositionGeneratorLogRow;
    /** As calculated, or with an operator's entry price. */
    position: Position;
    triggerType: 'automatic' | 'manual';
    lease: Lease;
    /** Statements for the same transaction, whether the order is denied or not. */
    alongside?: (tx: Tx) => (Promise<unknown> | undefined)[];
    /** Commit also releases the lease, and the caller continues the trade instead of a job. */
    isLast?: boolean;
  },
): Promise<Intent> {
  const { log, position, triggerType, lease, alongside, isLast = false } = request;
  const tradeId = randomId();
  const now = deps.clock.now();
  try {
    return await withLastTransaction<Intent>(deps.db, lease, async (tx) => {
      const [, denial, standing, exchangeAccountId] = await together(
        assertHeld(tx, lease),
        readTradingPermission(tx, {
          order: { userId: log.userId, workflowId: log.workflowId, triggerType },
          now,
          config: deps.config,
        }),
        findStandingTrade(tx, log),
        readAccountId(tx, deps, log),
        ...(alongside?.(tx) ?? []),
      );
      if (denial !== null) return refused({ ok: false, reason: 'denied', denial });
      const ageMinutes = (now.getTime() - log.createdAt.getTime()) / 60_000;
      if (ageMinutes > CALCULATION_MAX_AGE_MINUTES) {
        const age = { ageMinutes: ageMinutes.toFixed(1), maxAgeMinutes: String(CALCULATION_MAX_AGE_MINUTES) };
        return refused({ ok: false, reason: 'denied', denial: deny('calculation_too_old', age) });
      }
      if (standing !== null) return refused({ ok: false, reason: 'already-traded', standing });
      const trade = tx.insert(trades).values({
        id: tradeId,
        exchangeMode: deps.config.exchangeMode,
        exchangeAccountId,
        positionGeneratorLogId: log.id,
        workflowId: log.workflowId,
        signalId: log.signalId,
        userId: log.userId,
        triggerType,
        profile: log.profile,
        exchangePlatform: log.exchangePlatform,
        token: log.token,
        side: position.action,
        plannedQuantity: position.assetQuantity,
        entryPrice: position.entryPrice,
        stopLoss: position.stopLoss,
        takeProfit: position.takeProfit,
        leverage: position.leverage,
        plannedMargin: position.investment,
        state: 'working',
        createdAt: now,
        dueAt: now,
      });
      const attempt = tx.insert(orderAttempts).values({
        id: timeOrderedId(),
        tradeId,
        attempt: 1,
        clientOrderId: clientOrderId(tradeId, 1),
        price: position.entryPrice,
        quantity: position.assetQuantity,
        state: 'planned',
      });
      const text = `Order planned: ${position.action} ${position.assetQuantity} ${log.token} at ${position.entryPrice}${customEntryNote(log, position)}, stop ${position.stopLoss}, target ${position.takeProfit}`;
      const writes = [trade.execute(), attempt.execute(), addTimeline(tx, { tradeId, at: now, text })];
      // The first failure is reported: when the order exists already, the statements after it fail too.
      withCommit(tx, ...writes);
      if (!isLast) await deps.jobs.sendWithCommit(tx, 'advance-trade', { tradeId });
      return { isLast, result: { ok: true, tradeId } };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { ok: false, reason: 'already-traded', standing: await findTradeOfCalculation(deps.db, log.id) };
  }
}

const refused = (result: Intent) => ({ isLast: false, result });

/** The account of the stored key: until the order is settled, only a key of the same account may replace it. */
async function readAccountId(
  tx: Tx,
  { config }: Pick<Deps, 'config'>,
  { userId, exchangePlatform }: PositionGeneratorLogRow,
): Promise<string | null> {
  if (config.exchangeMode === 'paper') return null;
  const platform = exchangePlatform as ExchangePlatform;
  return (await findCredentials(tx, { userId, platform }))?.accountId ?? null;
}

function customEntryNote(log: PositionGeneratorLogRow, position: Position): string {
  if (position.hyperparameters.customEntryPrice === undefined) return '';
  return ` (custom entry price in place of ${log.position?.entryPrice ?? 'none'})`;
}
