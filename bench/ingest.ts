import type { BenchContext } from './bench.ts';
import { withBaselineServer } from './child.ts';
import { type BenchResult, createFigures, type Figures } from './figures.ts';
import { CONNECTIONS, describeGenerator, type Load, sendLoad } from './load.ts';
import type { Kind } from './payloads.ts';
import { findPgbench, preparePgbench, runPgbench } from './pgbench.ts';
import { cpuSeconds } from './processes.ts';
import { count, cpuUsed, databaseUrl, type Program, withDatabase, withProgram } from './program.ts';

/** Of what a program has printed, the end. */
const SAID_CHARACTERS = 3_000;
const EMPTY_DATABASE = 'nothing';
const KINDS = ['candle', 'signal'] as const;

interface Sizes {
  rounds: number;
  seconds: number;
  baselineSeconds: number;
  warmUpSeconds: number;
}

const FULL: Sizes = { rounds: 3, seconds: 30, baselineSeconds: 8, warmUpSeconds: 3 };
const SHORT: Sizes = { rounds: 1, seconds: 4, baselineSeconds: 2, warmUpSeconds: 1 };

interface Baselines {
  commits: number | null;
  bare: number;
  route: number;
}

/** Deliveries per second beside what the same database, and the same machine without one, do in the same minute. */
export async function benchIngest({ say, short }: BenchContext): Promise<BenchResult> {
  const sizes = short ? SHORT : FULL;
  const figures = createFigures();
  const pgbench = await findPgbench();
  let left = 0;
  for (let round = 1; round <= sizes.rounds; round += 1) {
    say(`ingest: round ${round} of ${sizes.rounds}`);
    // A new program each time: the workflows that a round leaves to the engine must not slow the next one down.
    left = await withProgram({ AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' }, async (program) => {
      const commits = pgbench === null ? null : await measureCommits(program, sizes);
      if (commits !== null) figures.add('pgbench, one row inserted, 10 clients', 'commits/s', commits);
      await withDatabase({ ...program, database: 'postgres' }, (client) =>
        client.query(`create database ${EMPTY_DATABASE}`),
      );
      const bare = await measureServer({
        program,
        name: 'bare-http',
        what: 'bare node:http',
        sizes,
        figures,
      });
      const route = await measureServer({
        program,
        name: 'route-without-database',
        what: 'the route without a database',
        sizes,
        figures,
      });
      for (const kind of KINDS) {
        await measure({ program, kind, baselines: { commits, bare, route }, sizes, figures });
      }
      return countWaiting(program);
    });
  }
  return {
    bench: 'ingest',
    about: `Unique deliveries over ${CONNECTIONS} keep-alive connections for ${sizes.seconds} s, each durably committed before its answer`,
    figures: figures.all(),
    notes: [
      await describeGenerator(),
      pgbench === null
        ? 'There is no pgbench on PATH: that baseline is left out.'
        : `${pgbench}, its simple protocol: one insert into a table as wide as price logs is a transaction, on the same server just before.`,
      'The route without a database is the same program in a process of its own, with nothing replaced but the transaction that stores a batch. The bare server reads the body and answers 200.',
      'A round fails if one delivery is refused, or if fewer are stored than were answered.',
      `Automatic trading is off; at the end of the last round ${left.toLocaleString('en')} workflows still waited to be recorded as aborted.`,
    ],
  };
}

async function measureCommits({ postmaster }: Program, sizes: Sizes): Promise<number> {
  await preparePgbench(postmaster);
  await runPgbench({ postmaster, seconds: sizes.warmUpSeconds });
  return runPgbench({ postmaster, seconds: sizes.baselineSeconds });
}

function measureServer(options: {
  program: Program;
  name: string;
  what: string;
  sizes: Sizes;
  figures: Figures;
}): Promise<number> {
  const { program, name, what, sizes, figures } = options;
  const env = { DATABASE_URL: databaseUrl(program.postmaster, EMPTY_DATABASE) };
  return withBaselineServer({ name, env }, async ({ url, pid }) => {
    const target = { url, hookKey: program.hookKey, kind: 'candle' } as const;
    await sendLoad({ ...target, seconds: sizes.warmUpSeconds });
    const before = await cpuSeconds([pid]);
    const load = await sendLoad({ ...target, seconds: sizes.baselineSeconds });
    requireAllAnswered(what, load);
    figures.add(what, '/s', load.answered / load.seconds);
    if (process.platform === 'linux') {
      const ms = (1000 * ((await cpuSeconds([pid])) - before)) / load.answered;
      figures.add(`${what}, processor time for each`, 'ms', ms);
    }
    return load.answered / load.seconds;
  });
}

