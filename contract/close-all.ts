import { z } from 'zod';
import { stopScope, stopScopeBody } from './trading-stops.ts';

/** POST /api/positions/close-all (administrators): 202 when the stop is set and the closing is recorded. */
export const closeAllBody = z.strictObject({
  scope: stopScopeBody,
  confirm: z.literal('CLOSE', 'Type CLOSE to confirm'),
  /** False: the stop of new entries ends with the closing. */
  stop: z.boolean().default(true),
});
export const closeAllStarted = z.object({ id: z.string() });

const left = z.object({ userId: z.string(), token: z.string(), reason: z.string() });

/** GET /api/positions/close-all/:id. */
export const closeAllProgress = z.object({
  /** `done`: every position is closed, skipped, or failed; failed ones are tried every minute until they are dismissed. */
  state: z.enum(['running', 'done']),
  total: z.number(),
  closed: z.number(),
  failed: z.array(left),
  /** Positions that were not opened here; they are not touched. */
  skipped: z.array(left),
});
export type CloseAllProgress = z.infer<typeof closeAllProgress>;

/** GET /api/positions/close-all: those that are running or have failed positions, and those that ended within five minutes. */
export const closeAllRuns = z.array(
  closeAllProgress.extend({
    id: z.string(),
    scope: stopScope,
    createdAt: z.string(),
    createdBy: z.string(),
  }),
);
export type CloseAllRun = z.infer<typeof closeAllRuns>[number];
