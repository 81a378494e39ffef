import { asc, eq, sql } from 'drizzle-orm';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { insertRows } from '#server/platform/db/json-rows.ts';
import { decisions, workflows } from '#server/platform/db/schema.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';
import { sealFields } from './decision-record.ts';

export type DecisionRow = typeof decisions.$inferSelect;

/** What was decided on one user of a workflow: at the selection, or later at the sizing. */
export interface Decision {
  workflowId: string;
  userId: string;
  record: object;
}

/** Adds the fields of each record to those that the user's record has already. */
const MERGE = sql`on conflict (workflow_id, user_id) do update
  set record = decisions.record || excluded.record, seals = decisions.seals || excluded.seals`;

/** A statement with more records takes long, and other work of the process waits for their seals. */
const MOST_IN_ONE = 250;

/** Writes decisions, many in one statement. */
export async function writeDecisions(
  tx: Pick<Tx, 'execute'>,
  { secretBox, made }: { secretBox: Pick<SecretBox, 'lookupHash'>; made: readonly Decision[] },
): Promise<void> {
  for (let from = 0; from < made.length; from += MOST_IN_ONE) {
    const rows = made.slice(from, from + MOST_IN_ONE).map(({ record, ...owner }) => ({
      ...owner,
      record: record as Record<string, unknown>,
      seals: sealFields(secretBox, owner, record),
    }));
    await tx.execute(insertRows(decisions, rows, MERGE)).execute();
  }
}

/** The decisions of all workflows of a signal, the oldest workflow first. */
export async function listSignalDecisions(db: Queryable, signalId: string): Promise<DecisionRow[]> {
  const rows = await db
    .select({ decision: decisions })
    .from(decisions)
    .innerJoin(workflows, eq(workflows.id, decisions.workflowId))
    .where(eq(workflows.signalId, signalId))
    .orderBy(asc(decisions.workflowId), asc(decisions.userId));
  return rows.map(({ decision }) => decision);
}

/** Users whose record was deleted: the selection wrote those of all its users together. */
export async function listLostDecisions(db: Queryable, signalId: string): Promise<string[]> {
  const { rows } = await db.execute<{ userId: string }>(sql`
    select part.user_id as "userId" from workflow_users as part
    join workflows on workflows.id = part.workflow_id
    where workflows.signal_id = ${signalId}
      and exists (
        select from decisions where decisions.workflow_id = part.workflow_id and record ? 'eligibility')
      and not exists (
        select from decisions where decisions.workflow_id = part.workflow_id and decisions.user_id = part.user_id)
    order by part.workflow_id, part.user_id`);
  return rows.map(({ userId }) => userId);
}
