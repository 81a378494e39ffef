import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ServerConnection, startEmbedded } from '#server/platform/db/embedded.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { createLog } from '#server/platform/log.ts';
import { SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { AFTERS, type After } from './exits.ts';
import { MATRIX_FAULTS, WAITS } from './matrix-faults.ts';
import { type CaseResult, casesOf, type MatrixCase } from './run-case.ts';
import type { Task } from './worker.ts';

const HELP = `npm run fault-matrix [-- --seed N | --seeds N] [--fault NAME …] [--exchange NAME …] [--waits NAME …]
                            [--after NAME …] [--json]

Plays every fault of an exchange against the whole engine, several times over with different users, prices and
moments, and compares what the product says with the exchange's books. Without options: all of it, 20 seeds.

  --seed N         only this seed, may be given several times; what a run does follows from seed, fault and exchange
  --seeds N        the seeds 1 to N
  --fault NAME     only this fault, may be given several times
  --exchange NAME  ${SUITE_DIALECTS.join(', ')}
  --waits NAME     default or short: how long orders wait before they are verified; without it both for the faults that
                   depend on it, and the default waits for all others
  --after NAME     what comes after the entry: ${AFTERS.join(', ')}, none, or all of these one after the
                   other; without it one of them, by turns of seed and fault
  --json           every run as a line of JSON, not the table

Faults: ${MATRIX_FAULTS.join(', ')}
`;

const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];
const children = new Set<ChildProcess>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const child of children) child.kill();
  });
}

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', multiple: true, default: [] },
      seeds: { type: 'string', default: '20' },
      fault: { type: 'string', multiple: true, default: [] },
      exchange: { type: 'string', multiple: true, default: [] },
      waits: { type: 'string', multiple: true, default: [] },
      after: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const unknown = values.fault.find((name) => !MATRIX_FAULTS.includes(name));
  if (unknown !== undefined) {
    process.stderr.write(`There is no fault "${unknown}"; --help lists them\n`);
    return 2;
  }
  const waits = WAITS.filter((name) => values.waits.includes(name));
  if (waits.length < new Set(values.waits).size) {
    process.stderr.write(`The waits are ${WAITS.join(' or ')}\n`);
    return 2;
  }
  const everyAfter: readonly After[] = [...AFTERS, 'none'];
  const afters = values.after.includes('all')
    ? everyAfter
    : everyAfter.filter((name) => values.after.includes(name));
  if (!values.after.includes('all') && afters.length < new Set(values.after).size) {
    process.stderr.write(`After the entry comes ${everyAfter.join(', ')} or all\n`);
    return 2;
  }
  const seeds =
    values.seed.length > 0
      ? values.seed.map(Number)
      : Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
  const cases = casesOf({ seeds, faults: values.fault, exchanges: values.exchange, waits, afters });
  if (cases.length === 0 || seeds.some((seed) => !Number.isInteger(seed))) {
    process.stderr.write('There is nothing to play; --help says how to choose\n');
    return 2;
  }
  const startedMs = performance.now();
  const isSingle = cases.length === 1;
  const results = await onServer((server) => playAll({ server, cases, explain: isSingle }));
  results.sort((one, other) => orderOf(one) - orderOf(other) || one.seed - other.seed);
  process.stderr.write('\n');
  if (values.json) for (const result of results) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${toTable(results)}\n`);
  const broken = results.filter(({ violations }) => violations.length > 0);
  for (const result of isSingle ? results : broken) {
    const { violations, story } = result;
    process.stdout.write(`\n${replayOf(result)}\n${violations.map((text) => `  ${text}\n`).join('')}`);
    if (isSingle) process.stdout.write(`\n${story?.join('\n')}\n`);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const calls = median(results.flatMap(({ callsPerOrder }) => callsPerOrder)).toFixed(1);
  process.stderr.write(
    `\n${results.length} runs in ${seconds} s, ${broken.length} with violations, ` +
      `${results.filter(({ died }) => died).length} with a crash, ` +
      `${results.filter(({ overHttp }) => overHttp).length} over HTTP, ${calls} calls an order (median)\n`,
  );
  return broken.length === 0 ? 0 : 1;
}

function orderOf({ fault, exchange, waits }: CaseResult): number {
  return MATRIX_FAULTS.indexOf(fault) * 10 + WAITS.indexOf(waits) * 3 + SUITE_DIALECTS.indexOf(exchange);
}

/** Runs `work` on a PostgreSQL in a temporary folder. */
async function onServer<Result>(work: (server: ServerConnection) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-fault-matrix-'));
  const log = createLog({ level: 'warn' });
  const server = await startEmbedded({ dataDir: folder, log, settings: FAST });
  try {
    await migrateDatabase({ connection: server.connection, log });
    return await work(server.connection);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uses one process per processor. Cases of one exchange and seed share a control run, so they run in one process. */
async function playAll({ server, cases, explain }: Task): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const groups = [...Map.groupBy(cases, ({ exchange, seed }) => `${exchange} ${seed}`).values()];
  const workers = Math.min(availableParallelism(), groups.length);
  const shares = Array.from({ length: workers }, (_, worker) =>
    groups.filter((_group, index) => index % workers === worker).flat(),
  );
  function note(result: CaseResult): void {
    results.push(result);
    const [violation] = result.violations;
    if (violation !== undefined) process.stderr.write(`\r${replayOf(result)}: ${violation}\n`);
    if (results.length % 20 > 0 && results.length < cases.length) return;
    const broken = results.filter(({ violations }) => violations.length > 0).length;
    process.stderr.write(`\r${results.length} of ${cases.length} runs, ${broken} with violations `);
  }
  await Promise.all(
    shares.map(async (share) => {
      const child = fork(join(import.meta.dirname, 'worker.ts'));
      children.add(child);
      child.on('message', (result) => note(result as CaseResult));
      child.send({ server, cases: share, explain } satisfies Task);
      const [code] = await once(child, 'exit');
      children.delete(child);
      if (code !== 0) throw new Error(`a process of the matrix ended with ${code}`);
    }),
  );
  return results;
}

/** The results as a table with a row for each fault, its waits and exchange. */
function toTable(results: readonly CaseResult[]): string {
  const rows = Map.groupBy(results, ({ fault, exchange, waits }) => `${fault} ${exchange} ${waits}`);
  const head = [
    'fault',
    'waits',
    'exchange',
    'runs',
    'violations',
    'median calls',
    'the struck user',
    'after the entry',
  ];
  const lines = [...rows.values()].map(cellsOf);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf(cases: CaseResult[]): string[] {
  return [
    cases[0]?.fault ?? '',
    cases[0]?.waits ?? '',
    cases[0]?.exchange ?? '',
    String(cases.length),
    String(cases.flatMap(({ violations }) => violations).length),
    median(cases.flatMap(({ callsPerOrder }) => callsPerOrder)).toFixed(1),
    counts(cases.map(({ outcome }) => outcome)),
    counts(cases.map(({ exit }) => exit)),
  ];
}

function counts(words: string[]): string {
  return [...Map.groupBy(words, (word) => word)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([word, { length }]) => `${word} ${length}`)
    .join(', ');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function replayOf({ fault, exchange, seed, waits, after }: MatrixCase): string {
  return `npm run fault-matrix -- --fault ${fault} --exchange '${exchange}' --seed ${seed} --waits ${waits} --after ${after}`;
}
