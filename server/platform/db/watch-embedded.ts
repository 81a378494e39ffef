import pg from 'pg';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { EmbeddedServer } from './embedded.ts';

const RESTART_LIMIT_MS = 20_000;

/**
 * Notices immediately when the embedded database ends, through a separate connection, and starts it again. Calls
 * `onLost` when that fails.
 */
export async function watchEmbedded(options: {
  server: EmbeddedServer;
  log: Logger;
  clock: Clock;
  onLost: (error: Error) => void;
}): Promise<{ end(): Promise<void> }> {
  const { server, log, clock, onLost } = options;
  let isEnded = false;
  let client = await watch();

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client({ ...server.connection, application_name: 'signal-board watch', ssl: false });
    next.on('error', () => {});
    await next.connect();
    next.once('end', () => void recover());
    return next;
  }

  async function watch(): Promise<pg.Client> {
    const deadline = clock.monotonicMs() + RESTART_LIMIT_MS;
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (clock.monotonicMs() > deadline) throw error;
        await clock.sleep(100);
        await server.ensureRunning();
      }
    }
  }

  async function recover(): Promise<void> {
    if (isEnded) return;
    log.error('the connection to the embedded database ended; starting it again');
    try {
      await server.ensureRunning();
      if (isEnded) return;
      client = await watch();
      log.info('the embedded database runs again');
    } catch (error) {
      if (!isEnded) onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  return {
    async end() {
      isEnded = true;
      await client.end().catch(() => {});
    },
  };
}
