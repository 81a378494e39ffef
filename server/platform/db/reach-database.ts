import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { createLog } from '../log.ts';
import { refuseBeforeBaseline } from './applied-migrations.ts';
import { USER } from './embedded-cluster.ts';
import { findPostmaster } from './embedded-postmaster.ts';
import { type DatabaseConnection, openDatabase } from './pool.ts';
import { StartError } from './start-error.ts';

/**
 * For commands beside the program. An embedded database that runs is used beside it; one that does not is started for
 * this and stopped. Throws a StartError where there is none: a command must not make one.
 */
export async function reachDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
): Promise<{ connection: DatabaseConnection; close(): Promise<void> }> {
  if (config.databaseUrl === null) {
    const cluster = join(config.dataDir, 'postgres');
    if (!existsSync(cluster)) throw new StartError(`There is no database in ${config.dataDir} (DATA_DIR)`);
    const running = await findPostmaster(cluster);
    if (running !== null) {
      const connection = { host: running.host, port: running.port, user: USER, database: 'signal_board' };
      await refuseBeforeBaseline(connection, config);
      return { connection, close: async () => {} };
    }
  }
  return await openDatabase({ config, log: createLog({ level: 'warn' }) });
}
