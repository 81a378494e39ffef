import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findSeries, listCandlesUntil } from '#server/console/price-logs/candles.store.ts';
import { listSignals } from '#server/console/signals/signals.store.ts';
import { createLastDays, readSignalStats } from '#server/console/signals/signals-per-day.ts';
import { listWorkflows } from '#server/console/workflows/workflow-monitor.store.ts';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import type { Db } from '#server/platform/db/database.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { ADDED_UP } from '#server/platform/db/list-totals/counted-lists.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { readList } from '#server/platform/db/list-totals/read-list.ts';
import { monthName, monthOf } from '#server/platform/db/partitions.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { type Bench, type BenchContext, mean, median, percentile } from './figures.ts';
import { type Program, timed, waitUntil, withDatabase, withProgram } from './harness.ts';

const ROUNDS = 3;
const WARM_UP_REQUESTS = 3;
const PAGE_ROWS = 100;
const DEEP_PAGE = 100;
const MOST_MS = 50;
/** Stricter because every order reads the price. */
const MOST_PRICE_MS = 5;
/** Sequential scans are allowed for tables up to this size. */
const BIG_ROWS = 100_000;
/** Totals may be scanned too: the total up to an instant is the sum over many months. */
const TOTALS = /^list_/;
/** A user without deliveries, who looks at the choices of filters. */
const NOBODY = '00000000-0000-4000-8000-000000000000';
const TIME_ZONE = 'America/Los_Angeles';

/** Every list with its filters over HTTP, and the plans of its database queries. */
export const lists: Bench = {
  about: 'every list with a million signals and five million price logs',
  takes: '10 minutes',
  async run(context) {
    const { add, short } = context;
    const size = short
      ? { signals: 20_000, priceLogs: 100_000, requests: 8 }
      : { signals: 1_000_000, priceLogs: 5_000_000, requests: 30 };
    const tenth = { ...size, signals: size.signals / 10, priceLogs: size.priceLogs / 10 };
    // Only the large size reports figures for each list and plans.
    const small = await measureLists({ ...context, add: () => {} }, { ...tenth, explains: false });
    const large = await measureLists(context, { ...size, explains: true });
    add('slowest p95 of all lists', 'ms', Math.max(...large.p95s), { most: MOST_MS });
    add('all lists, p50 against a tenth of the rows', '×', mean(large.p50s) / mean(small.p50s));
    add('a list in the database, by EXPLAIN: median', 'ms', median(large.plannedMs));
    add('a list in the database, by EXPLAIN: slowest', 'ms', Math.max(...large.plannedMs));
    const toBest = mean(large.plannedMs) / mean(large.bestMs);
    add('all lists in the database, against the best plan', '×', toBest);
    add('whole reads of large tables', '', large.wholeReads, { most: 0 });
    return {
      about: `Lists over HTTP with ${size.signals.toLocaleString('en')} signals and workflows and ${size.priceLogs.toLocaleString('en')} price logs of two years, ${PAGE_ROWS} rows a page; p95 of ${size.requests} requests one after another`,
      notes: [
        `Page ${DEEP_PAGE} is asked for where there is one.`,
        "The best plan is the fastest of the planner's choice and of its choices without one kind of scan each, by EXPLAIN ANALYZE, over all that the route asks.",
        'Whole reads are counted by PostgreSQL itself while the requests run, on tables of more than 100,000 rows other than the totals themselves, and looked for in the plans.',
        `Until the totals were added up it took ${(large.addUpMs / 1000).toFixed(1)} s after the rows were there.`,
      ],
    };
  },
};

interface MeasuredLists {
  p50s: number[];
  p95s: number[];
  plannedMs: number[];
  bestMs: number[];
  wholeReads: number;
  addUpMs: number;
}

