import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { ensureHookKey, type ProgramClient, signIn } from '#demo/program-client.ts';
import { findPostmaster, type Postmaster } from '#server/platform/db/embedded-postmaster.ts';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { type FaultPostgres, startFaultPostgres } from '#test/faults/postgres.ts';
import type { BenchContext } from './figures.ts';

const MIB = 1024 ** 2;
/** The unit of /proc/<pid>/stat: the kernel's USER_HZ, the same on every supported architecture. */
const TICKS_PER_SECOND = 100;

type Undo = () => unknown;
const undos = new Set<Undo>();
let isInterrupted = false;

/** Registers an undo for an interruption of the run; returns a function that unregisters it. */
export function atInterruption(undo: Undo): () => void {
  undos.add(undo);
  return () => undos.delete(undo);
}

/** Call before starting anything: an interrupted run would leave it behind. */
export function requireRunning(): void {
  if (isInterrupted) throw new Error('The run was interrupted');
}

/** Runs all undos, the newest first; a failed one does not stop the others. */
export async function cleanUp(): Promise<void> {
  isInterrupted = true;
  for (let last = [...undos].at(-1); last !== undefined; last = [...undos].at(-1)) {
    undos.delete(last);
    await Promise.resolve()
      .then(last)
      .catch(() => {});
  }
}

/** Opens a resource, runs `work` with it and closes it, even when the run is interrupted while it opens. */
export async function withResource<Resource, Result>(
  { open, close }: { open: () => Promise<Resource>; close: (resource: Resource) => unknown },
  work: (resource: Resource) => Promise<Result>,
): Promise<Result> {
  requireRunning();
  const opening = open();
  let closing: Promise<unknown> | null = null;
  function undo(): Promise<unknown> {
    closing ??= opening.then(close);
    return closing;
  }
  const forget = atInterruption(undo);
  try {
    return await work(await opening);
  } finally {
    forget();
    await undo();
  }
}

export const withFolder = <Result>(work: (folder: string) => Promise<Result>): Promise<Result> =>
  withResource(
    {
      open: () => mkdtemp(join(tmpdir(), 'signal-board-bench-')),
      close: (folder) => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
    },
    work,
  );

/** Runs a program to its end and returns what it printed. Throws when it fails or exceeds its limit. */
export async function runChild(
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; limitMs: number },
): Promise<string> {
  requireRunning();
  const env = { ...process.env, ...options.env };
  const running = promisify(execFile)(file, args, { env, timeout: options.limitMs, maxBuffer: 64 * MIB });
  const forget = atInterruption(async () => {
    running.child.kill();
    await running;
  });
  try {
    return (await running).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`);
  } finally {
    forget();
  }
}

const BASELINES = fileURLToPath(new URL('baselines.ts', import.meta.url));

/** Node's arguments for one of `baselines.ts`. */
export const baseline = (name: string, ...args: string[]) => [
  '--disable-warning=ExperimentalWarning',
  BASELINES,
  name,
  ...args,
];

/** Node's arguments for a server that answers 200 with as many bytes as a delivery's answer. The port comes next. */
export const BARE_SERVER = [
  '-e',
  `const answer = JSON.stringify({ success: true, id: '01980000-0000-7000-8000-000000000000', duplicate: false });
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };
  const server = require('node:http').createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => response.writeHead(200, headers).end(Buffer.concat(parts) && answer));
  });
  server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`,
];

/** Runs `work` beside a Node process that prints its URL as the first line of output. */
export function withServer<Result>(
  { args, env = {} }: { args: readonly string[]; env?: Record<string, string> },
  work: (server: { url: string; pid: number }) => Promise<Result>,
): Promise<Result> {
  async function open() {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${args.join(' ')} ended with ${code}`);
    });
    const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    return { child, url: String(url), pid: child.pid ?? 0 };
  }
  return withResource({ open, close: ({ child }) => child.kill('SIGKILL') }, work);
}

/** The real program in its own process on a new embedded database. */
export interface Program {
  server: TestServerProcess;
  /** Signed in as the administrator. */
  client: ProgramClient;
  hookKey: string;
  postmaster: Postmaster;
}

