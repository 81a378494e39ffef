import { expect, test } from 'vitest';
import { errorsOf, toBody, toValues } from './exit-plan-form.ts';

const PLAN = {
  takeProfits: [
    { atR: '1', percent: 50 },
    { atR: '1.5', percent: 25 },
  ],
  breakEvenAtR: '1',
  trail: { atrMultiple: '2' },
  maxHoldingMinutes: 240,
};

test.each([[PLAN], [{ takeProfits: [] }], [{ takeProfits: [], trail: { percent: '1.5' } }]])(
  'a plan goes through the form unchanged',
  (plan) => {
    expect(toBody(toValues(plan))).toEqual(plan);
  },
);

test('an empty form is a plan without any step', () => {
  expect(toBody(toValues(null))).toEqual({ takeProfits: [] });
});

test('rows left empty are left out, and refused fields are those of the filled rows', () => {
  const values = { ...toValues(null), atR1: ' 0 ', percent1: '50', atR3: '2', percent3: 'half' };
  expect(toBody(values)).toEqual({
    takeProfits: [
      { atR: '0', percent: 50 },
      { atR: '2', percent: 'half' },
    ],
  });
  expect(
    errorsOf(
      [
        { path: 'takeProfits.0.atR', message: 'a' },
        { path: 'takeProfits.1.percent', message: 'b' },
        { path: 'takeProfits', message: 'c' },
        { path: 'trail.percent', message: 'd' },
        { path: 'maxHoldingMinutes', message: 'e' },
      ],
      values,
    ),
  ).toEqual({ atR1: 'a', percent3: 'b', trail: 'd', maxHoldingMinutes: 'e' });
});
