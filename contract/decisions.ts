import { z } from 'zod';
import { pagingQuery } from './paging.ts';
import { SIGNAL_ACTIONS } from './signals.ts';
import { limitedText } from './text.ts';

export const DECISIONS_PAGE_SIZE = 20;
/** Older decisions than this many are not listed. */
export const MOST_DECISIONS = 10_000;

export const DECISION_RESULTS = [
  'filled',
  'partial',
  'not_filled',
  'skipped',
  'not_eligible',
  'not_considered',
  'running',
] as const;
export type DecisionResult = (typeof DECISION_RESULTS)[number];

/** What one run of a signal's workflow decided on the user. */
export const decision = z.object({
  workflowId: z.string(),
  signalId: z.string(),
  /** When the run was created. */
  at: z.string(),
  trigger: z.enum(['automatic', 'manual']),
  token: z.string(),
  action: z.enum(SIGNAL_ACTIONS),
  price: z.string(),
  processor: z.string(),
  timeframe: z.string(),
  result: z.enum(DECISION_RESULTS),
  /** Why the user did not trade; null for who traded or is being traded. */
  reason: z.string().nullable(),
  filledQuantity: z.string().nullable(),
  averagePrice: z.string().nullable(),
});
export type Decision = z.infer<typeof decision>;

/** `traded`: with a fill. A run that is under way is neither. */
export const decisionsQuery = pagingQuery(DECISIONS_PAGE_SIZE).extend({
  outcome: z.enum(['traded', 'not_traded'], 'outcome must be traded or not_traded').optional(),
  /** Part of the reason; case-insensitive. */
  reason: limitedText(100).trim().optional(),
});
export type DecisionsQuery = z.infer<typeof decisionsQuery>;

/**
 * GET /api/users/:id/decisions: every run since the user exists of the signals meant for the user, newest first. Users
 * read their own, administrators everybody's.
 */
export const decisionsAnswer = z.object({ decisions: z.array(decision), total: z.number() });
export type DecisionsAnswer = z.infer<typeof decisionsAnswer>;
