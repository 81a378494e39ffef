import { describe, expect, test } from 'vitest';
import { betterPrice, type ExitState, nextExit } from './next-exit.ts';
import type { PlannedExits } from './plan-exits.ts';

const NOW = new Date('2026-05-04T10:00:00Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);

const EXITS: PlannedExits = {
  risk: '2',
  tickSize: '0.1',
  parts: [],
  rest: '10',
  breakEven: null,
  trail: null,
  maxHoldingMinutes: null,
  notes: [],
};
const PARTS = [
  { atR: '0.5', percent: 50, price: '101', quantity: '5' },
  { atR: '1', percent: 25, price: '102', quantity: '2.5' },
];
const BREAK_EVEN = { atPrice: '102', stopLoss: '100' };

type Given = Partial<Omit<ExitState, 'exits'>> & { exits?: Partial<PlannedExits> };

function next({ exits, ...more }: Given) {
  const markPrice = more.markPrice ?? '100';
  return nextExit({
    side: 'long',
    enteredAt: ago(60_000),
    now: NOW,
    markPrice,
    bestPrice: markPrice,
    partsDone: 0,
    isBreakEvenDone: false,
    stopLoss: '98',
    movedAt: null,
    ...more,
    exits: { ...EXITS, ...exits },
  });
}

describe('parts', () => {
  test('are closed when the price is there, one after the other', () => {
    expect(next({ exits: { parts: PARTS }, markPrice: '100.9' })).toBeNull();
    expect(next({ exits: { parts: PARTS }, markPrice: '101' })).toEqual({ kind: 'part', part: 0 });
    expect(next({ exits: { parts: PARTS }, markPrice: '105' })).toEqual({ kind: 'part', part: 0 });
    expect(next({ exits: { parts: PARTS }, markPrice: '101', partsDone: 1 })).toBeNull();
    expect(next({ exits: { parts: PARTS }, markPrice: '102', partsDone: 1 })).toEqual({
      kind: 'part',
      part: 1,
    });
    expect(next({ exits: { parts: PARTS }, markPrice: '105', partsDone: 2 })).toBeNull();
  });

  test('of a short are closed below', () => {
    const parts = [{ atR: '0.5', percent: 50, price: '99', quantity: '5' }];
    expect(next({ side: 'short', stopLoss: '102', exits: { parts }, markPrice: '99.1' })).toBeNull();
    expect(next({ side: 'short', stopLoss: '102', exits: { parts }, markPrice: '98.5' })).toEqual({
      kind: 'part',
      part: 0,
    });
  });
});

test('the rest is closed when it was held long enough, before anything else', () => {
  const exits = { parts: PARTS, maxHoldingMinutes: 60 };
  expect(next({ exits, enteredAt: ago(3_599_999) })).toBeNull();
  expect(next({ exits, enteredAt: ago(3_600_000), markPrice: '105' })).toEqual({ kind: 'time' });
});

describe('break-even', () => {
  test('moves the stop to the entry when the price has come far enough', () => {
    expect(next({ exits: { breakEven: BREAK_EVEN }, markPrice: '101.9' })).toBeNull();
    expect(next({ exits: { breakEven: BREAK_EVEN }, markPrice: '102' })).toEqual({
      kind: 'move',
      why: 'break-even',
      stopLoss: '100',
    });
  });

  test('moves it once', () => {
    const moved = { exits: { breakEven: BREAK_EVEN }, markPrice: '102', isBreakEvenDone: true };
    expect(next(moved)).toBeNull();
  });

  test.each([
    ['beyond it', '101'],
    ['at it', '100'],
    ['a tenth of R before it, less a tick', '99.9'],
  ])('leaves a stop that is %s', (_name, stopLoss) => {
    expect(next({ exits: { breakEven: BREAK_EVEN }, markPrice: '102', stopLoss })).toBeNull();
  });
});

// Requirements: additions-exits-11
describe('the trail', () => {
  const exits = { trail: { distance: '1.5' } };
  const trail = (stopLoss: string) => ({ kind: 'move', why: 'trail', stopLoss });

  test('follows the best price, not the present one', () => {
    expect(next({ exits, markPrice: '101' })).toEqual(trail('99.5'));
    expect(next({ exits, markPrice: '101', bestPrice: '102' })).toEqual(trail('100.5'));
  });

  test('follows below a short', () => {
    const short = { side: 'short', stopLoss: '102', exits } as const;
    expect(next({ ...short, markPrice: '99' })).toEqual(trail('100.5'));
    expect(next({ ...short, markPrice: '100.5', stopLoss: '100.5' })).toBeNull();
  });

  test('follows by percent of the best price, rounded to the tick away from it', () => {
    expect(next({ exits: { trail: { percent: '1.5' } }, markPrice: '103' })).toEqual(trail('101.4'));
  });

  test('moves by a tenth of R at least, and never back', () => {
    expect(next({ exits, markPrice: '101', stopLoss: '99.4' })).toBeNull();
    expect(next({ exits, markPrice: '101', stopLoss: '99.3' })).toEqual(trail('99.5'));
    expect(next({ exits, markPrice: '101', stopLoss: '100' })).toBeNull();
  });

  test('moves at most once in ten seconds, also by a clock that was set back', () => {
    expect(next({ exits, markPrice: '101', movedAt: ago(9_999) })).toBeNull();
    expect(next({ exits, markPrice: '101', movedAt: ago(10_000) })).toEqual(trail('99.5'));
    expect(next({ exits, markPrice: '101', movedAt: ago(-3_600_000) })).toEqual(trail('99.5'));
  });

  test('does not move to where the price is, which would close at once', () => {
    expect(next({ exits, markPrice: '100.5', bestPrice: '102' })).toBeNull();
    expect(next({ exits, markPrice: '100.4', bestPrice: '102' })).toBeNull();
  });

  test('gives way to the break-even where that is nearer', () => {
    const both = { trail: { distance: '4' }, breakEven: BREAK_EVEN };
    expect(next({ exits: both, markPrice: '102.5' })).toMatchObject({ why: 'break-even', stopLoss: '100' });
    expect(next({ exits: both, markPrice: '105' })).toMatchObject({ why: 'trail', stopLoss: '101' });
  });
});

test('the better price of a long is the higher one, of a short the lower one', () => {
  expect(betterPrice('long', '101', '102')).toBe('102');
  expect(betterPrice('short', '101', '102')).toBe('101');
  expect(betterPrice('long', '101', null)).toBe('101');
});
