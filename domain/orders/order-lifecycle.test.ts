import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_EVENTS,
  ATTEMPT_STATES,
  type AttemptEvent,
  type AttemptState,
  canTake,
  InvalidTransition,
  isTerminal,
  nextAttemptState,
  tradeOutcome,
} from './order-lifecycle.ts';

const LOOK_UPS: readonly AttemptEvent[] = [
  'found_open',
  'found_filled',
  'found_closed_unfilled',
  'found_unclear',
  'lookup_missed',
  'declared_never_placed',
];

const walk = (events: string) =>
  (events.split(' ') as AttemptEvent[]).reduce<AttemptState>(nextAttemptState, 'planned');

describe('an order attempt', () => {
  it.each<[string, string, AttemptState]>([
    ['is accepted and filled', 'submit accepted found_filled', 'filled'],
    ['is refused', 'submit refused', 'refused'],
    ['is cancelled', 'submit accepted cancel_requested cancel_confirmed', 'unfilled'],
    ['fills before its cancel', 'submit accepted cancel_requested found_filled', 'filled'],
    ['fills in part', 'submit accepted found_open cancel_requested found_closed_unfilled', 'unfilled'],
    ['fills late', 'submit accepted cancel_requested cancel_confirmed found_filled', 'filled'],
    ['in doubt is found open', 'submit outcome_unknown lookup_missed found_open', 'open'],
    ['in doubt is found filled', 'submit outcome_unknown found_filled', 'filled'],
    ['in doubt is found closed', 'submit outcome_unknown found_closed_unfilled', 'unfilled'],
    [
      'is declared never placed',
      'submit outcome_unknown lookup_missed declared_never_placed',
      'never_placed',
    ],
    ['whose cancel is in doubt', 'submit accepted cancel_requested outcome_unknown found_open', 'cancelling'],
    ['that surely did not arrive is sent again', 'submit deferred submit accepted', 'open'],
    ['is never sent', 'declared_never_placed', 'never_placed'],
    ['that may have arrived is looked up', 'submit deferred outcome_unknown found_filled', 'filled'],
    ['in an unknown state stays in doubt', 'submit outcome_unknown found_unclear found_unclear', 'unknown'],
  ])('%s: %s is %s', (_name, events, state) => {
    expect(walk(events)).toBe(state);
  });

  it.each<[AttemptState, AttemptEvent]>([
    ['planned', 'accepted'],
    ['submitting', 'submit'],
    ['unknown', 'submit'],
    ['unknown', 'accepted'],
    ['unknown', 'cancel_confirmed'],
    ['unknown', 'deferred'],
    ['open', 'submit'],
    ['open', 'deferred'],
    ['open', 'declared_never_placed'],
    ['filled', 'cancel_confirmed'],
    ['unfilled', 'submit'],
    ['refused', 'submit'],
    ['refused', 'found_filled'],
    ['never_placed', 'submit'],
  ])('in %s cannot take %s', (state, event) => {
    expect(() => nextAttemptState(state, event)).toThrow(InvalidTransition);
    expect(canTake(state, event)).toBe(false);
  });

  it('never leaves filled', () => {
    for (const event of ATTEMPT_EVENTS) {
      if (canTake('filled', event)) expect(nextAttemptState('filled', event)).toBe('filled');
    }
  });

  it('leaves unknown only by a look-up', () => {
    for (const event of ATTEMPT_EVENTS) {
      expect(canTake('unknown', event)).toBe(LOOK_UPS.includes(event));
    }
  });

  it('is never submitted again once it may have arrived, and never leaves filled', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ATTEMPT_EVENTS), { maxLength: 40 }), (events) => {
        let state: AttemptState = 'planned';
        let mayHaveArrived = false;
        let wasFilled = false;
        for (const event of events) {
          if (!canTake(state, event)) continue;
          if (event === 'submit') expect(mayHaveArrived).toBe(false);
          state = nextAttemptState(state, event);
          mayHaveArrived ||= event !== 'submit' && event !== 'deferred';
          wasFilled ||= state === 'filled';
          if (wasFilled) expect(state).toBe('filled');
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('can reach an end from every state', () => {
    for (const state of ATTEMPT_STATES) expect(reachable(state).some(isTerminal)).toBe(true);
  });

  it('is settled in filled, unfilled, refused and never_placed', () => {
    expect(ATTEMPT_STATES.filter(isTerminal)).toEqual(['filled', 'unfilled', 'refused', 'never_placed']);
  });
});

function reachable(from: AttemptState): AttemptState[] {
  const seen = new Set<AttemptState>([from]);
  for (const state of seen) {
    for (const event of ATTEMPT_EVENTS) if (canTake(state, event)) seen.add(nextAttemptState(state, event));
  }
  return [...seen];
}

describe('a trade', () => {
  it.each<[string, string, string, boolean]>([
    ['without attempts', '', 'unfilled', false],
    ['filled at the first attempt', 'filled 1', 'filled', true],
    ['filled at the second attempt', 'unfilled 0, filled 0.9', 'filled', true],
    ['filled by the rest of a partial fill', 'unfilled 0.4, filled 0.6', 'filled', true],
    ['partially filled', 'unfilled 0.4, unfilled 0', 'partial', true],
    ['with nothing filled', 'unfilled 0, unfilled 0', 'unfilled', false],
    ['refused', 'refused 0', 'unfilled', false],
    ['never placed', 'never_placed 0', 'unfilled', false],
    ['in doubt', 'unknown 0', 'unknown', false],
    ['in doubt after a partial fill', 'unfilled 0.4, unknown 0', 'unknown', true],
    ['still open', 'open 0', 'unknown', false],
  ])('%s (%s) is %s, a success: %s', (_name, attempts, fillStatus, success) => {
    const summaries = attempts.split(', ').flatMap((attempt) => {
      const [state, filledQuantity = ''] = attempt.split(' ');
      return attempt === '' ? [] : [{ state: state as AttemptState, filledQuantity }];
    });
    expect(tradeOutcome(summaries)).toEqual({ fillStatus, success });
  });
});
