import { expect, test } from 'vitest';
import { readCandle, readSignal } from '#server/ingest/read-delivery.ts';
import { readPayload } from '#server/ingest/read-payload.ts';
import { createMarket } from './market.ts';
import { candleMessage, priceText, signalMessage } from './messages.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const [bitcoin] = DEMO_TOKENS as readonly [DemoToken];
const options = { token: bitcoin, seed: '1', begin: new Date('2026-01-01T00:00:00Z') };
const steps = (count: number, market = createMarket(options)) =>
  Array.from({ length: count }, () => market.step());
const candlesOf = (timeframe: number, from: ReturnType<typeof steps>) =>
  from.flatMap(({ candles }) => candles.filter((candle) => candle.timeframe === timeframe));

test('a market is the same for the same seed and different for another', () => {
  expect(steps(400)).toEqual(steps(400));
  expect(steps(400, createMarket({ ...options, seed: '2' }))).not.toEqual(steps(400));
});

test('a day has consistent candles of every timeframe', () => {
  const day = steps(288);
  expect([5, 15, 60, 240].map((timeframe) => candlesOf(timeframe, day).length)).toEqual([288, 96, 24, 6]);
  const parts = candlesOf(5, day).slice(0, 48);
  const [longest] = candlesOf(240, day);
  expect(longest?.bar.open).toBe(bitcoin.startPrice);
  expect(longest?.bar.high).toBe(Math.max(...parts.map(({ bar }) => bar.high)));
  expect(longest?.bar.close).toBe(parts.at(-1)?.bar.close);
});

test('a market stays within a factor of two of its start for a month', () => {
  const bars = candlesOf(5, steps(30 * 288)).map(({ bar }) => bar);
  expect(
    bars.every(({ open, close, high, low }) => high >= Math.max(open, close) && low <= Math.min(open, close)),
  ).toBe(true);
  expect(Math.max(...bars.map(({ high }) => high))).toBeLessThan(130_000);
  expect(Math.min(...bars.map(({ low }) => low))).toBeGreaterThan(32_500);
});

test('a market continues from the price after a surge', () => {
  const market = createMarket(options);
  const [before] = market.step().candles;
  const { bar } = market.surge(1.02);
  expect(bar.close).toBeCloseTo(before.bar.close * 1.02, 6);
  expect(bar.high).toBeGreaterThanOrEqual(bar.close);
  expect(market.step().candles[0].bar.open).toBeCloseTo(bar.close, 6);
});

test('the averages cross in both directions', () => {
  const crossed = candlesOf(5, steps(500)).filter((candle) => candle.crossed);
  const actions = crossed.map(({ action }) => action);
  expect(actions.length).toBeGreaterThan(20);
  expect(actions.every((action, index) => action !== actions[index + 1])).toBe(true);
});

test.each(DEMO_TOKENS)('the program reads candles and signals of $token', (token) => {
  const time = new Date('2026-01-02T03:04:05.678Z');
  const payloadOf = ({ body }: { body: string }) => {
    const read = readPayload(new TextEncoder().encode(body));
    if (!read.ok) throw new Error(read.message);
    return read.payload;
  };
  const [newest] = steps(100, createMarket({ ...options, token })).at(-1)?.candles ?? [];
  if (newest === undefined) throw new Error('Every step has a candle');
  const candle = readCandle(payloadOf(candleMessage(newest, time)));
  if (!candle.ok) throw new Error(candle.message);
  const { parameters, ...fields } = candle.fields;
  expect(fields).toMatchObject({
    token: token.token,
    timeframe: '5',
    time: new Date('2026-01-02T03:04:00Z'),
  });
  const figure = (name: string) => Number(parameters[name]);
  expect(figure('atr')).toBeGreaterThan(0);
  expect(figure('MACD')).toBeCloseTo(figure('MACDSignal') + figure('MACDHistogram'), token.priceDecimals);
  expect(figure('BBLower')).toBeLessThan(figure('SMA20'));
  expect(figure('BBUpper')).toBeGreaterThan(figure('SMA20'));
  for (const name of ['RSI', 'MFI', 'ADX']) expect(Math.abs(figure(name) - 50)).toBeLessThanOrEqual(50);
  for (const name of ['immediate_trend', 'mature_trend'])
    expect(Math.abs(figure(name))).toBeLessThanOrEqual(1);

  const price = priceText(token, token.startPrice);
  const signal = readSignal(payloadOf(signalMessage({ ...newest, price }, time)));
  const { processor } = token;
  expect(signal).toMatchObject({
    ok: true,
    fields: { token: token.token, action: newest.action, processor, time },
  });
});
