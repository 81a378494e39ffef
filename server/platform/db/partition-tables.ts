import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { firstIdOf } from '../ids.ts';
import type { Logger } from '../log.ts';
import { monthName, monthOf } from './partition-months.ts';
import {
  BusyError,
  createPartitions,
  defaultPartitionOf,
  isPartitioned,
  PARTITIONED_TABLES,
  type PartitionedTable,
  withShortLocks,
} from './partitions.ts';

/** Programs that know this many migrations keep their hashes in price_log_hashes (migration 0011). */
const CLAIMS_HASHES_SINCE = 12;
const HASHES_A_STEP = 20_000;
const WHOLE = 'whole: it has the hash of every price log';
const DAY_MS = 24 * 3_600_000;

/** An index, a constraint or a trigger that the partitioned table does not have. */
const NOT_OF_PARTITIONED = [
  'price_logs_hash_value_unique',
  'price_logs_claim_waits',
  'price_logs_claim_hashes',
];

/**
 * Brings the tables into the form that the program wants, after the migrations and without holding up anybody else:
 * price_log_hashes whole, and price_logs and deliveries partitioned as soon as no program of the version before works
 * on them any more (its `on conflict (hash_value)` needs a key that a partitioned table cannot have); until then they
 * are as they were, and the next call tries again. Then the partitions of the months to come. What somebody else's long
 * work on a table keeps from being done, a backup's for instance, waits for the next call as well; nothing depends on
 * it. The caller sees to it that nobody else does the same. `alone`: no other program can be there. Answers whether all
 * is done.
 */
export async function arrangeTables(options: {
  client: pg.Client;
  log: Logger;
  now: Date;
  alone: boolean;
  /** How often a lock is tried for; fewer than usual in tests. */
  lockTries?: number;
}): Promise<boolean> {
  const { client, log } = options;
  await client.query('set client_min_messages = warning');
  await fillHashes(options);
  let isDone = true;
  for (const table of PARTITIONED_TABLES) {
    try {
      isDone = (await arrangeTable({ ...options, table })) && isDone;
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      log.warn({ table, err: error }, 'the partitions of the table have to wait');
      isDone = false;
    }
  }
  return isDone;
}

async function arrangeTable(options: {
  client: pg.Client;
  log: Logger;
  now: Date;
  alone: boolean;
  lockTries?: number;
  table: PartitionedTable;
}): Promise<boolean> {
  const { client, log, now, alone, table, lockTries } = options;
  if (!(await isPartitioned(client, table))) {
    if (!alone && (await isOlderProgramThere(client))) {
      log.info({ table }, 'the table is partitioned when no program of an older version runs any more');
      return false;
    }
    const startedAt = Date.now();
    await partitionTable(client, { table, now });
    log.info({ table, ms: Date.now() - startedAt }, 'the table has been partitioned by month');
  }
  const created = await createPartitions(client, { table, now, lockTries });
  if (created.length > 0) log.info({ table, created }, 'partitions of months to come have been made');
  return true;
}

async function isOlderProgramThere(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from engine_workers where schema_version is null or schema_version < $1 limit 1',
    [CLAIMS_HASHES_SINCE],
  );
  return rowCount !== 0;
}

/** The hashes of price logs from before there was price_log_hashes. */
async function fillHashes(options: { client: pg.Client; log: Logger; alone: boolean }): Promise<void> {
  const { client, log, alone } = options;
  const { rows } = await client.query<{ note: string | null }>(
    `select obj_description('price_log_hashes'::regclass) as note`,
  );
  if (rows[0]?.note === WHOLE) return;
  const startedAt = Date.now();
  const isWaitedFor = alone || !(await isOlderProgramThere(client));
  const count = isWaitedFor ? await fillAtOnce(client) : await fillInSteps(client);
  if (count > 0) log.info({ count, ms: Date.now() - startedAt }, 'the hashes of all price logs are known');
}

/** Nobody takes deliveries until it is done: an index that is built at the end is ready ten times as soon. */
async function fillAtOnce(client: pg.Client): Promise<number> {
  return await drizzle(client).transaction(async () => {
    await client.query(`set local maintenance_work_mem = '256MB'`);
    await client.query('lock table price_logs in share mode');
    // All of it comes from price logs.
    await client.query('truncate price_log_hashes');
    await client.query('alter table price_log_hashes drop constraint price_log_hashes_pkey');
    const { rowCount } = await client.query(
      `insert into price_log_hashes (hash_value, price_log_id)
       select decode(hash_value, 'hex'), id from price_logs order by id`,
    );
    await client.query('alter table price_log_hashes add primary key (hash_value)');
    await client.query(`comment on table price_log_hashes is '${WHOLE}'`);
    return rowCount ?? 0;
  });
}

