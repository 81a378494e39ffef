import { expect, test } from 'vitest';
import { type CandlePicture, describeEvents, describePicture } from './candle-chart-picture.ts';

const formatInstant = (instant: string | null | undefined) => instant ?? 'N/A';
const candle = { open: '64950', high: '65100.5', low: '64900', close: '65000.5' };
const PICTURE: CandlePicture = {
  token: 'BTC',
  timeframe: '15',
  candles: [
    { ...candle, time: 'eight', close: '1' },
    { ...candle, time: 'nine' },
  ],
  mark: { time: 'now', price: '65000', text: 'Buy', direction: 'buy' },
  levels: { entryPrice: '65006.5', stopLoss: '64400', takeProfit: '66200' },
  fills: [{ time: 'then', averagePrice: '65000', quantity: '0.1', side: 'buy', username: 'ann' }],
};

test('describes token, timeframe, last close, levels and fills', () => {
  expect(describePicture(PICTURE, formatInstant)).toBe(
    'BTC 15m. 2 candles from eight to nine. Last close 65000.5. Buy at 65000 on now. Entry 65006.5, Stop 64400, Target 66200. 1 fill.',
  );
});

test('leaves out missing parts', () => {
  const alone = { ...PICTURE, candles: PICTURE.candles.slice(1), mark: null, levels: null, fills: [] };
  expect(describePicture(alone, formatInstant)).toBe(
    'BTC 15m. 1 candle from nine to nine. Last close 65000.5.',
  );
  expect(describePicture({ ...alone, candles: [] }, formatInstant)).toBe('BTC 15m.');
  expect(describeEvents(alone, formatInstant)).toEqual([]);
});
