import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type ServerConnection, startEmbedded } from '#server/platform/db/embedded.ts';
import { findPostmaster, isAlive, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createJobs } from '#server/platform/jobs/jobs.ts';
import { createLog, type Logger } from '#server/platform/log.ts';
import { ensureServerBuilt } from '../scripts/lib/builds.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL of the run; its database is the template that `createTestDatabase` clones. */
    testServer: ServerConnection;
  }
}

/** Less than Vitest's limit for teardown. */
const STOP_LIMIT_MS = 8_000;
const PREFIX = 'signal-board-tests-';
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  // The workers, two for each core, keep the connections of their databases.
  `max_connections=${200 * availableParallelism()}`,
  // What it has done by then decides on plans, and would differ from run to run.
  'autovacuum=off',
  // One plan for each statement and connection; otherwise the first five times would be planned anew.
  'plan_cache_mode=force_generic_plan',
];

/** Builds the current program and starts one PostgreSQL for the run, in a folder removed at its end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureServerBuilt(process.execPath);
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const log = createLog({ level: 'warn' });
  const server = await startEmbedded({ dataDir: folder, log, settings: SETTINGS });
  await migrateDatabase({ connection: server.connection, log });
  await createJobQueues(server.connection, log);
  project.provide('testServer', server.connection);
  return () => discard(folder);
}

/** Every program would create the tables of the queues itself, in each of the copies. */
async function createJobQueues(connection: ServerConnection, log: Logger): Promise<void> {
  const database = openPool({ connection, log });
  const jobs = await createJobs({ database, log });
  await jobs.stop();
  await database.close();
}

/** Removes the folders of killed runs. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    await discard(join(tmpdir(), name));
  }
}

/**
 * Skips the checkpoint of a clean stop: writing the tables of a whole run can take minutes on a busy machine.
 */
async function discard(folder: string): Promise<void> {
  const server = await findPostmaster(join(folder, 'postgres'));
  if (server) {
    const { pid } = server;
    const isGone = await stopPostmaster({ pid, waitMs: STOP_LIMIT_MS, discards: true });
    if (!isGone) throw new Error(`The test database (process ${pid}) does not stop`);
    await rm(server.host, { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
