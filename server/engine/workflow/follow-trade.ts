import type { TradeRow } from '#server/engine/orders/trades.store.ts';
import type { Tx } from '#server/platform/db/database.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { finishUser, type UserEnd, writeUserEnd } from './finish-user.ts';
import { orderOutput } from './order-output.ts';
import type { UserTask } from './user-steps.ts';
import { findUserTurn, type WorkflowUserRow } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

/** An order that the exchange leaves in doubt for longer keeps neither its workflow nor its token from going on. */
export const UNSETTLED_LIMIT_MS = 5 * 60_000;

interface UserPart {
  deps: AutomationDeps;
  workflow: WorkflowRow;
  task: UserTask;
}

/** The order is on its way or done: its end is the user's end. */
export async function followTrade({ deps, workflow, task }: UserPart, trade: TradeRow): Promise<void> {
  if (trade.state !== 'done') {
    const unsettledMs = deps.clock.now().getTime() - trade.createdAt.getTime();
    if (unsettledMs > UNSETTLED_LIMIT_MS) await leaveUnsettled({ deps, workflow, task }, trade);
    // Whoever works on it holds its lease; if nobody does, this wakes somebody.
    if (trade.dueAt !== null && trade.dueAt > deps.clock.now()) return;
    await deps.jobs.send(deps.db, 'advance-trade', { tradeId: trade.id });
    return;
  }
  await finishUser(deps, endByTrade({ workflow, task }, trade));
}

/** The end of a user whose trade is done. */
function endByTrade({ workflow, task }: Pick<UserPart, 'workflow' | 'task'>, trade: TradeRow): UserEnd {
  const success = trade.success === true;
  return {
    workflow,
    task,
    outcome: success ? 'success' : 'failed',
    step: {
      type: 'order_submission',
      outputData: orderOutput(trade),
      ...(success ? {} : { errorMessage: trade.error ?? 'The order failed' }),
    },
  };
}

/**
 * A trade has come to its end, in this transaction, and its user's part with it. Where that is over already, or has not
 * come so far, the user's own call finds out what is left to do.
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
    // Otherwise it was given up while this waited for the workflow, by somebody who could not see the trade's end yet.
    if (await writeUserEnd(deps, tx, endByTrade({ workflow: turn.workflow, task }, turn.trade))) return;
  }
  await deps.jobs.send(tx, 'trade-user', { workflowId, userId });
}

const AT_WORK: readonly WorkflowUserRow['outcome'][] = ['waiting', 'running'];

/** I8: the workflow ends without it; the trade is followed up, and keeps its user out of the token until it is settled. */
async function leaveUnsettled({ deps, workflow, task }: UserPart, trade: TradeRow): Promise<void> {
  const errorMessage = `The order is not settled after ${UNSETTLED_LIMIT_MS / 60_000} minutes and is still being followed up`;
  const outputData = { tradeId: trade.id, fillStatus: 'unknown' };
  const step = { type: 'order_submission' as const, outputData, errorMessage };
  await finishUser(deps, { workflow, task, outcome: 'failed', step });
}
