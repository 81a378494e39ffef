import { describe, expect, it } from 'vitest';
import { decideOnHeldPosition } from './held-position.ts';

const ours = { side: 'long', openedByUs: true } as const;

describe('a signal for a token that may be held', () => {
  it.each([
    ['nothing held', 'buy', null, 'reverse', 'open'],
    ['same direction', 'buy', ours, 'reverse', 'same_direction_held'],
    ['opposite, reversing', 'sell', ours, 'reverse', 'reverse'],
    ['opposite, skipping', 'sell', ours, 'skip', 'opposite_position_kept'],
    ['opposite, not ours', 'sell', { side: 'long', openedByUs: false }, 'reverse', 'foreign_position_held'],
    [
      'same direction, not ours',
      'sell',
      { side: 'short', openedByUs: false },
      'reverse',
      'foreign_position_held',
    ],
    ['a short reversed by a buy', 'buy', { side: 'short', openedByUs: true }, 'reverse', 'reverse'],
  ] as const)('%s: %s', (_name, action, held, oppositeSignal, expected) => {
    const decision = decideOnHeldPosition({ token: 'BTC', action, held, oppositeSignal });
    expect(decision.decision === 'skip' ? decision.denial.code : decision.decision).toBe(expected);
  });
});
