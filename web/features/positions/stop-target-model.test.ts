import { expect, test } from 'vitest';
import { distanceText, stopTargetBar } from './stop-target-model.ts';

const long = {
  side: 'long',
  entryPrice: '100',
  markPrice: '102',
  stopLoss: '98',
  takeProfit: '106',
} as const;

test.each([
  ['a long', long, { entry: 0.25, mark: 0.5 }],
  [
    'a short, mirrored',
    { ...long, side: 'short', markPrice: '98', stopLoss: '102', takeProfit: '94' } as const,
    { entry: 0.25, mark: 0.5 },
  ],
  ['a mark beyond the target', { ...long, markPrice: '200' }, { entry: 0.25, mark: 1 }],
  ['a mark beyond the stop', { ...long, markPrice: '50' }, { entry: 0.25, mark: 0 }],
  ['a stop that followed the price', { ...long, stopLoss: '101' }, { entry: 0, mark: 0.2 }],
  ['no target', { ...long, takeProfit: null }, { entry: 0.5, mark: 1 }],
  ['no mark', { ...long, markPrice: null }, { entry: 0.25, mark: null }],
  ['no stop', { ...long, stopLoss: null }, null],
] as const)('places entry and mark between stop and target for %s', (_name, position, expected) => {
  expect(stopTargetBar(position)).toEqual(expected);
});

test.each([
  ['98', '100', '−2.0 %'],
  ['101.5', '100', '+1.5 %'],
  ['100.01', '100', '0.0 %'],
  [null, '100', null],
  ['98', null, null],
])('says how far %s is from a mark of %s: %s', (price, mark, text) => {
  expect(distanceText(price, mark)).toBe(text);
});
