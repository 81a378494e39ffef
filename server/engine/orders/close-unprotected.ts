import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import { findLastLine } from '#server/engine/records/trades.store.ts';
import type { AuditRecord } from '#server/platform/audit/audit-trail.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import { checkProtection, type Finding, isOfTrade } from './check-protection.ts';
import { closePosition, hasClosed, listUnsettledCloses, positionSubject } from './close-position.ts';
import { recordSafe, recordUnprotected } from './record-protection.ts';
import { endClosed, finishTrade } from './settle-attempt.ts';
import { later, nextNow, record, type StepResult, type TradeWork } from './trade-work.ts';

const CLOSE_RETRY_MS = 500;
/** The slower pace after the user was halted. */
const HALTED_RETRY_MS = 2_000;
const LEFTOVERS_RETRY_MS = 2_000;
const LEFTOVERS_FOR_MS = 30_000;

/**
 * I4: repeats until nothing is open, or the stop is in place after all. Until then the user opens nothing in this
 *    token, and after ten seconds nothing at all. Before it sends a close it tries the stop once more; without an
 *    answer from the exchange it does nothing.
 */
export async function closeUnprotected(work: TradeWork): Promise<StepResult> {
  const { deps, lease, trade, exchange, account, onCall } = work;
  if (account === null) return tryOn(work, 'the exchange credentials are gone');
  if ((await listUnsettledCloses(deps.db, trade)).length === 0) {
    const finding = await checkProtection(work);
    if (finding.found === 'protected') return keepOpen(work, finding);
    if (finding.found === 'unreadable') return tryOn(work, finding.text);
  }
  const result = await closePosition(deps, {
    exchange,
    account,
    token: trade.token,
    isMeant: (position) => isOfTrade(work, position),
    reason: CLOSE_REASONS.stopMissing,
    tradeId: trade.id,
    workflowId: trade.workflowId,
    lease,
    context: { onCall },
  });
  switch (result.outcome) {
    case 'leftovers':
      return cancelAgain(work, result.message);
    case 'flat':
    case 'other':
      return endClosed(work, await closedEntry(work));
    case 'ended':
      return nextNow;
    default:
      return tryOn(work, result.message);
  }
}

const CANCELS_AGAIN = 'Nothing is open any more, cancelling what is left of its stop and target again';

/**
 * Nothing is open, but its stop or target would act on the next position: tried again for half a minute, then said. The
 * first try is the trade's newest line, and says since when.
 */
async function cancelAgain(work: TradeWork, text: string): Promise<StepResult> {
  const { deps, trade } = work;
  const newest = await findLastLine(deps.db, { tradeId: trade.id, beginning: '' });
  if (newest?.text !== CANCELS_AGAIN) {
    await record(work, { lines: [CANCELS_AGAIN] });
    return later(work, LEFTOVERS_RETRY_MS);
  }
  const now = deps.clock.now();
  if (!hasElapsed({ since: newest.at, ms: LEFTOVERS_FOR_MS, now })) return later(work, LEFTOVERS_RETRY_MS);
  await record(work, { lines: [`Nothing is open any more, but ${text}`] });
  return endClosed(work, await closedEntry(work));
}

/** For the audit trail; undefined when the position ended without an order of ours. */
async function closedEntry({ deps: { db }, trade }: TradeWork): Promise<AuditRecord | undefined> {
  if (!(await hasClosed(db, trade.id))) return undefined;
  const { exchangePlatform, id: tradeId } = trade;
  return {
    actor: ENGINE,
    action: 'position closed',
    subject: await positionSubject(db, trade),
    after: { exchangePlatform, tradeId, reason: CLOSE_REASONS.stopMissing },
  };
}

async function tryOn(work: TradeWork, text: string): Promise<StepResult> {
  const { isHalted } = await recordUnprotected(work, { isKnown: true, text });
  return later(work, isHalted ? HALTED_RETRY_MS : CLOSE_RETRY_MS);
}

/** The stop was in place before a close was sent. No second attempt follows such a trade. */
async function keepOpen(
  work: TradeWork,
  finding: Extract<Finding, { found: 'protected' }>,
): Promise<StepResult> {
  if (work.trade.completedAt === null) {
    await recordSafe(work, finding);
    return finishTrade(work, 'the stop loss was placed late');
  }
  await recordSafe(work, finding, { trade: { state: 'done', dueAt: null }, releases: true });
  return { next: 'never' };
}
