import { join } from 'node:path';
import pg from 'pg';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import type { ManagedServer } from './managed-server.ts';

/** Changes rows in the server's embedded database, for states that the API cannot produce. */
export async function runStatements(
  server: ManagedServer,
  statements: { text: string; values: string[] }[],
): Promise<void> {
  const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
  if (postmaster === null) throw new Error('The database of the server is not running');
  const { host, port } = postmaster;
  const client = new pg.Client({ host, port, user: 'postgres', database: 'signal_board', ssl: false });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
