import { expect, test } from 'vitest';
import { formatOriginalTime } from './original-time.ts';

test.each([
  ['2026-01-02T03:04:05Z', '2026/01/01 19:04:05'],
  ['2026-01-02 03:04', '2026/01/01 19:04:00'],
  ['202601020304', '2026/01/01 19:04:00'],
  ['1767323045000', '2026/01/01 19:04:05'],
  ['tomorrow', 'tomorrow'],
  ['', 'N/A'],
  [null, 'N/A'],
])('shows the original time %j as %s', (original, shown) => {
  expect(formatOriginalTime(original, 'America/Los_Angeles')).toBe(shown);
});
