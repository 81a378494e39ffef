import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Clock, systemClock, timeLimit } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { createLog, type Logger } from '../log.ts';
import { createPreparingClient, SharedClient } from './clients.ts';
import { closeDataFolder, lockFolder, openDataFolder } from './data-folder.ts';
import type { Db } from './database.ts';
import { drizzleOver } from './drizzle-over.ts';
import { DATABASE, type ServerConnection, startEmbedded } from './embedded.ts';
import { USER } from './embedded-folders.ts';
import { findPostmaster } from './embedded-postmaster.ts';
import { refuseBeforeBaseline } from './migrate.ts';
import { hasCode, StartError } from './start-error.ts';
import { watchEmbedded } from './watch-embedded.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
// The server ends slow statements; a connection that is silent for longer is dead.
const ANSWER_TIMEOUT_MS = 12_000;
// A program that vanished must not keep its locks; a live one never waits inside a transaction.
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

/** Opens a separate connection, for a listener or the job queue. */
export type DatabaseConnection = { connectionString: string } | ServerConnection;

export interface OpenDatabase {
  /** bigint and numeric come as strings, timestamptz as Date. */
  pool: pg.Pool;
  db: Db;
  /** For workflows and orders: separate connections, which prepare their statements. */
  engineDb: Db;
  /** For deliveries, which must wait neither for a screen's long list nor for a thousand orders. */
  deliveryDb: Db;
  connection: DatabaseConnection;
  /** The class with which a pool makes connections, given its own: connections of tests outlive their pools. */
  classFor(Client: typeof pg.Client): typeof pg.Client;
  embedded: boolean;
  /** Ends the connections and stops the embedded server. */
  close(): Promise<void>;
}

interface OpenOptions {
  config: Pick<Config, 'databaseUrl' | 'dataDir'>;
  log: Logger;
  clock?: Clock;
  /** Called when an embedded database died and could not be started again. */
  onLost?: (error: Error) => void;
  /** Called when an embedded server was launched and this program only waits for its answer. */
  onLaunched?: () => void;
}

/**
 * Opens the configured database: starts the embedded one and locks it for this program, or waits for an external one.
 * Throws a StartError with one line for the operator, including for a database from before the baseline.
 */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { config, log, clock = systemClock } = options;
  if (config.databaseUrl !== null) {
    const connection = { connectionString: config.databaseUrl };
    await waitForServer({ connection, log, clock });
    await refuseBeforeBaseline(connection, config);
    return openPool({ connection, log });
  }
  const folder = await lockFolder(await openDataFolder(config.dataDir), clock);
  try {
    return await openEmbedded(options, folder.release);
  } catch (error) {
    folder.release();
    throw error;
  }
}

async function openEmbedded(options: OpenOptions, releaseFolder: () => void): Promise<OpenDatabase> {
  const { config, log, clock = systemClock, onLost = () => {}, onLaunched = () => {} } = options;
  let isLost = false;
  await closeDataFolder({ dataDir: await openDataFolder(config.dataDir), log });
  const server = await startEmbedded({ dataDir: config.dataDir, log, clock, onLaunched });
  const watch = await watchEmbedded({
    server,
    log,
    clock,
    onLost(error) {
      isLost = true;
      onLost(error);
    },
  });
  const stop = async () => {
    await watch.end();
    if (!isLost) await server.stop();
  };
  try {
    await refuseBeforeBaseline(server.connection, config);
  } catch (error) {
    await stop();
    throw error;
  }
  const database = openPool({ connection: server.connection, log });
  return {
    ...database,
    embedded: true,
    async close() {
      await Promise.race([database.close(), timeLimit(clock, POOL_CLOSE_LIMIT_MS)]);
      await stop();
      releaseFolder();
    },
  };
}

/**
 * For commands that run next to the program: uses a running embedded database, or starts it and stops it again. Throws
 * a StartError if there is none, because a command must not create one.
 */
export async function reachDatabase(
  config: OpenOptions['config'],
): Promise<{ connection: DatabaseConnection; close(): Promise<void> }> {
  if (config.databaseUrl === null) {
    const cluster = join(config.dataDir, 'postgres');
    if (!existsSync(cluster)) throw new StartError(`There is no database in ${config.dataDir} (DATA_DIR)`);
    const running = await findPostmaster(cluster);
    if (running !== null) {
      const connection = { host: running.host, port: running.port, user: USER, database: DATABASE };
      await refuseBeforeBaseline(connection, config);
      return { connection, close: async () => {} };
    }
  }
  return await openDatabase({ config, log: createLog({ level: 'warn' }) });
}

/** A pool over a running server. */
export function openPool(options: {
  connection: DatabaseConnection;
  log: Logger;
  maxConnections?: number;
  /** Shorter than usual, for tests. */
  limits?: { answerMs: number; idleInTransactionMs: number };
  classFor?: OpenDatabase['classFor'];
}): OpenDatabase {
  const { limits, maxConnections, classFor = (Client) => Client } = options;
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
  const openWith = (max: number, Client: typeof pg.Client) =>
    new pg.Pool({ ...settings, max: maxConnections ?? max, Client: classFor(Client) });
  const pool = openWith(MAX_CONNECTIONS, SharedClient);
  const enginePool = openWith(MAX_ENGINE_CONNECTIONS, createPreparingClient('engine'));
  const deliveryPool = openWith(MAX_DELIVERY_CONNECTIONS, SharedClient);
  const pools = [pool, enginePool, deliveryPool];
  let isClosing = false;
  for (const one of pools) {
    one.on('error', (error) => {
      // A server that stops may end a connection before the pool does.
      if (!isClosing) options.log.warn({ err: error }, 'an idle database connection ended');
    });
  }
  return {
    pool,
    db: drizzleOver(pool),
    engineDb: drizzleOver(enginePool),
    deliveryDb: drizzleOver(deliveryPool),
    connection: options.connection,
    classFor,
    embedded: false,
    async close() {
      isClosing = true;
      await Promise.all(pools.map((one) => one.end()));
    },
  };
}

/** Closes idle connections: behind a network that swallows everything, they look healthy. */
export async function dropIdleConnections(pool: pg.Pool): Promise<void> {
  for (let idle = pool.idleCount; idle > 0 && pool.idleCount > 0; idle -= 1) {
    (await pool.connect()).release(true);
  }
}

async function waitForServer(options: {
  connection: DatabaseConnection;
  log: Logger;
  clock: Clock;
}): Promise<void> {
  const { clock } = options;
  const deadline = clock.monotonicMs() + EXTERNAL_WAIT_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await checkServer(options.connection);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const reason = reasonOf(error);
      if (isFinal(error) || clock.monotonicMs() > deadline) {
        throw new StartError(`The database of DATABASE_URL cannot be used: ${reason}`);
      }
      if (attempt === 1) options.log.warn({ reason }, 'waiting for the database');
      await clock.sleep(500);
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

/** Wrong password, or no such role or database: waiting does not help. */
function isFinal(error: unknown): boolean {
  return hasCode(error, '28P01', '28000', '3D000');
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
