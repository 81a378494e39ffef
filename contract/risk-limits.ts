import { z } from 'zod';
import { LONGEST_PROCESSOR } from '#domain/eligibility/processor.ts';
import { type RiskLimits, readMeasure } from '#domain/limits/risk-limits.ts';
import { limitedText } from './text.ts';
import { tradingHours, tradingHoursAnswer } from './trading-hours.ts';

/*
 * GET and PUT /api/risk-limits (program), /api/risk-limits/strategies/:processor, /api/risk-limits/users/:id, and POST
 * …/reset. A PUT replaces all limits of the scope: null or an absent field is no limit.
 */

const measure = (units: readonly string[], message: string) =>
  limitedText(30, message)
    .refine((text) => {
      const read = readMeasure(text);
      return read !== null && units.includes(read.unit);
    }, message)
    .nullable()
    .default(null);

const count = (name: string, least: number, most: number) => {
  const message = `${name} must be a whole number from ${least} to ${most}`;
  return z.number(message).int(message).min(least, message).max(most, message).nullable().default(null);
};

const tokens = (name: string) => {
  const message = `${name} must be a list of at most 200 tokens such as BTC`;
  return z
    .array(
      limitedText(20, message)
        .trim()
        .toUpperCase()
        .regex(/^[A-Z0-9]{1,20}$/, message),
      message,
    )
    .max(200, message)
    .transform((list) => [...new Set(list)].toSorted())
    .nullable()
    .default(null);
};

const MAX_PERCENT = 100;
const upToHundred = (name: string) =>
  measure(['share'], `${name} must be a percentage such as 4%`).refine(
    (text) => text === null || Number(text.slice(0, -1)) <= MAX_PERCENT,
    `${name} must be at most 100%`,
  );

export const riskLimits = z
  .strictObject({
    maxDailyLoss: measure(
      ['USDT', 'share'],
      'maxDailyLoss must be USDT such as 300, or a percentage such as 3%',
    ),
    maxDrawdown: upToHundred('maxDrawdown'),
    maxLossesInARow: count('maxLossesInARow', 1, 100),
    cooldownMinutes: count('cooldownMinutes', 1, 100_000),
    maxOpenPositions: count('maxOpenPositions', 0, 10_000),
    maxExposure: measure(
      ['USDT', 'multiple'],
      'maxExposure must be USDT such as 5000, or a multiple of the equity such as 3x',
    ),
    maxRisk: upToHundred('maxRisk'),
    maxEntriesPerMinute: count('maxEntriesPerMinute', 0, 10_000),
    allowedTokens: tokens('allowedTokens'),
    blockedTokens: tokens('blockedTokens'),
    /** Of a strategy or a user. */
    schedule: tradingHours.nullable().default(null),
    shrink: z.boolean('shrink must be true or false').default(false),
    onBreach: z.enum(['stop', 'close'], 'onBreach must be stop or close').default('stop'),
  })
  .refine(({ cooldownMinutes, maxLossesInARow }) => cooldownMinutes === null || maxLossesInARow !== null, {
    error: 'cooldownMinutes needs maxLossesInARow',
    path: ['cooldownMinutes'],
  });
export type RiskLimitsBody = z.infer<typeof riskLimits>;

/** Of any signal. */
export const processorText = limitedText(100).trim().min(1).max(LONGEST_PROCESSOR);
export const processorParams = z.object({ processor: processorText });

/** How far a limit is used. Amounts are decimal strings in USDT or counts. */
export const riskUse = z.object({
  limit: z.string(),
  used: z.string(),
  maximum: z.string(),
  unit: z.enum(['USDT', 'count']),
  /** The limit as it is written, such as 3x. */
  written: z.string(),
});
export type RiskUse = z.infer<typeof riskUse>;

export const riskBreach = z.object({
  id: z.string(),
  limit: z.string(),
  saw: z.string(),
  maximum: z.string(),
  at: z.string(),
  until: z.string().nullable(),
});

export const riskLimitsAnswer = z.object({
  scope: z.object({ kind: z.enum(['program', 'strategy', 'user']), value: z.string(), title: z.string() }),
  limits: z.object({
    maxDailyLoss: z.string().nullable(),
    maxDrawdown: z.string().nullable(),
    maxLossesInARow: z.number().nullable(),
    cooldownMinutes: z.number().nullable(),
    maxOpenPositions: z.number().nullable(),
    maxExposure: z.string().nullable(),
    maxRisk: z.string().nullable(),
    maxEntriesPerMinute: z.number().nullable(),
    allowedTokens: z.array(z.string()).nullable(),
    blockedTokens: z.array(z.string()).nullable(),
    schedule: tradingHoursAnswer.nullable(),
    shrink: z.boolean(),
    onBreach: z.enum(['stop', 'close']),
  }),
  /** Of each limit whose use is known. */
  uses: z.array(riskUse),
  /** Limits that stop new entries now. */
  breaches: z.array(riskBreach),
  /** What is not known, and of whom: their entries are denied. */
  unknown: z.array(z.object({ username: z.string(), what: z.string() })),
  dayProfit: z.string().nullable(),
  /** Outside of its trading hours: when they open next. */
  opensAt: z.string().nullable(),
});
export type RiskLimitsAnswer = z.infer<typeof riskLimitsAnswer>;

/** The body and the stored limits are one shape. */
export const toRiskLimits = (body: RiskLimitsBody): RiskLimits => body;
