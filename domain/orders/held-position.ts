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
 * What a signal means for a user who may already hold a position in its token: `reverse` is
 * close first, then open. A position that was not opened here is never touched.
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

/** How far the closing of an opposite position has come: what has begun is not known to have ended. */
export type Reversal = 'begun' | 'closed';

/** A refusal that comes after it says so: nothing was opened in the place of what was held. */
export function afterReversal(
  reason: string,
  { token, reversal }: { token: string; reversal: Reversal | null },
): string {
  if (reversal === null) return reason;
  return reversal === 'closed'
    ? `${reason}; the opposite position in ${token} was closed before`
    : `${reason}; the closing of the opposite position in ${token} had begun`;
}

/** The exchange's clock and ours differ by less. */
const CLOCK_SLACK_MS = 60_000;

/**
 * How far apart, in milliseconds, a position was opened from the time in which a trade of ours was at work; 0 within
 * it, null when the position cannot be the trade's: another direction, or too far apart. A position whose opening the
 * exchange does not tell is taken to be the trade's.
 */
export function openedApartMs(input: {
  trade: { side: Action; createdAt: Date; completedAt: Date | null };
  position: { side: 'long' | 'short'; openedAt: Date | null };
  now: Date;
}): number | null {
  const { trade, position, now } = input;
  if (sideOpenedBy(trade.side) !== position.side) return null;
  const openedAt = position.openedAt?.getTime();
  if (openedAt === undefined) return 0;
  const early = trade.createdAt.getTime() - openedAt;
  const late = openedAt - (trade.completedAt ?? now).getTime();
  const apart = Math.max(early, late, 0);
  return apart <= CLOCK_SLACK_MS ? apart : null;
}

/** Whether both are one position, read twice: an exchange tells the same time of opening as long as it is open. */
export function isSamePosition(
  one: { side: 'long' | 'short'; openedAt: Date | null },
  other: { side: 'long' | 'short'; openedAt: Date | null },
): boolean {
  if (one.side !== other.side) return false;
  if (one.openedAt === null || other.openedAt === null) return true;
  return one.openedAt.getTime() === other.openedAt.getTime();
}
