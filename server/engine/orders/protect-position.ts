import { D, isPositive, toPlain } from '#domain/decimal.ts';
import { PROTECTION_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { hasElapsed, isDue } from '#server/platform/clock.ts';
import { checkProtection, type Finding, isCovered } from './check-protection.ts';
import { type ProvenFill, provenFill, readProvenFill } from './proven-fill.ts';
import { recordSafe, recordUnprotected, type SafeFinding } from './record-protection.ts';
import type { TradeWork } from './trade-work.ts';

export const PROTECTION_RETRY_MS = 500;
/** An exchange may show a position a moment after the fill that opened it. */
const POSITION_LAG_MS = 2_000;
/** A just accepted order is seldom filled yet. */
const FIRST_LOOK_MS = 1_000;
/** Often enough to give a fill at any moment its stop within five seconds. */
const LOOK_EVERY_MS = 2_000;
/** The reading has waited for its turn already. */
const LIMITED_RETRY_MS = 500;

/**
 * I4: after a fill the stop is read back, and placed if missing. `unprotected` after the deadline: the caller closes
 *    the position. `again`: not protected yet. An exchange that does not answer closes nothing. `safe`: the finding
 *    that the caller still has to record.
 */
export async function protectPosition(
  work: TradeWork,
  filledQuantity: string,
): Promise<'again' | 'unprotected' | { safe: SafeFinding | null }> {
  const { deps, attempt, trade } = work;
  if (isCovered(work, filledQuantity)) return { safe: null };
  const seenAt = attempt.finishedAt ?? deps.clock.now();
  const isFirstTry = trade.unprotectedSince === null;
  const finding = await checkProtection(work);
  if (finding.found === 'flat' && mayShowLater(work, seenAt)) return 'again';
  if (finding.found === 'flat' || finding.found === 'protected') return { safe: finding };
  const { since, isKnown } = await recordUnprotected(work, doubtOf(finding));
  if (finding.found === 'passed') return 'unprotected';
  const first = new Date(Math.min(seenAt.getTime(), since.getTime()));
  const isOverdue = hasElapsed({ since: first, ms: PROTECTION_DEADLINE_MS, now: deps.clock.now() });
  // At least two tries, even when the deadline passed while the program was down.
  return isKnown && !isFirstTry && isOverdue ? 'unprotected' : 'again';
}

const mayShowLater = ({ deps, trade }: TradeWork, seenAt: Date): boolean =>
  trade.protectedQuantity === null &&
  trade.unprotectedSince === null &&
  deps.clock.now().getTime() - seenAt.getTime() < POSITION_LAG_MS;

export const doubtOf = ({ found, text }: Finding) => ({ isKnown: found !== 'unreadable', text });

interface FillWatch {
  /** When to look again; null when there is nothing left to look for. */
  lookAt: Date | null;
  /** The stop could not be placed in time: the order must end, so that the position can be closed. */
  isOverdue: boolean;
  /** The order has ended, filled and protected. */
  proven?: ProvenFill;
  /** A request limit kept the reading. */
  isLimited?: boolean;
}

/** I4 while an order waits: protects its fills as soon as they are seen; leaves the order itself alone. */
export async function watchFills(work: TradeWork): Promise<FillWatch> {
  const { deps, attempt, attempts } = work;
  const now = deps.clock.now();
  const after = (waitMs: number) => new Date(now.getTime() + waitMs);
  const { submittedAt } = attempt;
  if (submittedAt === null) return { lookAt: null, isOverdue: false };
  const verifyMs = attempt.verifyAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const firstLook = new Date(Math.min(submittedAt.getTime() + FIRST_LOOK_MS, verifyMs));
  if (!isDue({ dueAt: firstLook, longestWaitMs: FIRST_LOOK_MS, now }))
    return { lookAt: firstLook, isOverdue: false };
  const earlier = attempts.slice(0, -1).reduce((sum, one) => sum.plus(one.filledQuantity), D(0));
  if (isCovered(work, toPlain(earlier.plus(attempt.quantity)))) return { lookAt: null, isOverdue: false };
  const isFilled = attempts.some(({ filledQuantity }) => isPositive(filledQuantity));
  // A stopped order has to be settled within seconds, and a fan-out goes on before what follows its orders.
  const otherwise = work.isStopped === true ? 'look-up' : 'follow';
  const priority = isFilled ? 'protect' : otherwise;
  const byOrder = await readProvenFill(work, priority);
  if (byOrder !== null) return { lookAt: null, isOverdue: false, proven: byOrder };
  const finding = await checkProtection(work, { priority });
  switch (finding.found) {
    case 'flat':
      if (work.trade.unprotectedSince !== null) await recordSafe(work, finding);
      return { lookAt: after(LOOK_EVERY_MS), isOverdue: false };
    case 'protected': {
      const proven = provenFill(work, finding);
      if (proven !== null) return { lookAt: null, isOverdue: false, proven };
      await recordSafe(work, finding);
      return { lookAt: after(LOOK_EVERY_MS), isOverdue: false };
    }
    case 'unreadable':
      // No fill is known: an exchange that does not answer is no reason for an alarm.
      if (work.trade.unprotectedSince === null) {
        const isLimited = finding.isLimited === true;
        return { lookAt: after(isLimited ? LIMITED_RETRY_MS : LOOK_EVERY_MS), isOverdue: false, isLimited };
      }
  }
  const { since } = await recordUnprotected(work, doubtOf(finding));
  const isOverdue = finding.found === 'passed' || hasElapsed({ since, ms: PROTECTION_DEADLINE_MS, now });
  return { lookAt: after(PROTECTION_RETRY_MS), isOverdue };
}
