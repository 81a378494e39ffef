import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findSeries, listCandlesUntil } from '#server/console/price-logs/candles.store.ts';
import { listPriceLogs } from '#server/console/price-logs/price-logs.store.ts';
import { listSignals } from '#server/console/signals/signals.store.ts';
import { createLastDays, readSignalStats } from '#server/console/signals/signals-per-day.ts';
import { listWorkflows } from '#server/console/workflows/workflow-monitor.store.ts';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import type { Db } from '#server/platform/db/database.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { ADDED_UP } from '#server/platform/db/list-totals/counted-lists.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures, mean, median, percentile } from './figures.ts';
import { COMMON, fillLists, RARE } from './list-rows.ts';
import { type Program, withDatabase, withProgram } from './program.ts';

const SIZES = {
  full: { signals: 1_000_000, priceLogs: 5_000_000 },
  short: { signals: 20_000, priceLogs: 100_000 },
};
const ROUNDS = 3;
const REQUESTS = { full: 30, short: 8 };
const WARM_UP_REQUESTS = 3;
const PAGE_ROWS = 100;
const DEEP_PAGE = 100;
const MOST_MS = 50;
/** Asked for with every order. */
const MOST_PRICE_MS = 5;
/** Smaller tables are read whole by right. */
const BIG_ROWS = 100_000;
/** Those of totals as well: an instant long ago is added up from many months of them. */
const TOTALS = /^list_(totals|choices)/;
/** Who looks at the choices of filters, and sent nothing. */
const NOBODY = '00000000-0000-4000-8000-000000000000';
const TIME_ZONE = 'America/Los_Angeles';

interface Case {
  name: string;
  path: string;
  /** What the route asks the database, to explain it. */
  ask: (db: Db) => Promise<unknown>;
}

/** Every list with its filters over HTTP, and the plans of what it asks the database. */
export async function benchLists({ say, short }: BenchContext): Promise<BenchResult> {
  const figures = createFigures();
  const size = short ? SIZES.short : SIZES.full;
  const tenth = { signals: size.signals / 10, priceLogs: size.priceLogs / 10 };
  const requests = short ? REQUESTS.short : REQUESTS.full;
  const small = await measure({ ...tenth, requests, say, figures: null });
  const large = await measure({ ...size, requests, say, figures });
  figures.add('slowest p95 of all lists', 'ms', Math.max(...large.p95s), { most: MOST_MS });
  figures.add('all lists, p50 against a tenth of the rows', '×', mean(large.p50s) / mean(small.p50s));
  figures.add('a list in the database, by EXPLAIN: median', 'ms', median(large.plannedMs));
  figures.add('a list in the database, by EXPLAIN: slowest', 'ms', Math.max(...large.plannedMs));
  figures.add(
    'all lists in the database, against the best plan',
    '×',
    mean(large.plannedMs) / mean(large.bestMs),
  );
  figures.add('whole reads of large tables', '', large.wholeReads, { most: 0 });
  return {
    bench: 'lists',
    about: `Lists over HTTP with ${size.signals.toLocaleString('en')} signals and workflows and ${size.priceLogs.toLocaleString('en')} price logs of two years, ${PAGE_ROWS} rows a page; p95 of ${requests} requests one after another`,
    figures: figures.all(),
    notes: [
      `Page ${DEEP_PAGE} is asked for where there is one.`,
      "The best plan is the fastest of the planner's choice and of its choices without one kind of scan each, by EXPLAIN ANALYZE, over all that the route asks.",
      'Whole reads are counted by PostgreSQL itself while the requests run, on tables of more than 100,000 rows other than the totals themselves, and looked for in the plans.',
      `Until the totals were added up it took ${(large.addUpMs / 1000).toFixed(1)} s after the rows were there.`,
    ],
  };
}

interface Measured {
  p50s: number[];
  p95s: number[];
  plannedMs: number[];
  bestMs: number[];
  wholeReads: number;
  addUpMs: number;
}

