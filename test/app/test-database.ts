import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { type OpenDatabase, openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';

export interface TestDatabase {
  database: OpenDatabase;
  close(): Promise<void>;
}

/** A database of one's own with the current schema and nothing in it; one for each test file is the rule. */
export function createTestDatabase(): Promise<TestDatabase> {
  return cloneDatabase(inject('testServer'));
}

/** The same for programs outside of a test run, which have a server of their own. */
export async function cloneDatabase(server: ServerConnection): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Faster than by way of the log: the server writes nothing through to a disk.
  await onServer(server, `create database ${name} template ${server.database} strategy file_copy`);
  const log = createLog({ level: 'silent' });
  const database = openPool({ connection: { ...server, database: name }, log });
  return {
    database,
    async close() {
      await database.close();
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

async function onServer(server: ServerConnection, statement: string): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
