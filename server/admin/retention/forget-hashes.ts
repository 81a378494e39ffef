import type pg from 'pg';
import { listPartitions } from '#server/platform/db/partitions.ts';
import { firstIdOf, momentOf } from '#server/platform/ids.ts';

const HOUR_MS = 3_600_000;
const MANY = 20_000;

/**
 * Forgets the hashes of price logs that went with their partitions: the same candle would be stored again. In steps,
 * since a delivery of such a candle waits for the one under way. What was left over when the program ended in the midst
 * of it is found by the next call.
 */
export async function forgetHashes(client: pg.Client): Promise<number> {
  const [oldest] = await listPartitions(client, 'price_logs');
  if (oldest?.from == null) return 0;
  const end = oldest.from.getTime();
  const { rows } = await client.query<{ id: string }>(
    'select price_log_id as id from price_log_hashes where price_log_id < $1 order by 1 limit 1',
    [firstIdOf(oldest.from)],
  );
  let count = 0;
  let stepMs = HOUR_MS;
  for (let from = rows[0] === undefined ? end : momentOf(rows[0].id).getTime(); from < end; ) {
    const to = Math.min(from + stepMs, end);
    const { rowCount } = await client.query(
      'delete from price_log_hashes where price_log_id >= $1 and price_log_id < $2',
      [firstIdOf(new Date(from)), firstIdOf(new Date(to))],
    );
    count += rowCount ?? 0;
    stepMs = (rowCount ?? 0) < MANY ? stepMs * 2 : Math.max(stepMs / 4, HOUR_MS);
    from = to;
  }
  return count;
}
