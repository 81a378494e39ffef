import { expect, test } from 'vitest';
import { formatAgo } from './ago.ts';

const NOW = Date.parse('2026-03-09T12:00:00Z');

test.each([
  ['2026-03-09T11:59:54Z', '6 s ago'],
  ['2026-03-09T12:00:20Z', '0 s ago'],
  ['2026-03-09T11:59:00Z', '1 min ago'],
  ['2026-03-09T11:00:01Z', '59 min ago'],
  ['2026-03-09T11:00:00Z', '1 h ago'],
  ['2026-03-08T12:00:01Z', '23 h ago'],
  ['2026-03-08T12:00:00Z', '1 d ago'],
  ['2026-02-07T12:00:01Z', '29 d ago'],
  ['2026-02-07T12:00:00Z', null],
  ['2026-03-09T12:01:01Z', null],
  ['soon', null],
  [null, null],
])('%s is %s', (instant, text) => {
  expect(formatAgo(instant, NOW)).toBe(text);
});
