import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { feeds, messages } from './alerts.ts';
import { events, screens } from './browsers.ts';
import { exits, stopped } from './controls.ts';
import {
  type Bench,
  type BenchContext,
  createFigures,
  describeMachine,
  type MeasuredBench,
  mergeResults,
  readMachine,
  toTable,
  writeFigures,
} from './figures.ts';
import { cleanUp, requireRunning } from './harness.ts';
import { hostile } from './hostile.ts';
import { growth, ingest } from './ingest.ts';
import { lists } from './lists.ts';
import { fanOut, firstOrder, trading, workflows } from './orders.ts';
import { memory, soak, starts, tests } from './program.ts';
import { results } from './results.ts';
import { throttled } from './throttled.ts';
import { VENUE_USERS, venue } from './venue.ts';

/** In the order of docs/performance.md. */
const BENCHES: Record<string, Bench> = {
  ingest,
  feeds,
  trading,
  workflows,
  'first-order': firstOrder,
  'fan-out': fanOut,
  throttled,
  venue,
  stopped,
  exits,
  events,
  messages,
  memory,
  starts,
  screens,
  lists,
  results,
  growth,
  hostile,
  soak,
  tests,
};

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('../docs/performance.json', import.meta.url));
const SOAK_MINUTES = 30;

const MARKS = { none: '', all: ' *', named: ' **' };
const list = Object.entries(BENCHES)
  .map(([name, { about, takes, only }]) => `  ${name.padEnd(12)}${about}; ${takes}${MARKS[only ?? 'none']}`)
  .join('\n');

const HELP = `npm run bench [-- NAME …] [-- --all] [--write] [--json FILE] [--short] [--minutes N] [--users N]

Measures the real program on databases of its own, on this machine. NAME is one or more of:

${list}

Without a name: all without a star, some 45 minutes; with --all those with one star as well, some 75 minutes.
Those with two stars run by name only.

  --write       puts the figures into docs/performance.md (and docs/performance.json, which that is made from);
                benchmarks that were not run keep theirs
  --json FILE   writes the figures of this run, every round of them, to FILE
  --short       small sizes, to try a benchmark; such figures are not written to docs
  --minutes N   how long the soak takes, ${SOAK_MINUTES} unless given
  --users N     how many users the signal of venue or fan-out has, ${VENUE_USERS.toLocaleString('en')} unless given; other figures are not written to docs
`;

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => void cleanUp().finally(() => process.exit(128 + number)));
}

process.on('uncaughtException', (error) => void fail(error).finally(() => process.exit(1)));
await main().catch(fail);

function messageOf(error: unknown): string {
  return (error instanceof Error && error.message) || String(error);
}

async function fail(error: unknown): Promise<void> {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
  await cleanUp();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      minutes: { type: 'string', default: String(SOAK_MINUTES) },
      users: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not ${values.minutes}`);
  const users = values.users === undefined ? null : Number(values.users);
  if (users !== null && !(Number.isInteger(users) && users > 0))
    throw new Error(`--users must be a whole number above 0, not ${values.users}`);
  if (users !== null && values.write) throw new Error('--users cannot be combined with --write');
  if (values.short && values.write) throw new Error('--short cannot be combined with --write');
  const run: MeasuredBench[] = [];
  for (const [name, bench] of benchesOf(positionals, values.all)) {
    requireRunning();
    try {
      const measured = await runBench(name, bench, { short: values.short, minutes, users });
      run.push(measured);
      process.stdout.write(`\n${report(measured)}\n`);
    } catch (error) {
      // Continue with the other benchmarks: together they may take an hour.
      process.exitCode = 1;
      process.stderr.write(`\n${name} failed: ${messageOf(error)}\n`);
      continue;
    }
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
    if (values.write) await write(run);
  }
  process.stdout.write(`\n${describeMachine(readMachine())}\n`);
}

function benchesOf(given: readonly string[], all: boolean): [name: string, bench: Bench][] {
  if (given.length === 0) {
    return Object.entries(BENCHES).filter(([, { only }]) => only === undefined || (all && only === 'all'));
  }
  return given.map((name) => {
    const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
    if (bench !== undefined) return [name, bench];
    throw new Error(`There is no benchmark "${name}"; there are ${Object.keys(BENCHES).join(', ')}`);
  });
}

async function runBench(
  name: string,
  bench: Bench,
  options: Pick<BenchContext, 'short' | 'minutes' | 'users'>,
): Promise<MeasuredBench> {
  const startedAt = new Date();
  const machine = readMachine();
  const { add, all } = createFigures();
  const say = (line: string) => process.stderr.write(`${name}: ${line} …\n`);
  const { about, notes } = await bench.run({ add, say, ...options });
  return {
    bench: name,
    about,
    figures: all(),
    notes,
    date: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    command: `npm run bench -- ${name}${options.short ? ' --short' : ''}`,
    machine,
  };
}

function report({ bench, about, notes, figures, seconds }: MeasuredBench): string {
  const heading = `${bench}: ${about} (${seconds} s)`;
  return [heading, '', toTable(figures), '', ...notes.map((note) => `- ${note}`)].join('\n');
}

/** Called after each benchmark, because a later one may fail. */
async function write(run: readonly MeasuredBench[]): Promise<void> {
  const stored: unknown = JSON.parse(await readFile(RESULTS, 'utf8').catch(() => '[]'));
  if (!Array.isArray(stored)) throw new Error('docs/performance.json is not a list of results');
  const results = mergeResults(stored, run, Object.keys(BENCHES));
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(PAGE, writeFigures(await readFile(PAGE, 'utf8'), results));
}
