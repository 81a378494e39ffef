import { and, asc, eq, isNotNull, ne } from 'drizzle-orm';
import { type CanaryUser, judgeCanary } from '#domain/workflow/canary.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import type { WorkflowRow } from '#server/engine/records/workflows.store.ts';
import { isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { isDue } from '#server/platform/clock.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { trades, workflows, workflowUsers } from '#server/platform/db/schema.ts';

/** Which users of a workflow may trade now. */
export interface CanaryTurn {
  /** Only users up to this place in the order of trading; null: all. */
  upTo: number | null;
  /** What happened to the first users, if that keeps the others from trading. */
  failed: string | null;
}

const ALL: CanaryTurn = { upTo: null, failed: null };

/**
 * Whether the users behind the first ones of a strategy may trade. Judged from rows alone, under a lock of the workflow,
 * so that a crash or another instance changes nothing; what was decided stays. Without a canary it reads nothing.
 */
export async function takeCanaryTurn(
  deps: EngineDeps,
  { workflow, signal }: { workflow: WorkflowRow; signal: SignalRow },
): Promise<CanaryTurn> {
  if (!isEntry(signal) || workflow.canaryState === null || workflow.canaryState === 'passed') return ALL;
  if (workflow.canaryState === 'failed') return { ...ALL, failed: workflow.canaryReason };
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx.select().from(workflows).where(eq(workflows.id, workflow.id)).for('no key update');
    if (row === undefined || row.canaryState === null || row.canary === null) return ALL;
    if (row.canaryState !== 'waiting') return { ...ALL, failed: row.canaryReason };
    const { canary: settings, canaryDueAt: dueAt } = row;
    const now = deps.clock.now();
    const longestWaitMs = settings.withinSeconds * 1_000;
    const users = await listFirstUsers(tx, { workflowId: row.id, limit: settings.users });
    const isOver = dueAt !== null && isDue({ dueAt, longestWaitMs, now });
    const verdict = judgeCanary({ settings, signal, users, dueAt, isDue: isOver });
    if (verdict.state === 'waiting') {
      if (dueAt !== null) {
        const waitMs = dueAt.getTime() - now.getTime();
        await deps.jobs.sendMissing(tx, 'trade-wave', [{ workflowId: row.id }], { waitMs });
      }
      return { upTo: verdict.upTo, failed: null };
    }
    const reason = verdict.state === 'failed' ? verdict.reason : null;
    await tx
      .update(workflows)
      .set({ canaryState: verdict.state, canaryReason: reason })
      .where(eq(workflows.id, row.id));
    if (reason === null) return ALL;
    deps.log.warn(
      { workflowId: row.id, processor: row.processor, reason },
      'the canary of a strategy failed',
    );
    await deps.audit.record(tx, {
      actor: ENGINE,
      action: 'canary failed',
      subject: { kind: 'strategy', id: row.processor, name: row.processor },
      after: { workflowId: row.id, token: row.token, reason },
    });
    return { ...ALL, failed: reason };
  });
}

/** The first users who were not skipped, with their orders, in the order of trading. */
async function listFirstUsers(
  tx: Tx,
  { workflowId, limit }: { workflowId: string; limit: number },
): Promise<CanaryUser[]> {
  const { completedAt, success, error, averagePrice, protectionStatus } = trades;
  const rows = await tx
    .select({
      position: workflowUsers.position,
      outcome: workflowUsers.outcome,
      // With the id: an object of nothing but nulls would be read as no order.
      order: { id: trades.id, completedAt, success, error, averagePrice, protectionStatus },
    })
    .from(workflowUsers)
    .leftJoin(
      trades,
      and(eq(trades.workflowId, workflowUsers.workflowId), eq(trades.userId, workflowUsers.userId)),
    )
    .where(
      and(
        eq(workflowUsers.workflowId, workflowId),
        isNotNull(workflowUsers.position),
        ne(workflowUsers.outcome, 'skipped'),
      ),
    )
    .orderBy(asc(workflowUsers.position))
    .limit(limit);
  return rows.map(({ position, outcome, order }) => ({
    position: position ?? 0,
    hasEnded: outcome === 'success' || outcome === 'failed',
    order,
  }));
}
