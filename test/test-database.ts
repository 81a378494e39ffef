import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type OpenDatabase, openPool } from '#server/platform/database/pool.ts';
import { createLog } from '#server/platform/log.ts';

export interface TestDatabase {
  database: OpenDatabase;
  close(): Promise<void>;
}

/** A database of one's own with the current schema and nothing in it; one for each test file is the rule. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('testServer');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`create database ${name} template ${server.database}`);
  const log = createLog({ level: 'silent' });
  const database = openPool({ connection: { ...server, database: name }, log });
  return {
    database,
    async close() {
      await database.close();
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ ...inject('testServer'), database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
