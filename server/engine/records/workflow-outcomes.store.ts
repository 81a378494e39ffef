import { eq, sql } from 'drizzle-orm';
import type { UserOutcome } from '#contract/outcome.ts';
import { reasonOfSkip } from '#domain/workflow/denials.ts';
import { isWorkflowEnded, PER_USER_STEPS, userStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import {
  type UsersWithResult,
  type WorkflowOutcome,
  workflowOutcome,
} from '#domain/workflow/workflow-outcome.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { workflows } from '#server/platform/db/schema.ts';
import type { WorkflowUserRow } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

/** The part of a workflow's row that its outcome is stored in. */
export type StoredOutcome = Pick<
  WorkflowRow,
  | 'id'
  | 'status'
  | 'errorMessage'
  | 'outcome'
  | 'successfulUsersCount'
  | 'failedUsersCount'
  | 'skippedUsersCount'
  | 'topReason'
>;

/** The columns that hold a workflow's outcome from its end on. */
export const outcomeColumns = ({ kind, filled, failed, skipped, topReason }: WorkflowOutcome) => ({
  outcome: kind === 'running' ? null : kind,
  successfulUsersCount: filled,
  failedUsersCount: failed,
  skippedUsersCount: skipped,
  topReason,
});

/** The outcomes of these workflows, as stored; those of older versions, which stored none, are computed. */
export async function readOutcomes(
  db: Queryable,
  rows: readonly StoredOutcome[],
): Promise<Map<string, WorkflowOutcome>> {
  const notStored = rows.filter(({ outcome, status }) => outcome === null && isWorkflowEnded(status));
  const results = await listResults(
    db,
    notStored.map(({ id }) => id),
  );
  return new Map(
    rows.map((row) => [
      row.id,
      notStored.includes(row)
        ? workflowOutcome({
            status: row.status,
            error: row.errorMessage,
            results: results.get(row.id) ?? [],
          })
        : {
            kind: row.outcome ?? 'running',
            filled: row.successfulUsersCount,
            failed: row.failedUsersCount ?? 0,
            skipped: row.skippedUsersCount ?? 0,
            topReason: row.topReason,
          },
    ]),
  );
}

export type WithOutcome<Row> = Omit<Row, 'outcome'> & { outcome: WorkflowOutcome };

/** Adds its outcome to each workflow. */
export async function withWorkflowOutcomes<Row extends StoredOutcome>(
  db: Queryable,
  rows: readonly Row[],
): Promise<WithOutcome<Row>[]> {
  const outcomes = await readOutcomes(db, rows);
  return rows.flatMap((row) => {
    const outcome = outcomes.get(row.id);
    return outcome === undefined ? [] : [{ ...row, outcome }];
  });
}

/** The outcome of a workflow that ends now. */
export async function computeOutcome(
  tx: Tx,
  { id, status, error }: { id: string; status: WorkflowRow['status']; error: string | null },
): Promise<WorkflowOutcome> {
  return workflowOutcome({ status, error, results: (await listResults(tx, [id])).get(id) ?? [] });
}

/** Computes and stores the outcomes of ended workflows again, after a change to their users' results. */
export async function storeOutcomes(tx: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx
    .select({ id: workflows.id, status: workflows.status, errorMessage: workflows.errorMessage })
    .from(workflows)
    .where(isOneOf(workflows.id, ids));
  const results = await listResults(tx, ids);
  for (const { id, status, errorMessage } of rows) {
    if (!isWorkflowEnded(status)) continue;
    const outcome = workflowOutcome({ status, error: errorMessage, results: results.get(id) ?? [] });
    await tx.update(workflows).set(outcomeColumns(outcome)).where(eq(workflows.id, id));
  }
}

const MISSING_AT_ONCE = 500;

/**
 * Stores the outcomes of workflows that ended in a version that stored none, newest first: lists find and sort only
 * stored ones. Returns how many there were at this time.
 */
export async function storeMissingOutcomes(db: Queryable): Promise<number> {
  return await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ id: string }>(sql`
      select id from workflows where outcome is null and status not in ('pending', 'processing')
      order by id desc limit ${MISSING_AT_ONCE} for no key update skip locked`);
    await storeOutcomes(
      tx,
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

const FIRST_STEP = userStepNumber(0, PER_USER_STEPS[0].type);
/** The numbers of a user's steps: found by the key of the steps, not by reading those of all users. */
const isStepOfPart = sql`workflow_steps.workflow_id = part.workflow_id
  and workflow_steps.step_number >= ${FIRST_STEP}::int + part.position * ${PER_USER_STEPS.length}::int
  and workflow_steps.step_number < ${FIRST_STEP}::int + (part.position + 1) * ${PER_USER_STEPS.length}::int`;

/** The first error among the user's steps, for a user who did not trade. The row of `workflow_users` is named `part`. */
export const failureOfPart = sql`(
  select error_message from workflow_steps
  where part.outcome in ('skipped', 'failed') and ${isStepOfPart} and error_message is not null
  order by workflow_steps.step_number limit 1
) as failure`;

/** What became of the users of each workflow and why, in the order of trading. */
async function listResults(
  db: Queryable,
  workflowIds: readonly string[],
): Promise<Map<string, UsersWithResult[]>> {
  if (workflowIds.length === 0) return new Map();
  const { rows } = await db.execute<{
    workflowId: string;
    result: UsersWithResult['result'];
    reason: string | null;
    users: number;
  }>(sql`
    select part.workflow_id as "workflowId", part.outcome as result,
      case when part.position is null then part.reason else failure.error_message end as reason,
      count(*)::int as users
    from workflow_users as part
    left join lateral ${failureOfPart} on true
    where ${isOneOf(sql`part.workflow_id`, workflowIds)}
    group by 1, 2, 3
    order by min(part.position), min(part.username)`);
  return Map.groupBy(rows, ({ workflowId }) => workflowId);
}

interface UserEvidence {
  [field: string]: unknown;
  userId: string;
  outcome: WorkflowUserRow['outcome'];
  failure: string | null;
  fillStatus: string | null;
  filledQuantity: string | null;
  averagePrice: string | null;
  net: string | null;
}

/** What became of each eligible user of the workflow; users who were not eligible are missing. */
export async function listUserOutcomes(
  db: Queryable,
  workflow: Pick<WorkflowRow, 'id' | 'signalId' | 'status' | 'token' | 'errorMessage'>,
): Promise<Map<string, UserOutcome>> {
  const { rows } = await db.execute<UserEvidence>(sql`
    select part.user_id as "userId", part.outcome, failure.error_message as failure,
      trades.fill_status as "fillStatus", trades.filled_quantity::text as "filledQuantity",
      trades.average_price::text as "averagePrice",
      (select sum(closed.realised_profit - coalesce(closed.fees, 0))::text from closed_positions as closed
        where closed.trade_id in (
          select own.trade_id from position_closes as own
          where own.workflow_id = part.workflow_id and own.user_id = part.user_id and own.state = 'closed')
          and exists (select from signals where signals.id = ${workflow.signalId}::uuid and signals.action = 'close')
      ) as net
    from workflow_users as part
    left join trades on trades.workflow_id = part.workflow_id and trades.user_id = part.user_id
    left join lateral ${failureOfPart} on true
    where part.workflow_id = ${workflow.id}::uuid and part.position is not null`);
  return new Map(rows.map((row) => [row.userId, userOutcome(workflow, row)]));
}

function userOutcome(
  { status, token, errorMessage }: Pick<WorkflowRow, 'status' | 'token' | 'errorMessage'>,
  { outcome, failure: reason, fillStatus, filledQuantity, averagePrice, net }: UserEvidence,
): UserOutcome {
  const none = { reason: null, token, filledQuantity: null, averagePrice: null, net: null };
  if (outcome === 'success') {
    const kind = fillStatus === 'partial' ? 'partial' : 'filled';
    return { ...none, kind, filledQuantity, averagePrice, net: fillStatus === null ? net : null };
  }
  if (outcome === 'skipped' || outcome === 'failed') {
    const kind = outcome === 'skipped' ? 'skipped' : 'not_filled';
    return { ...none, kind, reason: reason === null ? null : reasonOfSkip(reason) };
  }
  return isWorkflowEnded(status)
    ? { ...none, kind: 'not_filled', reason: errorMessage }
    : { ...none, kind: 'running' };
}
