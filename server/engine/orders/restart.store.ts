import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';
import { STALE_AFTER_SECONDS } from './workers.store.ts';

/** How long a caller waits; a restart whose caller died counts as over then. */
export const RESTART_LIMIT_SECONDS = 45;

/** Announces a restart to every instance, or joins one in progress. */
export async function announceRestart(db: Db, requestedBy: string): Promise<number> {
  await db.execute(sql`
    update engine_restarts set finished_at = now()
    where finished_at is null and requested_at < now() - make_interval(secs => ${RESTART_LIMIT_SECONDS + 15})`);
  const { rows } = await db.execute<{ id: string }>(sql`
    with announced as (
      insert into engine_restarts (requested_by, requested_at) values (${requestedBy}, now())
      on conflict do nothing
      returning id)
    select id from announced union all select id from engine_restarts where finished_at is null
    limit 1`);
  const [row] = rows;
  // The restart in progress ended between the two reads.
  return row === undefined ? await announceRestart(db, requestedBy) : Number(row.id);
}

export async function finishRestart(db: Db, id: number): Promise<void> {
  await db.execute(
    sql`update engine_restarts set finished_at = now() where id = ${id} and finished_at is null`,
  );
}

/** 0 before the first restart. */
export async function findNewestRestart(db: Db): Promise<number> {
  const { rows } = await db.execute<{ id: string | null }>(sql`select max(id) as id from engine_restarts`);
  return Number(rows[0]?.id ?? 0);
}

export async function answerRestart(
  db: Db,
  answer: { restartId: number; instanceId: string; error: string | null },
): Promise<void> {
  const { restartId, instanceId, error } = answer;
  await db.execute(sql`
    insert into engine_restart_answers (restart_id, instance_id, error, answered_at)
    values (${restartId}, ${instanceId}, ${error}, now())
    on conflict (restart_id, instance_id) do update set error = excluded.error, answered_at = excluded.answered_at`);
}

interface RestartProgress {
  /** Living instances that existed at the announcement and have not answered. */
  awaited: string[];
  answers: { instanceId: string; error: string | null }[];
}

export async function readRestartProgress(db: Db, id: number): Promise<RestartProgress> {
  const answered = await db.execute<{ instance_id: string; error: string | null }>(
    sql`select instance_id, error from engine_restart_answers where restart_id = ${id} order by instance_id`,
  );
  const answers = answered.rows.map((row) => ({ instanceId: row.instance_id, error: row.error }));
  const living = await db.execute<{ instance_id: string }>(sql`
    select distinct instance_id from engine_workers
    where heartbeat_at > now() - make_interval(secs => ${STALE_AFTER_SECONDS})
      and started_at <= (select requested_at from engine_restarts where id = ${id})
    order by instance_id`);
  const known = new Set(answers.map(({ instanceId }) => instanceId));
  return { answers, awaited: living.rows.map((row) => row.instance_id).filter((one) => !known.has(one)) };
}
