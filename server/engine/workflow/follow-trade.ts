import { pipelineStepNumber, userStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import type { TradeRow } from '#server/engine/orders/trades.store.ts';
import type { Tx } from '#server/platform/db/database.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { finishUser, type UserEnd, writeUserEnd } from './end-workflow.ts';
import type { UserTask } from './user-steps.ts';
import { correctStep, findStep } from './workflow-steps.store.ts';
import {
  correctUserOutcome,
  countOutcomes,
  findUserTurn,
  type WorkflowUserRow,
} from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

/** How long a workflow and its token wait for an order that stays in doubt. */
export const UNSETTLED_LIMIT_MS = 5 * 60_000;

interface UserPart {
  deps: AutomationDeps;
  workflow: WorkflowRow;
  task: UserTask;
}

/** The order is in progress or done: its end is the user's end. */
export async function followTrade({ deps, workflow, task }: UserPart, trade: TradeRow): Promise<void> {
  if (trade.state !== 'done') {
    const unsettledMs = deps.clock.now().getTime() - trade.createdAt.getTime();
    if (unsettledMs > UNSETTLED_LIMIT_MS) await leaveUnsettled({ deps, workflow, task }, trade);
    // Wakes a worker for the trade if none holds its lease.
    if (trade.dueAt !== null && trade.dueAt > deps.clock.now()) return;
    await deps.jobs.send(deps.db, 'advance-trade', { tradeId: trade.id });
    return;
  }
  await finishUser(deps, endByTrade({ workflow, task }, trade));
}

/** A done trade as the result of its user's part. */
const resultOf = (trade: TradeRow) => ({
  outcome: trade.success === true ? ('success' as const) : ('failed' as const),
  outputData: {
    tradeId: trade.id,
    orderId: trade.orderId,
    fillStatus: trade.fillStatus,
    filledQuantity: trade.filledQuantity,
    averagePrice: trade.averagePrice,
    fee: trade.fee,
    protection: trade.protectionStatus,
  },
  errorMessage: trade.success === true ? null : (trade.error ?? 'The order failed'),
});

function endByTrade({ workflow, task }: Pick<UserPart, 'workflow' | 'task'>, trade: TradeRow): UserEnd {
  const { outcome, ...end } = resultOf(trade);
  return { workflow, task, outcome, step: { type: 'order_submission', ...end } };
}

/**
 * Ends the user's part with its trade, in the trade's transaction. If the part is over already, or has not come that
 * far, a job for the user does the rest.
 */
export async function followTradeEnd(
  deps: Pick<AutomationDeps, 'clock' | 'jobs'>,
  tx: Tx,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<void> {
  const turn = await findUserTurn(tx, { workflowId, userId });
  const isUnderWay =
    turn !== null && turn.workflow.status === 'processing' && AT_WORK.includes(turn.user.outcome);
  if (isUnderWay && turn.user.position !== null && turn.trade?.state === 'done') {
    const task = { workflowId, userId, position: turn.user.position };
    // False: the user was given up while this call waited for the workflow's lock.
    if (await writeUserEnd(deps, tx, endByTrade({ workflow: turn.workflow, task }, turn.trade))) return;
  }
  await deps.jobs.send(tx, 'trade-user', { workflowId, userId });
}

const AT_WORK: readonly WorkflowUserRow['outcome'][] = ['waiting', 'running'];

/** I8: the workflow ends without the order; the trade is followed and blocks its user in the token until settled. */
async function leaveUnsettled({ deps, workflow, task }: UserPart, trade: TradeRow): Promise<void> {
  const errorMessage = `The order is not settled after ${UNSETTLED_LIMIT_MS / 60_000} minutes and is still being followed up`;
  const outputData = { tradeId: trade.id, fillStatus: 'unknown' };
  const step = { type: 'order_submission' as const, outputData, errorMessage };
  await finishUser(deps, { workflow, task, outcome: 'failed', step });
}

/**
 * I7: an order that was in doubt when its user's part ended is settled now. Replaces the outcome written then with the
 * exchange's. Any other outcome stays.
 */
export async function settleLate(
  deps: AutomationDeps,
  { task, trade }: { task: UserTask; trade: TradeRow },
): Promise<void> {
  if (trade.state !== 'done') return;
  const { workflowId, userId, position } = task;
  const ofUser = { workflowId, stepNumber: userStepNumber(position, 'order_submission') };
  const step = await findStep(deps.db, ofUser);
  if (!isInDoubt(step?.outputData)) return;
  const { outcome, ...end } = resultOf(trade);
  await deps.db.transaction(async (tx) => {
    await correctUserOutcome(tx, { workflowId, userId, outcome });
    await correctStep(tx, { ...ofUser, ...end, status: outcome === 'success' ? 'completed' : 'failed' });
    const last = { workflowId, stepNumber: pipelineStepNumber('user_processing') };
    const processing = await findStep(tx, last);
    // While other users are in progress, the last one of them counts all.
    if (processing?.status !== 'completed') return;
    const { status, errorMessage } = processing;
    const outputData = await countOutcomes(tx, workflowId);
    await correctStep(tx, { ...last, status, errorMessage, outputData });
  });
}

const isInDoubt = (output: unknown): boolean =>
  (output as { fillStatus?: unknown } | null | undefined)?.fillStatus === 'unknown';
