import { join } from 'node:path';
import pg from 'pg';
import { findPostmaster, type Postmaster } from '#server/platform/database/embedded-postmaster.ts';
import { startServerProcess, type TestServerProcess } from '#test/test-server-process.ts';
import { type ProgramClient, signIn } from '../scripts/demo/program-client.ts';
import { ensureHookKey } from '../scripts/demo/set-up.ts';

/** The real program as a process of its own, on a new embedded database. */
export interface Program {
  server: TestServerProcess;
  /** Signed in as the administrator. */
  client: ProgramClient;
  hookKey: string;
  postmaster: Postmaster;
}

const running = new Set<TestServerProcess>();

/** Runs `work` against a program that is started for it and goes away with it. */
export async function withProgram<Result>(
  env: Record<string, string>,
  work: (program: Program) => Promise<Result>,
): Promise<Result> {
  const server = await startServerProcess({ env: { LOG_LEVEL: 'warn', ...env } });
  running.add(server);
  try {
    const { url, adminUsername: username, adminPassword: password } = server;
    const client = await signIn({ url, username, password });
    const hookKey = await ensureHookKey({ client, password });
    const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
    if (postmaster === null) throw new Error('The embedded database is not running');
    return await work({ server, client, hookKey, postmaster });
  } finally {
    running.delete(server);
    await server.stop();
  }
}

/** For an interruption: no program and no database stays behind. */
export async function stopPrograms(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

/** Runs `work` with a connection to a database of the program's server. */
export async function withDatabase<Result>(
  { postmaster, database = 'signal_board' }: { postmaster: Postmaster; database?: string },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { host, port } = postmaster;
  const client = new pg.Client({ host, port, user: 'postgres', database, ssl: false });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
