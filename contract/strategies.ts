import { z } from 'zod';
import { riskLimitsAnswer } from './risk-limits.ts';
import { tradingHours } from './trading-hours.ts';

const AGE = 'maxSignalAgeSeconds must be a whole number from 5 to 1800';

const figure = (name: string, least: number, most: number) => {
  const message = `${name} must be a whole number from ${least} to ${most}`;
  return z.number(message).int(message).min(least, message).max(most, message);
};

/** The shortest time is well above the first look at an order, which ends its wait to be filled. */
const canary = z.strictObject(
  {
    users: figure('canary.users', 1, 50),
    withinSeconds: figure('canary.withinSeconds', 10, 300),
    maxSlippageBps: figure('canary.maxSlippageBps', 0, 1_000),
  },
  'canary must have users, withinSeconds and maxSlippageBps, or be null',
);

/** PUT /api/strategies/:processor: an omitted field keeps its value, null is the limit of the program. */
export const strategyBody = z.strictObject({
  maxSignalAgeSeconds: z.number(AGE).int(AGE).min(5, AGE).max(1_800, AGE).nullable().optional(),
  /** The same field as that of the strategy's risk limits; null: entries at any time. */
  schedule: tradingHours.nullable().optional(),
  /** The first users trade before the others; null: all trade at once. */
  canary: canary.nullable().optional(),
  /** Users of the same trading order take turns at being first. */
  rotation: z.boolean('rotation must be true or false').optional(),
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
  /** Closed positions of the last seven days with a known profit, and those that won after fees. */
  closed7d: z.number(),
  won7d: z.number(),
  /** The running sum of `net7d`, every six hours, oldest first. */
  trend7d: z.array(z.object({ at: z.string(), net: z.string() })),
  /** Active users whose settings follow it, by name. */
  subscribers: z.array(z.object({ username: z.string(), trades: z.boolean() })),
  maxSignalAgeSeconds: z.number().nullable(),
  canary: z.object({ users: z.number(), withinSeconds: z.number(), maxSlippageBps: z.number() }).nullable(),
  rotation: z.boolean(),
  limits: riskLimitsAnswer,
});
export type StrategyView = z.infer<typeof strategy>;

/** GET /api/strategies (administrators), by name; with the limits of the program. */
export const strategiesAnswer = z.object({ strategies: z.array(strategy), program: riskLimitsAnswer });
export type StrategiesAnswer = z.infer<typeof strategiesAnswer>;
