import { sql } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { STALE_AFTER_SECONDS } from './workers.store.ts';

/** How long a caller waits; a restart whose caller died counts as over then. */
const RESTART_LIMIT_SECONDS = 45;
const POLL_MS = 100;

/**
 * Restarts the engine of every instance on the database and waits until each runs again; joins a restart in progress.
 * Throws with the reason when an instance failed or is silent.
 */
export async function restartSystem(
  deps: Pick<Deps, 'audit' | 'clock' | 'db' | 'log'>,
  {
    requestedBy,
    actor,
    limitMs = RESTART_LIMIT_SECONDS * 1_000,
  }: { requestedBy: string; actor: AuditActor; limitMs?: number },
): Promise<{ success: true; message: string }> {
  const { clock, db, log } = deps;
  const id = await db.transaction(async (tx) => {
    const subject = { kind: 'installation', id: null, name: null } as const;
    await deps.audit.record(tx, { actor, action: 'position maker restarted', subject });
    return announceRestart(tx, requestedBy);
  });
  log.info({ restartId: id, by: requestedBy }, 'restart of the position maker requested');
  const deadline = clock.monotonicMs() + limitMs;
  for (;;) {
    const { awaited, answers } = await readRestartProgress(db, id);
    if (awaited.length > 0 && clock.monotonicMs() < deadline) {
      await clock.sleep(POLL_MS);
      continue;
    }
    await finishRestart(db, id);
    const silent = awaited.map((one) => `${one} has not answered in time`);
    const failed = answers.flatMap(({ instanceId, error }) =>
      error === null ? [] : [`${instanceId}: ${error}`],
    );
    const problems = [...failed, ...silent];
    if (problems.length > 0) {
      throw new AppError('unavailable', {
        message: `The restart did not succeed everywhere. ${problems.join('; ')}`,
      });
    }
    if (answers.length === 0) {
      throw new AppError('unavailable', { message: 'No position maker is running that could be restarted' });
    }
    const instances = answers.length === 1 ? 'one instance' : `${answers.length} instances`;
    return { success: true, message: `The position maker was restarted on ${instances}` };
  }
}

/** Announces a restart to every instance, or joins one in progress. */
async function announceRestart(db: Queryable, requestedBy: string): Promise<number> {
  await db.execute(sql`
    update engine_restarts set finished_at = database_time()
    where finished_at is null and requested_at < database_time() - make_interval(secs => ${RESTART_LIMIT_SECONDS + 15})`);
  const { rows } = await db.execute<{ id: string }>(sql`
    with announced as (
      insert into engine_restarts (requested_by, requested_at) values (${requestedBy}, database_time())
      on conflict do nothing
      returning id)
    select id from announced union all select id from engine_restarts where finished_at is null
    limit 1`);
  const [row] = rows;
  // The restart in progress ended between the two reads.
  return row === undefined ? await announceRestart(db, requestedBy) : Number(row.id);
}

async function finishRestart(db: Db, id: number): Promise<void> {
  await db.execute(
    sql`update engine_restarts set finished_at = database_time() where id = ${id} and finished_at is null`,
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
    values (${restartId}, ${instanceId}, ${error}, database_time())
    on conflict (restart_id, instance_id) do update set error = excluded.error, answered_at = excluded.answered_at`);
}

interface RestartProgress {
  /** Living instances that existed at the announcement and have not answered. */
  awaited: string[];
  answers: { instanceId: string; error: string | null }[];
}

async function readRestartProgress(db: Db, id: number): Promise<RestartProgress> {
  const answered = await db.execute<{ instance_id: string; error: string | null }>(
    sql`select instance_id, error from engine_restart_answers where restart_id = ${id} order by instance_id`,
  );
  const answers = answered.rows.map((row) => ({ instanceId: row.instance_id, error: row.error }));
  const living = await db.execute<{ instance_id: string }>(sql`
    select distinct instance_id from engine_workers
    where heartbeat_at > database_time() - make_interval(secs => ${STALE_AFTER_SECONDS})
      and started_at <= (select requested_at from engine_restarts where id = ${id})
    order by instance_id`);
  const known = new Set(answers.map(({ instanceId }) => instanceId));
  return { answers, awaited: living.rows.map((row) => row.instance_id).filter((one) => !known.has(one)) };
}
