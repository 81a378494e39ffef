import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { tradeUser } from './trade-user.ts';

/** A user's part of a workflow, and the order that comes of it: it is placed at once, without a call of its own. */
export async function orderForUser(
  deps: AutomationDeps,
  task: { workflowId: string; userId: string },
): Promise<void> {
  const tradeId = await tradeUser(deps, task);
  if (tradeId !== null) await advanceTrade(deps, tradeId);
}
