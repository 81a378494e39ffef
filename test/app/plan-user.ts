import type { EngineDeps } from '#server/deps.ts';
import {
  listWorkflowCalculations,
  type PositionGeneratorLogRow,
} from '#server/engine/sizing/position-generator.store.ts';
import { tradeUser } from '#server/engine/workflow/trade-wave.ts';
import { releaseLeases } from '#server/platform/jobs/leases.ts';

/** Runs a user's part of a workflow until its order is planned, and leaves the order to others; returns the trade's id. */
export async function planUser(
  deps: EngineDeps,
  task: { workflowId: string; userId: string },
): Promise<string | null> {
  let tradeId: string | null = null;
  await tradeUser(deps, task, async (_deps, { lease, trade }) => {
    tradeId = trade.id;
    await releaseLeases(deps.db, [lease]);
  });
  return tradeId;
}

/** The calculation of a workflow for one user; null when there is none. */
export const findWorkflowCalculation = async (
  db: EngineDeps['db'],
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<PositionGeneratorLogRow | null> =>
  (await listWorkflowCalculations(db, { workflowId, userIds: [userId] }))[0] ?? null;
