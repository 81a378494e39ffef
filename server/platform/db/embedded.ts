import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, rmdir, stat, truncate } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { type Clock, systemClock, timeLimit } from '../clock.ts';
import type { Logger } from '../log.ts';
import { openDataFolder } from './data-folder.ts';
import { binaryPath, packagedPostgres } from './embedded-binaries.ts';
import { createCluster, hasCluster, openSocketFolder, reasonIn, USER } from './embedded-folders.ts';
import { findPostmaster, stopPostmaster } from './embedded-postmaster.ts';
import { commandOf, findInstallation, ownerOf, type Runner, serverEnvironment } from './embedded-runner.ts';
import { hasCode, StartError } from './start-error.ts';

const MAJOR = '18';
export const DATABASE = 'signal_board';
const PORT = 5432;
const MAX_LOG_BYTES = 10_000_000;
// Recovery after a crash can take long; an unreachable server shows sooner.
const RECOVERY_LIMIT_MS = 600_000;
const LEFTOVER_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 8_000;

/** PostgreSQL's cannot_connect_now. */
const STARTING_OR_STOPPING = '57P03';

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
  clock?: Clock;
  /** Further settings of the server, such as fsync=off for tests. */
  settings?: readonly string[];
  /** Called when the server was launched and this program only waits for its answer. */
  onLaunched?: () => void;
}): Promise<EmbeddedServer> {
  const { log, clock = systemClock, settings = [], onLaunched = () => {} } = options;
  const dataDir = await openDataFolder(options.dataDir);
  const cluster = join(dataDir, 'postgres');
  const starts = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = () => runServer({ dataDir, cluster, log, clock, settings, onLaunched, signal });

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
      stopping.abort(new StartError('The embedded database is being stopped'));
      await Promise.race([Promise.allSettled(starts), timeLimit(clock, STOP_LIMIT_MS)]);
      const running = await findPostmaster(cluster);
      const inTime = running === null || (await stopPostmaster({ pid: running.pid, waitMs: STOP_LIMIT_MS }));
      if (inTime) await rmdir(running?.host ?? connection.host).catch(() => {});
      else log.warn({ pid: running.pid }, 'the database is still stopping');
    },
  };
}

interface ServerOptions {
  dataDir: string;
  cluster: string;
  log: Logger;
  clock: Clock;
  settings: readonly string[];
  onLaunched: () => void;
  signal: AbortSignal;
}

/** Resolves when the server of the cluster answers; launches it where none runs, again when it ends by a leftover. */
async function runServer(options: ServerOptions): Promise<ServerConnection> {
  const { cluster, log, clock, signal } = options;
  const startedAt = clock.monotonicMs();
  const isLonger = (limitMs: number, sinceMs: number) => clock.monotonicMs() - sinceMs > limitMs;
  let silentSince = startedAt;
  let launch: Launch | null = null;
  for (; ; await clock.sleep(20)) {
    if (signal.aborted) {
      // `stop` may not find the server, which may not have written its postmaster.pid yet.
      if (launch !== null) await endChild(launch.child, clock);
      signal.throwIfAborted();
    }
    const server = await findPostmaster(cluster);
    if (server === null) {
      silentSince = clock.monotonicMs();
      if (launch === null) launch = await launchServer(options);
      else if (hasEnded(launch.child) || isLonger(RECOVERY_LIMIT_MS, startedAt)) {
        const output = await launch.readOutput();
        if (!isLeftover(output) || isLonger(LEFTOVER_LIMIT_MS, startedAt)) {
          throw new StartError(`The embedded PostgreSQL did not start: ${reasonIn(output)}`);
        }
        launch = null;
        await clock.sleep(200);
      }
      continue;
    }
    const { pid, host, port } = server;
    const connection = { host, port, user: USER, database: DATABASE };
    try {
      if (host !== '') {
        await createDatabase(connection);
        log.debug({ pid }, 'the embedded database runs');
        return connection;
      }
    } catch (error) {
      if (hasCode(error, STARTING_OR_STOPPING)) silentSince = clock.monotonicMs();
      else if (error instanceof pg.DatabaseError && isLonger(LEFTOVER_LIMIT_MS, silentSince)) throw error;
    }
    if (isLonger(LEFTOVER_LIMIT_MS, silentSince) || isLonger(RECOVERY_LIMIT_MS, startedAt)) {
      throw new StartError(
        `The database server ${pid} runs on ${cluster} but does not answer; stop it (kill -INT ${pid}) and start again`,
      );
    }
  }
}

/** Left for a moment by a killed server, or by an ending one that removed the socket folder: the next try may work. */
function isLeftover(output: string): boolean {
  return /lock file ".*" already exists|pre-existing shared memory block|could not bind|could not create lock file ".*": No such file/.test(
    output,
  );
}

interface Launch {
  child: ChildProcess;
  readOutput(): Promise<string>;
}

async function launchServer(options: ServerOptions): Promise<Launch> {
  const { dataDir, cluster, log, signal } = options;
  const packaged = packagedPostgres();
  const { runner, native } = (await hasCluster({ cluster, major: MAJOR }))
    ? await findInstallation({ native: packaged, dataDir, folder: cluster })
    : await createCluster({ native: packaged, dataDir, cluster, log });
  const settings = [...SETTINGS, ...(await placeToListen(dataDir, runner)), ...options.settings];
  const args = ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])];
  const command = commandOf(runner, binaryPath(native, 'postgres'), args);
  const logPath = join(dataDir, 'postgres.log');
  const logStart = await rotate(logPath);
  signal.throwIfAborted();
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
  child.on('error', () => {});
  options.onLaunched();
  return { child, readOutput: async () => (await readFile(logPath)).subarray(logStart).toString('utf8') };
}

/** A child that could not be started at all has no id. */
const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** Shuts down cleanly at any stage of the start; a slower shutdown continues in the background. */
async function endChild(child: ChildProcess, clock: Clock): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await Promise.race([ended, timeLimit(clock, STOP_LIMIT_MS)]);
}

/** The settings of where the server listens: a private socket, or this machine's network on Windows. */
async function placeToListen(dataDir: string, runner: Runner): Promise<string[]> {
  if (process.platform === 'win32') {
    return ['listen_addresses=127.0.0.1', `port=${await freePort()}`, 'unix_socket_directories='];
  }
  const folder = await openSocketFolder({ dataDir, owner: ownerOf(runner) });
  return ['listen_addresses=', `port=${PORT}`, `unix_socket_directories=${folder}`];
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
  const client = new pg.Client({
    ...connection,
    database: 'postgres',
    connectionTimeoutMillis: 2_000,
    ssl: false,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } catch (error) {
    if (!hasCode(error, '42P04', '23505')) throw error;
  } finally {
    client.end().catch(() => {});
  }
}
