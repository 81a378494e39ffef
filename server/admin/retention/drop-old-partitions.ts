import type pg from 'pg';
import type { Tx } from '#server/platform/db/database.ts';
import { forgetRows } from '#server/platform/db/list-totals/add-up-list.ts';
import {
  listPartitions,
  PARTITIONED_TABLES,
  type PartitionedTable,
  withShortLocks,
} from '#server/platform/db/partitions.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { firstIdOf, momentOf } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/log.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MANY_HASHES = 20_000;

/** How many days each table keeps its rows; 0 keeps them for ever. */
type KeepDays = Record<PartitionedTable, number>;

/** A partition to drop; it holds the rows whose ids are in [from, to). */
export interface DroppedPartition {
  table: PartitionedTable;
  partition: string;
  /** Null: no lower bound. */
  from: Date | null;
  to: Date;
}

/** Runs in the transaction that drops the partition. */
export type BeforeDrop = (tx: Tx, dropped: DroppedPartition) => Promise<void>;

/** List totals count only rows that are kept. */
export const forgetTotals: BeforeDrop = async (tx, { table, from, to }) => {
  if (table !== 'price_logs') return;
  await forgetRows(tx, 'price-logs', { from: firstIdOf(from ?? new Date(0)), to: firstIdOf(to) });
};

/**
 * Drops partitions in which every row has passed the retention period, oldest first. A partition with one younger row
 * stays whole, so rows live up to a month longer than the setting, never shorter.
 */
export async function dropOldPartitions(options: {
  client: pg.Client;
  now: Date;
  keepDays: KeepDays;
  beforeDrop: BeforeDrop;
  log: Logger;
}): Promise<DroppedPartition[]> {
  const { client, now, keepDays, beforeDrop, log } = options;
  const dropped: DroppedPartition[] = [];
  const failures: unknown[] = [];
  const dropOf = async (table: PartitionedTable) => {
    if (keepDays[table] === 0) return;
    const oldest = new Date(now.getTime() - keepDays[table] * DAY_MS);
    for (const { name: partition, from, to } of await listPartitions(client, table)) {
      if (to === null || to > oldest) continue;
      const one = { table, partition, from, to };
      const size = await dropPartition(client, one, beforeDrop);
      log.info(
        { ...one, ...size, keptDays: keepDays[table] },
        'a partition has been dropped: its rows were too old',
      );
      dropped.push(one);
    }
  };
  await eachAlone(PARTITIONED_TABLES, dropOf, (err, table) => {
    failures.push(err);
    log.warn({ err, table }, 'a partition could not be dropped');
  });
  if (failures.length > 0) throw failures[0];
  return dropped;
}

async function dropPartition(
  client: pg.Client,
  dropped: DroppedPartition,
  beforeDrop: BeforeDrop,
): Promise<{ rows: number; bytes: number }> {
  const { table, partition } = dropped;
  return await withShortLocks(client, async (tx) => {
    // Blocks writes, so that the count matches the dropped rows. Only a clock that is months behind would write here.
    await client.query(`lock table ${partition} in share mode`);
    const { rows } = await client.query<{ rows: string; bytes: string }>(
      `select (select count(*) from ${partition}) as rows, pg_total_relation_size('${partition}') as bytes`,
    );
    await beforeDrop(tx, dropped);
    // From here on, all readers wait until the partition is gone from the catalogue.
    await client.query(`lock table only ${table} in access exclusive mode`);
    await client.query(`drop table ${partition}`);
    return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes) };
  });
}

/**
 * Deletes the hashes of dropped price logs, so that the same candle can be stored again. Works in steps because a
 * delivery of such a candle waits for the current step. The next call continues after an interruption.
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
    stepMs = (rowCount ?? 0) < MANY_HASHES ? stepMs * 2 : Math.max(stepMs / 4, HOUR_MS);
    from = to;
  }
  return count;
}