async function measure(options: {
  program: Program;
  kind: Kind;
  baselines: Baselines;
  sizes: Sizes;
  figures: Figures;
}): Promise<void> {
  const { program, kind, baselines, sizes, figures } = options;
  const { server, hookKey } = program;
  const target = { url: server.url, hookKey, kind };
  await sendLoad({ ...target, seconds: sizes.warmUpSeconds });
  const measured = await measureIngest({ ...program, servers: [server] }, kind, sizes.seconds);
  const { load, rate } = measured;
  figures.add(`${kind}s`, '/s', rate);
  figures.add(`${kind}s, answer p50`, 'ms', load.p50);
  figures.add(`${kind}s, answer p99`, 'ms', load.p99, { most: 50 });
  figures.add(`${kind}s, slowest answer`, 'ms', load.max);
  addProcessorTime(figures, `${kind}s`, measured);
  const { commits, bare, route } = baselines;
  if (commits !== null) figures.add(`${kind}s to commits of pgbench`, '×', rate / commits, { least: 1.3 });
  figures.add(`${kind}s to the bare server`, '×', rate / bare, { least: 0.5 });
  figures.add(`${kind}s to the route without a database`, '×', rate / route, { least: 0.75 });
}

export interface MeasuredLoad {
  load: Load;
  rate: number;
  /** Milliseconds of the processor for each delivery. */
  cpu: { program: number; database: number } | null;
}

/**
 * The same load on each of the programs at a time. Throws when a delivery is refused, or an answered one is not there.
 * Of several programs the worst answer times are told.
 */
export async function measureIngest(
  target: Pick<Program, 'hookKey' | 'postmaster'> & { servers: readonly Program['server'][] },
  kind: Kind,
  seconds: number,
): Promise<MeasuredLoad> {
  const { servers, hookKey, postmaster } = target;
  const before = await countStored(target, kind);
  const cpuBefore = await cpuUsed(servers, postmaster);
  const loads = await Promise.all(servers.map(({ url }) => sendLoad({ url, hookKey, kind, seconds })));
  const cpuAfter = await cpuUsed(servers, postmaster);
  const load = addLoads(loads);
  requireAllAnswered(`${kind}s`, load, servers);
  const stored = (await countStored(target, kind)) - before;
  if (stored < load.answered) {
    throw new Error(`${kind}: ${load.answered} were answered 200, and ${stored} are stored`);
  }
  const each = (used: number) => (1000 * used) / load.answered;
  return {
    load,
    rate: load.answered / load.seconds,
    cpu:
      cpuBefore && cpuAfter
        ? {
            program: each(cpuAfter.program - cpuBefore.program),
            database: each(cpuAfter.database - cpuBefore.database),
          }
        : null,
  };
}

function addLoads(loads: readonly Load[]): Load {
  const sum = (of: (load: Load) => number) => loads.reduce((total, load) => total + of(load), 0);
  const worst = (of: (load: Load) => number) => Math.max(...loads.map(of));
  return {
    answered: sum(({ answered }) => answered),
    refused: sum(({ refused }) => refused),
    errors: sum(({ errors }) => errors),
    seconds: worst(({ seconds }) => seconds),
    p50: worst(({ p50 }) => p50),
    p99: worst(({ p99 }) => p99),
    max: worst(({ max }) => max),
  };
}

export function addProcessorTime(figures: Figures, name: string, { cpu }: MeasuredLoad): void {
  if (cpu === null) return;
  figures.add(`${name}, processor time of the program for each`, 'ms', cpu.program);
  figures.add(`${name}, processor time of the database for each`, 'ms', cpu.database);
}

/** What the programs have said of themselves goes with the failure: their warnings tell why. */
function requireAllAnswered(
  what: string,
  { answered, refused, errors }: Load,
  servers: readonly Pick<Program['server'], 'output'>[] = [],
): void {
  if (answered > 0 && refused === 0 && errors === 0) return;
  const said = servers.map((server) => `\n${server.output().slice(-SAID_CHARACTERS)}`).join('');
  throw new Error(`${what}: ${answered} were answered 200, ${refused} were refused, ${errors} failed${said}`);
}

export const countStored = (program: Pick<Program, 'postmaster'>, kind: Kind) =>
  count(program, `select count(*) as count from ${kind === 'signal' ? 'signals' : 'price_logs'}`);

const countWaiting = (program: Program) =>
  count(program, `select count(*) as count from workflows where status in ('pending', 'processing')`);
