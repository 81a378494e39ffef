import { describe, expect, test } from 'vitest';
import { D, isMultipleOf } from '../decimal.ts';
import type { ExitPlan } from './exit-plan.ts';
import { type Entry, planExits } from './plan-exits.ts';

const LONG: Entry = {
  side: 'long',
  entryPrice: '100',
  stopLoss: '98',
  takeProfit: '104',
  quantity: '10',
  atr: '1.5',
  rules: { tickSize: '0.1', quantityStep: '0.001', minimumQuantity: '0.001' },
};
const SHORT: Entry = { ...LONG, side: 'short', stopLoss: '102', takeProfit: '96' };
const COARSE = { tickSize: '0.1', quantityStep: '1', minimumQuantity: '2' };

const plan = (takeProfits: [string, number][], more: Partial<ExitPlan> = {}): ExitPlan => ({
  takeProfits: takeProfits.map(([atR, percent]) => ({ atR, percent })),
  ...more,
});
const shown = (of: ExitPlan, entry: Entry) => {
  const { parts, rest, notes } = planExits(of, entry);
  return { parts: parts.map(({ price, quantity }) => [price, quantity]), rest, notes };
};

describe('prices', () => {
  test('of a long lie above the entry, of a short below, in multiples of the distance to the stop', () => {
    const parts = plan([
      ['0.5', 25],
      ['1', 50],
    ]);
    expect(shown(parts, LONG)).toEqual({
      parts: [
        ['101', '2.5'],
        ['102', '5'],
      ],
      rest: '2.5',
      notes: [],
    });
    expect(shown(parts, SHORT)).toEqual({
      parts: [
        ['99', '2.5'],
        ['98', '5'],
      ],
      rest: '2.5',
      notes: [],
    });
  });

  test('are rounded to the tick towards the entry', () => {
    const parts = plan([['0.333', 50]]);
    expect(shown(parts, LONG).parts).toEqual([['100.6', '5']]);
    expect(shown(parts, SHORT).parts).toEqual([['99.4', '5']]);
  });

  test('are in the order in which they are reached', () => {
    expect(
      shown(
        plan([
          ['1.5', 10],
          ['0.5', 20],
        ]),
        LONG,
      ).parts,
    ).toEqual([
      ['101', '2'],
      ['103', '1'],
    ]);
  });

  test('at or beyond the target are left to the target', () => {
    expect(
      shown(
        plan([
          ['1', 50],
          ['2', 25],
          ['3', 25],
        ]),
        LONG,
      ),
    ).toEqual({
      parts: [['102', '5']],
      rest: '5',
      notes: ['the part at 2 R is left to the target 104', 'the part at 3 R is left to the target 104'],
    });
  });
});

// Requirements: additions-exits-21
describe('quantities', () => {
  test('are rounded down to the step, and the last part takes the rest', () => {
    const thirds = plan([
      ['0.5', 33],
      ['1', 33],
      ['1.5', 34],
    ]);
    expect(shown(thirds, { ...LONG, quantity: '1', rules: { ...LONG.rules, quantityStep: '0.1' } })).toEqual({
      parts: [
        ['101', '0.3'],
        ['102', '0.3'],
        ['103', '0.4'],
      ],
      rest: '0',
      notes: [],
    });
  });

  test('below the smallest order are merged into the next part', () => {
    expect(
      shown(
        plan([
          ['0.5', 10],
          ['1', 40],
        ]),
        { ...LONG, rules: COARSE },
      ),
    ).toEqual({
      parts: [['102', '5']],
      rest: '5',
      notes: ['the part at 0.5 R is below the smallest order 2 and is merged into the next part'],
    });
  });

  test('of a last part below the smallest order are merged into the one before', () => {
    expect(
      shown(
        plan([
          ['0.5', 40],
          ['1', 10],
        ]),
        { ...LONG, rules: COARSE },
      ),
    ).toEqual({
      parts: [['101', '5']],
      rest: '5',
      notes: ['the part at 1 R is below the smallest order 2 and is merged into the part before'],
    });
  });

  test('below the smallest order altogether are left to the target', () => {
    expect(
      shown(
        plan([
          ['0.5', 5],
          ['1', 5],
        ]),
        { ...LONG, rules: COARSE },
      ),
    ).toEqual({
      parts: [],
      rest: '10',
      notes: [
        'the part at 0.5 R is below the smallest order 2 and is merged into the next part',
        'the part at 1 R is below the smallest order 2 and is merged into the target',
      ],
    });
  });

  test('leave nothing open that is below the smallest order', () => {
    expect(shown(plan([['1', 90]]), { ...LONG, rules: COARSE })).toEqual({
      parts: [['102', '10']],
      rest: '0',
      notes: [],
    });
  });

  test('sum to the entry at most, on the step and not below the smallest order', () => {
    for (const quantity of ['0.001', '0.007', '1', '3.333', '17.25', '1000']) {
      for (const percents of [[1], [100], [50, 50], [33, 33, 33], [10, 20, 30, 40], [1, 1, 98]]) {
        for (const minimumQuantity of ['0.001', '0.01', '1']) {
          const rules = { ...LONG.rules, minimumQuantity };
          const wanted = plan(percents.map((percent, index) => [`0.${index + 1}`, percent]));
          const { parts, rest } = planExits(wanted, { ...LONG, quantity, rules });
          const sum = parts.reduce((total, part) => total.plus(part.quantity), D(rest));
          expect(sum.eq(quantity)).toBe(true);
          expect(D(rest).isNegative()).toBe(false);
          for (const part of parts) {
            expect(isMultipleOf(part.quantity, rules.quantityStep)).toBe(true);
            expect(D(part.quantity).gte(minimumQuantity)).toBe(true);
          }
          if (parts.length > 0 && D(rest).gt(0)) expect(D(rest).gte(minimumQuantity)).toBe(true);
        }
      }
    }
  });
});

describe('the stop', () => {
  test('is moved to the entry, rounded to the tick towards less risk', () => {
    const breakEven = plan([], { breakEvenAtR: '1' });
    expect(planExits(breakEven, { ...LONG, entryPrice: '100.04' }).breakEven).toEqual({
      atPrice: '102',
      stopLoss: '100.1',
    });
    expect(planExits(breakEven, { ...SHORT, entryPrice: '99.96' }).breakEven).toEqual({
      atPrice: '98',
      stopLoss: '99.9',
    });
  });

  test('trails by multiples of the ATR of the entry, or by percent', () => {
    expect(planExits(plan([], { trail: { atrMultiple: '2' } }), LONG).trail).toEqual({ distance: '3' });
    expect(planExits(plan([], { trail: { percent: '1.5' } }), LONG).trail).toEqual({ percent: '1.5' });
  });

  test('does not trail by an ATR that is not known, and says so', () => {
    expect(planExits(plan([], { trail: { atrMultiple: '2' } }), { ...LONG, atr: null })).toMatchObject({
      trail: null,
      notes: ['the stop does not trail: no ATR is known'],
    });
  });
});
