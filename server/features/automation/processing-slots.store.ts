import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { processingSlots, workflows } from '#server/platform/database/schema.ts';
import { RUNNING_STATUSES } from './workflows.store.ts';

export type SlotResult = { acquired: true } | { acquired: false; waitingFor: string };

/** One workflow of a token at a time, in the order of their creation; says for whom to wait. */
export async function acquireSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<SlotResult> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  const [older] = await tx
    .select({ id: workflows.id })
    .from(workflows)
    .where(
      and(
        eq(workflows.token, token),
        inArray(workflows.status, [...RUNNING_STATUSES]),
        ne(workflows.id, workflowId),
        sql`(${workflows.id} < ${workflowId}
             or ${workflows.id} = (select workflow_id from processing_slots where token = ${token}))`,
      ),
    )
    .orderBy(asc(workflows.id))
    .limit(1);
  if (older !== undefined) return { acquired: false, waitingFor: older.id };
  await tx
    .insert(processingSlots)
    .values({ token, workflowId, acquiredAt: at })
    .onConflictDoUpdate({ target: processingSlots.token, set: { workflowId, acquiredAt: at } });
  return { acquired: true };
}

/** Frees the token and says which workflow waits next. */
export async function releaseSlot(
  tx: Tx,
  { workflowId, token }: { workflowId: string; token: string },
): Promise<string | null> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  await tx
    .delete(processingSlots)
    .where(and(eq(processingSlots.token, token), eq(processingSlots.workflowId, workflowId)));
  const [next] = await tx
    .select({ id: workflows.id })
    .from(workflows)
    .where(
      and(
        eq(workflows.token, token),
        inArray(workflows.status, [...RUNNING_STATUSES]),
        ne(workflows.id, workflowId),
      ),
    )
    .orderBy(asc(workflows.id))
    .limit(1);
  return next?.id ?? null;
}