async function measureLists(
  { add, say }: BenchContext,
  options: { signals: number; priceLogs: number; requests: number; explains: boolean },
): Promise<MeasuredLists> {
  const { signals, priceLogs, requests, explains } = options;
  const env = { AUTO_TRADE: 'disabled', DISPLAY_TIMEZONE: TIME_ZONE };
  return await withProgram(env, async (program) => {
    const now = Date.now();
    await withDatabase(program, (client) => fillLists(client, { signals, priceLogs, now, say }));
    const addUpMs = await waitUntilAddedUp(program, now);
    const before = await readWholeReads(program);
    const measured: MeasuredLists = { p50s: [], p95s: [], plannedMs: [], bestMs: [], wholeReads: 0, addUpMs };
    const cases = listCases(new Date(now));
    for (const { name, path } of cases) {
      say(name);
      const get = () => timed(() => program.client.get(path));
      for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await get();
      const rounds: number[][] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const times: number[] = [];
        for (let request = 0; request < requests; request += 1) times.push(await get());
        rounds.push(times);
        add(`${name}, p95`, 'ms', percentile(times, 0.95), { most: MOST_MS });
      }
      measured.p50s.push(median(rounds.flat()));
      measured.p95s.push(median(rounds.map((times) => percentile(times, 0.95))));
    }
    for (const [table, { reads, rows }] of await readWholeReads(program)) {
      const more = reads - (before.get(table)?.reads ?? 0);
      if (rows <= BIG_ROWS || TOTALS.test(table) || more === 0) continue;
      say(`${table} was scanned sequentially ${more} times`);
      measured.wholeReads += more;
    }
    if (!explains) return measured;
    const price = (db: Db) => storedMarks().newest([COMMON.token], { db, userId: null });
    const { plannedMs: priceMs } = await explain(program, price);
    add('price of the paper exchange, by EXPLAIN', 'ms', priceMs, { most: MOST_PRICE_MS });
    for (const { ask } of cases) {
      const { plannedMs, bestMs, wholeReads } = await explain(program, ask);
      measured.plannedMs.push(plannedMs);
      measured.bestMs.push(bestMs);
      measured.wholeReads += wholeReads;
    }
    return measured;
  });
}

/** Waits until the program has counted all rows: they were inserted without it, so it starts from the first one. */
async function waitUntilAddedUp(program: Program, now: number): Promise<number> {
  const before = (now - 120_000).toString(16).padStart(12, '0');
  return await withDatabase(program, async (client) => {
    await client.query(
      'truncate counted_lists, list_totals, list_totals_by_month, list_choices, signal_totals_by_quarter',
    );
    async function isAddedUp(): Promise<boolean> {
      const { rows } = await client.query(
        `select count(*)::int as count from counted_lists where counted_before::text > $1`,
        [`${before.slice(0, 8)}-${before.slice(8)}`],
      );
      return rows[0].count === ADDED_UP.length;
    }
    const what = 'the lists were added up';
    return await timed(() => waitUntil(isAddedUp, { what, limitMs: 600_000, everyMs: 250 }));
  });
}

interface ListCase {
  name: string;
  path: string;
  /** The route's database queries, for EXPLAIN. */
  ask: (db: Db) => Promise<unknown>;
}

