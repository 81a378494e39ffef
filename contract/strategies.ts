import { z } from 'zod';
import { riskLimitsAnswer } from './risk-limits.ts';
import { tradingHours } from './trading-hours.ts';

const AGE = 'maxSignalAgeSeconds must be a whole number from 5 to 1800';

/** PUT /api/strategies/:processor: an omitted field keeps its value, null is the limit of the program. */
export const strategyBody = z.strictObject({
  maxSignalAgeSeconds: z.number(AGE).int(AGE).min(5, AGE).max(1_800, AGE).nullable().optional(),
  /** The same field as that of the strategy's risk limits; null: entries at any time. */
  schedule: tradingHours.nullable().optional(),
});
export type StrategyBody = z.infer<typeof strategyBody>;

/** A processor that sends signals. Money in USDT. */
export const strategy = z.object({
  processor: z.string(),
  /** An operator's stop of new entries covers it, or everybody. */
  stopped: z.boolean(),
  lastSignal: z.object({ token: z.string(), action: z.string(), at: z.string() }).nullable(),
  signals7d: z.number(),
  /** Orders of the last seven days, and those that were filled at least in part. */
  orders7d: z.number(),
  filled7d: z.number(),
  /** After fees. */
  net7d: z.string(),
  /** Closed positions whose profit the exchange has not told. */
  unknown7d: z.number(),
  /** Active users whose settings follow it, by name. */
  subscribers: z.array(z.object({ username: z.string(), trades: z.boolean() })),
  maxSignalAgeSeconds: z.number().nullable(),
  limits: riskLimitsAnswer,
});
export type StrategyView = z.infer<typeof strategy>;

/** GET /api/strategies (administrators), by name; with the limits of the program. */
export const strategiesAnswer = z.object({ strategies: z.array(strategy), program: riskLimitsAnswer });
export type StrategiesAnswer = z.infer<typeof strategiesAnswer>;
