import { sql } from 'drizzle-orm';
import type { ExecutionReport } from '#contract/execution.ts';
import { type ExecutionFacts, reportExecution } from '#domain/results/execution.ts';
import { findShownWorkflow } from '#server/engine/records/workflows.store.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Db } from '#server/platform/db/database.ts';

/** How the shown workflow of a signal was executed, from the recorded steps, attempts and calls. */
export async function readExecution(db: Db, signal: SignalRow): Promise<ExecutionReport> {
  const workflow = await findShownWorkflow(db, signal.id);
  const facts = workflow === null ? [] : await listExecutionFacts(db, workflow.id, signal);
  const { signal: figures, users } = reportExecution(signal.receivedAt.getTime(), facts);
  const { id, token, action, price, receivedAt } = signal;
  return {
    signal: {
      id,
      token,
      action,
      price,
      receivedAt: receivedAt.toISOString(),
      workflowId: workflow?.id ?? null,
      ...figures,
    },
    users,
  };
}

interface FactRow extends Record<string, unknown> {
  user_id: string;
  username: string;
  position: number | null;
  stored_ms: number | null;
  decided_ms: number | null;
  sent_ms: number | null;
  accepted_ms: number | null;
  filled_ms: number | null;
  protected_ms: number | null;
  answer_ms: number | null;
  fill_price: string | null;
  entry_price: string | null;
  requests: number;
}

/** One row per eligible user: who was not eligible has no execution. */
async function listExecutionFacts(
  db: Db,
  workflowId: string,
  signal: Pick<SignalRow, 'action' | 'price'>,
): Promise<ExecutionFacts[]> {
  const ms = (at: string) => sql.raw(`(extract(epoch from ${at}) * 1000)::float8`);
  const { rows } = await db.execute<FactRow>(sql`
    select considered.user_id, considered.username, considered.position, ${ms('workflows.created_at')} as stored_ms,
      ${ms('coalesce(trades.created_at, decided.completed_at)')} as decided_ms, ${ms('attempts.sent_at')} as sent_ms,
      ${ms("accepted.at + accepted.answer_ms * interval '1 millisecond'")} as accepted_ms,
      ${ms('attempts.filled_at')} as filled_ms,
      ${ms("case when trades.protection_status in ('verified', 'repaired') then trades.completed_at end")} as protected_ms,
      accepted.answer_ms::float8 as answer_ms, trades.average_price::text as fill_price,
      trades.entry_price::text as entry_price, coalesce(calls.requests, 0)::int as requests
    from workflow_users as considered
    join workflows on workflows.id = considered.workflow_id
    left join trades on trades.workflow_id = considered.workflow_id and trades.user_id = considered.user_id
    left join lateral (
      select max(completed_at) as completed_at from workflow_steps
      where workflow_id = considered.workflow_id and user_id = considered.user_id
        and step_type in ('user_settings', 'position_generation')
    ) as decided on true
    left join lateral (
      select min(submitted_at) as sent_at, min(finished_at) filter (where filled_quantity > 0) as filled_at
      from order_attempts where trade_id = trades.id
    ) as attempts on true
    left join lateral (
      select at, (data ->> 'durationMs')::numeric as answer_ms from trade_events
      where trade_id = trades.id and kind = 'call' and text = 'place-order' and (data ->> 'success')::boolean
      order by id limit 1
    ) as accepted on true
    left join lateral (
      select count(*) as requests from trade_events where trade_id = trades.id and kind = 'call'
    ) as calls on true
    where considered.workflow_id = ${workflowId} and considered.status = 'eligible'`);
  return rows.map((row) => ({
    userId: row.user_id,
    username: row.username,
    position: row.position,
    // A signal that closes has no entry whose fill could be compared.
    side: signal.action === 'sell' ? 'sell' : 'buy',
    storedAt: row.stored_ms,
    decidedAt: row.decided_ms,
    sentAt: row.sent_ms,
    acceptedAt: row.accepted_ms,
    filledAt: row.filled_ms,
    protectedAt: row.protected_ms,
    answerMs: row.answer_ms,
    fillPrice: row.fill_price,
    signalPrice: signal.price,
    entryPrice: row.entry_price,
    requests: row.requests,
  }));
}
