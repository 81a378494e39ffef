import { z } from 'zod';
import {
  triggerAnswer,
  triggerBody,
  workflowSteps,
  workflowsAnswer,
  workflowsQuery,
  workflowUsers,
} from '#contract/automation.ts';
import { signalIdParams, workflowIdParams } from '#contract/paging.ts';
import { WORKFLOW_STATUSES } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import { listUserOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { listSteps } from '#server/engine/records/workflow-steps.store.ts';
import { listWorkflowUsers } from '#server/engine/records/workflow-users.store.ts';
import { findWorkflow } from '#server/engine/records/workflows.store.ts';
import { retryWorkflow, triggerWorkflow } from '#server/engine/workflow/trigger-workflow.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import { listWorkflows } from './workflow-monitor.store.ts';

export function registerAutomationRoutes(app: App, deps: Deps): void {
  const { db } = deps;
  const admin = routeOptions({ access: 'admin', tags: ['automation'] });

  app.get(
    '/api/automation-workflows',
    admin({ querystring: workflowsQuery, answer: workflowsAnswer }),
    ({ query }) => listWorkflows(db, { ...query, now: deps.clock.now() }),
  );

  app.get(
    '/api/automation-workflows/processors',
    admin({ answer: z.array(z.string()) }),
    // A workflow has the processor of its signal.
    (request) => listChoices(db, 'signals', 'processor', getUser(request).id),
  );

  app.get('/api/automation-workflows/statuses', admin({ answer: z.array(z.string()) }), () => [
    ...WORKFLOW_STATUSES,
  ]);

  app.get(
    '/api/automation-workflows/:workflowId/steps',
    admin({ params: workflowIdParams, answer: workflowSteps }),
    async ({ params: { workflowId } }) => {
      required(await findWorkflow(db, workflowId), 'workflowNotFound');
      return (await listSteps(db, workflowId)).map(isoDates);
    },
  );

  app.get(
    '/api/automation-workflows/:workflowId/users',
    admin({ params: workflowIdParams, answer: workflowUsers }),
    async ({ params: { workflowId } }) => {
      const workflow = required(await findWorkflow(db, workflowId), 'workflowNotFound');
      const outcomes = await listUserOutcomes(db, workflow);
      return (await listWorkflowUsers(db, workflowId)).map((row) => ({
        ...row,
        id: row.userId,
        outcome: outcomes.get(row.userId) ?? null,
      }));
    },
  );

  app.post(
    '/api/trigger-automation',
    admin({
      write: { stepUp: 'outsidePaper', audit: ['workflow triggered'], token: 'trade' },
      body: triggerBody,
      answer: triggerAnswer,
    }),
    async (request) => {
      const { username } = getUser(request);
      const workflowId = await triggerWorkflow(deps, {
        ...request.body,
        username,
        actor: actorOf(request, deps.config),
      });
      return { success: true as const, message: 'Workflow triggered successfully', workflowId };
    },
  );

  app.post(
    '/api/automation/trigger/:signalId',
    admin({
      write: { stepUp: 'outsidePaper', audit: ['workflow retried'], token: 'trade' },
      params: signalIdParams,
      answer: triggerAnswer,
    }),
    async (request) => {
      const { username } = getUser(request);
      const workflowId = await retryWorkflow(deps, {
        ...request.params,
        username,
        actor: actorOf(request, deps.config),
      });
      return { success: true as const, message: 'Workflow retry triggered successfully', workflowId };
    },
  );
}
