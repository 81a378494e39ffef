import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { EmbeddedServer } from './embedded.ts';
import { StartError } from './start-error.ts';

const LOCK_KEY = 5_128_311;
// A program that was told to end may still be ending when the next one is started.
const RELEASE_LIMIT_MS = 5_000;
const RESTART_LIMIT_MS = 20_000;

export interface InstanceLock {
  /** Ends the lock together with what it guarded; `stop` runs while it is still held. */
  releaseWith(stop: () => Promise<void>): Promise<void>;
}

/**
 * Holds the data folder for one program: a session lock in its database, on a connection of its own, which ends
 * with the program however it ends. The same connection notices at once when the database dies; it is then
 * started again. `onLost` is called when the data folder cannot be held any longer.
 */
export async function acquireInstanceLock(options: {
  server: EmbeddedServer;
  dataDir: string;
  log: Logger;
  onLost: (error: Error) => void;
}): Promise<InstanceLock> {
  const { server, dataDir, log, onLost } = options;
  let released = false;
  let client = await holdRunning();

  async function hold(): Promise<pg.Client> {
    const next = new pg.Client({ ...server.connection, application_name: 'signal-board lock', ssl: false });
    next.on('error', () => {});
    await next.connect();
    const deadline = Date.now() + RELEASE_LIMIT_MS;
    while (!(await tryLock(next))) {
      if (Date.now() > deadline) {
        await next.end();
        throw new StartError(
          `Signal Board is already running on ${dataDir}; stop it first, or choose another DATA_DIR`,
        );
      }
      await sleep(100);
    }
    next.once('end', () => void recover());
    return next;
  }

  // A program that is just ending takes the server with it; then it is started again.
  async function holdRunning(): Promise<pg.Client> {
    const deadline = Date.now() + RESTART_LIMIT_MS;
    for (;;) {
      try {
        return await hold();
      } catch (error) {
        if (error instanceof StartError || Date.now() > deadline) throw error;
        await sleep(100);
        await server.ensureRunning();
      }
    }
  }

  async function recover(): Promise<void> {
    if (released) return;
    log.error('the connection to the embedded database ended; starting it again');
    try {
      await server.ensureRunning();
      if (released) return;
      client = await holdRunning();
      log.info('the embedded database runs again');
    } catch (error) {
      if (!released) onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  return {
    async releaseWith(stop) {
      released = true;
      await stop();
      await client.end().catch(() => {});
    },
  };
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
    LOCK_KEY,
  ]);
  return rows[0]?.held === true;
}
