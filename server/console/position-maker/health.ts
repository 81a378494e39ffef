import { sql } from 'drizzle-orm';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import type { Db } from '#server/platform/db/database.ts';

const HOUR_MS = 3_600_000;

/** How many workflows wait to begin, and how long the orders of the last hour took and how many failed. */
export async function readHealth(
  db: Db,
  { now }: { now: Date },
): Promise<Omit<PositionMakerStatus['health'], 'instances'>> {
  const since = new Date(now.getTime() - HOUR_MS).toISOString();
  const { rows } = await db.execute<{ queue: number; ended: number; failed: number; p95: number | null }>(sql`
    select (select count(*) from workflows where status = 'pending')::int as queue,
      count(*)::int as ended, (count(*) filter (where success is not true))::int as failed,
      percentile_cont(0.95) within group (
        order by extract(epoch from completed_at - created_at)::float8 * 1000) as p95
    from trades where created_at >= ${since}::timestamptz and state = 'done'`);
  const { queue = 0, ended = 0, failed = 0, p95 = null } = rows[0] ?? {};
  return {
    queue,
    endedOrders: ended,
    errorRate: ended === 0 ? null : failed / ended,
    latencyP95Ms: p95 === null ? null : Math.round(p95),
  };
}
