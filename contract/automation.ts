import { z } from 'zod';
import { WORKFLOW_STATUSES } from '#domain/workflow/workflow-lifecycle.ts';
import { workflowOutcome } from './outcome.ts';
import { filterInstant, filterText, pagingQuery, sortedQuery } from './paging.ts';
import { SIGNAL_ACTIONS, userResult } from './signals.ts';

export const WORKFLOW_PAGE_SIZES = [25, 50, 100] as const;
export const DEFAULT_WORKFLOW_PAGE_SIZE = 50;

/** As this version writes them. Rows of other versions may hold anything and are shown as technical details. */
export const errorDetails = z.object({
  failureType: z.string(),
  userFriendlyExplanation: z.string(),
  suggestedAction: z.string(),
});

export const workflowRun = z.object({
  id: z.string(),
  workflowId: z.string(),
  signalId: z.string().nullable(),
  token: z.string(),
  /** What its signal asks for; null when the signal is gone. */
  action: z.enum(SIGNAL_ACTIONS).nullable(),
  processor: z.string(),
  trigger: z.enum(['automatic', 'manual']),
  triggerReason: z.string().nullable(),
  createdAt: z.string(),
  completedAt: z.string().nullable(),
  status: z.string(),
  outcome: workflowOutcome,
  stepCount: z.number(),
  tradeCount: z.number(),
  successfulTrades: z.number(),
  eligibleUsersCount: z.number(),
  errorMessage: z.string().nullable(),
  errorDetails: z.union([errorDetails, z.unknown()]),
});
export type WorkflowRun = z.infer<typeof workflowRun>;

export const workflowsQuery = pagingQuery(DEFAULT_WORKFLOW_PAGE_SIZE).extend({
  ...sortedQuery.shape,
  /** Only rows created up to this instant, so new workflows do not shift the pages. */
  until: filterInstant,
  processor: filterText,
  status: filterText.pipe(
    z.enum(WORKFLOW_STATUSES, `status must be one of ${WORKFLOW_STATUSES.join(', ')}`).optional(),
  ),
});
export const workflowsAnswer = z.object({ workflows: z.array(workflowRun), total: z.number() });
export type WorkflowsAnswer = z.infer<typeof workflowsAnswer>;

export const workflowStep = z.object({
  id: z.string(),
  stepNumber: z.number(),
  stepName: z.string(),
  stepType: z.string(),
  userId: z.string().nullable(),
  status: z.string(),
  executionTimeMs: z.number().nullable(),
  inputData: z.unknown(),
  outputData: z.unknown(),
  metadata: z.unknown(),
  errorMessage: z.string().nullable(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  processorName: z.string().nullable(),
});
export type WorkflowStep = z.infer<typeof workflowStep>;
export const workflowSteps = z.array(workflowStep);

export const workflowUsers = z.array(userResult.extend({ userId: z.string() }));

export const triggerBody = z.object({ signalId: z.uuid() });
export const triggerAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  workflowId: z.string(),
});
