import { expect, test } from 'vitest';
import { sameTimeframe } from '#domain/timeframe.ts';
import { timeframeTexts } from './match-price-log.ts';

const COUNTS = ['', ...'0 1 01 00001 2 3 4 5 7 15 24 30 60 1440 99999'.split(' ')];
const UNITS = ['', ...'mhHdDwWMsSx'];
const TIMEFRAMES = [
  ...COUNTS.flatMap((count) => UNITS.map((unit) => `${count}${unit}`)),
  '100000',
  '1.5',
  ...'15 m|15min|15 min|15 MIN|M15|m15|240 min|H4|h4|4 hours|D1|1 Day|24 h|W1|M1|1 min|15  min'.split('|'),
];

test('returns exactly the texts that mean the same minutes', () => {
  for (const wanted of TIMEFRAMES) {
    const texts = timeframeTexts(wanted);
    if (texts === null) continue;
    expect(new Set(texts).size, wanted).toBe(texts.length);
    for (const stored of TIMEFRAMES) {
      expect(texts.includes(stored), `${wanted} and ${stored}`).toBe(sameTimeframe(wanted, stored));
    }
  }
});

test('returns no texts for a timeframe without minutes', () => {
  for (const text of ['30S', 'Any', '', '0m', '1.5h', '100000']) expect(timeframeTexts(text)).toBeNull();
});
