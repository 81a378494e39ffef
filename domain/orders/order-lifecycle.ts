import { isPositive } from '../decimal.ts';

/**
 * The life of one order attempt. Invariants:
 * 1. An order in doubt (`unknown`) is resolved only by looking it up, never by sending it again; only an order that
 *    surely did not arrive (`deferred`) is sent again, under the same client order id.
 * 2. `filled` is final.
 * 3. A fill may beat a cancel, and may appear after the order was believed gone.
 * 4. Only a confirmed `unfilled` allows the next attempt, for the unfilled rest.
 */

export const ATTEMPT_STATES = [
  'planned',
  'submitting',
  'unknown',
  'open',
  'cancelling',
  'filled',
  'unfilled',
  'refused',
  'never_placed',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

export const ATTEMPT_EVENTS = [
  'submit',
  'accepted',
  'refused',
  'outcome_unknown',
  'deferred',
  'found_open',
  'found_filled',
  'found_closed_unfilled',
  'found_unclear',
  'lookup_missed',
  'declared_never_placed',
  'cancel_requested',
  'cancel_confirmed',
] as const;
export type AttemptEvent = (typeof ATTEMPT_EVENTS)[number];

/**
 * `filled`: the whole quantity filled. `unfilled`: the order ended with a rest; the attempt's filled quantity, often
 * zero, is what filled before. `refused`: the exchange rejected the order. `never_placed`: the order never arrived.
 */
const TRANSITIONS: Readonly<Record<AttemptState, Partial<Record<AttemptEvent, AttemptState>>>> = {
  // In doubt: the order was deferred before, but its request may have arrived after all.
  planned: { submit: 'submitting', outcome_unknown: 'unknown', declared_never_placed: 'never_placed' },
  // Deferred: the request surely did not arrive (rate limit, connection refused) and may be sent again under the same id.
  submitting: { accepted: 'open', refused: 'refused', outcome_unknown: 'unknown', deferred: 'planned' },
  unknown: {
    found_open: 'open',
    found_filled: 'filled',
    found_closed_unfilled: 'unfilled',
    // The exchange reports a state we do not know: the order exists, and nothing else is known.
    found_unclear: 'unknown',
    lookup_missed: 'unknown',
    declared_never_placed: 'never_placed',
  },
  // A miss does not put an accepted order in doubt again: the order exists, the look-up was early.
  open: {
    found_open: 'open',
    found_filled: 'filled',
    found_closed_unfilled: 'unfilled',
    found_unclear: 'open',
    lookup_missed: 'open',
    cancel_requested: 'cancelling',
  },
  // A cancel with an unknown outcome stays in progress: sent again or looked up until it is settled.
  cancelling: {
    found_open: 'cancelling',
    found_filled: 'filled',
    found_closed_unfilled: 'unfilled',
    found_unclear: 'cancelling',
    lookup_missed: 'cancelling',
    outcome_unknown: 'cancelling',
    cancel_requested: 'cancelling',
    cancel_confirmed: 'unfilled',
  },
  filled: { found_filled: 'filled' },
  // Exchanges have reported fills after a confirmed cancel. Unclear: the position shows more than it has filled.
  unfilled: {
    found_closed_unfilled: 'unfilled',
    cancel_confirmed: 'unfilled',
    found_filled: 'filled',
    found_unclear: 'cancelling',
  },
  refused: {},
  // Declared after repeated misses; if the order turns up later, the exchange's report counts.
  never_placed: { found_open: 'open', found_filled: 'filled', found_unclear: 'unknown' },
};

const TERMINAL_STATES: readonly AttemptState[] = ['filled', 'unfilled', 'refused', 'never_placed'];

export class InvalidTransition extends Error {
  override readonly name = 'InvalidTransition';

  constructor(kind: string, from: string, event: string, allowed: readonly string[]) {
    super(`${kind} cannot take '${event}' in '${from}'; allowed: ${allowed.join(', ') || 'nothing'}`);
  }
}

/** The state after the event. Throws InvalidTransition for an event that the table does not list. */
export function nextAttemptState(state: AttemptState, event: AttemptEvent): AttemptState {
  const row = TRANSITIONS[state];
  const next = row[event];
  if (next === undefined) throw new InvalidTransition('An attempt', state, event, Object.keys(row));
  return next;
}

export function canTake(state: AttemptState, event: AttemptEvent): boolean {
  return TRANSITIONS[state][event] !== undefined;
}

/** Terminal: nothing more is sent or awaited; only a later report of the exchange can change the state. */
export function isTerminal(state: AttemptState): boolean {
  return TERMINAL_STATES.includes(state);
}

export interface AttemptSummary {
  state: AttemptState;
  /** In units of the token. */
  filledQuantity: string;
}

export interface TradeOutcome {
  fillStatus: 'filled' | 'partial' | 'unfilled' | 'unknown';
  /** Any fill above zero; the caller overrides this when protecting the fill failed. */
  success: boolean;
}

/** The combined outcome of a trade's attempts; unknown while any of them is unsettled. */
export function tradeOutcome(attempts: readonly AttemptSummary[]): TradeOutcome {
  const isWhole = attempts.some(({ state }) => state === 'filled');
  const success = isWhole || attempts.some(({ filledQuantity }) => isPositive(filledQuantity));
  if (!attempts.every(({ state }) => isTerminal(state))) return { fillStatus: 'unknown', success };
  if (isWhole) return { fillStatus: 'filled', success };
  return { fillStatus: success ? 'partial' : 'unfilled', success };
}
