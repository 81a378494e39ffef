import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { binaryPath, packagedPostgres } from '#server/platform/db/embedded-binaries.ts';
import { openSocketFolder } from '#server/platform/db/embedded-folders.ts';
import { commandOf, findInstallation, ownerOf } from '#server/platform/db/embedded-runner.ts';
import type { BenchContext } from './bench.ts';
import { atInterruption, requireRunning } from './cleanup.ts';
import { type BenchResult, createFigures } from './figures.ts';

const START = fileURLToPath(new URL('../scripts/start.mjs', import.meta.url));
const LIMIT_MS = 60_000;
const BARE_SERVER = `require('node:http').createServer((_, response) => response.end('{}')).listen(Number(process.argv[1]), '127.0.0.1')`;

/** `npm start` until it is ready, beside what Node and PostgreSQL need to start by themselves. */
export async function benchStarts({ say, short }: BenchContext): Promise<BenchResult> {
  const rounds = short ? 1 : 5;
  const figures = createFigures();
  for (let round = 1; round <= rounds; round += 1) {
    say(`starts: round ${round} of ${rounds}`);
    const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-bench-'));
    const forget = atInterruption(() => rm(dataDir, { recursive: true, force: true }));
    try {
      const first = await startOnce(dataDir);
      const second = await startOnce(dataDir);
      const nodeMs = await startBareServer();
      const databaseMs = await startDatabase(dataDir);
      figures.add('first start, empty data folder', 'ms', first.readyMs);
      figures.add('second start, same folder', 'ms', second.readyMs);
      figures.add('a bare node:http server', 'ms', nodeMs);
      figures.add('the database by itself', 'ms', databaseMs);
      figures.add('second start to both together', '×', second.readyMs / (nodeMs + databaseMs), { most: 2 });
      for (const { stopMs } of [first, second])
        figures.add('stop, until the process has ended', 'ms', stopMs);
    } finally {
      forget();
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  return {
    bench: 'starts',
    about: 'From the command of npm start to the first 200 of /readyz, with packages and web in place',
    figures: figures.all(),
    notes: [
      'The first start makes the database, its tables and the first administrator. Files are in the page cache and compiled code is in the compile cache, as after any earlier start on the machine.',
      'By themselves: node from its command to its first answer, and the same PostgreSQL on the same data folder from its command to its first answer to a query, one after the other.',
    ],
  };
}

async function startOnce(dataDir: string): Promise<{ readyMs: number; stopMs: number }> {
  const port = await freePort();
  const own = {
    DATA_DIR: dataDir,
    PORT: String(port),
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: 'of the benchmark',
  };
  const env = { ...process.env, DATABASE_URL: '', EXCHANGE_MODE: 'paper', LOG_LEVEL: 'warn', ...own };
  return timeStart({
    start: () => spawn(process.execPath, [START], { stdio: ['ignore', 'ignore', 'inherit'], env }),
    answers: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200,
  });
}

async function startBareServer(): Promise<number> {
  const port = await freePort();
  const { readyMs } = await timeStart({
    start: () => spawn(process.execPath, ['-e', BARE_SERVER, String(port)], { stdio: 'ignore' }),
    answers: async () => (await fetch(`http://127.0.0.1:${port}/`)).ok,
  });
  return readyMs;
}

async function startDatabase(dataDir: string): Promise<number> {
  const cluster = join(dataDir, 'postgres');
  const { runner, native } = await findInstallation({ native: packagedPostgres(), dataDir, folder: cluster });
  const host = await openSocketFolder({ dataDir, owner: ownerOf(runner) });
  try {
    const settings = ['listen_addresses=', `unix_socket_directories=${host}`].flatMap((one) => ['-c', one]);
    const command = commandOf(runner, binaryPath(native, 'postgres'), ['-D', cluster, ...settings]);
    const { readyMs } = await timeStart({
      start: () =>
        spawn(command.file, command.args, { stdio: 'ignore', cwd: dataDir, env: {}, ...command.identity }),
      answers: () => canQuery(host),
      signal: 'SIGINT',
    });
    return readyMs;
  } finally {
    await rm(host, { recursive: true, force: true });
  }
}

async function canQuery(host: string): Promise<boolean> {
  const client = new pg.Client({ host, user: 'postgres', database: 'signal_board', ssl: false });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}

async function timeStart(options: {
  start: () => ChildProcess;
  answers: () => Promise<boolean>;
  /** What ends it. */
  signal?: NodeJS.Signals;
}): Promise<{ readyMs: number; stopMs: number }> {
  const { start, answers, signal = 'SIGTERM' } = options;
  requireRunning();
  const startedAt = performance.now();
  const child = start();
  const exit = once(child, 'exit');
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exit;
  };
  const forget = atInterruption(end);
  try {
    await waitUntil(child, answers);
    const readyMs = performance.now() - startedAt;
    const stopAt = performance.now();
    await end();
    return { readyMs, stopMs: performance.now() - stopAt };
  } finally {
    forget();
    await end();
  }
}

async function waitUntil(child: ChildProcess, answers: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    if (await answers().catch(() => false)) return;
    await sleep(5);
  }
  throw new Error(`${child.spawnfile} did not answer within ${LIMIT_MS} ms`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}
