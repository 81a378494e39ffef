import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { DatabaseConnection } from './pool.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
const LOCK_KEY = 5_128_312;

/** Brings the schema up to date; of several instances that start together one does it and the others wait. */
export async function migrateDatabase(options: {
  connection: DatabaseConnection;
  log: Logger;
}): Promise<void> {
  const startedAt = Date.now();
  // A connection of its own: a migration of a large table may take longer than a statement of the pool.
  const client = new pg.Client({ ...options.connection, application_name: 'signal-board migration' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('set client_min_messages = warning');
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
    options.log.info({ ms: Date.now() - startedAt }, 'the database schema is up to date');
  } finally {
    await client.end();
  }
}
