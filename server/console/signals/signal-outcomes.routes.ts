import { executionReport } from '#contract/execution.ts';
import { idParams, optionalPagingQuery } from '#contract/paging.ts';
import {
  checkEligibilityBody,
  type DecisionBasis,
  eligibilityBreakdown,
  signalUsers,
  signalWorkflows,
  stopLevelsAnswer,
  type Trade,
  trades,
  verifiedDecisions,
  whyAnswer,
  whyParams,
  whyQuery,
} from '#contract/signals.ts';
import { isWorkflowEnded } from '#domain/workflow/workflow-lifecycle.ts';
import { listUserNames } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { listSignalTrades } from '#server/engine/records/trades.store.ts';
import {
  listUserOutcomes,
  type WithOutcome,
  withWorkflowOutcomes,
} from '#server/engine/records/workflow-outcomes.store.ts';
import { listWorkflowUsers } from '#server/engine/records/workflow-users.store.ts';
import {
  findShownWorkflow,
  listSignalWorkflows,
  type WorkflowRow,
} from '#server/engine/records/workflows.store.ts';
import { listSignalCalculations } from '#server/engine/sizing/position-generator.store.ts';
import { selectUsersOf } from '#server/engine/workflow/select-exits.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { optionalPage } from '#server/platform/http/optional-page.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { CHANGES_NOTHING } from '#server/platform/http/write-rules.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import { explainUser } from '../workflows/explain-user.ts';
import { readExecution } from './execution-report.ts';
import { registerSignalChartRoutes } from './signal-chart.routes.ts';
import { verifyDecisions } from './verify-decisions.ts';

const DEFAULT_PAGE_SIZE = 50;

/** The outcomes of a signal: workflows, users, calculations and trades. */
export function registerSignalOutcomeRoutes(app: App, deps: Deps): void {
  const { db } = deps;
  const admin = routeOptions({ access: 'admin', tags: ['signals'] });
  registerSignalChartRoutes(app, deps);

  const requireSignal = async (id: string) => required(await findSignal(db, id), 'signalNotFound');

  app.get(
    '/api/signals/:id/workflows',
    admin({ params: idParams, answer: signalWorkflows }),
    async ({ params: { id } }) => {
      await requireSignal(id);
      const rows = await withWorkflowOutcomes(db, await listSignalWorkflows(db, id));
      const automatic = rows.filter(({ trigger }) => trigger === 'automatic');
      const manual = rows.filter(({ trigger }) => trigger === 'manual');
      return {
        signalId: id,
        automaticCount: automatic.length,
        manualCount: manual.length,
        automaticWorkflows: automatic.map(toSignalWorkflow),
        manualWorkflows: manual.map(toSignalWorkflow),
      };
    },
  );

  app.get(
    '/api/signals/:id/users',
    admin({ params: idParams, answer: signalUsers }),
    async ({ params: { id } }) => {
      const signal = await requireSignal(id);
      const workflow = await findShownWorkflow(db, id);
      const snapshot = workflow === null ? [] : await listWorkflowUsers(db, workflow.id);
      if (workflow !== null && snapshot.length > 0) {
        const outcomes = await listUserOutcomes(db, workflow);
        return snapshot.map((user) => ({
          ...user,
          id: user.userId,
          outcome: outcomes.get(user.userId) ?? null,
          basis: 'recorded' as const,
        }));
      }
      const { decisions } = await selectUsersOf(deps, signal);
      const basis = basisWithout(workflow);
      return decisions.map((user) => ({ ...user, id: user.userId, outcome: null, basis, workflowId: null }));
    },
  );

  app.post(
    '/api/signal/check-eligibility',
    admin({ write: CHANGES_NOTHING, body: checkEligibilityBody, answer: eligibilityBreakdown }),
    async ({ body: { signalId } }) => {
      const { layers, eligible, decisions, ...result } = await selectUsersOf(
        deps,
        await requireSignal(signalId),
      );
      const [layer1, layer2, layer3, layer4] = layers;
      return {
        ...result,
        signalId,
        finalEligibleUsers: eligible.length,
        breakdown: { layer1, layer2, layer3, layer4 },
        eligibleUsers: eligible,
        decisions: decisions.map((decision) => ({ ...decision, id: decision.userId })),
      };
    },
  );

  app.get(
    '/api/signals/:id/why/:userId',
    admin({ params: whyParams, querystring: whyQuery, answer: whyAnswer }),
    async ({ params: { id, userId }, query: { workflowId } }) =>
      await explainUser(deps, { signal: await requireSignal(id), userId, workflowId }),
  );

  app.post(
    '/api/signals/:id/verify',
    admin({ write: CHANGES_NOTHING, params: idParams, answer: verifiedDecisions }),
    async ({ params: { id } }) => {
      await requireSignal(id);
      return await verifyDecisions(deps, id);
    },
  );

  app.get(
    '/api/signals/:id/execution',
    admin({ params: idParams, answer: executionReport }),
    async ({ params: { id } }) => readExecution(db, await requireSignal(id)),
  );

  app.get(
    '/api/signals/:id/sltp',
    admin({ params: idParams, answer: stopLevelsAnswer }),
    async ({ params: { id } }) => {
      await requireSignal(id);
      const calculations = await listSignalCalculations(db, id);
      const names = new Map((await listUserNames(db)).map((user) => [user.id, user.username]));
      const sltpData = calculations.flatMap(({ userId, position }) => {
        if (position === null) return [];
        const username = names.get(userId) ?? userId;
        return { ...position, username, positionSizingMethod: position.method };
      });
      sltpData.sort((a, b) => (a.username < b.username ? -1 : 1));
      return { hasData: sltpData.length > 0, sltpData };
    },
  );

  app.get(
    '/api/signals/:id/trades',
    admin({ params: idParams, querystring: optionalPagingQuery, answer: trades }),
    async ({ params: { id }, query }) => {
      await requireSignal(id);
      const rows = await listSignalTrades(db, { signalId: id, page: optionalPage(query, DEFAULT_PAGE_SIZE) });
      return rows.map(
        ({ trade, username, orderPayload }): Trade => ({
          ...isoDates(trade),
          username,
          success: trade.success === true,
          exchangeResponse: trade.exchangeResponse as Trade['exchangeResponse'],
          orderPayload: {
            ...(orderPayload as Record<string, unknown> | null),
            symbol: `${trade.token}USDT`,
          },
        }),
      );
    },
  );
}

/** Why decisions are made now: the workflow recorded none. */
function basisWithout(workflow: WorkflowRow | null): DecisionBasis {
  if (workflow === null) return 'no workflow';
  return isWorkflowEnded(workflow.status) ? 'workflow ended' : 'workflow under way';
}

const toSignalWorkflow = (workflow: WithOutcome<WorkflowRow>) => ({
  ...isoDates(workflow),
  workflowId: workflow.id,
  startedAt: (workflow.startedAt ?? workflow.createdAt).toISOString(),
});
