import { z } from 'zod';

const ms = z.number().nullable();
const quantiles = z.object({ p50: z.number(), p95: z.number() }).nullable();

/**
 * GET /api/signals/:id/execution: how the newest workflow of the signal was executed. Milliseconds from receipt, null
 * where it did not happen; slippage in basis points, positive is worse. docs/results.md says where each comes from.
 */
export const executionReport = z.object({
  signal: z.object({
    id: z.string(),
    token: z.string(),
    action: z.string(),
    price: z.string(),
    receivedAt: z.string(),
    workflowId: z.string().nullable(),
    firstOrder: ms,
    lastOrder: ms,
    spreadOfFills: ms,
    sent: quantiles,
    filled: quantiles,
    late: z.array(
      z.object({
        userId: z.string(),
        username: z.string(),
        accepted: z.number(),
        mostly: z.enum(['queue', 'limits', 'exchange']),
      }),
    ),
  }),
  users: z.array(
    z.object({
      userId: z.string(),
      username: z.string(),
      stored: ms,
      decided: ms,
      sent: ms,
      accepted: ms,
      filled: ms,
      protected: ms,
      slippageSignalBps: z.string().nullable(),
      slippageEntryBps: z.string().nullable(),
      requests: z.number(),
      rank: z.number().nullable(),
      spent: z.object({ queue: z.number(), limits: z.number(), exchange: z.number() }).nullable(),
    }),
  ),
});
export type ExecutionReport = z.infer<typeof executionReport>;
