import { inArray, sql } from 'drizzle-orm';
import type { Clock } from '#server/platform/clock.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { hooks } from '#server/platform/db/schema.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import type { DeliveryLimit } from './delivery-limit.ts';

const LAST_USED_EVERY_MS = 30_000;

/** Returns the webhooks whose last use is due to be written, and marks it as written. */
export type LastUse = (hookIds: readonly string[], now: Date) => string[];

export function createLastUse(): LastUse {
  const writtenAt = new Map<string, number>();
  return (hookIds, now) => {
    const due = hookIds.filter(
      (id) => Math.abs(now.getTime() - (writtenAt.get(id) ?? Number.NEGATIVE_INFINITY)) > LAST_USED_EVERY_MS,
    );
    for (const id of due) writtenAt.set(id, now.getTime());
    return due;
  };
}

/** Writes rarely and skips locked rows: deliveries must not queue for the row of a busy webhook. */
export async function markUsed(
  db: Queryable,
  options: { hookIds: string[]; lastUse: LastUse; now: Date },
): Promise<void> {
  const { now } = options;
  const hookIds = options.lastUse(options.hookIds, now);
  if (hookIds.length === 0) return;
  const stale = new Date(now.getTime() - LAST_USED_EVERY_MS);
  await db.execute(sql`
    update hooks set last_used_at = ${now}
    where id in (
      select id from hooks
      where ${inArray(hooks.id, hookIds)} and (last_used_at is null or last_used_at < ${stale})
      for update skip locked
    )`);
}

const MINUTE_MS = 60_000;
/** Tolerates instances whose clocks are slightly ahead. */
const CLOCKS_APART_MS = 1_000;

/**
 * Learns from the log what all instances have taken, because they share the limit. A line with a future time was
 * written before the clock went back and does not count.
 */
export async function learnTaken(
  db: Queryable,
  options: { hookIds: string[]; limit: DeliveryLimit; clock: Clock },
): Promise<void> {
  const { limit, clock } = options;
  const { hookIds, reachMs, learn } = limit.outdated(options.hookIds);
  if (hookIds.length === 0) return;
  const nowMs = clock.now().getTime();
  const since = new Date(nowMs - reachMs);
  // A row that counts further refusals of a minute is from its begin; it counts in proportion.
  const countedSince = new Date(since.getTime() - MINUTE_MS);
  const until = new Date(nowMs + CLOCKS_APART_MS);
  // Own deliveries never exceed the limit, so twice the limit is enough to see that it is reached.
  const { rows } = await db.execute<{ hook_id: string; taken: string }>(sql`
    select hook_id, sum(log.taken)::bigint as taken
    from unnest(${sql.param(hookIds)}::uuid[]) as hook_id
    cross join lateral (
      select case when more_refused is null then 1 else ceil(more_refused
          * least(60, greatest(0, extract(epoch from received_at + interval '1 minute' - ${since}::timestamptz))) / 60)
        end as taken
      from deliveries
      where deliveries.hook_id = hook_id.hook_id and id >= ${firstIdOf(countedSince)} and id < ${firstIdOf(until)}
        and result <> 'limited' and (received_at >= ${since} or more_refused is not null)
      limit ${2 * limit.perMinute}
    ) as log
    group by hook_id`);
  const taken = new Map(rows.map((row) => [row.hook_id, Number(row.taken)]));
  for (const hookId of hookIds) learn(hookId, taken.get(hookId) ?? 0);
}