async function measure(options: {
  signals: number;
  priceLogs: number;
  requests: number;
  say: (line: string) => void;
  figures: Figures | null;
}): Promise<Measured> {
  const { signals, priceLogs, requests, say, figures } = options;
  const env = { AUTO_TRADE: 'disabled', DISPLAY_TIMEZONE: TIME_ZONE };
  return await withProgram(env, async (program) => {
    const now = Date.now();
    await withDatabase(program, (client) => fillLists(client, { signals, priceLogs, now, say }));
    const addUpMs = await waitUntilAddedUp(program, now);
    const before = await readWholeReads(program);
    const measured: Measured = { p50s: [], p95s: [], plannedMs: [], bestMs: [], wholeReads: 0, addUpMs };
    for (const one of listCases(new Date(now))) {
      say(`lists: ${one.name}`);
      for (let count = 0; count < WARM_UP_REQUESTS; count += 1) await program.client.get(one.path);
      const all: number[] = [];
      const p95s: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const times = await time(program, one.path, requests);
        all.push(...times);
        p95s.push(percentile(times, 0.95));
        figures?.add(`${one.name}, p95`, 'ms', percentile(times, 0.95), { most: MOST_MS });
      }
      measured.p50s.push(median(all));
      measured.p95s.push(median(p95s));
    }
    for (const [table, { reads, rows }] of await readWholeReads(program)) {
      const more = reads - (before.get(table)?.reads ?? 0);
      if (rows <= BIG_ROWS || TOTALS.test(table) || more === 0) continue;
      say(`lists: ${table} was read whole ${more} times`);
      measured.wholeReads += more;
    }
    if (figures !== null) {
      const { token } = COMMON;
      const price = await explain(program, (db) => storedMarks().newest([token], { db, userId: null }));
      figures.add('price of the paper exchange, by EXPLAIN', 'ms', price.plannedMs, { most: MOST_PRICE_MS });
      for (const { ask } of listCases(new Date(now))) {
        const { plannedMs, bestMs, wholeReads } = await explain(program, ask);
        measured.plannedMs.push(plannedMs);
        measured.bestMs.push(bestMs);
        measured.wholeReads += wholeReads;
      }
    }
    return measured;
  });
}

