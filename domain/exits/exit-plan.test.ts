import { describe, expect, test } from 'vitest';
import { type ExitPlan, exitPlanProblems, isEmptyPlan, partsBeyondTarget } from './exit-plan.ts';

const plan = (more: Partial<ExitPlan>): ExitPlan => ({ takeProfits: [], ...more });
const parts = (...takeProfits: [string, number][]): ExitPlan =>
  plan({ takeProfits: takeProfits.map(([atR, percent]) => ({ atR, percent })) });

describe('a plan that can be stored', () => {
  test.each<[string, ExitPlan]>([
    ['does nothing', plan({})],
    ['closes everything in parts', parts(['1', 50], ['1.5', 50])],
    ['moves the stop to the entry', plan({ breakEvenAtR: '1' })],
    ['trails by ATR', plan({ trail: { atrMultiple: '2' } })],
    ['trails by percent', plan({ trail: { percent: '1.5' } })],
    ['ends after a time', plan({ maxHoldingMinutes: 240 })],
  ])('%s', (_name, stored) => {
    expect(exitPlanProblems(stored)).toEqual([]);
  });
});

// Requirements: additions-exits-19
describe('a plan that cannot be stored names the field', () => {
  test.each<[string, ExitPlan, string, string]>([
    [
      'more than everything',
      parts(['1', 60], ['2', 50]),
      'takeProfits',
      'The parts are 110 % together, and a position has only 100 %',
    ],
    [
      'a part at the entry',
      parts(['0', 50]),
      'takeProfits.0.atR',
      'The multiple must be a number above 0, at most 100',
    ],
    ['a part on the other side', parts(['-1', 50]), 'takeProfits.0.atR', 'above 0'],
    ['no number', parts(['1', 50], ['far', 50]), 'takeProfits.1.atR', 'must be a number'],
    [
      'two parts at one price',
      parts(['1', 50], ['1.0', 50]),
      'takeProfits.1.atR',
      'Another part is closed at 1.0 R already',
    ],
    ['a broken percentage', parts(['1', 12.5]), 'takeProfits.0.percent', 'whole number from 1 to 100'],
    ['no percentage', parts(['1', 0]), 'takeProfits.0.percent', 'whole number from 1 to 100'],
    ['a break-even at the entry', plan({ breakEvenAtR: '0' }), 'breakEvenAtR', 'above 0'],
    ['a trail of nothing', plan({ trail: { percent: '0' } }), 'trail.percent', 'above 0 and below 100'],
    ['a trail of everything', plan({ trail: { percent: '100' } }), 'trail.percent', 'below 100'],
    ['a trail of no ATR', plan({ trail: { atrMultiple: '0' } }), 'trail.atrMultiple', 'above 0'],
    ['no time at all', plan({ maxHoldingMinutes: 0 }), 'maxHoldingMinutes', 'from 1 to 525600'],
    ['a broken time', plan({ maxHoldingMinutes: 1.5 }), 'maxHoldingMinutes', 'whole number of minutes'],
  ])('%s', (_name, stored, field, message) => {
    expect(exitPlanProblems(stored)).toEqual([{ field, message: expect.stringContaining(message) }]);
  });

  test('too many parts', () => {
    const many = parts(...Array.from({ length: 11 }, (_, index): [string, number] => [`${index + 1}`, 1]));
    expect(exitPlanProblems(many)).toEqual([
      { field: 'takeProfits', message: 'A plan has at most 10 parts' },
    ]);
  });
});

test('a part at or beyond the target is named with its field', () => {
  expect(partsBeyondTarget(parts(['1', 20], ['2', 20], ['2.5', 20]), '2')).toEqual([
    {
      field: 'takeProfits.1.atR',
      message: 'The target lies 2 R away: a part at 2 R would never be closed',
    },
    {
      field: 'takeProfits.2.atR',
      message: 'The target lies 2 R away: a part at 2.5 R would never be closed',
    },
  ]);
});

test('a plan is empty when none of its fields does anything', () => {
  expect(isEmptyPlan(plan({}))).toBe(true);
  expect(isEmptyPlan(plan({ maxHoldingMinutes: 5 }))).toBe(false);
});
