import { idParams, optionalPagingQuery } from '#contract/paging.ts';
import {
  checkEligibilityBody,
  type DecisionBasis,
  type EligibilityBreakdown,
  eligibilityBreakdown,
  type SignalUser,
  signalUsers,
  signalWorkflows,
  stopLevelsAnswer,
  type Trade,
  trades,
  whyAnswer,
  whyParams,
  whyQuery,
} from '#contract/signals.ts';
import type { EligibilityResult } from '#domain/eligibility/eligibility.ts';
import { isWorkflowEnded } from '#domain/workflow/workflow-lifecycle.ts';
import { listUserNames } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { listSignalTrades } from '#server/engine/orders/trades.store.ts';
import { listSignalCalculations } from '#server/engine/sizing/position-generator.store.ts';
import { selectUsers } from '#server/engine/workflow/select-users.ts';
import { listWorkflowUsers } from '#server/engine/workflow/workflow-users.store.ts';
import {
  findNewestWorkflow,
  listSignalWorkflows,
  type WorkflowRow,
} from '#server/engine/workflow/workflows.store.ts';
import { findSignal, type SignalRow } from '#server/ingest/stored-signals.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { explainUser } from '../workflows/explain-user.ts';
import { registerSignalChartRoutes } from './signal-chart.routes.ts';

const config = { access: 'admin' } as const;
const tags = ['signals'];
const DEFAULT_PAGE_SIZE = 50;

/** The outcomes of a signal: workflows, users, calculations and trades. */
export function registerSignalOutcomeRoutes(app: App, deps: Deps): void {
  const { db } = deps;
  registerSignalChartRoutes(app, deps);

  async function requireSignal(id: string): Promise<SignalRow> {
    const signal = await findSignal(db, id);
    if (signal === null) throw new AppError('signalNotFound');
    return signal;
  }

  app.get(
    '/api/signals/:id/workflows',
    { config, schema: { tags, params: idParams, response: { 200: signalWorkflows } } },
    async ({ params: { id } }) => {
      await requireSignal(id);
      const rows = await listSignalWorkflows(db, id);
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
    { config, schema: { tags, params: idParams, response: { 200: signalUsers } } },
    async ({ params: { id } }) => {
      const signal = await requireSignal(id);
      const newest = await findNewestWorkflow(db, id);
      const snapshot = newest === null ? [] : await listWorkflowUsers(db, newest.id);
      if (snapshot.length > 0) return toSignalUsers(snapshot, 'recorded');
      const { decisions } = await selectUsers(deps, signal);
      return toSignalUsers(decisions, basisWithout(newest));
    },
  );

  app.post(
    '/api/signal/check-eligibility',
    { config, schema: { tags, body: checkEligibilityBody, response: { 200: eligibilityBreakdown } } },
    async ({ body: { signalId } }) => {
      const signal = await requireSignal(signalId);
      return toBreakdown(signalId, await selectUsers(deps, signal));
    },
  );

  app.get(
    '/api/signals/:id/why/:userId',
    { config, schema: { tags, params: whyParams, querystring: whyQuery, response: { 200: whyAnswer } } },
    async ({ params: { id, userId }, query: { workflowId } }) =>
      await explainUser(deps, { signal: await requireSignal(id), userId, workflowId }),
  );

  app.get(
    '/api/signals/:id/sltp',
    { config, schema: { tags, params: idParams, response: { 200: stopLevelsAnswer } } },
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
    {
      config,
      schema: { tags, params: idParams, querystring: optionalPagingQuery, response: { 200: trades } },
    },
    async ({ params: { id }, query }) => {
      await requireSignal(id);
      const rows = await listSignalTrades(db, { signalId: id, page: pageOf(query) });
      return rows.map(
        ({ trade, username, orderPayload }): Trade => ({
          ...trade,
          username,
          success: trade.success === true,
          createdAt: trade.createdAt.toISOString(),
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

/** Null: all trades, as specified for calls without paging. */
function pageOf({ page, limit }: { page?: number | undefined; limit?: number | undefined }) {
  if (page === undefined && limit === undefined) return null;
  const size = limit ?? DEFAULT_PAGE_SIZE;
  return { limit: size, offset: ((page ?? 1) - 1) * size };
}

const toSignalUsers = (
  decisions: readonly { userId: string; username: string; status: string; reason: string }[],
  basis: DecisionBasis,
): SignalUser[] =>
  decisions.map(({ userId, username, status, reason }) => ({ id: userId, username, status, reason, basis }));

/** Why decisions are made now: the newest workflow recorded none. */
function basisWithout(newest: WorkflowRow | null): DecisionBasis {
  if (newest === null) return 'no workflow';
  return isWorkflowEnded(newest.status) ? 'workflow ended' : 'workflow under way';
}

/** The response schema drops the columns that screens do not show. */
const toSignalWorkflow = (workflow: WorkflowRow) => ({
  ...workflow,
  workflowId: workflow.id,
  startedAt: (workflow.startedAt ?? workflow.createdAt).toISOString(),
  completedAt: workflow.completedAt?.toISOString() ?? null,
});

function toBreakdown(signalId: string, result: EligibilityResult): EligibilityBreakdown {
  const [layer1, layer2, layer3, layer4] = result.layers;
  return {
    signalId,
    processor: result.processor,
    currentMode: result.currentMode,
    finalEligibleUsers: result.eligible.length,
    breakdown: { layer1, layer2, layer3, layer4 },
    eligibleUsers: result.eligible.map(({ id, username, isTestUser }) => ({ id, username, isTestUser })),
    decisions: result.decisions.map((decision) => ({ ...decision, id: decision.userId })),
  };
}
