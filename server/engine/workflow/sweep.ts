import type { EngineDeps } from '#server/deps.ts';
import { longestWaitMs } from '#server/engine/orders/trade-work.ts';
import { listUnfinishedTrades } from '#server/engine/records/trades.store.ts';
import { storeMissingOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { listUnfinished } from '#server/engine/records/workflows.store.ts';
import { furthestDue } from '#server/platform/clock.ts';
import { unsettledLimits } from './follow-trade.ts';

/** A trade this long overdue has lost its wake-up job. */
export const OVERDUE_MS = 15_000;

/**
 * Sends a job for all unfinished work: at the start of the program, and periodically for jobs that were lost. A job for
 * work that is already running does nothing.
 */
export async function wakeUnfinished(deps: EngineDeps, { all }: { all: boolean }): Promise<void> {
  const { db, jobs, clock } = deps;
  const now = clock.now();
  const dueBefore = all ? null : new Date(now.getTime() - OVERDUE_MS);
  const dueAfter = furthestDue({ longestWaitMs: longestWaitMs(deps.config), now });
  const tradeIds = await listUnfinishedTrades(db, dueBefore, { dueAfter });
  const { pipelines, waves, unsettled, own } = await listUnfinished(db, unsettledLimits(now));
  await jobs.sendMissing(
    db,
    'advance-trade',
    tradeIds.map((tradeId) => ({ tradeId })),
  );
  const isOwn = ({ workflowId }: { workflowId: string }) => own.has(workflowId);
  await jobs.sendMissing(db, 'run-workflow', pipelines, { isOwn });
  await jobs.sendMissing(db, 'trade-wave', waves, { isOwn });
  await jobs.sendMissing(db, 'trade-user', unsettled);
}

export const SWEEP_EVERY_MS = 10_000;

/** Looks for lost jobs and missing outcomes periodically; returns a function that stops it. */
export function startSweep(deps: EngineDeps): () => void {
  return deps.clock.every(SWEEP_EVERY_MS, () => {
    wakeUnfinished(deps, { all: false }).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'looking for unfinished work failed'),
    );
    storeMissingOutcomes(deps.db).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'storing the outcomes of an earlier version failed'),
    );
  });
}
