import { PIPELINE_STEPS } from '#domain/workflow-lifecycle.ts';
import type { TradeRow } from '#server/features/position-maker/trades.store.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { orderOutput } from './order-output.ts';
import { correctUserStep, type UserTask } from './user-steps.ts';
import { correctStep, listSteps } from './workflow-steps.store.ts';
import { correctUserOutcome, countOutcomes } from './workflow-users.store.ts';

/**
 * I7: an order that was in doubt when its user's part ended has come to its end. What was written of it then, that
 * it is not known, gives way to what the exchange says. Any other outcome stays as it was written.
 */
export async function settleLate(
  deps: AutomationDeps,
  { task, trade }: { task: UserTask; trade: TradeRow },
): Promise<void> {
  const { workflowId, userId } = task;
  const steps = await listSteps(deps.db, workflowId);
  const step = steps.find((one) => one.userId === userId && one.stepType === 'order_submission');
  if (!isInDoubt(step?.outputData) || trade.state !== 'done') return;
  const outcome = trade.success === true ? 'success' : 'failed';
  await deps.db.transaction(async (tx) => {
    await correctUserOutcome(tx, { workflowId, userId, outcome });
    await correctUserStep(tx, task, 'order_submission', {
      status: outcome === 'success' ? 'completed' : 'failed',
      outputData: orderOutput(trade),
      errorMessage: outcome === 'success' ? null : (trade.error ?? 'The order failed'),
    });
    const last = PIPELINE_STEPS.find((one) => one.type === 'user_processing');
    const processing = steps.find(({ stepNumber }) => stepNumber === last?.number);
    // While others are still at work, their end counts all.
    if (processing?.status !== 'completed') return;
    const { stepNumber, status, errorMessage } = processing;
    const outputData = await countOutcomes(tx, workflowId);
    await correctStep(tx, { workflowId, stepNumber, status, errorMessage, outputData });
  });
}

const isInDoubt = (output: unknown): boolean =>
  (output as { fillStatus?: unknown } | null | undefined)?.fillStatus === 'unknown';
