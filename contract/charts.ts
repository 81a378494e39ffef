import { z } from 'zod';
import { filterInstant } from './paging.ts';

export const DEFAULT_CANDLES = 120;
export const MAX_CANDLES = 500;

/** One bar. Prices are decimal strings above zero, `time` is the candle's time as an instant. */
export const candle = z.object({
  time: z.string(),
  open: z.string(),
  high: z.string(),
  low: z.string(),
  close: z.string(),
});
export type Candle = z.infer<typeof candle>;

const limitText = `limit must be from 1 to ${MAX_CANDLES}`;

export const candlesQuery = z.object({
  token: z.string().min(1, 'Token is required').max(100),
  timeframe: z.string().min(1, 'Timeframe is required').max(100),
  /** Only candles up to this instant. */
  until: filterInstant,
  /** The candles of this price log's own webhook count as well, not administrators' alone. */
  priceLogId: z.uuid().optional(),
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'limit must be a whole number')
    .transform(Number)
    .refine((n) => n >= 1 && n <= MAX_CANDLES, limitText)
    .default(DEFAULT_CANDLES),
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
  signal: z.object({ time: z.string(), price: z.string(), action: z.enum(['buy', 'sell']) }),
  /** Of the first user by trade order in the newest workflow; null when nobody's position was calculated. */
  levels: chartLevels.nullable(),
  /** Oldest first. */
  fills: z.array(chartFill),
});
export type SignalChart = z.infer<typeof signalChart>;
