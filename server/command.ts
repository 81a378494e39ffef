import pg from 'pg';
import type { Config } from './platform/config/config.ts';
import type { Queryable } from './platform/db/database.ts';
import { databaseErrorCode } from './platform/db/database-errors.ts';
import { drizzleOn } from './platform/db/drizzle-over.ts';
import { reachDatabase } from './platform/db/pool.ts';
import { StartError } from './platform/db/start-error.ts';

/** No such table, no such column. */
const NOT_THERE = ['42P01', '42703'];

/** Runs a command of the operator with its arguments; a failure that the operator can act on prints one line. */
export async function runCommand(main: (args: string[]) => Promise<void>): Promise<void> {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof StartError ? error.message : error);
    process.exitCode = 1;
  }
}

/** Works on the database that the program uses, even while it runs, over one connection. */
export async function withDatabase<Result>(
  { config, command }: { config: Config; command: string },
  work: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  const { connection, close } = await reachDatabase(config);
  const client = new pg.Client({ ...connection, application_name: `signal-board ${command}` });
  try {
    client.on('error', () => {});
    await client.connect();
    return await work(drizzleOn(client));
  } catch (error) {
    if (!NOT_THERE.includes(databaseErrorCode(error) ?? '')) throw error;
    throw new StartError('The database is empty or of an older version; start the program first');
  } finally {
    await client.end().catch(() => {});
    await close();
  }
}
