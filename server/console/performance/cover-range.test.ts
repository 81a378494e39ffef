import { describe, expect, test } from 'vitest';
import { coverRange, hasWholeHours, SPANS } from './cover-range.ts';

const at = (text: string | null) => (text === null ? null : new Date(text));
const pieces = (from: string | null, to: string | null) =>
  coverRange({ from: at(from), to: at(to) }, SPANS).map(
    (piece) => `${piece.source} ${piece.from?.toISOString() ?? ''} ${piece.to?.toISOString() ?? ''}`,
  );

describe('a range is covered without gaps by the longest spans that fit', () => {
  test('with trades, hours and days at its ends and months between', () => {
    expect(pieces('2026-01-30T22:30:00Z', '2026-04-02T01:00:00Z')).toEqual([
      'trades 2026-01-30T22:30:00.000Z 2026-01-30T23:00:00.000Z',
      'hour 2026-01-30T23:00:00.000Z 2026-01-31T00:00:00.000Z',
      'day 2026-01-31T00:00:00.000Z 2026-02-01T00:00:00.000Z',
      'month 2026-02-01T00:00:00.000Z 2026-04-01T00:00:00.000Z',
      'day 2026-04-01T00:00:00.000Z 2026-04-02T00:00:00.000Z',
      'hour 2026-04-02T00:00:00.000Z 2026-04-02T01:00:00.000Z',
    ]);
  });

  test.each([
    [null, null, ['month  ']],
    ['2026-01-01T00:00:00Z', null, ['month 2026-01-01T00:00:00.000Z ']],
    [
      '2026-01-01T05:10:00Z',
      '2026-01-01T05:20:00Z',
      ['trades 2026-01-01T05:10:00.000Z 2026-01-01T05:20:00.000Z'],
    ],
    ['2026-01-01T05:00:00Z', '2026-01-01T05:00:00Z', []],
  ])('from %s to %s', (from, to, wanted) => {
    expect(pieces(from, to)).toEqual(wanted);
  });
});

test.each([
  ['America/Los_Angeles', true],
  ['Asia/Kolkata', false],
  ['Australia/Lord_Howe', false],
  ['UTC', true],
])('knows whether hours of %s are hours of UTC: %s', (timeZone, isWhole) => {
  const now = new Date('2026-06-15T12:00:00Z');
  expect(hasWholeHours(timeZone, { from: new Date('2025-06-01T00:00:00Z'), to: null }, now)).toBe(isWhole);
});
