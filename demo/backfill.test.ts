import { expect, test } from 'vitest';
import { backfill } from './backfill.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const [token] = DEMO_TOKENS as readonly [DemoToken];
const now = new Date('2026-01-31T12:07:00Z');
const HOUR_MS = 3_600_000;

const parse = (messages: { message: { body: string } }[]) =>
  messages.map(({ message }) => JSON.parse(message.body) as Record<string, string>);

test('a new system gets a day of short candles and two weeks of long ones, the newest at the end', () => {
  const { messages } = backfill({ token, seed: '1', now, last: null });
  const counts = Map.groupBy(parse(messages), ({ Timeframe }) => Timeframe);
  expect([...counts].map(([name, { length }]) => [name, length]).sort()).toEqual([
    ['15', 288],
    ['240', 84],
    ['5', 288],
    ['60', 168],
  ]);
  expect(messages.filter(({ isNewest }) => isNewest)).toEqual([messages.at(-1)]);
  expect(parse(messages).at(-1)?.DateTime).toBe('202601311205');
});

test('every candle knows its ATR and its trends', () => {
  for (const candle of parse(backfill({ token, seed: '1', now, last: null }).messages)) {
    expect(Number(candle.ATR)).toBeGreaterThan(0);
    expect(Math.abs(Number(candle.mature_trend))).toBeLessThanOrEqual(1);
  }
});

test('a second run goes on from the last candle and its price', () => {
  const last = { time: new Date(now.getTime() - HOUR_MS), price: 50_000 };
  const { messages } = backfill({ token, seed: '1', now, last });
  const short = parse(messages).filter(({ Timeframe }) => Timeframe === '5');
  expect(short).toHaveLength(12);
  expect(Number(short[0]?.Open) / 50_000).toBeCloseTo(1, 1);
  expect(short.every(({ DateTime = '' }) => DateTime > '202601311107')).toBe(true);
});

test('nothing is posted twice when no time has passed', () => {
  const last = { time: now, price: 50_000 };
  expect(backfill({ token, seed: '1', now, last }).messages).toEqual([]);
});
