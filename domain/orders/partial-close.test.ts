import { expect, test } from 'vitest';
import { D } from '../decimal.ts';
import { partialClose } from './partial-close.ts';

const rules = { token: 'BTC', quantityStep: '0.01', minimumQuantity: '0.01' };

test.each([
  ['0.5', 50, '0.25', '0.25'],
  ['0.05', 50, '0.02', '0.03'],
  ['0.05', 99, '0.04', '0.01'],
  ['3', 1, '0.03', '2.97'],
  ['0.02', 50, '0.01', '0.01'],
])('of %s BTC, %i percent closes %s and keeps %s', (quantity, percent, close, keep) => {
  expect(partialClose({ quantity, percent, rules })).toEqual({ isPossible: true, close, keep });
});

test('a part below the smallest order is refused', () => {
  expect(partialClose({ quantity: '0.03', percent: 25, rules })).toEqual({
    isPossible: false,
    reason: '25 % of the position is 0.0075 BTC, and the smallest order is 0.01 BTC; close more of it',
  });
});

test('a rest below the smallest order is refused', () => {
  const coarse = { ...rules, minimumQuantity: '0.02' };
  expect(partialClose({ quantity: '0.05', percent: 80, rules: coarse })).toEqual({
    isPossible: false,
    reason: '0.01 BTC would be left, and the smallest order is 0.02 BTC; close all of it',
  });
});

test('never closes more than asked for, and both parts are the position', () => {
  for (let hundredths = 2; hundredths <= 60; hundredths += 1) {
    for (let percent = 1; percent < 100; percent += 7) {
      const quantity = D(hundredths).div(100).toString();
      const part = partialClose({ quantity, percent, rules });
      if (!part.isPossible) continue;
      expect(D(part.close).lte(D(quantity).times(percent).div(100))).toBe(true);
      expect(D(part.close).plus(part.keep).eq(quantity)).toBe(true);
      expect(D(part.keep).gte('0.01')).toBe(true);
    }
  }
});
