import type pg from 'pg';
import type { Tx } from '#server/platform/db/database.ts';
import {
  listPartitions,
  PARTITIONED_TABLES,
  type PartitionedTable,
  withShortLocks,
} from '#server/platform/db/partitions.ts';
import type { Logger } from '#server/platform/log.ts';

const DAY_MS = 24 * 3_600_000;

/** Days for which each table's rows are kept; 0 for ever. */
export type KeepDays = Record<PartitionedTable, number>;

/** A partition that is about to go, with the rows whose ids are in [from, to). */
export interface DroppedPartition {
  table: PartitionedTable;
  /** To read it by itself, while it is still there. */
  partition: string;
  /** Null: from the first one on. */
  from: Date | null;
  to: Date;
}

/** What keeps figures of the rows takes them out here, in the transaction in which they go. */
export type BeforeDrop = (tx: Tx, dropped: DroppedPartition) => Promise<void>;

/**
 * Drops the partitions in which every row is older than its table's rows are kept, oldest first. A partition with one
 * younger row stays whole: rows live up to a month longer than the setting says, never shorter.
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
  for (const table of PARTITIONED_TABLES) {
    if (keepDays[table] === 0) continue;
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
  }
  return dropped;
}

async function dropPartition(
  client: pg.Client,
  dropped: DroppedPartition,
  beforeDrop: BeforeDrop,
): Promise<{ rows: number; bytes: number }> {
  const { table, partition } = dropped;
  return await withShortLocks(client, async (tx) => {
    // What is counted now is what goes: only a clock that is months behind could write here.
    await client.query(`lock table ${partition} in share mode`);
    const { rows } = await client.query<{ rows: string; bytes: string }>(
      `select (select count(*) from ${partition}) as rows, pg_total_relation_size('${partition}') as bytes`,
    );
    await beforeDrop(tx, dropped);
    // From here on everybody waits, for as long as it takes to take a name out of the catalogue.
    await client.query(`lock table only ${table} in access exclusive mode`);
    await client.query(`drop table ${partition}`);
    return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes) };
  });
}
