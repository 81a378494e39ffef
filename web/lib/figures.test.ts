import { expect, test } from 'vitest';
import {
  formatFullPrice,
  formatMoney,
  formatProfit,
  formatQuantity,
  formatReturn,
  profitDirection,
} from './figures.ts';

test('formats money with two decimals and the sign before the $', () => {
  expect(formatMoney('1234.5')).toBe('$1,234.50');
  expect(formatMoney('-5')).toBe('−$5.00');
  expect(formatMoney('0')).toBe('$0.00');
  for (const nothing of [null, undefined, '', 'what']) expect(formatMoney(nothing)).toBe('–');
});

test('formats a gain with a plus sign, and less than half a cent as neither gain nor loss', () => {
  expect(formatProfit('12.345')).toBe('+$12.35');
  expect(formatProfit('-12.3')).toBe('−$12.30');
  expect(formatProfit('-0.004')).toBe('$0.00');
  expect(['0.005', '-0.01', '0.004', null].map(profitDirection)).toEqual(['gain', 'loss', 'even', 'even']);
});

test('keeps the significant decimals of a price, even for cheap tokens', () => {
  expect(formatFullPrice('65000.5')).toBe('$65,000.50');
  expect(formatFullPrice('65006.512345678')).toBe('$65,006.51');
  expect(formatFullPrice('150.12345')).toBe('$150.1235');
  expect(formatFullPrice('0.00001234')).toBe('$0.00001234');
  expect(formatFullPrice('0')).toBe('$0.00');
  expect(formatFullPrice(null)).toBe('–');
});

test('groups a quantity and keeps its decimals', () => {
  expect(formatQuantity('1250000')).toBe('1,250,000');
  expect(formatQuantity('0.123')).toBe('0.123');
  expect(formatQuantity(undefined)).toBe('–');
});

test('formats a return in percent of the whole, or as a dash without one', () => {
  expect(formatReturn('12.5', '100')).toBe('+12.50%');
  expect(formatReturn('-1', '3')).toBe('−33.33%');
  expect(formatReturn('-0.00001', '3')).toBe('0.00%');
  expect(formatReturn('1', '0')).toBe('–');
});
