import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { backfill } from './backfill.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const [token] = DEMO_TOKENS as readonly [DemoToken];
const now = new Date('2026-01-31T12:07:00Z');
const options = { token, seed: '1', now };

const candlesSince = (last: { time: Date; price: number } | null) =>
  backfill({ ...options, last }).messages.map(({ body }) => JSON.parse(body) as Record<string, string>);

test('fills a new system with a day of short candles and two weeks of long ones, oldest first', () => {
  const candles = candlesSince(null);
  const counts = Map.groupBy(candles, ({ Timeframe }) => Timeframe);
  expect(['5', '15', '60', '240'].map((timeframe) => counts.get(timeframe)?.length)).toEqual([
    288, 288, 168, 84,
  ]);
  expect(candles.at(-1)?.DateTime).toBe('202601311205');
});

test('every candle has all fields', () => {
  const [first = {}, ...others] = candlesSince(null);
  expect(Object.keys(first)).toEqual(expect.arrayContaining(['ATR', 'MACD', 'WT2', 'EMA50', 'mature_trend']));
  for (const candle of others) expect(Object.keys(candle)).toEqual(Object.keys(first));
});

testEveryCase('continues an earlier run after its last candle, at its price', () => {
  const last = { time: new Date('2026-01-31T11:07:00Z'), price: 50_000 };
  const short = candlesSince(last).filter(({ Timeframe }) => Timeframe === '5');
  expect(short).toHaveLength(12);
  expect(Number(short[0]?.Open)).toBe(50_000);
  expect(short[0]?.DateTime).toBe('202601311110');
  expect(candlesSince({ ...last, time: now })).toEqual([]);
});
