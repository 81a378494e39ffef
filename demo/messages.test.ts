import { expect, test } from 'vitest';
import { readCandle, readSignal } from '#server/ingest/read-delivery.ts';
import { readPayload } from '#server/ingest/read-payload.ts';
import { createMarket } from './market.ts';
import { candleMessage, signalMessage, unfilledMessage } from './messages.ts';
import { DEMO_TOKENS } from './tokens.ts';

const time = new Date('2026-01-02T03:04:05.678Z');

function payloadOf(body: string) {
  const read = readPayload(new TextEncoder().encode(body));
  if (!read.ok) throw new Error(read.message);
  return read.payload;
}

test.each(DEMO_TOKENS)('the program takes the candles of $token, indicators included', (token) => {
  const market = createMarket({ token, seed: '1', begin: new Date('2026-01-01T00:00:00Z') });
  let step = market.step();
  for (let index = 0; index < 100; index += 1) step = market.step();
  const [candle] = step.candles;
  if (candle === undefined) throw new Error('A step has a candle');
  const read = readCandle(payloadOf(candleMessage(candle, time).body));
  if (!read.ok) throw new Error(read.message);
  expect(read.fields).toMatchObject({ token: token.token, currency: 'USDT', timeframe: '5' });
  expect(read.fields.time).toEqual(new Date('2026-01-02T03:04:00Z'));
  expect(Number(read.fields.price) / step.price).toBeCloseTo(1, 2);
  expect(Number(read.fields.parameters.atr)).toBeGreaterThan(0);
});

test.each(DEMO_TOKENS)('the program takes the signals of $token', (token) => {
  const message = signalMessage(
    { token, timeframeMinutes: 15, action: 'sell', price: token.startPrice },
    time,
  );
  const read = readSignal(payloadOf(message.body));
  if (!read.ok) throw new Error(read.message);
  expect(read.fields).toMatchObject({
    token: token.token,
    action: 'sell',
    timeframe: '15',
    processor: token.processor,
    time,
  });
  expect(Number(read.fields.price)).toBe(token.startPrice);
});

test('signals come as JSON from one source and as plain text from the other', () => {
  const types = DEMO_TOKENS.map(
    (token) => signalMessage({ token, timeframeMinutes: 5, action: 'buy', price: 1 }, time).contentType,
  );
  expect(new Set(types).size).toBe(2);
});

test('an alert with an unknown placeholder is refused for that', () => {
  const [token] = DEMO_TOKENS;
  if (token === undefined) throw new Error('There is a token');
  expect(() => payloadOf(unfilledMessage(token, time).body)).toThrow('placeholder {{close_price}}');
});
