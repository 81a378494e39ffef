import { z } from 'zod';
import { FEED_STATES } from '#domain/feed-state.ts';

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'A time must be from 00:00 to 23:59');

/** A series of candles that came through a webhook. */
export const feed = z.object({
  id: z.string(),
  token: z.string(),
  timeframe: z.string(),
  /** Null for candles without one. */
  processor: z.string().nullable(),
  hookId: z.string(),
  /** The user whose webhook it is. */
  owner: z.string(),
  lastCandleAt: z.string(),
  /** When the next candle is due; null for a timeframe without minutes. */
  expectedAt: z.string().nullable(),
  state: z.enum(FEED_STATES),
  graceSeconds: z.number(),
  /** Candles that were missing in the last seven days. */
  gaps7d: z.number(),
  /** By how much the candles' clock is behind this one; negative: ahead. */
  skewSeconds: z.number().nullable(),
  /** Between which times of day candles are expected, in the display time zone; null: always. */
  hours: z.object({ from: z.string(), to: z.string() }).nullable(),
});
export type Feed = z.infer<typeof feed>;

/** Administrators see all feeds, others those of their own webhook. */
export const feedsAnswer = z.object({ feeds: z.array(feed) });
export type FeedsAnswer = z.infer<typeof feedsAnswer>;

/** What is left out stays; null: the default. */
export const changeFeedBody = z.object({
  muted: z.boolean().optional(),
  graceSeconds: z
    .int('graceSeconds must be a whole number')
    .min(1, 'graceSeconds must be from 1 to 604800')
    .max(604_800, 'graceSeconds must be from 1 to 604800')
    .nullable()
    .optional(),
  hours: z.object({ from: timeOfDay, to: timeOfDay }).nullable().optional(),
});
export type ChangeFeedBody = z.infer<typeof changeFeedBody>;
