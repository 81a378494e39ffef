import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbedded } from '#server/platform/db/embedded.ts';
import { findPostmaster, isAlive, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { createLog } from '#server/platform/log.ts';
import { stopDatabase } from '../app/test-server-process.ts';

const STOP_LIMIT_MS = 30_000;

/** Named like the folders of other tests, so the next run removes the folders of a killed one. */
export const newFolder = (): Promise<string> =>
  mkdtemp(join(tmpdir(), `signal-board-tests-${process.pid}-faults-`));

export type FaultPostgres = Awaited<ReturnType<typeof startFaultPostgres>>;

/** A PostgreSQL server for DATABASE_URL. By default fsync is on, as for users, because durability depends on it. */
export async function startFaultPostgres(options: { settings?: readonly string[] } = {}) {
  const dataDir = await newFolder();
  const server = await startEmbedded({
    dataDir,
    log: createLog({ level: 'silent' }),
    settings: options.settings ?? [],
  }).catch(async (error: unknown) => {
    // When interrupted while starting, nothing else removes the folder.
    await removeDataDir(dataDir);
    throw error;
  });
  let isClosed = false;
  return {
    connection: server.connection,
    /** Kills the postmaster; its child processes end immediately after it. */
    kill9: () => killPostmaster(dataDir),
    /** A clean, fast stop: sessions are ended, nothing needs recovery. */
    async stop() {
      const running = await findPostmaster(join(dataDir, 'postgres'));
      if (running === null) return;
      if (!(await stopPostmaster({ pid: running.pid, waitMs: STOP_LIMIT_MS }))) {
        throw new Error('PostgreSQL did not stop in time');
      }
    },
    /** Restarts the server on the same port; resolves when it answers. */
    async start() {
      if (isClosed) throw new Error('the server is closed');
      await server.ensureRunning();
    },
    /** Stops the server and removes its data. */
    async close() {
      isClosed = true;
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Kills the embedded server of a data folder. */
export async function killPostmaster(dataDir: string): Promise<void> {
  const running = await findPostmaster(join(dataDir, 'postgres'));
  if (running === null) return;
  process.kill(running.pid, 'SIGKILL');
  while (isAlive(running.pid)) await sleep(5);
}

/** Removes a data folder after stopping a server that may still run in it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  await stopDatabase(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