function listCases(now: Date): ListCase[] {
  const { token, timeframe, processor } = COMMON;
  const ago = (days: number) => new Date(now.getTime() - days * 86_400_000);
  const limit = PAGE_ROWS;

  /** One case for each filter, and a second one with a deep page where `isDeep`. */
  function pagesOf<Filter extends Fields>(
    list: string,
    path: string,
    filters: readonly [name: string, filter: Filter, isDeep: boolean][],
    ask: (db: Db, filter: Filter, page: number) => Promise<unknown>,
  ): ListCase[] {
    return filters.flatMap(([name, filter, isDeep]) =>
      (isDeep ? [1, DEEP_PAGE] : [1]).map((page) => ({
        name: `${list}, ${name}, page ${page}`,
        path: `/api/${path}?${query({ ...filter, page, limit })}`,
        ask: (db: Db) => ask(db, filter, page),
      })),
    );
  }

  type Filter = { token?: string; timeframe?: string; processor?: string; until?: Date };
  const filters: [string, Filter, boolean][] = [
    ['all', {}, true],
    ['common token', { token }, true],
    ['rare token', { token: RARE.token }, false],
    ['common timeframe', { timeframe }, true],
    ['rare timeframe', { timeframe: RARE.timeframe }, false],
    ['common processor', { processor }, true],
    ['rare processor', { processor: RARE.processor }, false],
    ['token, timeframe and processor', { token, timeframe, processor }, true],
    ['seldom together', { token: 'T40', timeframe: '120', processor: 'Atlas' }, false],
    ['never together', { token: RARE.token, processor: RARE.processor }, false],
    ['until an hour ago', { until: ago(1 / 24) }, true],
    ['until 200 days ago', { until: ago(200) }, true],
    ['common token until 200 days ago', { token, until: ago(200) }, false],
  ];
  type Sorted = {
    sort?: 'token' | 'outcome';
    order?: 'asc' | 'desc';
    outcome?: 'filled' | 'failed' | 'running';
    id?: string;
    from?: Date;
  };
  const sorted: [string, Sorted & { processor?: string }, boolean][] = [
    ['by token', { sort: 'token', order: 'asc' }, true],
    ['by token of the last 30 days', { sort: 'token', order: 'asc', from: ago(30) }, false],
    ['by outcome', { sort: 'outcome', order: 'asc' }, true],
    ['by outcome from the end', { sort: 'outcome', order: 'desc' }, true],
    ['common outcome', { outcome: 'filled' }, true],
    ['rare outcome', { outcome: 'failed' }, true],
    ['running', { outcome: 'running' }, false],
    ['common outcome by token', { outcome: 'filled', sort: 'token', order: 'asc' }, true],
    ['common outcome of the last 200 days', { outcome: 'filled', from: ago(200) }, true],
    ['common outcome, rare processor', { outcome: 'filled', processor: RARE.processor }, false],
    ['first characters of an id', { id: firstIdOf(ago(100)).slice(0, 8) }, false],
  ];
  const signalFilters: [string, Filter & Sorted & { action?: 'sell' }, boolean][] = [
    ...filters,
    ...sorted,
    ['action', { action: 'sell' }, true],
    ['action and token', { action: 'sell', token }, true],
    ['common outcome, rare timeframe', { outcome: 'filled', timeframe: RARE.timeframe }, false],
    ['by outcome of a common token', { sort: 'outcome', token }, true],
  ];
  const workflowFilters: [string, Sorted & { processor?: string; status?: string }, boolean][] = [
    ...sorted,
    ['all', {}, true],
    ['common processor', { processor }, true],
    ['rare processor', { processor: RARE.processor }, false],
    ['common status', { status: 'completed' }, true],
    ['rare status', { status: 'failed' }, false],
    ['status without any', { status: 'processing' }, false],
    ['rare status and processor', { status: 'failed', processor: 'Atlas' }, false],
  ];
  const choices = [
    ['token', 'tokens'],
    ['processor', 'processors'],
    ['timeframe', 'timeframes'],
  ] as const;
  const charts = [
    ['common timeframe', timeframe, null],
    ['rare timeframe', RARE.timeframe, null],
    ['rare timeframe until 200 days ago', RARE.timeframe, ago(200)],
  ] as const;
  return [
    ...pagesOf('signals', 'signals', signalFilters, (db, filter, page) =>
      listSignals(db, { filter, page, limit, now }),
    ),
    ...pagesOf('price logs', 'price-logs', filters, (db, filter, page) =>
      readList(db, 'price-logs', { filter, page, limit, now }),
    ),
    ...pagesOf('workflows', 'automation-workflows', workflowFilters, (db, filter, page) =>
      listWorkflows(db, { ...filter, page, limit, now }),
    ),
    ...choices.flatMap(([column, path]) =>
      (['signals', 'price-logs'] as const).map((list) => ({
        name: `${path} of ${list.replace('-', ' ')}`,
        path: `/api/${list}/${path}`,
        ask: (db: Db) => listChoices(db, list, column, NOBODY),
      })),
    ),
    {
      name: 'processors of workflows',
      path: '/api/automation-workflows/processors',
      ask: (db) => listChoices(db, 'signals', 'processor', NOBODY),
    },
    ...charts.map(([name, ofTimeframe, until]) => {
      const series = { token, timeframe: ofTimeframe };
      return {
        name: `chart of a common token, ${name}`,
        path: `/api/price-logs/candles?${query({ ...series, ...(until && { until }), limit })}`,
        async ask(db: Db) {
          const stored = await findSeries(db, { ...series, hookId: null, processor: null });
          return await listCandlesUntil(db, { series: stored, until, limit });
        },
      };
    }),
    {
      name: 'stats of signals',
      path: '/api/signals/stats',
      ask: (db) => readSignalStats(db, createLastDays(TIME_ZONE)(now)),
    },
  ];
}

