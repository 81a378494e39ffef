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
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;

export interface TestServerProcess {
  /** The origin, without a slash at the end. */
  url: string;
  adminUsername: string;
  adminPassword: string;
  dataDir: string;
  child: ChildProcess;
  /** Asks the program to end, waits for it, and answers its exit code. Its data folder goes away, unless it is given. */
  stop(): Promise<number | null>;
  /** Kills the program alone: its database lives on, and the data folder stays for the next start. */
  kill9(): Promise<void>;
  /** What it has printed so far, standard output and errors together. */
  output(): string;
}

/**
 * The real program on a free port, with a data folder of its own unless one is given. Settings of this machine
 * and a `.env` of the project do not reach it.
 */
export async function startServerProcess(
  options: { env?: Record<string, string>; dataDir?: string; args?: string[] } = {},
): Promise<TestServerProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'signal-board-server-')));
  const adminUsername = 'admin@example.com';
  const adminPassword = 'correct horse battery';
  const child = spawn(process.execPath, [...programArguments, ...(options.args ?? [])], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      TMPDIR: tmpdir(),
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      PORT: '0',
      DATA_DIR: dataDir,
      ADMIN_USERNAME: adminUsername,
      ADMIN_PASSWORD: adminPassword,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));

  async function clean(): Promise<void> {
    const database = await findPostmaster(join(dataDir, 'postgres'));
    if (database) {
      await stopPostmaster({ pid: database.pid, waitMs: STOP_LIMIT_MS });
      await rm(database.host, { recursive: true, force: true });
    }
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  }

  async function stop(): Promise<number | null> {
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    const code = await ended;
    clearTimeout(limit);
    await clean();
    return code;
  }

  try {
    const url = await waitForAddress({ output: () => output, child });
    return {
      url,
      adminUsername: options.env?.ADMIN_USERNAME ?? adminUsername,
      adminPassword: options.env?.ADMIN_PASSWORD ?? adminPassword,
      dataDir,
      child,
      stop,
      async kill9() {
        child.kill('SIGKILL');
        await ended;
      },
      output: () => output,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function waitForAddress(options: { output: () => string; child: ChildProcess }): Promise<string> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline && options.child.exitCode === null && options.child.signalCode === null) {
    const address = /^ {2}Address +(http:\/\/\S+)/m.exec(options.output())?.[1];
    if (address) return address;
    await sleep(20);
  }
  throw new Error(`The server did not start:\n${options.output()}`);
}
