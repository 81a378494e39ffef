import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, rmdir, stat, truncate } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.ts';
import { openDataFolder } from './data-folder.ts';
import { binaryPath, packagedPostgres } from './embedded-binaries.ts';
import { createCluster, hasCluster, openSocketFolder, reasonIn, USER } from './embedded-folders.ts';
import { findPostmaster, type Postmaster, stopPostmaster } from './embedded-postmaster.ts';
import {
  commandOf,
  findInstallation,
  ownerOf,
  type PostgresInstallation,
  serverEnvironment,
} from './embedded-runner.ts';
import { hasCode, StartError } from './start-error.ts';

const MAJOR = '18';
export const DATABASE = 'signal_board';
const PORT = 5432;
const MAX_LOG_BYTES = 10_000_000;
// Recovery after a crash can take long; an unreachable server shows sooner.
const RECOVERY_LIMIT_MS = 600_000;
const LEFTOVER_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 8_000;

const SETTINGS = [
  'max_connections=60',
  'shared_buffers=128MB',
  // The defaults of these three depend on the size of a WAL segment, which is small here (see createCluster).
  'wal_buffers=4MB',
  'min_wal_size=256MB',
  'max_wal_size=1GB',
  'huge_pages=off',
  'jit=off',
  'unix_socket_permissions=0700',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_min_messages=warning',
  'log_checkpoints=off',
  'logging_collector=off',
];

