import { eq } from 'drizzle-orm';
import { D } from '#domain/decimal.ts';
import { FLATTEN_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { startHalt } from '#server/admin/halts/trading-halts.store.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import { trades } from '#server/platform/db/schema.ts';
import { assertHeld } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import type { Finding } from './check-protection.ts';
import { record, type TradeChange, type TradeChanges, type TradeWork } from './trade-work.ts';

/** What a trade's row says about its position's stop, and the halt that follows without one (I4). */

export const positionOf = ({ trade: { userId, exchangePlatform, token } }: TradeWork) => ({
  userId,
  exchangePlatform,
  token,
});

export type SafeFinding = Extract<Finding, { found: 'protected' | 'flat' }>;

/** The exchange shows the position with its stop, or no position: ends the doubt. */
export async function recordSafe(
  work: TradeWork,
  finding: SafeFinding,
  /** Further changes in the same transaction. */
  change: Pick<TradeChange, 'trade' | 'releases'> = {},
): Promise<void> {
  const line = newsOfSafety(work, finding);
  if (line === null && Object.keys(change).length === 0) return;
  await record(work, {
    ...change,
    trade: { ...change.trade, ...safetyOf(work, finding) },
    lines: line === null ? [] : [line],
    clears: { ...positionOf(work), how: finding.text },
  });
}

/** The finding as columns of the trade's row. */
export function safetyOf(work: TradeWork, finding: SafeFinding): TradeChanges {
  return {
    protectionStatus: safeStatus(work, finding),
    protectedQuantity: finding.found === 'protected' ? finding.quantity : work.trade.protectedQuantity,
    unprotectedSince: null,
  };
}

/** The new timeline line; null without news. */
export function newsOfSafety({ trade }: TradeWork, finding: SafeFinding): string | null {
  const isProtected = finding.found === 'protected';
  const isNews =
    trade.unprotectedSince !== null ||
    trade.protectionStatus === null ||
    (isProtected && finding.status === 'repaired') ||
    (isProtected && !D(trade.protectedQuantity ?? '0').eq(finding.quantity));
  return isNews ? finding.text : null;
}

/** Keeps 'repaired' when the placed stop is read back later. */
function safeStatus({ trade }: TradeWork, finding: Finding): 'verified' | 'repaired' {
  if (trade.protectionStatus === 'repaired') return 'repaired';
  if (finding.found !== 'protected') return 'verified';
  return trade.protectionStatus === 'missing' ? 'repaired' : finding.status;
}

/**
 * Records a position that has no stop, or whose stop could not be read (`isKnown` false). After ten seconds it halts
 * the user in the same transaction.
 */
export async function recordUnprotected(
  work: TradeWork,
  { isKnown, text }: { isKnown: boolean; text: string },
): Promise<{ since: Date; isKnown: boolean; isHalted: boolean }> {
  const { deps, lease, trade } = work;
  const now = deps.clock.now();
  const since = trade.unprotectedSince ?? now;
  const isMissing = isKnown || trade.protectionStatus === 'missing';
  // Without an account nothing is left to try.
  const isHalted = work.account === null || hasElapsed({ since, ms: FLATTEN_DEADLINE_MS, now });
  const isNews = trade.unprotectedSince === null || (isMissing && trade.protectionStatus !== 'missing');
  if (isNews || isHalted) {
    const news = await deps.db.transaction(async (tx) => {
      await assertHeld(tx, lease);
      await tx
        .update(trades)
        .set({
          unprotectedSince: since,
          protectedQuantity: null,
          ...(isMissing ? { protectionStatus: 'missing' as const } : {}),
        })
        .where(eq(trades.id, trade.id));
      const line = (words: string) => addTimeline(tx, { tradeId: trade.id, at: now, text: words });
      if (isNews) await line(doubtText(isMissing, text));
      const about = { userId: trade.userId, tradeId: trade.id, data: { reason: text }, at: now };
      if (isNews && isMissing) await noteEvents(tx, [{ code: 'position_without_stop', ...about }]);
      if (!isHalted) return false;
      const kind = isMissing ? 'unprotected' : 'unverified';
      const reason = haltReason(work, { isMissing, text });
      const isNewHalt = await startHalt(tx, {
        ...positionOf(work),
        tradeId: trade.id,
        kind,
        reason,
        now,
        audit: deps.audit,
      });
      if (isNewHalt) await line(`Trading of this user is halted: ${reason}`);
      return isNewHalt;
    });
    const fields = { tradeId: trade.id, userId: trade.userId, token: trade.token, reason: text };
    if (news) deps.log.error(fields, 'trading of a user is halted: a position has no verified stop');
    else if (isNews) deps.log.error(fields, 'a filled position has no verified stop');
  }
  trade.unprotectedSince = since;
  if (isNews || isHalted) trade.protectedQuantity = null;
  if (isMissing) trade.protectionStatus = 'missing';
  return { since, isKnown: isMissing, isHalted };
}

const doubtText = (isMissing: boolean, text: string): string =>
  isMissing ? `The stop loss is not there yet: ${text}` : `The stop loss could not be read back yet: ${text}`;

function haltReason(
  { trade: { token, exchangePlatform } }: TradeWork,
  { isMissing, text }: { isMissing: boolean; text: string },
): string {
  const name = `${token} position on ${exchangePlatform}`;
  return isMissing
    ? `The ${name} has no stop loss and is not closed yet (${text})`
    : `The stop loss of the ${name} could not be verified (${text})`;
}
