import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findPostmaster, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { programArguments } from '../../scripts/lib/builds.mjs';

/** The program as it was built, which is what its users run. */
export const PROGRAM = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const COMPILE_CACHE = fileURLToPath(new URL('../../.cache/node', import.meta.url));
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;

interface RunningProgram {
  child: ChildProcess;
  /** What it has printed so far, standard output and errors together. */
  output(): string;
  /** Resolves with the exit code; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Resolves with the address that it listens at; rejects when it ends or takes too long. */
  listening(): Promise<string>;
}

/** Starts the program. Settings of this machine and a `.env` of the project do not reach it. */
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

/** Stops the database server that may still run in a data folder. */
export async function stopDatabase(dataDir: string): Promise<void> {
  const database = await findPostmaster(join(dataDir, 'postgres'));
  if (database === null) return;
  await stopPostmaster({ pid: database.pid, waitMs: STOP_LIMIT_MS });
  await rm(database.host, { recursive: true, force: true });
}

export interface TestServerProcess extends Pick<RunningProgram, 'child' | 'output'> {
  /** The origin, without a slash at the end. */
  url: string;
  adminUsername: string;
  adminPassword: string;
  dataDir: string;
  /** Asks the program to end, waits for it, and returns its exit code. Removes its data folder, unless it was given. */
  stop(): Promise<number | null>;
  /** Kills the program: its database lives on, and the data folder stays for the next start. */
  kill9(): Promise<void>;
}

/** The real program on a free port, with a data folder of its own unless one is given. */
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
