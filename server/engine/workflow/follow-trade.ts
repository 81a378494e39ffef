import { pipelineStepNumber, userStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import { resultOf } from '#server/engine/orders/settle-attempt.ts';
import { longestWaitMs } from '#server/engine/orders/trade-work.ts';
import { endUsers, type UserEnd } from '#server/engine/records/end-users.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { storeOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import {
  correctStep,
  endedStep,
  findStep,
  processorName,
  type UserTask,
  userStep,
  writeSteps,
} from '#server/engine/records/workflow-steps.store.ts';
import { correctUserOutcome, countOutcomes } from '#server/engine/records/workflow-users.store.ts';
import { holdsUpLeaving } from '#server/engine/records/workflows.store.ts';
import { isDue } from '#server/platform/clock.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';

/** How long a workflow and its token wait for an order that stays in doubt. */
export const UNSETTLED_LIMIT_MS = 5 * 60_000;
/** The same while a signal that leaves waits for the token: it concerns others too. Ordinary entries end sooner. */
export const HELD_UP_LIMIT_MS = 20_000;

/** Since when orders have been unsettled that are waited for no longer. */
export const unsettledLimits = (now: Date): { unsettledSince: Date; heldUpSince: Date } => ({
  unsettledSince: new Date(now.getTime() - UNSETTLED_LIMIT_MS),
  heldUpSince: new Date(now.getTime() - HELD_UP_LIMIT_MS),
});

/** The order is in progress or done: its end is the user's end. */
export async function followTrade(
  deps: EngineDeps,
  { task, trade }: { task: UserTask; trade: TradeRow },
): Promise<void> {
  if (trade.state === 'done') {
    const { outcome, ...result } = resultOf(trade);
    await endUser(deps, task, { outcome, ...result });
    return;
  }
  const now = deps.clock.now();
  const since = await whyNoLongerAwaited(deps, { task, trade });
  if (since !== null) {
    // I8: the workflow ends without the order; the trade is followed and blocks its user in the token until settled.
    await endUser(deps, task, {
      outcome: 'failed',
      outputData: { tradeId: trade.id, fillStatus: 'unknown' },
      errorMessage: `The order is not settled ${since} and is still being followed up`,
    });
  }
  // Wakes a worker for the trade if none holds its lease.
  const wait = { longestWaitMs: longestWaitMs(deps.config), now };
  if (trade.dueAt !== null && !isDue({ dueAt: trade.dueAt, ...wait })) return;
  await deps.jobs.send(deps.db, 'advance-trade', { tradeId: trade.id });
}

/** After how long, in words, or null: the workflow goes on waiting for it. */
async function whyNoLongerAwaited(
  { db, clock }: Pick<EngineDeps, 'db' | 'clock'>,
  { task, trade }: { task: UserTask; trade: TradeRow },
): Promise<string | null> {
  const ageMs = clock.now().getTime() - trade.createdAt.getTime();
  if (ageMs > UNSETTLED_LIMIT_MS) return `after ${UNSETTLED_LIMIT_MS / 60_000} minutes`;
  if (ageMs <= HELD_UP_LIMIT_MS || !(await holdsUpLeaving(db, task.workflowId))) return null;
  return `after ${HELD_UP_LIMIT_MS / 1_000} seconds, a newer signal that closes waits,`;
}

/** Ends a user's part outside of a worker with the user's lease: has no effect on a part that has already ended. */
async function endUser(
  deps: EngineDeps,
  task: UserTask,
  end: { outcome: UserEnd['outcome']; outputData: unknown; errorMessage: string | null },
): Promise<void> {
  const at = deps.clock.now();
  const { outcome, ...result } = end;
  const about = { inputData: null, processorName: processorName(deps), at };
  const status = outcome === 'success' ? 'completed' : 'failed';
  const step = endedStep(userStep('order_submission', task, about), { ...result, status, at });
  const { workflowId, userId } = task;
  await deps.db.transaction(async (tx) => {
    await writeSteps(tx, [step]);
    await endUsers(tx, {
      deps,
      ends: [{ workflowId, userId, outcome }],
      at,
      processorName: processorName(deps),
    });
  });
}

/**
 * I7: an order that was in doubt when its user's part ended is settled now. Replaces the outcome written then with the
 * exchange's. Any other outcome stays.
 */
export async function settleLate(
  deps: EngineDeps,
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
    await storeOutcomes(tx, [workflowId]);
    await noteEvents(tx, [
      { code: 'trade_ended', userId, workflowId, tradeId: trade.id, at: deps.clock.now() },
    ]);
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
