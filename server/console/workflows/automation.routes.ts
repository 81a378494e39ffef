import { z } from 'zod';
import {
  triggerAnswer,
  triggerBody,
  type WorkflowRun,
  workflowSteps,
  workflowsAnswer,
  workflowsQuery,
  workflowUsers,
} from '#contract/automation.ts';
import { signalIdParams, workflowIdParams } from '#contract/paging.ts';
import { WORKFLOW_STATUSES } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import { retryWorkflow, triggerWorkflow } from '#server/engine/workflow/trigger-workflow.ts';
import { listSteps, type StepRow } from '#server/engine/workflow/workflow-steps.store.ts';
import { listWorkflowUsers } from '#server/engine/workflow/workflow-users.store.ts';
import { findWorkflow } from '#server/engine/workflow/workflows.store.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { listWorkflows, type WorkflowSummary } from './workflow-monitor.store.ts';

const config = { access: 'admin' } as const;
const tags = ['automation'];

export function registerAutomationRoutes(app: App, deps: Deps): void {
  const { db } = deps;

  app.get(
    '/api/automation-workflows',
    { config, schema: { tags, querystring: workflowsQuery, response: { 200: workflowsAnswer } } },
    async ({ query }) => {
      const { rows, total } = await listWorkflows(db, { ...query, now: deps.clock.now() });
      return { workflows: rows.map(toWorkflowRun), total };
    },
  );

  app.get(
    '/api/automation-workflows/processors',
    { config, schema: { tags, response: { 200: z.array(z.string()) } } },
    // A workflow has the processor of its signal.
    (request) => listChoices(db, 'signals', 'processor', getUser(request).id),
  );

  app.get(
    '/api/automation-workflows/statuses',
    { config, schema: { tags, response: { 200: z.array(z.string()) } } },
    () => [...WORKFLOW_STATUSES],
  );

  app.get(
    '/api/automation-workflows/:workflowId/steps',
    { config, schema: { tags, params: workflowIdParams, response: { 200: workflowSteps } } },
    async ({ params: { workflowId } }) => {
      if ((await findWorkflow(db, workflowId)) === null) throw new AppError('workflowNotFound');
      return (await listSteps(db, workflowId)).map(toStep);
    },
  );

  app.get(
    '/api/automation-workflows/:workflowId/users',
    { config, schema: { tags, params: workflowIdParams, response: { 200: workflowUsers } } },
    async ({ params: { workflowId } }) => {
      if ((await findWorkflow(db, workflowId)) === null) throw new AppError('workflowNotFound');
      return (await listWorkflowUsers(db, workflowId)).map((row) => ({ ...row, id: row.userId }));
    },
  );

  app.post(
    '/api/trigger-automation',
    { config, schema: { tags, body: triggerBody, response: { 200: triggerAnswer } } },
    async (request) => {
      const { username } = getUser(request);
      const workflowId = await triggerWorkflow(deps, { ...request.body, username });
      return { success: true as const, message: 'Workflow triggered successfully', workflowId };
    },
  );

  app.post(
    '/api/automation/trigger/:signalId',
    { config, schema: { tags, params: signalIdParams, response: { 200: triggerAnswer } } },
    async (request) => {
      const { username } = getUser(request);
      const workflowId = await retryWorkflow(deps, { ...request.params, username });
      return { success: true as const, message: 'Workflow retry triggered successfully', workflowId };
    },
  );
}

// The response schemas drop the columns that screens do not show.

const toWorkflowRun = ({ workflow, ...counts }: WorkflowSummary): WorkflowRun => ({
  ...workflow,
  ...counts,
  workflowId: workflow.id,
  createdAt: workflow.createdAt.toISOString(),
  completedAt: workflow.completedAt?.toISOString() ?? null,
});

const toStep = (step: StepRow) => ({
  ...step,
  startedAt: step.startedAt?.toISOString() ?? null,
  completedAt: step.completedAt?.toISOString() ?? null,
});
