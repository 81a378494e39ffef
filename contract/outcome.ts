import { z } from 'zod';
import { OUTCOME_KINDS } from '#domain/workflow/outcome-kinds.ts';

/** What a workflow came to: who traded, who did not, and why. Counts are of eligible users. */
export const workflowOutcome = z.object({
  kind: z.enum(OUTCOME_KINDS),
  filled: z.number(),
  failed: z.number(),
  skipped: z.number(),
  /** The most frequent reason why users did not trade. */
  topReason: z.string().nullable(),
});

/** What became of an eligible user of a workflow. */
export const userOutcome = z.object({
  kind: z.enum(['running', 'filled', 'partial', 'not_filled', 'skipped']),
  /** Why the user did not trade. */
  reason: z.string().nullable(),
  token: z.string(),
  filledQuantity: z.string().nullable(),
  averagePrice: z.string().nullable(),
  /**
   * What the position that the signal has closed brought after fees, in USDT; null for an entry, a reduction, and while
   * the exchange has not told it.
   */
  net: z.string().nullable(),
});
export type UserOutcome = z.infer<typeof userOutcome>;
