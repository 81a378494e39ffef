import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ServerConnection, startEmbedded } from '#server/platform/db/embedded.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { createLog } from '#server/platform/log.ts';
import { type Group, groupsOf } from './groups.ts';
import { MATRIX_FAULTS } from './matrix-faults.ts';
import { median, replayOf, toTable } from './report.ts';
import type { CaseResult } from './run-case.ts';

const HELP = `npm run fault-matrix [-- --seed N | --seeds N] [--fault NAME …] [--exchange NAME …] [--json]

Plays every fault of an exchange against the whole engine, several times over with different users, prices and
moments, and compares what the product says with the exchange's books. Without options: all of it, 20 seeds.

  --seed N         this seed alone, may be given several times; what a run does follows from seed, fault and exchange
  --seeds N        the seeds 1 to N
  --fault NAME     this fault alone, may be given several times
  --exchange NAME  Bitget or Bybit
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
  const seeds =
    values.seed.length > 0
      ? values.seed.map(Number)
      : Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
  const groups = groupsOf({ seeds, faults: values.fault, exchanges: values.exchange });
  if (groups.length === 0 || seeds.some((seed) => !Number.isInteger(seed))) {
    process.stderr.write('There is nothing to play; --help says how to choose\n');
    return 2;
  }
  const startedMs = performance.now();
  const isSingle = groups.length === 1 && groups[0]?.faults.length === 1;
  const results = await onServer((server) => playAll(server, groups, isSingle));
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

function orderOf({ fault, exchange }: CaseResult): number {
  return MATRIX_FAULTS.indexOf(fault) * 10 + (exchange === 'Bitget' ? 0 : 1);
}

/** A PostgreSQL for this matrix alone, in a folder that goes away with it. */
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

async function playAll(server: ServerConnection, groups: Group[], explain: boolean): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const left = [...groups];
  const total = groups.reduce((sum, { faults }) => sum + faults.length, 0);
  const workers = Math.min(availableParallelism(), groups.length);
  await Promise.all(
    Array.from({ length: workers }, async () => {
      const child = fork(join(import.meta.dirname, 'worker.ts'), [
        JSON.stringify(server),
        explain ? 'explain' : '',
      ]);
      children.add(child);
      child.on('message', (message: 'ready' | { result: CaseResult }) => {
        if (message === 'ready') {
          child.send(left.shift() ?? 'done');
          return;
        }
        results.push(message.result);
        if (message.result.violations.length > 0) {
          process.stderr.write(`\r${replayOf(message.result)}: ${message.result.violations[0]}\n`);
        }
        const broken = results.filter(({ violations }) => violations.length > 0).length;
        if (results.length % 20 === 0 || results.length === total) {
          process.stderr.write(`\r${results.length} of ${total} runs, ${broken} with violations `);
        }
      });
      const [code] = await once(child, 'exit');
      children.delete(child);
      if (code !== 0) throw new Error(`a process of the matrix ended with ${code}`);
    }),
  );
  return results;
}
