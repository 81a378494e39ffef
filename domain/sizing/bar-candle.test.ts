import { describe, expect, it } from 'vitest';
import { barCandleWindow, isBarCandleMissing } from './bar-candle.ts';
import type { PriceLogCandidate } from './price-log-match.ts';

const at = (time: string) => new Date(`2024-05-01T${time}Z`);
const signal = {
  token: 'BTC',
  timeframe: '15',
  processor: 'Tesla',
  hookId: 'own',
  signalTime: at('12:00:01'),
  receivedAt: at('12:00:01'),
};

const candle = (time: string, receivedAt: string, more: Partial<PriceLogCandidate> = {}) => ({
  id: `${time} ${receivedAt}`,
  token: 'BTC',
  timeframe: '15m',
  processor: 'Tesla',
  candleTime: at(time),
  receivedAt: at(receivedAt),
  hookId: 'own',
  fromAdmin: false,
  ...more,
});

/** The three bars before the one that closed at 12:00, stamped with their beginning, and that one. */
const OPENS = [
  candle('11:00:00', '11:15:01'),
  candle('11:15:00', '11:30:02'),
  candle('11:30:00', '11:45:01'),
];
const OWN_OPEN = candle('11:45:00', '12:00:00');
/** The same, stamped with their end. */
const CLOSES = [
  candle('11:15:00', '11:15:01'),
  candle('11:30:00', '11:30:02'),
  candle('11:45:00', '11:45:01'),
];
const OWN_CLOSE = candle('12:00:00', '12:00:00');

describe('the candle of the bar that just closed', () => {
  it.each<[string, PriceLogCandidate[], Partial<typeof signal>, boolean]>([
    ['stamped with its beginning, is missing', OPENS, {}, true],
    ['stamped with its beginning, is there', [...OPENS, OWN_OPEN], {}, false],
    ['stamped with its end, is missing', CLOSES, {}, true],
    ['stamped with its end, is there', [...CLOSES, OWN_CLOSE], {}, false],
    ['is missing on a clock that is behind the signal’s', OPENS, { receivedAt: at('11:59:59') }, true],
    ['is missing where stamps have seconds', OPENS.map((one) => moved(one, 2_000)), {}, true],
    ['is missing where a candle was sent again', [...OPENS, candle('11:30:00', '11:59:00')], {}, true],
    [
      'is missing beside a series without a processor',
      [...OPENS, ...withoutProcessor([...OPENS, OWN_OPEN])],
      {},
      true,
    ],
    ['is not missing after two bars', OPENS.slice(1), {}, false],
    ['is not missing with a gap before it', [OPENS[0], OPENS[2]].flatMap((one) => one ?? []), {}, false],
    ['is not missing when the series has stopped', OPENS, later('12:15:01'), false],
    ['is not missing within a bar', CLOSES, later('11:59:00'), false],
    [
      'is not missing of history that was sent at once',
      OPENS.map((one) => ({ ...one, receivedAt: at('11:50:00') })),
      {},
      false,
    ],
    [
      'is not missing of a series that comes a bar late',
      OPENS.map((one) => moved(one, -1_800_000)),
      {},
      false,
    ],
    ['is not missing of another token', OPENS.map((one) => ({ ...one, token: 'ETH' })), {}, false],
    ['is not missing of another processor', OPENS.map((one) => ({ ...one, processor: 'UD Bot' })), {}, false],
    ['is not missing of another user', OPENS.map((one) => ({ ...one, hookId: 'other' })), {}, false],
    ['is not missing where it would be later than the signal', CLOSES, { signalTime: at('11:45:00') }, false],
    ['is not missing of a timeframe without minutes', OPENS, { timeframe: '30S' }, false],
  ])('%s', (_name, candles, changes, isMissing) => {
    const changed = { ...signal, ...changes };
    expect(isBarCandleMissing(candles, changed)).toBe(isMissing);
    const window = barCandleWindow(changed);
    const read = candles.filter(
      ({ candleTime }) => window !== null && candleTime >= window.notBefore && candleTime <= window.notAfter,
    );
    expect(isBarCandleMissing(read, changed)).toBe(isMissing);
  });
});

const later = (time: string) => ({ receivedAt: at(time), signalTime: at(time) });
function moved(one: PriceLogCandidate, ms: number): PriceLogCandidate {
  return { ...one, candleTime: new Date(one.candleTime.getTime() + ms) };
}
function withoutProcessor(candles: PriceLogCandidate[]): PriceLogCandidate[] {
  return candles.map((one) => ({ ...one, processor: null }));
}