export interface ServerConnection {
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface EmbeddedServer {
  connection: ServerConnection;
  /** Restarts the server at the same address when it is gone. Throws a StartError after `stop` was called. */
  ensureRunning(): Promise<void>;
  /** Stops for good, including a start in progress. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL server of a data folder, or takes over the server that an earlier program left running.
 * Lock the data folder first (data-folder.ts): two programs must not start it concurrently.
 */
export async function startEmbedded(options: {
  dataDir: string;
  log: Logger;
  /** Further settings of the server, such as fsync=off for tests. */
  settings?: readonly string[];
  /** Called when the server was launched and this program only waits for its answer. */
  onLaunched?: () => void;
}): Promise<EmbeddedServer> {
  const { log, settings = [], onLaunched = () => {} } = options;
  const dataDir = await openDataFolder(options.dataDir);
  const cluster = join(dataDir, 'postgres');
  const starts = new Set<Promise<unknown>>();
  let isStopping = false;
  const requireWanted = () => {
    if (isStopping) throw new StartError('The embedded database is being stopped');
  };

  async function run(): Promise<ServerConnection> {
    const deadline = Date.now() + LEFTOVER_LIMIT_MS;
    for (;;) {
      const server =
        (await reachRunning({ cluster, log, requireWanted })) ??
        (await startServer({ dataDir, cluster, log, settings, onLaunched, requireWanted }));
      const connection = { host: server.host, port: server.port, user: USER, database: DATABASE };
      try {
        await createDatabase(connection);
        return connection;
      } catch (error) {
        // Another program may just have stopped the server.
        requireWanted();
        if (Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  }

  const connection = await run().catch((error: unknown) => {
    // Folders of another user, a full or read-only disk: not a bug.
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT') && error instanceof Error) {
      throw new StartError(`DATA_DIR ${dataDir} cannot be used: ${error.message}`);
    }
    throw error;
  });
  return {
    connection,
    async ensureRunning() {
      const start = run();
      starts.add(start);
      const again = await start.finally(() => starts.delete(start));
      if (again.host !== connection.host || again.port !== connection.port) {
        throw new StartError('The embedded database came back at another address; start the program again');
      }
    },
    async stop() {
      isStopping = true;
      await Promise.race([Promise.allSettled(starts), sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
      const running = await findPostmaster(cluster);
      const inTime = running === null || (await stopPostmaster({ pid: running.pid, waitMs: STOP_LIMIT_MS }));
      if (inTime) await rmdir(running?.host ?? connection.host).catch(() => {});
      else log.warn({ pid: running.pid }, 'the database is still stopping');
    },
  };
}

type Reach = 'ready' | 'busy' | 'absent';

async function reach(server: Postmaster): Promise<Reach> {
  const client = new pg.Client({
    host: server.host,
    port: server.port,
    user: USER,
    database: 'postgres',
    connectionTimeoutMillis: 2_000,
    ssl: false,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    if (hasCode(error, '57P03')) return 'busy';
    if (hasCode(error, '53300')) return 'ready';
    return 'absent';
  } finally {
    client.end().catch(() => {});
  }
}

/** The server that runs on the cluster, once it answers; null if none runs. */
async function reachRunning(options: {
  cluster: string;
  log: Logger;
  requireWanted: () => void;
}): Promise<Postmaster | null> {
  const { cluster, log, requireWanted } = options;
  const startedAt = Date.now();
  for (let absentSince = startedAt; ; await sleep(50)) {
    requireWanted();
    const server = await findPostmaster(cluster);
    if (!server) return null;
    const state = server.host === '' ? 'absent' : await reach(server);
    if (state === 'ready') {
      log.debug({ pid: server.pid }, 'found the embedded database running');
      return server;
    }
    if (state === 'busy') absentSince = Date.now();
    if (Date.now() - absentSince > LEFTOVER_LIMIT_MS || Date.now() - startedAt > RECOVERY_LIMIT_MS) {
      throw new StartError(
        `The database server ${server.pid} runs on ${cluster} but does not answer; stop it (kill -INT ${server.pid}) and start again`,
      );
    }
  }
}

async function startServer(options: {
  dataDir: string;
  cluster: string;
  log: Logger;
  settings: readonly string[];
  onLaunched: () => void;
  requireWanted: () => void;
}): Promise<Postmaster> {
  const { dataDir, cluster, log, requireWanted } = options;
  const native = packagedPostgres();
  const installation = (await hasCluster({ cluster, major: MAJOR }))
    ? await findInstallation({ native, dataDir, folder: cluster })
    : await createCluster({ native, dataDir, cluster, log });
  const deadline = Date.now() + LEFTOVER_LIMIT_MS;
  for (;;) {
    const outcome = await launch({ ...options, installation });
    if (outcome.server) return outcome.server;
    if (!isLeftover(outcome.output) || Date.now() > deadline) {
      throw new StartError(`The embedded PostgreSQL did not start: ${reasonIn(outcome.output)}`);
    }
    const other = await reachRunning({ cluster, log, requireWanted });
    if (other) return other;
    await sleep(200);
  }
}

/** Left for a moment by a killed server, or by an ending one that removed the socket folder: the next try may work. */
function isLeftover(output: string): boolean {
  return /lock file ".*" already exists|pre-existing shared memory block|could not bind|could not create lock file ".*": No such file/.test(
    output,
  );
}

interface Launch {
  server: Postmaster | null;
  output: string;
}

async function launch(options: {
  dataDir: string;
  cluster: string;
  settings: readonly string[];
  installation: PostgresInstallation;
  onLaunched: () => void;
  requireWanted: () => void;
}): Promise<Launch> {
  const { dataDir, cluster, installation, requireWanted } = options;
  const { runner, native } = installation;
  const place = await placeToListen({ dataDir, installation });
  const settings = [...SETTINGS, ...place.settings, ...options.settings];
  const args = ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])];
  const command = commandOf(runner, binaryPath(native, 'postgres'), args);
  const logPath = join(dataDir, 'postgres.log');
  const logStart = await rotate(logPath);
  requireWanted();
  const logFile = openSync(logPath, 'a', 0o600);
  // Detached, so that Ctrl-C in a terminal does not stop the database before the program.
  const child = spawn(command.file, command.args, {
    detached: true,
    stdio: ['ignore', logFile, logFile],
    env: serverEnvironment(),
    cwd: dataDir,
    ...command.identity,
  });
  closeSync(logFile);
  child.unref();
  options.onLaunched();
  let ended = false;
  child.once('error', () => (ended = true));
  child.once('exit', () => (ended = true));
  const deadline = Date.now() + RECOVERY_LIMIT_MS;
  while (!ended && Date.now() < deadline) {
    const server = await findPostmaster(cluster);
    if (server && server.host !== '' && (await reach(server)) === 'ready' && !ended)
      return { server, output: '' };
    try {
      requireWanted();
    } catch (error) {
      // `stop` may not find the server, which may not have written its postmaster.pid yet.
      await endChild(child);
      throw error;
    }
    await sleep(20);
  }
  const output = (await readFile(logPath)).subarray(logStart).toString('utf8');
  return { server: null, output };
}

/** Shuts down cleanly at any stage of the start; a slower shutdown continues in the background. */
async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await Promise.race([ended, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
}

async function placeToListen(options: {
  dataDir: string;
  installation: PostgresInstallation;
}): Promise<{ settings: string[] }> {
  if (process.platform === 'win32') {
    return {
      settings: ['listen_addresses=127.0.0.1', `port=${await freePort()}`, 'unix_socket_directories='],
    };
  }
  const owner = ownerOf(options.installation.runner);
  const folder = await openSocketFolder({ dataDir: options.dataDir, owner });
  return { settings: ['listen_addresses=', `port=${PORT}`, `unix_socket_directories=${folder}`] };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}

/** Returns the length of the log so far. */
async function rotate(path: string): Promise<number> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size < MAX_LOG_BYTES) return size;
  await truncate(path);
  return 0;
}

async function createDatabase(connection: ServerConnection): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres', ssl: false });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } catch (error) {
    if (!hasCode(error, '42P04', '23505')) throw error;
  } finally {
    client.end().catch(() => {});
  }
}
