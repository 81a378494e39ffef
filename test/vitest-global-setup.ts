import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type ServerConnection, startEmbedded } from '#server/platform/database/embedded.ts';
import { findPostmaster, isAlive, stopPostmaster } from '#server/platform/database/embedded-postmaster.ts';
import { migrateDatabase } from '#server/platform/database/migrate.ts';
import { createLog } from '#server/platform/log.ts';
import { ensureServerBuilt } from '../scripts/lib/builds.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of the run; its database is the template that `createTestDatabase` clones. */
    testServer: ServerConnection;
  }
}

const PREFIX = 'signal-board-tests-';
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];

/** The program as it is now, and one PostgreSQL for the run, in a folder that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureServerBuilt(process.execPath);
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const log = createLog({ level: 'warn' });
  const server = await startEmbedded({ dataDir: folder, log, settings: SETTINGS });
  await migrateDatabase({ connection: server.connection, log });
  project.provide('testServer', server.connection);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** What a killed run left behind. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    const server = await findPostmaster(join(folder, 'postgres'));
    if (server) await stopPostmaster({ pid: server.pid, waitMs: 5_000 });
    await rm(folder, { recursive: true, force: true });
  }
}
