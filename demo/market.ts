import { BASE_MINUTES, createJoin, MINUTE_MS, TIMEFRAMES_MINUTES, type TimeframeMinutes } from './bars.ts';
import { type Action, createCrossings } from './crossings.ts';
import { createIndicators, type Indicators } from './indicators.ts';
import type { DemoToken } from './tokens.ts';
import { type Bar, createWalk } from './walk.ts';

export interface Candle {
  token: DemoToken;
  timeframeMinutes: TimeframeMinutes;
  bar: Bar;
  indicators: Indicators;
}

export interface Crossing {
  token: DemoToken;
  timeframeMinutes: TimeframeMinutes;
  action: Action;
  price: number;
}

export interface MarketStep {
  closeTime: Date;
  price: number;
  /** Shortest timeframe first; the base bar is always there. */
  candles: Candle[];
  crossings: Crossing[];
}

export interface Market {
  token: DemoToken;
  /** Goes on by one base bar. */
  step(): MarketStep;
  /** A sudden move between two bars, by a factor; answers the price alert that it sets off. */
  surge(factor: number): Candle;
  /** Where the fast average stands on a timeframe. */
  side(timeframeMinutes: TimeframeMinutes): Action | null;
}

const AVERAGES = { fast: 3, slow: 8 };

/** One token's market from `begin` on: bars, indicators and crossings of all timeframes. */
export function createMarket(options: {
  token: DemoToken;
  seed: string;
  begin: Date;
  /** A price that the walk comes by at this time, such as where an earlier run left it. */
  passesBy?: { time: Date; price: number } | null;
}): Market {
  const { token, begin } = options;
  let scale = options.passesBy ? scaleOf({ ...options, passesBy: options.passesBy }) : 1;
  const walk = walkOf(options);
  let closeTime = begin;
  let newest: Candle | null = null;
  const timeframes = TIMEFRAMES_MINUTES.map((timeframeMinutes) => ({
    timeframeMinutes,
    join: createJoin(timeframeMinutes),
    indicators: createIndicators(),
    crossings: createCrossings(AVERAGES),
  }));

  return {
    token,
    step() {
      closeTime = new Date(closeTime.getTime() + BASE_MINUTES * MINUTE_MS);
      const base = scaled(walk(), scale);
      const step: MarketStep = { closeTime, price: base.close, candles: [], crossings: [] };
      for (const { timeframeMinutes, join, indicators, crossings } of timeframes) {
        const bar = join(base, closeTime);
        if (bar === null) continue;
        const candle: Candle = { token, timeframeMinutes, bar, indicators: indicators(bar) };
        if (timeframeMinutes === BASE_MINUTES) newest = candle;
        step.candles.push(candle);
        const action = crossings.next(bar.close);
        if (action !== null) step.crossings.push({ token, timeframeMinutes, action, price: bar.close });
      }
      return step;
    },
    surge(factor) {
      if (newest === null) throw new Error('A market surges from its first bar on');
      scale *= factor;
      const { open, high, low, close, volume } = newest.bar;
      const price = close * factor;
      const bar = { open, high: Math.max(high, price), low: Math.min(low, price), close: price, volume };
      newest = { ...newest, bar };
      return newest;
    },
    side: (wanted) =>
      timeframes.find(({ timeframeMinutes }) => timeframeMinutes === wanted)?.crossings.side() ?? null,
  };
}

const walkOf = ({ token, seed }: { token: DemoToken; seed: string }) =>
  createWalk({ ...token, seed: `${seed}/${token.token}` });

/** Walks the way once beforehand, to see where it would come by at that time. */
function scaleOf(options: {
  token: DemoToken;
  seed: string;
  begin: Date;
  passesBy: { time: Date; price: number };
}): number {
  const { begin, passesBy } = options;
  const walk = walkOf(options);
  const bars = Math.floor((passesBy.time.getTime() - begin.getTime()) / (BASE_MINUTES * MINUTE_MS));
  let close = options.token.startPrice;
  for (let bar = 0; bar < bars; bar += 1) close = walk().close;
  return passesBy.price / close;
}

const scaled = (bar: Bar, scale: number): Bar => ({
  open: bar.open * scale,
  high: bar.high * scale,
  low: bar.low * scale,
  close: bar.close * scale,
  volume: bar.volume,
});
