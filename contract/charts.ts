import { z } from 'zod';
import { filterInstant, wholeNumber } from './paging.ts';
import { SIGNAL_ACTIONS } from './signals.ts';

/** One bar. Prices are decimal strings above zero; `time` is the candle's time as an instant. */
export const candle = z.object({
  time: z.string(),
  open: z.string(),
  high: z.string(),
  low: z.string(),
  close: z.string(),
});
export type Candle = z.infer<typeof candle>;

export const candlesQuery = z.object({
  token: z.string().min(1, 'Token is required').max(100),
  timeframe: z.string().min(1, 'Timeframe is required').max(100),
  /** Only candles up to this instant. */
  until: filterInstant,
  /** Also returns candles of this price log's webhook, not only those of administrators. */
  priceLogId: z.uuid().optional(),
  limit: wholeNumber('limit', 1, 500).default(120),
});
/** Oldest first. */
export const candlesAnswer = z.object({ candles: z.array(candle) });
export type CandlesAnswer = z.infer<typeof candlesAnswer>;

export const chartFill = z.object({
  time: z.string(),
  averagePrice: z.string(),
  quantity: z.string(),
  side: z.enum(['buy', 'sell']),
  username: z.string(),
});
export type ChartFill = z.infer<typeof chartFill>;

export const chartLevels = z.object({
  entryPrice: z.string(),
  stopLoss: z.string(),
  takeProfit: z.string(),
});
export type ChartLevels = z.infer<typeof chartLevels>;

/** GET /api/signals/{id}/chart: what happened around a signal. */
export const signalChart = z.object({
  token: z.string(),
  timeframe: z.string(),
  candles: z.array(candle),
  signal: z.object({ time: z.string(), price: z.string(), action: z.enum(SIGNAL_ACTIONS) }),
  /** Levels of the first user by trade order in the workflow that the signal's row shows; null when no position was calculated. */
  levels: chartLevels.nullable(),
  /** Oldest first. */
  fills: z.array(chartFill),
});
export type SignalChart = z.infer<typeof signalChart>;
