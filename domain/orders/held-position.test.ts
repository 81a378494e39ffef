import { describe, expect, it } from 'vitest';
import {
  afterReversal,
  decideOnHeldPosition,
  isSamePosition,
  openedApartMs,
  type Reversal,
} from './held-position.ts';

const ours = { side: 'long', openedByUs: true } as const;

describe('a signal for a token that may be held', () => {
  // Requirements: workflows-6
  it.each([
    ['nothing held', 'buy', null, 'reverse', 'open'],
    ['same direction', 'buy', ours, 'reverse', 'same_direction_held'],
    ['opposite, reversing', 'sell', ours, 'reverse', 'reverse'],
    ['opposite, skipping', 'sell', ours, 'skip', 'opposite_position_kept'],
    ['opposite, not ours', 'sell', { side: 'long', openedByUs: false }, 'reverse', 'foreign_position_held'],
    [
      'same direction, not ours',
      'buy',
      { side: 'long', openedByUs: false },
      'reverse',
      'foreign_position_held',
    ],
    ['a short reversed by a buy', 'buy', { side: 'short', openedByUs: true }, 'reverse', 'reverse'],
  ] as const)('%s: %s', (_name, action, held, oppositeSignal, expected) => {
    const decision = decideOnHeldPosition({ token: 'BTC', action, held, oppositeSignal });
    expect(decision.decision === 'skip' ? decision.denial.code : decision.decision).toBe(expected);
  });
});

it('adds to a refusal how far the close of the opposite position had come', () => {
  const said = (reversal: Reversal | null) => afterReversal('No price', { token: 'BTC', reversal });
  expect([said(null), said('begun'), said('closed')]).toEqual([
    'No price',
    'No price; the closing of the opposite position in BTC had begun',
    'No price; the opposite position in BTC was closed before',
  ]);
});

describe('the time between a position’s opening and a trade', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 4, 4, 10, 0, seconds));
  const trade = { side: 'buy', createdAt: at(0), completedAt: at(20) } as const;
  const apart = (openedAt: Date | null, side: 'long' | 'short' = 'long', of: object = {}) =>
    openedApartMs({ trade: { ...trade, ...of }, position: { side, openedAt }, now: at(40) });

  it.each([
    ['while the trade was at work', at(5), 0],
    ['at its end', at(20), 0],
    ['a minute before it', at(-60), 60_000],
    ['more than a minute before it', at(-61), null],
    ['a minute after its end', at(80), 60_000],
    ['more than a minute after its end', at(81), null],
    ['at a time that the exchange does not report', null, 0],
  ] as const)('of a position opened %s', (_name, openedAt, expected) => {
    expect(apart(openedAt)).toBe(expected);
  });

  it('is null for the opposite direction', () => {
    expect(apart(at(5), 'short')).toBeNull();
    expect(apart(null, 'short')).toBeNull();
  });

  it('counts a trade that is still at work until now', () => {
    expect(apart(at(40), 'long', { completedAt: null })).toBe(0);
    expect(apart(at(41), 'long', { completedAt: null })).toBe(1_000);
  });
});

describe('two readings of a position', () => {
  const [early, late] = [new Date('2026-05-04T10:00:00Z'), new Date('2026-05-04T10:00:01Z')];
  const long = (openedAt: Date | null) => ({ side: 'long', openedAt }) as const;
  const short = (openedAt: Date | null) => ({ side: 'short', openedAt }) as const;

  it.each([
    ['of the same side and time are one', long(early), long(early), true],
    ['of another time are two', long(early), long(late), false],
    ['of the other side are two', long(early), short(early), false],
    ['of the same side are one if a time is unknown', long(early), long(null), true],
    ['of the other side are two if no time is known', long(null), short(null), false],
  ])('%s', (_name, one, other, expected) => {
    expect(isSamePosition(one, other)).toBe(expected);
    expect(isSamePosition(other, one)).toBe(expected);
  });
});
