import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedServer, type ServerConnection, startEmbedded } from '#server/platform/db/embedded.ts';
import { findPostmaster, isAlive, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { createLog } from '#server/platform/log.ts';

const STOP_LIMIT_MS = 30_000;

/** Named as those of the other tests, so that the next run of any of them clears away what a killed one left. */
export const newFolder = (): Promise<string> =>
  mkdtemp(join(tmpdir(), `signal-board-tests-${process.pid}-faults-`));

/** A PostgreSQL server of the harness: what DATABASE_URL names, and what is killed under the program. */
export interface FaultPostgres {
  connection: ServerConnection;
  /** Ends it as a power cut would; its own processes follow at once. */
  kill9(): Promise<void>;
  /** A clean, fast stop: sessions are ended, nothing needs recovery. */
  stop(): Promise<void>;
  /** Starts it again at the same address; resolves when it answers. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** The settings are the server's own unless given: what a test promises rests on fsync as users have it. */
export async function startFaultPostgres(
  options: { settings?: readonly string[] } = {},
): Promise<FaultPostgres> {
  const dataDir = await newFolder();
  const server: EmbeddedServer = await startEmbedded({
    dataDir,
    log: createLog({ level: 'silent' }),
    settings: options.settings ?? [],
  }).catch(async (error: unknown) => {
    // Interrupted while it started: nobody else knows of the folder.
    await removeDataDir(dataDir);
    throw error;
  });
  let isClosed = false;
  return {
    connection: server.connection,
    kill9: () => killPostmaster(dataDir),
    async stop() {
      const running = await findPostmaster(join(dataDir, 'postgres'));
      if (running === null) return;
      if (!(await stopPostmaster({ pid: running.pid, waitMs: STOP_LIMIT_MS }))) {
        throw new Error('PostgreSQL did not stop in time');
      }
    },
    async start() {
      if (isClosed) throw new Error('it is closed');
      await server.ensureRunning();
    },
    async close() {
      isClosed = true;
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Kills the embedded server of a data folder, whoever started it. */
export async function killPostmaster(dataDir: string): Promise<void> {
  const running = await findPostmaster(join(dataDir, 'postgres'));
  if (running === null) return;
  process.kill(running.pid, 'SIGKILL');
  while (isAlive(running.pid)) await sleep(5);
}

/** With the server that may still run in it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const running = await findPostmaster(join(dataDir, 'postgres'));
  if (running) {
    await stopPostmaster({ pid: running.pid, waitMs: 15_000 });
    await rm(running.host, { recursive: true, force: true });
  }
  await rm(dataDir, { recursive: true, force: true });
}
