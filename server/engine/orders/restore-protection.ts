import { and, eq } from 'drizzle-orm';
import { plannedProtection } from '#domain/orders/protection.ts';
import { PROTECTION_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import type { EngineDeps } from '#server/deps.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import { trades } from '#server/platform/db/schema.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';

import { checkProtection } from './check-protection.ts';
import { giveUp, isTooLate, moveProtection } from './move-protection.ts';
import { doubtOf, PROTECTION_RETRY_MS } from './protect-position.ts';
import { findUnfinishedMove, type MoveRow } from './protection-moves.store.ts';
import { recordSafe, recordUnprotected } from './record-protection.ts';
import { startClosing } from './settle-attempt.ts';
import { later, record, type StepResult, type TradeWork } from './trade-work.ts';

/** How often a position is read that is known to have a full stop. */
const UNREADABLE_RETRY_MS = 2_000;

/**
 * Reopens a done trade whose open position lost its stop or target, and hands it to the workers. False when the trade
 * is already in work.
 */
export async function reopenTrade(
  deps: Pick<EngineDeps, 'db' | 'clock' | 'jobs'>,
  { tradeId, lacks, lease }: { tradeId: string; lacks: 'stop' | 'target'; lease: Lease },
): Promise<boolean> {
  const now = deps.clock.now();
  return await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const [reopened] = await tx
      .update(trades)
      .set({
        state: 'protecting',
        dueAt: now,
        ...(lacks === 'stop'
          ? { unprotectedSince: now, protectionStatus: 'missing' as const, protectedQuantity: null }
          : {}),
      })
      .where(and(eq(trades.id, tradeId), eq(trades.state, 'done')))
      .returning();
    if (reopened === undefined) return false;
    if (lacks === 'stop') {
      const { stopLoss } = plannedProtection(reopened);
      const text = `The audit found the open position without its stop loss (planned: ${stopLoss}): placing it again`;
      await addTimeline(tx, { tradeId, at: now, text });
    }
    await deps.jobs.send(tx, 'advance-trade', { tradeId });
    return true;
  });
}

/**
 * I4 for a done trade: places its stop again, or closes the position after five seconds. A stop or target that is to be
 * moved is moved once the position has its stop.
 */
export async function restoreProtection(work: TradeWork): Promise<StepResult> {
  const { deps, trade } = work;
  const move = await findUnfinishedMove(deps.db, trade.id);
  const finding = await checkProtection(work);
  if (move !== null) {
    if (finding.found === 'protected') return await moveProtection(work, { move, finding });
    if (finding.found === 'flat') await endFlat(work, { move, isOther: finding.isOther === true });
    else if (finding.found === 'passed' || work.account === null || isTooLate(work, move)) {
      await giveUp(work, move, finding.text);
    } else if (finding.found === 'unreadable' && trade.unprotectedSince === null) {
      return later(work, UNREADABLE_RETRY_MS);
    }
  }
  if (finding.found === 'protected' || finding.found === 'flat') {
    await recordSafe(work, finding, { trade: { state: 'done', dueAt: null }, releases: true });
    return { next: 'never' };
  }
  // Only the target was missing: the next audit reads what cannot be read now.
  if (finding.found === 'unreadable' && trade.unprotectedSince === null) {
    await record(work, { trade: { state: 'done', dueAt: null }, releases: true });
    return { next: 'never' };
  }
  const { since, isKnown } = await recordUnprotected(work, doubtOf(finding));
  const isOverdue = hasElapsed({ since, ms: PROTECTION_DEADLINE_MS, now: deps.clock.now() });
  if (isKnown && (isOverdue || finding.found === 'passed')) {
    if (move !== null) await giveUp(work, move, 'the stop was lost, and the position is being closed');
    return startClosing(work);
  }
  return later(work, PROTECTION_RETRY_MS);
}

/** The position is closed: a second stop that was placed must not act on the next one. */
async function endFlat(
  work: TradeWork,
  { move, isOther }: { move: MoveRow; isOther: boolean },
): Promise<void> {
  const { exchange, account, trade, deps, onCall } = work;
  if (!isOther && account !== null && move.state === 'sent') {
    await exchange.cancelProtection(account, trade.token, { onCall }).catch((error: unknown) => {
      if (!(error instanceof ExchangeError)) throw error;
      deps.log.error({ err: error, tradeId: trade.id }, 'a moved stop of a closed position may be left');
    });
  }
  await giveUp(work, move, 'the position is closed');
}
