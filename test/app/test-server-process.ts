import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findPostmaster, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { programArguments } from '../../scripts/lib/builds.mjs';

const COMPILE_CACHE = fileURLToPath(new URL('../../.cache/node', import.meta.url));
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 15_000;

interface RunningProgram {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Standard output and errors so far. */
  output(): string;
  /** Resolves with the exit code; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Resolves with the program's URL; rejects when the program ends or takes too long to start. */
  listening(): Promise<string>;
}

/** Starts the program, isolated from settings of this machine and the project's `.env`. */
export function spawnProgram(options: {
  dataDir: string;
  env: Record<string, string>;
  args?: string[];
}): RunningProgram {
  const { dataDir, env, args = [] } = options;
  const child = spawn(process.execPath, [...programArguments, ...args], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      TMPDIR: tmpdir(),
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    child,
    output: () => output,
    ended: new Promise((resolve) => child.once('close', resolve)),
    async listening() {
      const deadline = Date.now() + START_LIMIT_MS;
      while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
        const address = /^ {2}Address +(http:\/\/\S+)/m.exec(output)?.[1];
        if (address) return address;
        await sleep(10);
      }
      throw new Error(`The program did not start:\n${output}`);
    },
  };
}

/** Stops the database server of a data folder if it still runs. */
export async function stopDatabase(dataDir: string): Promise<void> {
  const database = await findPostmaster(join(dataDir, 'postgres'));
  if (database === null) return;
  await stopPostmaster({ pid: database.pid, waitMs: STOP_LIMIT_MS });
  await rm(database.host, { recursive: true, force: true });
}

export interface TestServerProcess extends Pick<RunningProgram, 'child' | 'output'> {
  /** The origin without a trailing slash. */
  url: string;
  adminUsername: string;
  adminPassword: string;
  dataDir: string;
  /** Stops the program and returns its exit code. Removes the data folder unless the test passed one. */
  stop(): Promise<number | null>;
  /** Kills the program; its database keeps running, and the data folder stays for the next start. */
  kill9(): Promise<void>;
}

/** Starts the real program on a free port, with a new data folder unless one is passed. */
export async function startServerProcess(
  options: { env?: Record<string, string>; dataDir?: string; args?: string[] } = {},
): Promise<TestServerProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'signal-board-server-')));
  const administrator = { ADMIN_USERNAME: 'admin@example.com', ADMIN_PASSWORD: 'correct horse battery' };
  const env = { PORT: '0', ...administrator, ...options.env };
  const { child, output, ended, listening } = spawnProgram({
    dataDir,
    env,
    ...(options.args && { args: options.args }),
  });

  async function stop(): Promise<number | null> {
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    const code = await ended;
    clearTimeout(limit);
    await stopDatabase(dataDir);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    return code;
  }

  try {
    return {
      url: await listening(),
      adminUsername: env.ADMIN_USERNAME,
      adminPassword: administrator.ADMIN_PASSWORD,
      dataDir,
      child,
      output,
      stop,
      async kill9() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
