import { type Action, sideOpenedBy } from '../sizing/trend.ts';
import type { OppositeSignalChoice } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';

export interface HeldPosition {
  side: 'long' | 'short';
  openedByUs: boolean;
}

export type HeldPositionDecision =
  | { decision: 'open' }
  | { decision: 'reverse' }
  | { decision: 'skip'; denial: Denial };

/**
 * What a signal means for a user who may already hold a position in its token; `reverse` closes first, then opens. A
 * position that was opened elsewhere is never touched.
 */
export function decideOnHeldPosition(input: {
  token: string;
  action: Action;
  held: HeldPosition | null;
  oppositeSignal: OppositeSignalChoice;
}): HeldPositionDecision {
  const { token, action, held, oppositeSignal } = input;
  if (held === null) return { decision: 'open' };
  const { side } = held;
  if (!held.openedByUs) return { decision: 'skip', denial: deny('foreign_position_held', { token, side }) };
  if (side === sideOpenedBy(action)) {
    return { decision: 'skip', denial: deny('same_direction_held', { token, side }) };
  }
  return oppositeSignal === 'reverse'
    ? { decision: 'reverse' }
    : { decision: 'skip', denial: deny('opposite_position_kept', { token, side }) };
}

/** How far the close of an opposite position has come; a close that has `begun` may not have ended. */
export type Reversal = 'begun' | 'closed';

/** Adds to a refusal that the opposite position was closed, or was being closed, and nothing opened in its place. */
export function afterReversal(
  reason: string,
  { token, reversal }: { token: string; reversal: Reversal | null },
): string {
  if (reversal === null) return reason;
  return reversal === 'closed'
    ? `${reason}; the opposite position in ${token} was closed before`
    : `${reason}; the closing of the opposite position in ${token} had begun`;
}

/** The exchange's clock and ours differ by less than this. */
const CLOCK_SLACK_MS = 60_000;

/**
 * How far, in milliseconds, a position's opening lies outside the time in which our trade was at work; 0 inside that
 * time, null when the position cannot be the trade's: opposite direction, or too far apart. A position without a known
 * opening time counts as the trade's.
 */
export function openedApartMs(input: {
  trade: { side: Action; createdAt: Date; completedAt: Date | null };
  position: { side: 'long' | 'short'; openedAt: Date | null };
  now: Date;
  /** How far apart the times may be. */
  slackMs?: number;
}): number | null {
  const { trade, position, now, slackMs = CLOCK_SLACK_MS } = input;
  if (sideOpenedBy(trade.side) !== position.side) return null;
  const openedAt = position.openedAt?.getTime();
  if (openedAt === undefined) return 0;
  const early = trade.createdAt.getTime() - openedAt;
  const late = openedAt - (trade.completedAt ?? now).getTime();
  const apart = Math.max(early, late, 0);
  return apart <= slackMs ? apart : null;
}

/** Whether two readings show the same position: its opening time does not change while it is open. */
export function isSamePosition(
  one: { side: 'long' | 'short'; openedAt: Date | null },
  other: { side: 'long' | 'short'; openedAt: Date | null },
): boolean {
  if (one.side !== other.side) return false;
  if (one.openedAt === null || other.openedAt === null) return true;
  return one.openedAt.getTime() === other.openedAt.getTime();
}
