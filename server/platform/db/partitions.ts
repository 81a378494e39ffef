import type pg from 'pg';
import { type Clock, systemClock } from '../clock.ts';
import { eachAlone } from '../each-alone.ts';
import { firstIdOf, momentOf } from '../ids.ts';
import type { Logger } from '../log.ts';
import type { Connection, Queryable, Tx } from './database.ts';
import { databaseErrorCode } from './database-errors.ts';
import { drizzleOn } from './drizzle-over.ts';

/** Tables that grow with every delivery, partitioned by month (UTC) of their time-ordered ids. */
export const PARTITIONED_TABLES = ['price_logs', 'deliveries'] as const;
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number];

export const MONTHS_AHEAD = 3;

// Everything that needs the table queues behind a lock request: give up long before a webhook would notice.
const LOCK_WAIT_MS = 250;
const LOCK_TRIES = 8;
const LOCK_PAUSE_MS = 250;

/** Holds the rows whose ids are in [from, to); null means an open end. */
export interface Partition {
  name: string;
  from: Date | null;
  to: Date | null;
}

/** In order of time, without the default partition. */
export async function listPartitions(connection: Connection, table: PartitionedTable): Promise<Partition[]> {
  const { rows } = await connection.query<{ name: string; bound: string }>({
    text: `select relname as name, pg_get_expr(relpartbound, pg_class.oid) as bound
      from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = to_regclass($1)`,
    values: [table],
  });
  const partitions = rows.flatMap(({ name, bound }) => {
    const [, from, to] = /FROM \((.*)\) TO \((.*)\)/.exec(bound) ?? [];
    return from === undefined || to === undefined ? [] : [{ name, from: readBound(from), to: readBound(to) }];
  });
  return partitions.sort((left, right) => (left.from?.getTime() ?? 0) - (right.from?.getTime() ?? 0));
}

/** The moment from which on the table has all of its rows; null: always. */
export const readKeptSince = async (db: Queryable, table: PartitionedTable): Promise<Date | null> =>
  (await listPartitions(db.$client, table))[0]?.from ?? null;

/** An id in quotes, or MINVALUE. */
const readBound = (text: string): Date | null => (text.startsWith("'") ? momentOf(text.slice(1, -1)) : null);

export const defaultPartitionOf = (table: PartitionedTable): string => `${table}_default`;

/**
 * Creates the partitions of the coming months; returns whether all exist. A table that is locked for long, by a backup
 * for instance, waits for the next call; until then the default partition takes its rows.
 */
export async function ensurePartitions(options: {
  client: pg.Client;
  log: Logger;
  now: Date;
  /** Fewer tries than usual, in tests. */
  lockTries?: number;
}): Promise<boolean> {
  const { client, log, now, lockTries } = options;
  const failures: unknown[] = [];
  const create = async (table: PartitionedTable) => {
    const created = await createPartitions(client, { table, now, lockTries });
    if (created.length > 0) log.info({ table, created }, 'created partitions for the coming months');
  };
  await eachAlone(PARTITIONED_TABLES, create, (error, table) => {
    failures.push(error);
    log.warn({ table, err: error }, 'the partitions of the table have to wait');
  });
  const failure = failures.find((error) => !(error instanceof BusyError));
  if (failure !== undefined) throw failure;
  return failures.length === 0;
}

/**
 * Creates the missing partitions of this month and the next three, and of past months with rows in the default
 * partition; those rows move to them. Rows that claim to be from a later month stay until that month is near.
 */
export async function createPartitions(
  client: pg.Client,
  options: { table: PartitionedTable; now: Date; lockTries?: number | undefined },
): Promise<string[]> {
  const { table, now, lockTries } = options;
  const partitions = await listPartitions(client, table);
  const ahead = Array.from({ length: MONTHS_AHEAD + 1 }, (_, index) => monthOf(now, index));
  const stray = await listStrayMonths(client, { table, before: monthOf(now, MONTHS_AHEAD + 1) });
  const months = new Map([...stray, ...ahead].map((month) => [month.getTime(), month]));
  const created: string[] = [];
  for (const month of months.values()) {
    if (partitions.some((one) => holds(one, month))) continue;
    created.push(await createPartition(client, { table, month, lockTries }));
  }
  return created;
}

const holds = ({ from, to }: Partition, month: Date): boolean =>
  (from === null || from <= month) && (to === null || month < to);

async function listStrayMonths(
  client: pg.Client,
  options: { table: PartitionedTable; before: Date },
): Promise<Date[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from ${defaultPartitionOf(options.table)} where id < $1 order by id limit 1000`,
    [firstIdOf(options.before)],
  );
  return rows.map(({ id }) => monthOf(momentOf(id)));
}

async function createPartition(
  client: pg.Client,
  options: { table: PartitionedTable; month: Date; lockTries: number | undefined },
): Promise<string> {
  const { table, month, lockTries } = options;
  const name = `${table}_${monthName(month)}`;
  const [from, to] = [firstIdOf(month), firstIdOf(monthOf(month, 1))];
  const work = async () => {
    // Readers and writers of the table continue; dropping a partition waits.
    await client.query(`lock table only ${table} in share update exclusive mode`);
    // Keeps further rows of the month out of the default partition, which is nearly empty.
    await client.query(`lock table ${defaultPartitionOf(table)} in access exclusive mode`);
    await client.query(`create table ${name} (like ${table} including defaults)`);
    await client.query(
      `with gone as (delete from ${defaultPartitionOf(table)} where id >= '${from}' and id < '${to}' returning *)
       insert into ${name} select * from gone`,
    );
    await client.query(
      `alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
    );
  };
  await withShortLocks(client, work, { tries: lockTries });
  return name;
}

/** Runs a transaction that gets its locks soon or retries, so that nothing waits long behind it; else a BusyError. */
export async function withShortLocks<Result>(
  client: pg.Client,
  work: (tx: Tx) => Promise<Result>,
  { tries = LOCK_TRIES, clock = systemClock }: { tries?: number | undefined; clock?: Clock } = {},
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await drizzleOn(client).transaction(async (tx) => {
        await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
        return await work(tx);
      });
    } catch (error) {
      if (!['55P03', '40P01'].includes(databaseErrorCode(error) ?? '')) throw error;
      if (tried >= tries) throw new BusyError('the table was locked for too long', { cause: error });
      await clock.sleep(LOCK_PAUSE_MS);
    }
  }
}

export class BusyError extends Error {}

/** The first instant of a month (UTC). */
export function monthOf(moment: Date, plusMonths = 0): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + plusMonths, 1));
}

/** As in the names of partitions: 2026_11. */
export const monthName = (month: Date): string =>
  `${month.getUTCFullYear()}_${String(month.getUTCMonth() + 1).padStart(2, '0')}`;
