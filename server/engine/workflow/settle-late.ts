import { pipelineStepNumber, userStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import type { TradeRow } from '#server/engine/orders/trades.store.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { orderOutput } from './order-output.ts';
import { correctUserStep, type UserTask } from './user-steps.ts';
import { correctStep, findStep } from './workflow-steps.store.ts';
import { correctUserOutcome, countOutcomes } from './workflow-users.store.ts';

/**
 * I7: an order that was in doubt when its user's part ended has come to its end. What was written of it then, that
 * it is not known, gives way to what the exchange says. Any other outcome stays as it was written.
 */
export async function settleLate(
  deps: AutomationDeps,
  { task, trade }: { task: UserTask; trade: TradeRow },
): Promise<void> {
  if (trade.state !== 'done') return;
  const { workflowId, userId, position } = task;
  const stepNumber = userStepNumber(position, 'order_submission');
  const step = await findStep(deps.db, { workflowId, stepNumber });
  if (!isInDoubt(step?.outputData)) return;
  const outcome = trade.success === true ? 'success' : 'failed';
  await deps.db.transaction(async (tx) => {
    await correctUserOutcome(tx, { workflowId, userId, outcome });
    await correctUserStep(tx, task, 'order_submission', {
      status: outcome === 'success' ? 'completed' : 'failed',
      outputData: orderOutput(trade),
      errorMessage: outcome === 'success' ? null : (trade.error ?? 'The order failed'),
    });
    const last = { workflowId, stepNumber: pipelineStepNumber('user_processing') };
    const processing = await findStep(tx, last);
    // While others are still at work, their end counts all.
    if (processing?.status !== 'completed') return;
    const { status, errorMessage } = processing;
    const outputData = await countOutcomes(tx, workflowId);
    await correctStep(tx, { ...last, status, errorMessage, outputData });
  });
}

const isInDoubt = (output: unknown): boolean =>
  (output as { fillStatus?: unknown } | null | undefined)?.fillStatus === 'unknown';
