import { D, isDecimal, type Numeric } from '../decimal.ts';
import {
  BUY_THRESHOLD_PLAN,
  LEVERAGE_ALIGNED,
  LEVERAGE_OPPOSED,
  SELL_THRESHOLD_PLAN,
} from './trading-constants.ts';

export type Trend = 'up' | 'down' | 'flat';
export type Action = 'buy' | 'sell';

/** The side of the position that an order opens. */
export const sideOpenedBy = (action: Action): 'long' | 'short' => (action === 'buy' ? 'long' : 'short');

const WORDS: Readonly<Record<string, Trend>> = {
  bullish: 'up',
  up: 'up',
  buy: 'up',
  long: 'up',
  bearish: 'down',
  down: 'down',
  sell: 'down',
  short: 'down',
  flat: 'flat',
  neutral: 'flat',
  none: 'flat',
};

/**
 * Reads a trend from a candle's `immediate_trend` or `mature_trend`: words, or numbers (up from +0.5, down from -0.75).
 * Null when it is missing or unreadable.
 */
export function readTrend(value: unknown): Trend | null {
  if (typeof value === 'number') return Number.isFinite(value) ? fromNumber(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim().toLowerCase();
  if (isDecimal(text)) return fromNumber(text);
  return Object.hasOwn(WORDS, text) ? (WORDS[text] ?? null) : null;
}

function fromNumber(value: Numeric): Trend {
  const strength = D(value);
  if (strength.gte(BUY_THRESHOLD_PLAN)) return 'up';
  return strength.lte(-SELL_THRESHOLD_PLAN) ? 'down' : 'flat';
}

/** Whether the mature trend (or the immediate one, if the mature trend is absent or flat) points the signal's way. */
export function alignment(signal: { action: Action; immediateTrend: unknown; matureTrend: unknown }): {
  aligned: boolean;
  reason: string;
} {
  const wanted = signal.action === 'buy' ? 'up' : 'down';
  for (const [name, value] of [
    ['mature', signal.matureTrend],
    ['immediate', signal.immediateTrend],
  ] as const) {
    const trend = readTrend(value);
    if (trend === null || trend === 'flat') continue;
    const aligned = trend === wanted;
    return {
      aligned,
      reason: `the ${name} trend is ${trend}, ${aligned ? 'with' : 'against'} a ${signal.action}`,
    };
  }
  return { aligned: false, reason: 'no trend is known, which counts as opposed' };
}

/** 10 with the trend, 5 against it or without one. */
export function leverageFor(aligned: boolean): typeof LEVERAGE_ALIGNED | typeof LEVERAGE_OPPOSED {
  return aligned ? LEVERAGE_ALIGNED : LEVERAGE_OPPOSED;
}