type Fields = Record<string, string | number | Date>;

const query = (fields: Fields): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      value instanceof Date ? value.toISOString() : String(value),
    ]),
  );

/** Sequential scans so far and number of rows of each table. */
function readWholeReads(program: Program): Promise<Map<string, { reads: number; rows: number }>> {
  return withDatabase(program, async (client) => {
    // The program's connections report their statistics with a delay.
    await sleep(1_500);
    const { rows } = await client.query(
      `select relname, coalesce(seq_scan, 0)::int as reads, n_live_tup::int as rows from pg_stat_user_tables`,
    );
    return new Map(rows.map(({ relname, ...row }) => [relname, row]));
  });
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

const WITHOUT = [
  '',
  'enable_bitmapscan',
  'enable_indexscan',
  'enable_indexonlyscan',
  'enable_seqscan',
  'enable_nestloop',
];

/** Sums over all statements of a list: time of the chosen plan, time of the fastest plan, scans of large tables. */
async function explain(
  program: Program,
  ask: ListCase['ask'],
): Promise<{ plannedMs: number; bestMs: number; wholeReads: number }> {
  const { host, port } = program.postmaster;
  const pool = new pg.Pool({ host, port, user: 'postgres', database: 'signal_board', ssl: false, max: 1 });
  try {
    const asked: { text: string; params: unknown[] }[] = [];
    const logger = { logQuery: (text: string, params: unknown[]) => void asked.push({ text, params }) };
    await ask(drizzleOver(pool, { logger }));
    const { rows: big } = await pool.query('select relname from pg_stat_user_tables where n_live_tup > $1', [
      BIG_ROWS,
    ]);
    const bigTables = new Set<string>(big.map(({ relname }) => relname).filter((name) => !TOTALS.test(name)));
    let [plannedMs, bestMs, wholeReads] = [0, 0, 0];
    for (const { text, params } of asked) {
      const times: number[] = [];
      for (const off of WITHOUT) {
        if (off !== '') await pool.query(`set ${off} = off`);
        const explained = `explain (analyze, timing off, format json) ${text}`;
        await pool.query(explained, params);
        const { rows } = await pool.query(explained, params);
        const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
        times.push(ms);
        if (off === '') wholeReads += nodesOf(plan).filter((node) => isWholeRead(node, bigTables)).length;
        else await pool.query(`reset ${off}`);
      }
      plannedMs += times[0] ?? 0;
      bestMs += Math.min(...times);
    }
    return { plannedMs, bestMs, wholeReads };
  } finally {
    await pool.end();
  }
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const isWholeRead = (node: Plan, big: Set<string>): boolean =>
  node['Node Type'] === 'Seq Scan' && big.has(node['Relation Name'] ?? '');

/** Frequent and rare values. */
const COMMON = { token: 'BTC', timeframe: '15', processor: 'Tesla' } as const;
const RARE = { token: 'RARE', timeframe: '1w', processor: 'Orion' } as const;

const YEARS_MS = 2 * 365 * 86_400_000;
const MONTHS = 24;
const CHUNK_ROWS = 250_000;
const BIG_TABLES = ['signals', 'workflows', 'price_logs', 'signal_outcomes'];

/** 60 tokens by Zipf's law and a rare one; a sixth of the rows have the most common token. */
const TOKEN = `case when r1 < 0.00004 then '${RARE.token}' else (array['${COMMON.token}', 'ETH', 'SOL', 'XRP', 'DOGE'])[rank] end`;
const TIMEFRAME = `case when r2 < 0.0001 then '${RARE.timeframe}'
  else (array['${COMMON.timeframe}', '60', '5', '240', '30', '1', 'D', '120'])[1 + floor(8 * r2 * r2)::int] end`;
/** What came of the signal with this id; it fits the status of its workflow. */
const OUTCOME = `case when abs(hashtext(id::text)) % 1000 < 800
  then (array['filled', 'filled', 'filled', 'partial', 'not_filled', 'skipped'])[1 + abs(hashtext(id::text)) % 6]
  when abs(hashtext(id::text)) % 1000 < 998 then 'aborted' else 'failed' end`;
const PROCESSOR = `case when r3 < 0.0001 then '${RARE.processor}' when r3 < 0.1 then 'Atlas'
  when r3 < 0.45 then 'UD Bot' else '${COMMON.processor}' end`;

/**
 * Fills an empty board with two years of data up to now, evenly spread: signals with one ended workflow each, and price
 * logs. Bypasses triggers and foreign keys; indexes are dropped first and recreated afterwards.
 */
export async function fillLists(
  client: pg.Client,
  options: { signals: number; priceLogs: number; now: number; say: (line: string) => void },
): Promise<void> {
  const { signals, priceLogs, now, say } = options;
  await client.query('set session_replication_role = replica');
  await client.query(`set timezone = 'UTC'`);
  await client.query('set synchronous_commit = off');
  await partitionByMonth(client, new Date(now));
  const indexes = await dropIndexes(client);
  await inChunks(signals, async (from, to) => {
    say(`${to.toLocaleString('en')} of ${signals.toLocaleString('en')} signals`);
    await client.query(`
      with made as materialized (${rowsSql({ from, to, count: signals, now })})
      insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, received_at, source_ip, hash_value, parameters)
      select ${idSql('at', 's', 'n')}, '${HOOK}', '${HOOK}', true, coalesce(${TOKEN}, 'T' || rank),
        case when r4 < 0.55 then 'buy' else 'sell' end, round((100 + r4 * 50)::numeric, 3), 'USDT', ${TIMEFRAME},
        ${PROCESSOR}, at, '52.89.214.238', encode(sha256(('s' || n)::bytea), 'hex'), '{"serial": "1"}'
      from made`);
    await client.query(`
      insert into workflows (id, signal_id, trigger, status, token, processor, created_at, started_at, completed_at,
        outcome)
      select ${idSql('received_at', 'w', 'id')}, id, 'automatic',
        case when abs(hashtext(id::text)) % 1000 < 800 then 'completed'
          when abs(hashtext(id::text)) % 1000 < 998 then 'aborted' else 'failed' end,
        token, processor, received_at, received_at, received_at, ${OUTCOME}
      from signals where received_at >= ${atSql(from, signals, now)} and received_at < ${atSql(to, signals, now)}`);
    // As the triggers would.
    await client.query(`
      insert into signal_outcomes (id, received_at, token, action, processor, timeframe, outcome)
      select id, received_at, token, action, processor, timeframe, ${OUTCOME}
      from signals where received_at >= ${atSql(from, signals, now)} and received_at < ${atSql(to, signals, now)}`);
  });
  for (const [list, table, at, action, timeframe, status] of [
    ['signals', 'signal_outcomes', 'received_at', 'action', 'timeframe', `''`],
    ['workflows', 'workflows', 'created_at', `''`, `''`, 'status'],
  ]) {
    await client.query(`
      insert into list_outcome_totals (list, month, token, action, processor, timeframe, status, outcome, rows)
      select '${list}', month, token, ${action} as kind, processor, ${timeframe} as frame, ${status} as state, outcome,
        count(*)
      from ${table} cross join lateral (
        values (date_trunc('month', ${at} at time zone 'UTC')::date), (date '-infinity')
      ) as part (month)
      group by month, token, kind, processor, frame, state, outcome`);
  }
  await inChunks(priceLogs, async (from, to) => {
    say(`${to.toLocaleString('en')} of ${priceLogs.toLocaleString('en')} price logs`);
    await client.query(`
      with made as materialized (${rowsSql({ from, to, count: priceLogs, now })})
      insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
      select ${idSql('at', 'p', 'n')}, '${HOOK}', '${HOOK}', true, coalesce(${TOKEN}, 'T' || rank), ${TIMEFRAME},
        round((100 + r4 * 50)::numeric, 3), 'USDT', ${PROCESSOR}, to_char(at, 'YYYYMMDDHH24MI'),
        date_trunc('minute', at), at, '52.89.214.238', encode(sha256(('p' || n)::bytea), 'hex'),
        '{"Open": "100", "High": "101.5", "Low": "99.2", "Volume": "123456", "RSI": "55.31", "atr": "0.83", "mature_trend": "bullish"}'
      from made`);
  });
  for (const index of indexes) {
    say(`${index.slice(0, index.indexOf(' USING'))}`);
    await client.query(index);
  }
  await client.query('set session_replication_role = origin');
  for (const table of [...BIG_TABLES, 'list_outcome_totals']) {
    await client.query(`vacuum (analyze) ${table}`);
  }
}

const HOOK = '01890a5d-ac96-774b-bcce-b302099a8057';

async function inChunks(count: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += CHUNK_ROWS) await work(from, Math.min(count, from + CHUNK_ROWS));
}

/** When row `number` was received: evenly spread over the two years, the last one now. */
const atSql = (number: number | string, count: number, now: number) =>
  `to_timestamp(${(now - YEARS_MS) / 1000} + ${YEARS_MS / 1000 / count} * ${number})::timestamptz(3)`;

const rowsSql = ({ from, to, count, now }: { from: number; to: number; count: number; now: number }) => `
  select n, ${atSql('n', count, now)} as at, floor(60 ^ random())::int as rank,
    random() as r1, random() as r2, random() as r3, random() as r4
  from generate_series(${from}, ${to - 1}) as n`;

/** A time-ordered id for the instant. */
const idSql = (at: string, kind: string, number: string) => `
  (lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' ||
    substr(md5('${kind}' || ${number}), 1, 3) || '8' || substr(md5('${kind}' || ${number}), 4, 15))::uuid`;

/** Creates the monthly partitions that the program would have created over the two years. */
async function partitionByMonth(client: pg.Client, now: Date): Promise<void> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `select inhrelid::regclass::text as name, substring(pg_get_expr(relpartbound, inhrelid) from 'TO \\(''(.*)''\\)') as bound
     from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'price_logs'::regclass and pg_get_expr(relpartbound, inhrelid) like '%(MINVALUE)%'`,
  );
  const [first] = rows;
  if (first === undefined) return;
  await client.query(`drop table ${first.name}`);
  let from = 'minvalue';
  for (let month = -MONTHS; from !== `'${first.bound}'`; month += 1) {
    const start = monthOf(now, month);
    const to = `'${firstIdOf(start)}'`;
    await client.query(
      `create table price_logs_until_${monthName(start)} partition of price_logs for values from (${from}) to (${to})`,
    );
    from = to;
  }
}

/** Drops all indexes except those of constraints; returns the statements that recreate them. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index
    where indrelid = any($1::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
    [BIG_TABLES],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ statement }) => statement.replace(' ON ONLY ', ' ON '));
}
