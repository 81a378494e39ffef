import { join } from 'node:path';
import pg from 'pg';
import { ensureHookKey, type ProgramClient, signIn } from '#demo/program-client.ts';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { findPostmaster, type Postmaster } from '#server/platform/db/embedded-postmaster.ts';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { startFaultPostgres } from '#test/faults/postgres.ts';
import { atInterruption, requireRunning } from './cleanup.ts';
import { cpuSeconds, processTree } from './processes.ts';

/** The real program as a process of its own, on a new embedded database. */
export interface Program {
  server: TestServerProcess;
  /** Signed in as the administrator. */
  client: ProgramClient;
  hookKey: string;
  postmaster: Postmaster;
}

/** Runs `work` against a program that is started for it and goes away with it. */
export async function withProgram<Result>(
  env: Record<string, string>,
  work: (program: Program) => Promise<Result>,
): Promise<Result> {
  requireRunning();
  const starting = startServerProcess({ env: { LOG_LEVEL: 'warn', ...env } });
  // Remembered before it is there: an interrupted start has its processes already.
  const forget = atInterruption(async () => (await starting).stop());
  const server = await starting;
  try {
    const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
    if (postmaster === null) throw new Error('The embedded database is not running');
    return await work({ server, postmaster, ...(await enter(server)) });
  } finally {
    forget();
    await server.stop();
  }
}

async function enter(server: TestServerProcess): Promise<Pick<Program, 'client' | 'hookKey'>> {
  const { url, adminUsername: username, adminPassword: password } = server;
  const client = await signIn({ url, username, password });
  return { client, hookKey: await ensureHookKey({ client, password }) };
}

export interface Cluster {
  programs: TestServerProcess[];
  /** Signed in as the administrator at the first one. */
  client: ProgramClient;
  hookKey: string;
  postmaster: Postmaster;
  /** Starts one more on the same database. */
  addProgram(): Promise<TestServerProcess>;
  /** Ends the one that was added last. */
  removeProgram(): Promise<void>;
}

/** Runs `work` against several programs on one PostgreSQL of their own, which is set up as an operator's would be. */
export async function withCluster<Result>(
  options: { instances: number; env: Record<string, string> },
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  requireRunning();
  const starting: Promise<TestServerProcess>[] = [];
  const programs: TestServerProcess[] = [];
  const startingPostgres = startFaultPostgres({ settings: ['max_connections=200'] });
  async function close() {
    await Promise.allSettled(starting.map(async (program) => (await program).stop()));
    await (await startingPostgres).close();
  }
  const forget = atInterruption(close);
  const postgres = await startingPostgres;
  async function addProgram(): Promise<TestServerProcess> {
    requireRunning();
    const added = startServerProcess({
      env: {
        LOG_LEVEL: 'warn',
        SECRET_KEY: 'the secret of a benchmark, long enough',
        INSTANCE_ID: `instance-${programs.length + 1}`,
        DATABASE_URL: databaseUrl(postgres.connection),
        ...options.env,
      },
    });
    starting.push(added);
    const program = await added;
    programs.push(program);
    return program;
  }
  async function removeProgram(): Promise<void> {
    await programs.pop()?.stop();
  }
  try {
    const first = await addProgram();
    while (programs.length < options.instances) await addProgram();
    const postmaster = await findMaster(postgres.connection);
    return await work({ programs, addProgram, removeProgram, postmaster, ...(await enter(first)) });
  } finally {
    forget();
    await close();
  }
}

async function findMaster({ host, port }: ServerConnection): Promise<Postmaster> {
  const where = { pid: 0, host, port };
  const pid = await withDatabase({ postmaster: where, database: 'postgres' }, async (client) => {
    const { rows } = await client.query<{ file: string }>(
      `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as file`,
    );
    return Number(rows[0]?.file);
  });
  return { ...where, pid };
}

/** As DATABASE_URL takes it: over the socket, whose folder no host name can be. */
export const databaseUrl = ({ host, port }: Pick<Postmaster, 'host' | 'port'>, database = 'signal_board') =>
  `postgres://postgres@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

/** Runs `work` with a connection to a database of the program's server. */
export async function withDatabase<Result>(
  { postmaster, database = 'signal_board' }: { postmaster: Postmaster; database?: string },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { host, port } = postmaster;
  const client = new pg.Client({ host, port, user: 'postgres', database, ssl: false });
  // A server that ends meanwhile fails the next query; by itself it must not end the run.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function count({ postmaster }: Pick<Program, 'postmaster'>, query: string): Promise<number> {
  return withDatabase({ postmaster }, async (client) => {
    const { rows } = await client.query<{ count: string }>(query);
    return Number(rows[0]?.count ?? 0);
  });
}

export function pidOf({ child }: Pick<TestServerProcess, 'child'>): number {
  if (child.pid === undefined) throw new Error('The program has no process');
  return child.pid;
}

/** Seconds so far; unlike a rate it hardly depends on what else the machine is doing. Null where there is no /proc. */
export async function cpuUsed(
  programs: readonly Pick<TestServerProcess, 'child'>[],
  postmaster: Postmaster,
): Promise<{ program: number; database: number } | null> {
  if (process.platform !== 'linux') return null;
  return {
    program: await cpuSeconds(programs.map(pidOf)),
    database: await cpuSeconds(await processTree(postmaster.pid)),
  };
}
