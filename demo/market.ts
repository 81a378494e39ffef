import {
  ADX,
  APO,
  ATR,
  BollingerBands,
  CCI,
  EMA,
  MACD,
  MFI,
  MOM,
  mergeCandles,
  OBV,
  ROC,
  RSI,
  SMA,
  WaveTrend,
  WilliamsR,
} from 'trading-signals';
import type { DemoToken } from './tokens.ts';
import { type Bar, createWalk } from './walk.ts';

const MINUTE_MS = 60_000;
export const STEP_MS = 5 * MINUTE_MS;
const TIMEFRAMES = [5, 15, 60, 240];

export interface Candle {
  token: DemoToken;
  /** In minutes. */
  timeframe: number;
  bar: Bar;
  /** Keyed by the charting platform's names. */
  indicators: Record<string, number>;
  /** Buy while the fast average of the closes is above the slow one. */
  action: 'buy' | 'sell';
  /** Whether this candle changed the action. */
  crossed: boolean;
}

export interface Market {
  token: DemoToken;
  /** Advances by five minutes. Returns the closed candles, shortest timeframe first, always with a five-minute one. */
  step(): { closeTime: Date; candles: [Candle, ...Candle[]] };
  /** A sudden move by a factor; returns the five-minute candle with the new price. */
  surge(factor: number): Candle;
}

/** One token's market from `begin`, with candles of all timeframes. */
export function createMarket(options: { token: DemoToken; seed: string; begin: Date }): Market {
  const { token, seed, begin } = options;
  const walk = createWalk({ ...token, seed: `${seed}/${token.token}` });
  const series = TIMEFRAMES.map((timeframe) => createSeries(token, timeframe));
  let timeMs = begin.getTime();
  let newest: Candle | undefined;

  return {
    token,
    step() {
      timeMs += STEP_MS;
      const bar = walk.next();
      const [first, ...longer] = series.flatMap((add) => add(bar, timeMs) ?? []);
      if (first === undefined) throw new Error('Every step closes a five-minute candle');
      newest = first;
      return { closeTime: new Date(timeMs), candles: [first, ...longer] };
    },
    surge(factor) {
      if (newest === undefined) throw new Error('A market can surge only after its first step');
      walk.jump(factor);
      const close = newest.bar.close * factor;
      const [high, low] = [Math.max(newest.bar.high, close), Math.min(newest.bar.low, close)];
      newest = { ...newest, bar: { ...newest.bar, high, low, close } };
      return newest;
    },
  };
}

/** Merges five-minute bars; returns a candle when one of the timeframe completes. */
function createSeries(token: DemoToken, timeframe: number): (bar: Bar, closeMs: number) => Candle | null {
  const indicatorsOf = createIndicators();
  const crossing = new APO({ fastPeriod: 3, slowPeriod: 8 });
  let parts: Bar[] = [];
  return (part, closeMs) => {
    parts.push(part);
    if (closeMs % (timeframe * MINUTE_MS) !== 0) return null;
    const bar = mergeCandles(parts);
    parts = [];
    crossing.add(bar.close);
    const { state, hasChanged } = crossing.getSignal();
    const action = state === 'BEARISH' ? 'sell' : 'buy';
    return { token, timeframe, bar, indicators: indicatorsOf(bar), action, crossed: hasChanged };
  };
}

function createIndicators(): (bar: Bar) => Record<string, number> {
  const ofCloses = {
    EMA9: new EMA(9),
    EMA21: new EMA(21),
    EMA50: new EMA(50),
    SMA20: new SMA(20),
    RSI: new RSI(14),
    ROC: new ROC(10),
    Momentum: new MOM(10),
  };
  const ofBars = {
    ADX: new ADX(14),
    CCI: new CCI(20),
    MFI: new MFI(14),
    OBV: new OBV(5),
    WilliamsR: new WilliamsR(14),
  };
  const range = new ATR(14);
  const macd = new MACD(new EMA(12), new EMA(26), new EMA(9));
  const bands = new BollingerBands(20);
  const wave = new WaveTrend();
  const immediate = new APO({ fastPeriod: 5, slowPeriod: 13 });
  const mature = new APO({ fastPeriod: 13, slowPeriod: 50 });

  return (bar) => {
    const atr = range.add(bar);
    const lines = macd.add(bar.close);
    const band = bands.add(bar.close);
    const waves = wave.add(bar);
    /** From -1 to 1: the distance of two averages in units of the ATR. */
    const trend = (distance: number | null) => (atr && distance !== null ? Math.tanh(distance / atr) : null);
    const values = {
      ATR: atr,
      ...Object.fromEntries(Object.entries(ofCloses).map(([name, one]) => [name, one.add(bar.close)])),
      ...Object.fromEntries(Object.entries(ofBars).map(([name, one]) => [name, one.add(bar)])),
      MACD: lines?.macd,
      MACDSignal: lines?.signal,
      MACDHistogram: lines?.histogram,
      BBUpper: band?.upper,
      BBLower: band?.lower,
      WT1: waves?.wt1,
      WT2: waves?.wt2,
      immediate_trend: trend(immediate.add(bar.close)),
      mature_trend: trend(mature.add(bar.close)),
    };
    return Object.fromEntries(
      Object.entries(values).filter((entry): entry is [string, number] => entry[1] != null),
    );
  };
}
