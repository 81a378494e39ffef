import { directionalMovement, moneyFlow, relativeStrength } from './oscillators.ts';
import { ema, lastValues, mean, standardDeviation, through, wilder } from './smoothing.ts';
import type { Bar } from './walk.ts';

/** The indicators of one bar by the names that the charting platform sends; what is not known yet is left out. */
export type Indicators = Record<string, number>;

/** The greatest of the bar's range and its distance from the close before. */
export function trueRange({ high, low }: Pick<Bar, 'high' | 'low'>, previousClose: number | null): number {
  if (previousClose === null) return high - low;
  return Math.max(high - low, Math.abs(high - previousClose), Math.abs(low - previousClose));
}

/** Average true range in units of the price; null for the first bars. */
export function createAtr(period = 14): (bar: Bar) => number | null {
  const smooth = wilder(period);
  let previousClose: number | null = null;
  return (bar) => {
    const value = smooth(trueRange(bar, previousClose));
    previousClose = bar.close;
    return value;
  };
}

/** Indicators of a series of bars that come one after another. */
export function createIndicators(): (bar: Bar) => Indicators {
  const atr = createAtr();
  const averages = [
    ['EMA9', ema(9)],
    ['EMA21', ema(21)],
    ['EMA50', ema(50)],
  ] as const;
  const closes = lastValues(20);
  const highs = lastValues(14);
  const lows = lastValues(14);
  const parts = [createMacd(), createWaveTrend(), createVolumes(), createTrends()];
  const oscillators = [relativeStrength(), directionalMovement(), moneyFlow()];

  return (bar) => {
    const found: Record<string, number | null> = { ATR: atr(bar) };
    for (const [name, average] of averages) found[name] = average(bar.close);
    Object.assign(found, bands(closes(bar.close)), range(bar.close, highs(bar.high), lows(bar.low)));
    for (const part of [...parts, ...oscillators]) Object.assign(found, part(bar));
    return Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== null),
    );
  };
}

type Part = (bar: Bar) => Record<string, number | null>;

function createMacd(): Part {
  const [fast, slow, signal] = [ema(12), ema(26), ema(9)];
  return ({ close }) => {
    const macd = difference(fast(close), slow(close));
    const line = through(signal, macd);
    return { MACD: macd, MACDSignal: line, MACDHistogram: difference(macd, line) };
  };
}

/** WaveTrend, the WT1 and WT2 of the platform's oscillators. */
function createWaveTrend(): Part {
  const [channel, deviation, smooth] = [ema(10), ema(10), ema(21)];
  const signal = lastValues(4);
  return ({ high, low, close }) => {
    const typical = (high + low + close) / 3;
    const middle = channel(typical);
    const distance = middle === null ? null : deviation(Math.abs(typical - middle));
    const index =
      middle === null || distance === null || distance === 0 ? null : (typical - middle) / (0.015 * distance);
    const first = through(smooth, index);
    const last = first === null ? null : signal(first);
    return { WT1: first, WT2: last === null ? null : mean(last) };
  };
}

function createVolumes(): Part {
  let balance = 0;
  let previousClose: number | null = null;
  const prices = lastValues(20);
  const volumes = lastValues(20);
  return ({ high, low, close, volume }) => {
    balance += Math.sign(close - (previousClose ?? close)) * volume;
    previousClose = close;
    const weighted = prices(((high + low + close) / 3) * volume);
    const total = volumes(volume);
    return {
      OBV: balance,
      VWAP: weighted === null || total === null ? null : mean(weighted) / mean(total),
      VolumeAverage: total === null ? null : mean(total),
    };
  };
}

/** Strengths from -1 to 1, from how far the averages lie apart in units of the usual range. */
function createTrends(): Part {
  const atr = createAtr();
  const [fast, middle, slow] = [ema(5), ema(13), ema(50)];
  return (bar) => {
    const unit = atr(bar);
    const [near, mid, far] = [fast(bar.close), middle(bar.close), slow(bar.close)];
    const strength = (distance: number | null, scale: number) =>
      distance === null || unit === null || unit === 0 ? null : Math.tanh(distance / (scale * unit));
    return {
      immediate_trend: strength(difference(near, mid), 0.6),
      mature_trend: strength(difference(mid, far), 1),
    };
  };
}

function bands(closes: readonly number[] | null): Record<string, number> {
  if (closes === null) return {};
  const middle = mean(closes);
  const width = 2 * standardDeviation(closes);
  return { SMA20: middle, BBUpper: middle + width, BBLower: middle - width };
}

function range(
  close: number,
  highs: readonly number[] | null,
  lows: readonly number[] | null,
): Record<string, number> {
  if (highs === null || lows === null) return {};
  const [high, low] = [Math.max(...highs), Math.min(...lows)];
  if (high === low) return {};
  const place = (100 * (close - low)) / (high - low);
  return { StochK: place, WilliamsR: place - 100, HighestHigh: high, LowestLow: low };
}

const difference = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
