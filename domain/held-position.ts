import { type Denial, deny } from './denials.ts';
import type { Action } from './trend.ts';
import type { OppositeSignalChoice } from './user-settings.ts';

export interface HeldPosition {
  side: 'long' | 'short';
  openedByUs: boolean;
}

export type HeldPositionDecision =
  | { decision: 'open' }
  | { decision: 'reverse' }
  | { decision: 'skip'; denial: Denial };

/**
 * What a signal means for a user who may already hold a position in its token (decisions §10): `reverse` is
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
  if (side === (action === 'buy' ? 'long' : 'short')) {
    return { decision: 'skip', denial: deny('same_direction_held', { token, side }) };
  }
  return oppositeSignal === 'reverse'
    ? { decision: 'reverse' }
    : { decision: 'skip', denial: deny('opposite_position_kept', { token, side }) };
}
