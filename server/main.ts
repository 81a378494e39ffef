import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createShutdown } from './graceful-shutdown.ts';
import { systemClock } from './platform/clock.ts';
import { type Config, ConfigError, findUnknownSettings, readConfig } from './platform/config/config.ts';
import { describeSettings } from './platform/config/config-settings.ts';
import { requireStrongKeys } from './platform/config/secret-key.ts';
import { createDatabaseClock } from './platform/db/database-clock.ts';
import { migrateDatabase } from './platform/db/migrate.ts';
import { openDatabase } from './platform/db/pool.ts';
import { hasCode, StartError } from './platform/db/start-error.ts';
import { checkPublicUrl } from './platform/http/public-url.ts';
import { createLog, type Logger } from './platform/log.ts';
import { startNotice } from './start-notice.ts';

const EXIT_FAILED = 1;
const EXIT_BAD_SETTING = 2;
const PORT_LIMIT_MS = 5_000;

const USAGE = `npm start
npm start -- --new-secret-key   when the key is lost that the database was sealed with: webhook keys are renewed
                                and exchange credentials entered anew`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${USAGE}\n\n${describeSettings()}\n`);
} else {
  await main().catch(fail);
}

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2));
  checkPublicUrl(config);
  await requireStrongKeys(config);
  const log = createLog({ level: config.logLevel });
  const unknown = findUnknownSettings();
  if (unknown !== null) log.warn(unknown);
  const shutdown = createShutdown({ log, clock: systemClock, exit: (code) => process.exit(code) });
  const crash = (error: unknown) => {
    log.fatal({ err: error }, 'the program cannot go on');
    void shutdown.stop({ reason: 'a fatal error', exitCode: EXIT_FAILED });
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  try {
    await run({ config, log, shutdown, crash });
  } catch (error) {
    if (shutdown.isStopping()) return;
    if (!(error instanceof StartError)) log.fatal({ err: error }, 'the start failed');
    report(error);
    await shutdown.stop({ exitCode: exitCodeOf(error) });
  }
}

async function run(options: {
  config: Config;
  log: Logger;
  shutdown: ReturnType<typeof createShutdown>;
  crash: (error: unknown) => void;
}): Promise<void> {
  const { config, log, shutdown, crash } = options;
  await checkPort(config);
  const launched = Promise.withResolvers<void>();
  const opening = openDatabase({ config, log, onLost: crash, onLaunched: launched.resolve });
  // Added before the database is open: a stop during the start must not leave it running.
  shutdown.add({
    name: 'database',
    limitMs: 4_000,
    run: async () => (await opening.catch(() => null))?.close(),
  });
  // Loads the program while the database starts, because together they are most of a start's time. Not earlier: loading
  // modules blocks everything else.
  const [database, { buildProgram, STOP_PROGRAM_LIMIT_MS }] = await Promise.all([
    opening,
    Promise.race([launched.promise, opening]).then(() => import('./program.ts')),
  ]);
  await migrateDatabase({ connection: database.connection, log });
  const databaseClock = createDatabaseClock({ clock: systemClock, db: database.db, log });
  await databaseClock.measure();
  databaseClock.start();
  const program = await buildProgram({
    config,
    log,
    clock: databaseClock.clock,
    machineClock: systemClock,
    database,
  });
  shutdown.add({ name: 'program', limitMs: STOP_PROGRAM_LIMIT_MS, run: program.stop });
  shutdown.add({ name: 'server', limitMs: 1_500, run: () => program.app.close() });
  const { firstAdministrator } = await program.start({ background: 'all' });
  const notice = (port: number) => process.stdout.write(startNotice({ config, port, firstAdministrator }));
  try {
    notice(await listen(program.app, config));
  } catch (error) {
    // A generated password is shown once: a start that fails at its last step must not lose it.
    if (firstAdministrator?.password) notice(config.port);
    throw error;
  }
}

async function listen(app: FastifyInstance, config: Config): Promise<number> {
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    throw explainListenError(error, config);
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : config.port;
}

/**
 * Runs before anything else is started, so that a busy port costs and changes nothing. A program that was told
 * to end may still be ending, so the check waits a moment for it.
 */
async function checkPort(config: Config): Promise<void> {
  const deadline = systemClock.monotonicMs() + PORT_LIMIT_MS;
  for (;;) {
    const server = createServer();
    try {
      server.listen({ host: config.host, port: config.port });
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return;
    } catch (error) {
      if (!hasCode(error, 'EADDRINUSE') || systemClock.monotonicMs() > deadline)
        throw explainListenError(error, config);
      await systemClock.sleep(200);
    }
  }
}

function explainListenError(error: unknown, config: Config): unknown {
  const where = `${config.host}:${config.port}`;
  if (hasCode(error, 'EADDRINUSE'))
    return new StartError(`${where} is already in use; set PORT to another port`);
  if (hasCode(error, 'EACCES'))
    return new StartError(`${where} needs more rights; set PORT to 1024 or above`);
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN')) {
    return new StartError(`HOST ${config.host} is not an address of this machine`);
  }
  return error;
}

function exitCodeOf(error: unknown): number {
  return error instanceof ConfigError ? EXIT_BAD_SETTING : EXIT_FAILED;
}

/** Prints one line; for an unforeseen error, the log has the rest. */
function report(error: unknown): void {
  const [message] = String(error instanceof Error ? error.message : error).split('\n');
  console.error(error instanceof StartError ? message : `Signal Board could not start: ${message}`);
}

function fail(error: unknown): void {
  report(error);
  process.exitCode = exitCodeOf(error);
  process.disconnect?.();
}