/** Others take deliveries meanwhile, and claim the hashes of what arrives: in steps that they do not wait for long. */
async function fillInSteps(client: pg.Client): Promise<number> {
  let count = 0;
  for (let last: string | undefined = firstIdOf(new Date(0)); last !== undefined; ) {
    const step: pg.QueryResult<{ count: string; last: string }> = await client.query(
      `with batch as (select id, hash_value from price_logs where id > $1 order by id limit ${HASHES_A_STEP}),
        added as (
          insert into price_log_hashes (hash_value, price_log_id) select decode(hash_value, 'hex'), id from batch
          order by hash_value
          on conflict do nothing)
       select id as last, count(*) over () as count from batch order by id desc limit 1`,
      [last],
    );
    last = step.rows[0]?.last;
    count += Number(step.rows[0]?.count ?? 0);
  }
  await client.query(`comment on table price_log_hashes is '${WHOLE}'`);
  return count;
}

/**
 * The table becomes the first partition of one that takes its name. What takes long, making sure that every row
 * belongs there, happens beforehand under a lock that holds up nobody; the change itself is a matter of names.
 */
async function partitionTable(
  client: pg.Client,
  options: { table: PartitionedTable; now: Date },
): Promise<void> {
  const { table, now } = options;
  // Programs that go on meanwhile, with clocks that are a little ahead, must not come to the end of the month.
  const month = monthOf(new Date(now.getTime() + DAY_MS), 1);
  const bound = firstIdOf(month);
  const first = `${table}_before_${monthName(month)}`;
  const strays = defaultPartitionOf(table);
  await withShortLocks(client, async () => {
    await client.query(`lock table ${table} in access exclusive mode`);
    await client.query(`create table if not exists ${strays} (like ${table} including defaults)`);
    // From a clock that was months ahead.
    await client.query(
      `with gone as (delete from ${table} where id >= '${bound}' returning *) insert into ${strays} select * from gone`,
    );
    await client.query(`alter table ${table} drop constraint if exists ${table}_before`);
    await client.query(
      `alter table ${table} add constraint ${table}_before check (id < '${bound}') not valid`,
    );
  });
  await client.query(`alter table ${table} validate constraint ${table}_before`);
  await withShortLocks(client, async () => {
    await client.query(`lock table ${table} in access exclusive mode`);
    const { indexes, triggers, grants } = await describeTable(client, table);
    for (const { name } of triggers) await client.query(`drop trigger ${name} on ${table}`);
    for (const name of NOT_OF_PARTITIONED) {
      await client.query(`drop trigger if exists ${name} on ${table}`);
      await client.query(`alter table ${table} drop constraint if exists ${name}`);
    }
    await client.query(`alter table ${table} rename to ${first}`);
    for (const { name } of indexes) {
      await client.query(`alter index ${name} rename to ${first}${name.replace(table, '')}`);
    }
    await client.query(`create table ${table} (like ${first} including defaults) partition by range (id)`);
    await client.query(`alter table ${table} add constraint ${table}_pkey primary key (id)`);
    for (const { name, definition } of indexes) {
      if (name !== `${table}_pkey`) await client.query(definition);
    }
    // The indexes that are there become parts of the new ones, and the check spares the rows being read.
    await client.query(
      `alter table ${table} attach partition ${first} for values from (minvalue) to ('${bound}')`,
    );
    await client.query(`alter table ${first} drop constraint ${table}_before`);
    await client.query(`alter table ${table} attach partition ${strays} default`);
    for (const { definition } of triggers) await client.query(definition);
    for (const { definition } of grants) await client.query(definition);
  });
}

interface Described {
  name: string;
  definition: string;
}

/** What the partitioned table takes over, as statements that make it under the table's name. */
async function describeTable(
  client: pg.Client,
  table: PartitionedTable,
): Promise<{ indexes: Described[]; triggers: Described[]; grants: Described[] }> {
  const read = async (statement: string) => {
    const { rows } = await client.query<Described>(statement, [table]);
    return rows.filter(({ name }) => !NOT_OF_PARTITIONED.includes(name));
  };
  return {
    indexes: await read(
      `select relname as name, pg_get_indexdef(indexrelid) as definition
       from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1) and indisvalid order by 1`,
    ),
    triggers: await read(
      `select tgname as name, pg_get_triggerdef(oid) as definition
       from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal order by 1`,
    ),
    grants: await read(
      `select '' as name, format('grant %s on %s to %s', privilege_type, $1::text, case grantee when 0 then 'public'
         else quote_ident(pg_get_userbyid(grantee)) end) as definition
       from pg_class, aclexplode(relacl) where pg_class.oid = to_regclass($1) and grantee <> relowner`,
    ),
  };
}