async function time({ client }: Program, path: string, requests: number): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < requests; count += 1) {
    const startedAt = performance.now();
    await client.get(path);
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** The rows were written past the program: it adds everything up from the first one on. */
async function waitUntilAddedUp(program: Program, now: number): Promise<number> {
  const startedAt = Date.now();
  const limitMs = 600_000;
  return await withDatabase(program, async (client) => {
    await client.query(
      'truncate counted_lists, list_totals, list_totals_by_month, list_choices, signal_totals_by_quarter',
    );
    while (Date.now() - startedAt < limitMs) {
      await sleep(250);
      const { rows } = await client.query(
        `select count(*)::int as count from counted_lists where counted_before::text > $1`,
        [
          (now - 120_000)
            .toString(16)
            .padStart(12, '0')
            .replace(/^(.{8})/, '$1-'),
        ],
      );
      if (rows[0].count === ADDED_UP.length) return Date.now() - startedAt;
    }
    throw new Error('The lists were not added up');
  });
}

function listCases(now: Date): Case[] {
  const { token, timeframe, processor } = COMMON;
  const ago = (days: number) => new Date(now.getTime() - days * 86_400_000);
  const filters = [
    { name: 'all', filter: {}, deep: true },
    { name: 'common token', filter: { token }, deep: true },
    { name: 'rare token', filter: { token: RARE.token }, deep: false },
    { name: 'common timeframe', filter: { timeframe }, deep: true },
    { name: 'rare timeframe', filter: { timeframe: RARE.timeframe }, deep: false },
    { name: 'common processor', filter: { processor }, deep: true },
    { name: 'rare processor', filter: { processor: RARE.processor }, deep: false },
    { name: 'token, timeframe and processor', filter: { token, timeframe, processor }, deep: true },
    { name: 'seldom together', filter: { token: 'T40', timeframe: '120', processor: 'Atlas' }, deep: false },
    { name: 'never together', filter: { token: RARE.token, processor: RARE.processor }, deep: false },
    { name: 'until an hour ago', filter: { until: ago(1 / 24) }, deep: true },
    { name: 'until 200 days ago', filter: { until: ago(200) }, deep: true },
    { name: 'common token until 200 days ago', filter: { token, until: ago(200) }, deep: false },
  ];
  const pages = (deep: boolean) => (deep ? [1, DEEP_PAGE] : [1]);
  const limit = PAGE_ROWS;
  const cases: Case[] = [];
  for (const { name, filter, deep } of [
    ...filters,
    { name: 'action', filter: { action: 'sell' as const }, deep: true },
    { name: 'action and token', filter: { action: 'sell' as const, token }, deep: true },
  ]) {
    for (const page of pages(deep)) {
      cases.push({
        name: `signals, ${name}, page ${page}`,
        path: `/api/signals?${query({ ...filter, page, limit })}`,
        ask: (db) => listSignals(db, { filter, page, limit, now }),
      });
    }
  }
  for (const { name, filter, deep } of filters) {
    for (const page of pages(deep)) {
      cases.push({
        name: `price logs, ${name}, page ${page}`,
        path: `/api/price-logs?${query({ ...filter, page, limit })}`,
        ask: (db) => listPriceLogs(db, { filter, page, limit, now }),
      });
    }
  }
  for (const { name, filter, deep } of [
    { name: 'all', filter: {}, deep: true },
    { name: 'common processor', filter: { processor }, deep: true },
    { name: 'rare processor', filter: { processor: RARE.processor }, deep: false },
    { name: 'common status', filter: { status: 'completed' }, deep: true },
    { name: 'rare status', filter: { status: 'failed' }, deep: false },
    { name: 'status without any', filter: { status: 'processing' }, deep: false },
    { name: 'rare status and processor', filter: { status: 'failed', processor: 'Atlas' }, deep: false },
  ]) {
    for (const page of pages(deep)) {
      cases.push({
        name: `workflows, ${name}, page ${page}`,
        path: `/api/automation-workflows?${query({ ...filter, page, limit })}`,
        ask: (db) => listWorkflows(db, { ...filter, page, limit, now }),
      });
    }
  }
  for (const [column, path] of [
    ['token', 'tokens'],
    ['processor', 'processors'],
    ['timeframe', 'timeframes'],
  ] as const) {
    for (const list of ['signals', 'price-logs'] as const) {
      cases.push({
        name: `${path} of ${list.replace('-', ' ')}`,
        path: `/api/${list}/${path}`,
        ask: (db) => listChoices(db, list, column, NOBODY),
      });
    }
  }
  cases.push({
    name: 'processors of workflows',
    path: '/api/automation-workflows/processors',
    ask: (db) => listChoices(db, 'signals', 'processor', NOBODY),
  });
  for (const { name, until } of [
    { name: 'common timeframe', until: null },
    { name: 'rare timeframe', until: null },
    { name: 'rare timeframe until 200 days ago', until: ago(200) },
  ]) {
    const series = { token, timeframe: name.startsWith('rare') ? RARE.timeframe : timeframe };
    cases.push({
      name: `chart of a common token, ${name}`,
      path: `/api/price-logs/candles?${query({ ...series, ...(until && { until }), limit: PAGE_ROWS })}`,
      async ask(db) {
        const stored = await findSeries(db, { ...series, hookId: null, processor: null });
        return await listCandlesUntil(db, { series: stored, until, limit: PAGE_ROWS });
      },
    });
  }
  cases.push({
    name: 'stats of signals',
    path: '/api/signals/stats',
    ask: (db) => readSignalStats(db, createLastDays(TIME_ZONE)(now)),
  });
  return cases;
}

function query(fields: Record<string, string | number | Date>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      value instanceof Date ? value.toISOString() : String(value),
    ]),
  );
}

/** How often each table has been read from one end to the other so far, and how many rows it has. */
function readWholeReads(program: Program): Promise<Map<string, { reads: number; rows: number }>> {
  return withDatabase(program, async (client) => {
    // The program's connections tell what they did a moment later.
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

/** Of all statements that a list asks: the time of the chosen plan and of the fastest, and large tables that the planner reads whole. */
async function explain(
  program: Program,
  ask: Case['ask'],
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
