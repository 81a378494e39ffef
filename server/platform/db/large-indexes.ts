import pg from 'pg';
import type { Logger } from '../log.ts';
import type { DatabaseConnection } from './pool.ts';

interface LargeIndex {
  name: string;
  table: string;
  columns: string;
  /** Which rows are in it, where not all are. */
  where?: string;
}

/**
 * The indexes that lists are read from: a filter's value first, then the order of the list, then what else it may be
 * filtered by, so that no combination has to look at rows that it does not show. Made by the migrations where the
 * table was small (0013, 0015 to 0017, 0020), and here where it was not; the schema describes the same.
 */
export const LARGE_INDEXES: readonly LargeIndex[] = [
  ...list('signals', 'received_at', ['token', 'timeframe', 'processor'], ['action']),
  ...list('price_logs', 'received_at', ['token', 'timeframe', 'processor'], []),
  ...list('workflows', 'created_at', ['processor', 'status'], []),
  // The first user whose position was calculated stands for a signal in its list.
  { name: 'workflow_users_order', table: 'workflow_users', columns: 'workflow_id, position' },
  { name: 'closed_positions_list_token', table: 'closed_positions', columns: 'token, closed_at, id' },
  // A chart's candles, and the one that belongs to a signal.
  { name: 'price_logs_series', table: 'price_logs', columns: 'token, timeframe, candle_time_server' },
  // Whose turn it is in a token.
  {
    name: 'workflows_waiting',
    table: 'workflows',
    columns: 'token, is_own, id',
    where: `status in ('pending', 'processing')`,
  },
];

/** What another one takes over. */
const REPLACED: Record<string, string> = {
  signals_list: 'signals_received',
  price_logs_list: 'price_logs_received',
  workflows_list: 'workflows_created',
  price_logs_series: 'price_logs_match',
  workflows_waiting: 'workflows_unfinished',
};

function list(table: string, at: string, filters: string[], others: string[]): LargeIndex[] {
  const index = (first: string | null): LargeIndex => ({
    name: first === null ? `${table}_list` : `${table}_list_${first}`,
    table,
    columns: [
      ...(first === null ? [] : [first]),
      at,
      'id',
      ...filters.filter((one) => one !== first),
      ...others,
    ].join(', '),
  });
  return [null, ...filters].map(index);
}

/** Whoever builds holds it: one program at a time. */
const BUILD_LOCK = 5_128_313;
const AGAIN_MS = 60_000;
const LOCK_TIMEOUT = '250ms';

/**
 * Builds what is missing while everybody goes on reading and writing, which takes longer than a lock would: some
 * seconds for a million rows. Answers whether all are there; another program may be at it.
 */
export async function buildLargeIndexes(options: { client: pg.ClientBase; log: Logger }): Promise<boolean> {
  const { client, log } = options;
  if (await isAllThere(client)) return true;
  const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [BUILD_LOCK]);
  if (!rows[0].mine) return false;
  try {
    for (const index of LARGE_INDEXES) {
      if ((await findIndex(client, index.name))?.valid === true) continue;
      const startedAt = Date.now();
      await build(client, index);
      log.info({ index: index.name, ms: Date.now() - startedAt }, 'an index has been built');
    }
    for (const [name, former] of Object.entries(REPLACED)) {
      const [known, old] = [await findIndex(client, name), await findIndex(client, former)];
      if (known?.valid === true && old !== null) await drop(client, former, old.partitioned);
    }
    return true;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [BUILD_LOCK]).catch(() => {});
  }
}

async function isAllThere(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ built: number; former: number }>(
    `select count(*) filter (where relname = any($1) and indisvalid)::int as built,
       count(*) filter (where relname = any($2))::int as former
     from pg_index join pg_class on pg_class.oid = indexrelid where pg_table_is_visible(pg_class.oid)`,
    [LARGE_INDEXES.map(({ name }) => name), Object.values(REPLACED)],
  );
  return rows[0]?.built === LARGE_INDEXES.length && rows[0].former === 0;
}

async function build(client: pg.ClientBase, { name, table, columns, where }: LargeIndex): Promise<void> {
  const content = `(${columns})${where === undefined ? '' : ` where ${where}`}`;
  const found = await findIndex(client, name);
  if (!(await isPartitioned(client, table))) {
    // What an interruption left does not get better.
    if (found !== null) await drop(client, name, false);
    await client.query(`create index concurrently ${name} on ${table} ${content}`);
    return;
  }
  // A partitioned table's index cannot be built so as a whole, its parts can; with the last one it is valid.
  if (found === null) await withLockTimeout(client, `create index ${name} on only ${table} ${content}`);
  for (const partition of await listWithoutPart(client, { name, table })) {
    const part = `${partition}${name.replace(table, '')}`;
    const left = await findIndex(client, part);
    if (left?.valid === false) await drop(client, part, false);
    if (left?.valid !== true)
      await client.query(`create index concurrently ${part} on ${partition} ${content}`);
    await withLockTimeout(client, `alter index ${name} attach partition ${part}`);
  }
}

async function findIndex(
  client: pg.ClientBase,
  name: string,
): Promise<{ valid: boolean; partitioned: boolean } | null> {
  const { rows } = await client.query(
    `select indisvalid as valid, relkind = 'I' as partitioned
     from pg_index join pg_class on pg_class.oid = indexrelid where indexrelid = to_regclass($1)`,
    [name],
  );
  return rows[0] ?? null;
}

async function isPartitioned(client: pg.ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query('select relkind from pg_class where oid = to_regclass($1)', [table]);
  return rows[0]?.relkind === 'p';
}

/** Partitions whose part of the index is missing. */
async function listWithoutPart(
  client: pg.ClientBase,
  { name, table }: { name: string; table: string },
): Promise<string[]> {
  const { rows } = await client.query<{ partition: string }>(
    `select parts.inhrelid::regclass::text as partition
     from pg_inherits as parts
     where parts.inhparent = to_regclass($1) and not exists (
       select from pg_inherits as attached join pg_index on indexrelid = attached.inhrelid
       where attached.inhparent = to_regclass($2) and indrelid = parts.inhrelid)`,
    [table, name],
  );
  return rows.map(({ partition }) => partition);
}

const drop = (client: pg.ClientBase, name: string, partitioned: boolean) =>
  partitioned
    ? withLockTimeout(client, `drop index if exists ${name}`)
    : client.query(`drop index concurrently if exists ${name}`);

/** Whoever comes to the table queues behind what waits for a lock; the next attempt is a minute later. */
async function withLockTimeout(client: pg.ClientBase, statement: string): Promise<void> {
  await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
  try {
    await client.query(statement);
  } finally {
    await client.query('set lock_timeout = 0').catch(() => {});
  }
}

/** Builds in the background until all are there; answers how to stop that. */
export function startBuildingIndexes(options: {
  connection: DatabaseConnection;
  log: Logger;
  againMs?: number;
}): () => void {
  const { connection, log, againMs = AGAIN_MS } = options;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let client: pg.Client | undefined;

  async function run(): Promise<void> {
    client = new pg.Client({ ...connection, application_name: 'signal-board indexes' });
    client.on('error', () => {});
    let done = false;
    try {
      await client.connect();
      done = await buildLargeIndexes({ client, log });
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'the indexes of lists could not be built');
    } finally {
      await client.end().catch(() => {});
    }
    if (!done && !stopped) timer = setTimeout(run, againMs).unref();
  }

  void run();
  return () => {
    stopped = true;
    clearTimeout(timer);
    // A build under way goes on in a server of its own, and is begun anew in one that stops.
    void client?.end().catch(() => {});
  };
}
