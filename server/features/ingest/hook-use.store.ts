import { inArray, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/database/database.ts';
import { hooks } from '#server/platform/database/schema.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { type DeliveryLimit, WINDOW_MS } from './delivery-limit.ts';

const LAST_USED_EVERY_MS = 30_000;

/** Which webhooks' last use is worth writing down again; asked, it takes it for written. */
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

/** Seldom and without waiting: a busy webhook's row must not become what all deliveries queue at. */
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

/** The limit is that of all instances together: what the others have taken stands in their log. */
export async function learnTaken(
  db: Queryable,
  options: { hookIds: string[]; limit: DeliveryLimit; now: Date },
): Promise<void> {
  const { limit, now } = options;
  const hookIds = limit.outdated(options.hookIds);
  if (hookIds.length === 0) return;
  const since = firstIdOf(new Date(now.getTime() - WINDOW_MS));
  const { rows } = await db.execute<{ hook_id: string; taken: string }>(sql`
    select hook_id, count(*) as taken
    from unnest(${sql.param(hookIds)}::uuid[]) as hook_id
    cross join lateral (
      select from deliveries where deliveries.hook_id = hook_id.hook_id and id >= ${since} and result <> 'limited'
      limit ${limit.perMinute + 1}
    ) as log
    group by hook_id`);
  const taken = new Map(rows.map((row) => [row.hook_id, Number(row.taken)]));
  for (const hookId of hookIds) limit.learn(hookId, taken.get(hookId) ?? 0);
}