/** Accepts any number of signals; trading is off unless a benchmark turns it on. */
export const UNLIMITED = { AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' };

/** Starts a program, runs `work` against it and removes it. */
export function withProgram<Result>(
  env: Record<string, string>,
  work: (program: Program) => Promise<Result>,
): Promise<Result> {
  const open = () => startServerProcess({ env: { LOG_LEVEL: 'warn', ...env } });
  return withResource({ open, close: (server) => server.stop() }, async (server) => {
    const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
    if (postmaster === null) throw new Error('The embedded database is not running');
    return work({ server, postmaster, ...(await enter(server)) });
  });
}

async function enter(server: TestServerProcess): Promise<Pick<Program, 'client' | 'hookKey'>> {
  const { url, adminUsername: username, adminPassword: password } = server;
  const client = await signIn({ url, username, password });
  return { client, hookKey: await ensureHookKey({ client, password }) };
}

/** Several programs on one new PostgreSQL, set up as an operator would. */
export interface Cluster extends Omit<Program, 'server'> {
  programs: TestServerProcess[];
  /** Starts instances, or stops the newest ones, until this number runs. */
  resize(instances: number): Promise<void>;
}

export function withCluster<Result>(
  options: {
    instances: number;
    /** `number`: of the instance, from 1. */
    env: (number: number) => Record<string, string>;
    settings?: readonly string[];
  },
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const { instances, env, settings = [] } = options;
  const open = () => startFaultPostgres({ settings: ['max_connections=200', ...settings] });
  const starting: Promise<TestServerProcess>[] = [];
  async function close(postgres: FaultPostgres): Promise<void> {
    await Promise.allSettled(starting.map(async (program) => (await program).stop()));
    await postgres.close();
  }
  return withResource({ open, close }, async ({ connection }) => {
    const programs: TestServerProcess[] = [];
    async function resize(wanted: number): Promise<void> {
      while (programs.length > wanted) await programs.pop()?.stop();
      while (programs.length < wanted) {
        requireRunning();
        const number = programs.length + 1;
        const own = {
          LOG_LEVEL: 'warn',
          SECRET_KEY: 'the secret of a benchmark, long enough',
          INSTANCE_ID: `instance-${number}`,
          DATABASE_URL: databaseUrl(connection),
        };
        const program = startServerProcess({ env: { ...own, ...env(number) } });
        starting.push(program);
        programs.push(await program);
      }
    }
    await resize(instances);
    const [first] = programs;
    if (first === undefined) throw new Error('A cluster needs an instance');
    const postmaster = { ...connection, pid: 0 };
    const file = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as count`;
    postmaster.pid = await count({ postmaster }, file);
    return work({ programs, resize, postmaster, ...(await enter(first)) });
  });
}

/** A value for DATABASE_URL that connects over the socket; its folder cannot be the host name of a URL. */
export const databaseUrl = ({ host, port }: Pick<Postmaster, 'host' | 'port'>, database = 'signal_board') =>
  `postgres://postgres@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

/** Runs `work` with a connection to a database of the program's server. */
export async function withDatabase<Result>(
  { postmaster, database = 'signal_board' }: { postmaster: Postmaster; database?: string },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { host, port } = postmaster;
  const client = new pg.Client({ host, port, user: 'postgres', database, ssl: false });
  // If the server ends, the next query fails; without a listener this event would end the run.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The number that a query selects as `count`. */
export function count({ postmaster }: Pick<Program, 'postmaster'>, query: string): Promise<number> {
  return withDatabase({ postmaster }, async (client) => {
    const { rows } = await client.query<{ count: string }>(query);
    return Number(rows[0]?.count ?? 0);
  });
}

export const pidOf = ({ child }: Pick<TestServerProcess, 'child'>): number => child.pid ?? 0;

/** A process and all its descendants. */
export async function processTree(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    parents.set(pid, Number((await readStat(pid))[1] ?? 0));
  }
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  }
  return tree;
}

/** The fields of /proc/<pid>/stat from the third on: the process name before them may contain any character. */
async function readStat(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Memory of the processes in MB as proportional set size, so shared pages count once. Null without /proc. */
export async function memoryMb(pids: readonly number[]): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  let kib = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kib += Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? 0);
  }
  return kib / 1024;
}

/** Processor time used by the processes and the children that they waited for. Null without /proc. */
export async function cpuSeconds(pids: readonly number[]): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const stats = await Promise.all(pids.map(readStat));
  const ticks = stats.flatMap((fields) => fields.slice(11, 15)).map(Number);
  return ticks.reduce((total, one) => total + one, 0) / TICKS_PER_SECOND;
}

/** Processor time; unlike a rate, it hardly depends on other load of the machine. */
export interface ProcessorTime {
  program: number | null;
  database: number | null;
}

/** Runs `work` and measures the processor time that the programs and their database use during it. */
export async function withProcessorTime<Result>(
  { servers, postmaster }: Pick<Program, 'postmaster'> & { servers: readonly Program['server'][] },
  work: () => Promise<Result>,
): Promise<{ result: Result; used: ProcessorTime }> {
  const read = async () => ({
    program: await cpuSeconds(servers.map(pidOf)),
    database: process.platform === 'linux' ? await cpuSeconds(await processTree(postmaster.pid)) : null,
  });
  const before = await read();
  const result = await work();
  const after = await read();
  const since = (part: keyof ProcessorTime) =>
    after[part] === null || before[part] === null ? null : after[part] - before[part];
  return { result, used: { program: since('program'), database: since('database') } };
}

/** Milliseconds for each item. */
export const millisecondsEach = (seconds: number | null, items: number): number | null =>
  seconds === null ? null : (1000 * seconds) / items;

/** Measures several rounds, each with a new program. */
export async function inRounds(
  { say }: Pick<BenchContext, 'say'>,
  { rounds, env }: { rounds: number; env: Record<string, string> },
  measureRound: (program: Program) => Promise<void>,
): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    await withProgram(env, measureRound);
  }
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Polls until the answer is true. */
export async function waitUntil(
  isTrue: () => Promise<boolean>,
  { what, limitMs, everyMs }: { what: string; limitMs: number; everyMs: number },
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`Timed out after ${limitMs} ms: ${what}`);
    await sleep(everyMs);
  }
}

export interface Repeated {
  /** Resolves when the current step has ended. Rejects with the error of a step. */
  stop(): Promise<void>;
  /** Never resolves; rejects with the error of a step. */
  failed: Promise<never>;
}

/** Repeats a step sequentially until stopped. */
export function repeat(step: (number: number) => Promise<unknown>): Repeated {
  let isStopped = false;
  async function run(): Promise<void> {
    for (let number = 0; !isStopped; number += 1) await step(number);
  }
  const running = run();
  const failed = new Promise<never>((_resolve, reject) => void running.catch(reject));
  failed.catch(() => {});
  return {
    failed,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
