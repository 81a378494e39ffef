import { expect, test } from 'vitest';
import {
  countPages,
  formatCount,
  formatDecimals,
  formatDuration,
  formatFraction,
  formatInstant,
  formatLeverage,
  formatPrice,
  formatRelative,
  plainCount,
  shortId,
} from './format.ts';

const LOS_ANGELES = 'America/Los_Angeles';

// Requirements: trading-calls-29, settings-of-the-program-11
test('formats instants in the display time zone, on both sides of a clock change', () => {
  expect(formatInstant('2026-11-21T15:07:57Z', LOS_ANGELES)).toBe('2026/11/21 07:07:57');
  expect(formatInstant('2026-07-01T07:00:00.000Z', LOS_ANGELES)).toBe('2026/07/01 00:00:00');
});

// Requirements: trading-validation-17
test('formats an absent or unreadable instant as N/A', () => {
  for (const instant of [null, undefined, '', 'soon']) {
    expect(formatInstant(instant, LOS_ANGELES)).toBe('N/A');
  }
});

// Requirements: trading-validation-16
test('formats a price with a dollar sign and exactly two decimals', () => {
  expect(formatPrice('97098.872')).toBe('$97,098.87');
  expect(formatPrice('5')).toBe('$5.00');
});

// Requirements: trading-validation-16
test('formats a price that is not a number as Unknown', () => {
  for (const price of [null, undefined, '', 'NaN', 'abc']) expect(formatPrice(price)).toBe('Unknown');
});

// Requirements: accounts-validation-10, trading-validation-18
test('formats levels with four decimals and fractions as percentages', () => {
  expect(formatDecimals('98555.35061', 4)).toBe('98555.3506');
  expect(formatDecimals(null, 4)).toBe('–');
  expect(formatFraction('0.1', 1)).toBe('10.0%');
});

// Requirements: workflow-monitor-6
test('changes the unit of durations at a second, a minute and an hour', () => {
  expect(formatDuration(999)).toBe('999ms');
  expect(formatDuration(1000)).toBe('1.0s');
  expect(formatDuration(59_960)).toBe('59.9s');
  expect(formatDuration(90_000)).toBe('1.5m');
  expect(formatDuration(3_599_000)).toBe('59.9m');
  expect(formatDuration(5_400_000)).toBe('1.5h');
});

// Requirements: accounts-limits-4, workflow-monitor-5
test('shortens ids of at least the given length', () => {
  expect(shortId('12345678', 8)).toBe('1234...5678');
  expect(shortId('12345678', 9)).toBe('12345678');
});

test('formats relative times in the nearest unit', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  expect(formatRelative('2026-11-21T11:57:00Z', now)).toBe('3 minutes ago');
  expect(formatRelative('2026-11-19T12:00:00Z', now)).toBe('2 days ago');
});

test('formats a missing count as a dash', () => {
  expect([formatCount(1234), plainCount(1234), formatLeverage(10)]).toEqual(['1,234', '1234', '10x']);
  expect([formatCount, plainCount, formatLeverage].map((format) => format(Number.NaN))).toEqual([
    '–',
    '–',
    '–',
  ]);
});

test('returns no number of pages without a total', () => {
  expect(countPages(601, 100)).toBe(7);
  expect(countPages(Number.NaN, 100)).toBeUndefined();
  expect(countPages(undefined, 100)).toBeUndefined();
});
