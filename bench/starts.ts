import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BenchResult, createFigures } from './figures.ts';

const START = fileURLToPath(new URL('../scripts/start.mjs', import.meta.url));
const ROUNDS = 3;
const LIMIT_MS = 60_000;

/** `npm start` until it is ready: on an empty data folder, and again on the same one. */
export async function benchStarts(say: (line: string) => void): Promise<BenchResult> {
  const figures = createFigures();
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`starts: round ${round} of ${ROUNDS}`);
    const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-bench-'));
    try {
      for (const name of ['first start, empty data folder', 'second start, same folder']) {
        const { readyMs, stopMs } = await startOnce(dataDir);
        figures.add(name, 'ms', readyMs);
        figures.add('stop, until the process has ended', 'ms', stopMs);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  return {
    bench: 'starts',
    about: 'From the command of npm start to the first 200 of /readyz, with packages and web in place',
    figures: figures.all(),
    notes: [
      'The first start makes the database, its tables and the first administrator. Files are in the page cache and compiled code is in the compile cache, as after any earlier start on the machine.',
    ],
  };
}

let running: ChildProcess | null = null;

/** For an interruption. */
export async function stopStarted(): Promise<void> {
  if (running === null || running.exitCode !== null) return;
  running.kill('SIGTERM');
  await once(running, 'exit');
}

async function startOnce(dataDir: string): Promise<{ readyMs: number; stopMs: number }> {
  const port = await freePort();
  const own = {
    DATA_DIR: dataDir,
    PORT: String(port),
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: 'of the benchmark',
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [START], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DATABASE_URL: '', EXCHANGE_MODE: 'paper', LOG_LEVEL: 'warn', ...own },
  });
  running = child;
  const exit = once(child, 'exit');
  try {
    await waitUntilReady(child, port);
    const readyMs = performance.now() - startedAt;
    const stopAt = performance.now();
    child.kill('SIGTERM');
    await exit;
    return { readyMs, stopMs: performance.now() - stopAt };
  } finally {
    if (child.exitCode === null) child.kill('SIGTERM');
    await exit;
  }
}

async function waitUntilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (ready) return;
    await sleep(10);
  }
  throw new Error(`npm start was not ready within ${LIMIT_MS} ms`);
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
