import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Config } from '../config/config.ts';
import type { Logger } from '../log.ts';
import { refuseBeforeBaseline } from './applied-migrations.ts';
import { closeDataFolder } from './close-data-folder.ts';
import type { Db } from './database.ts';
import { drizzleOver } from './drizzle-over.ts';
import { type ServerConnection, startEmbedded } from './embedded.ts';
import { openDataFolder } from './embedded-folders.ts';
import { lockFolder } from './folder-lock.ts';
import { acquireInstanceLock } from './instance-lock.ts';
import { createPreparingClient } from './preparing-client.ts';
import { SharedClient } from './shared-client.ts';
import { hasCode, StartError } from './start-error.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
// The server ends a statement by itself; what is silent for longer is a connection that nobody hears any more.
const ANSWER_TIMEOUT_MS = 12_000;
// A program that is gone without a word must not keep its locks; none of ours waits inside a transaction.
const IDLE_IN_TRANSACTION_MS = 15_000;
const KEEP_ALIVE_AFTER_MS = 5_000;
const CONNECTION_TIMEOUT_MS = 2_000;
const EXTERNAL_WAIT_MS = 30_000;
const POOL_CLOSE_LIMIT_MS = 3_000;
const MAX_CONNECTIONS = 8;
const MAX_ENGINE_CONNECTIONS = 12;
// One for each lane that stores deliveries (ingest/receive-delivery.ts).
const MAX_DELIVERY_CONNECTIONS = 8;
const OLDEST_VERSION = 140_000;

/** What a connection of one's own (a listener, the job queue) is opened with. */
export type DatabaseConnection = { connectionString: string } | ServerConnection;

export interface OpenDatabase {
  /** bigint and numeric come as strings, timestamptz as Date. */
  pool: pg.Pool;
  db: Db;
  /** For workflows and orders: over connections of their own, which prepare their statements. */
  engineDb: Db;
  /** For deliveries, which must wait neither for a screen's long list nor for a thousand orders. */
  deliveryDb: Db;
  connection: DatabaseConnection;
  embedded: boolean;
  /** Ends the connections and stops the embedded server. */
  close(): Promise<void>;
}

/**
 * Opens the configured database: the embedded one is started and held for this program alone, an external one is
 * waited for. Throws a StartError with one line for the operator, also for a database from before the baseline. `onLost`
 * hears of an embedded database that died and could not be started again.
 */
export async function openDatabase(options: {
  config: Pick<Config, 'databaseUrl' | 'dataDir'>;
  log: Logger;
  onLost?: (error: Error) => void;
  /** An embedded server is on its way, and there is nothing to do here until it answers. */
  onLaunched?: () => void;
}): Promise<OpenDatabase> {
  const { config, log, onLost = () => {}, onLaunched = () => {} } = options;
  if (config.databaseUrl !== null) {
    const connection = { connectionString: config.databaseUrl };
    await waitForServer({ connection, log });
    await refuseBeforeBaseline(connection, config);
    return openPool({ connection, log });
  }
  const dataDir = await openDataFolder(config.dataDir);
  const folder = await lockFolder(dataDir);
  let lost = false;
  const { server, lock } = await hold().catch((error: unknown) => {
    folder.release();
    throw error;
  });

  async function hold() {
    await closeDataFolder({ dataDir, log });
    const server = await startEmbedded({ dataDir: config.dataDir, log, onLaunched });
    const lock = await acquireInstanceLock({
      server,
      dataDir: config.dataDir,
      log,
      onLost(error) {
        lost = true;
        onLost(error);
      },
    });
    try {
      await refuseBeforeBaseline(server.connection, config);
    } catch (error) {
      await lock.releaseWith(server.stop);
      throw error;
    }
    return { server, lock };
  }

  const database = openPool({ connection: server.connection, log });
  return {
    ...database,
    embedded: true,
    async close() {
      await Promise.race([database.close(), sleep(POOL_CLOSE_LIMIT_MS, undefined, { ref: false })]);
      // A server that was lost may be another program's by now. Otherwise it is stopped under the lock, so that
      // no other program takes over a server that is about to end.
      await lock.releaseWith(lost ? async () => {} : server.stop);
      folder.release();
    },
  };
}

/** A pool over a server that is already there. */
export function openPool(options: {
  connection: DatabaseConnection;
  log: Logger;
  maxConnections?: number;
  /** Shorter than usual, for tests. */
  limits?: { answerMs: number; idleInTransactionMs: number };
}): OpenDatabase {
  const { limits, maxConnections } = options;
  const settings: pg.PoolConfig = {
    ...options.connection,
    pipeline: true,
    application_name: 'signal-board',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: limits?.answerMs ?? ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: limits?.idleInTransactionMs ?? IDLE_IN_TRANSACTION_MS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
  const pool = new pg.Pool({ ...settings, max: maxConnections ?? MAX_CONNECTIONS, Client: SharedClient });
  const enginePool = new pg.Pool({
    ...settings,
    max: maxConnections ?? MAX_ENGINE_CONNECTIONS,
    Client: createPreparingClient('engine'),
  });
  const deliveryPool = new pg.Pool({
    ...settings,
    max: maxConnections ?? MAX_DELIVERY_CONNECTIONS,
    Client: SharedClient,
  });
  const pools = [pool, enginePool, deliveryPool];
  let isClosing = false;
  for (const one of pools) {
    one.on('error', (error) => {
      // A server that stops may be quicker than the goodbye of a connection.
      if (!isClosing) options.log.warn({ err: error }, 'an idle database connection ended');
    });
  }
  return {
    pool,
    db: drizzleOver(pool),
    engineDb: drizzleOver(enginePool),
    deliveryDb: drizzleOver(deliveryPool),
    connection: options.connection,
    embedded: false,
    async close() {
      isClosing = true;
      await Promise.all(pools.map((one) => one.end()));
    },
  };
}

/**
 * Gives up the connections that wait for work. A network that swallows everything leaves them looking healthy; the
 * next request then opens a new one, which fails at once or works.
 */
export async function dropIdleConnections(pool: pg.Pool): Promise<void> {
  for (let idle = pool.idleCount; idle > 0 && pool.idleCount > 0; idle -= 1) {
    (await pool.connect()).release(true);
  }
}

async function waitForServer(options: { connection: DatabaseConnection; log: Logger }): Promise<void> {
  const deadline = Date.now() + EXTERNAL_WAIT_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await checkServer(options.connection);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const reason = reasonOf(error);
      if (isFinal(error) || Date.now() > deadline) {
        throw new StartError(`The database of DATABASE_URL cannot be used: ${reason}`);
      }
      if (attempt === 1) options.log.warn({ reason }, 'waiting for the database');
      await sleep(500);
    }
  }
}

async function checkServer(connection: DatabaseConnection): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; text: string }>(
      "select current_setting('server_version_num') as version, current_setting('server_version') as text",
    );
    if (Number(rows[0]?.version) < OLDEST_VERSION) {
      throw new StartError(`DATABASE_URL names PostgreSQL ${rows[0]?.text}; it takes 14 or newer`);
    }
  } finally {
    await client.end().catch(() => {});
  }
}

/** Wrong password, no such role or database: waiting does not help. */
function isFinal(error: unknown): boolean {
  return hasCode(error, '28P01', '28000', '3D000');
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
