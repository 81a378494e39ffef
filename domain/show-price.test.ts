import { expect, test } from 'vitest';
import { ATR_DECIMALS, showPrice } from './show-price.ts';

test.each([
  ['65002.5', '0.1', '65002.5000'],
  ['2', '0.01', '2.0000'],
  ['0.0000119', '0.00000001', '0.00001190'],
  ['0.123456789', '0.0001', '0.123456789'],
])('shows the price %s on a tick of %s as %s', (price, tick, shown) => {
  expect(showPrice(price, tick)).toBe(shown);
});

test.each([
  ['300', '0.1', '300.00'],
  ['1.5', '0.001', '1.500'],
  ['0.00000023', '0.00000001', '0.00000023'],
])('shows the ATR %s on a tick of %s as %s', (atr, tick, shown) => {
  expect(showPrice(atr, tick, ATR_DECIMALS)).toBe(shown);
});
