import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { type OpenDatabase, openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';

export interface TestDatabase {
  database: OpenDatabase;
  /** Moves the time of leases and heartbeats on, for all sessions and instances. */
  passTime(ms: number): Promise<void>;
  /** Lets that time stand still at an instant, from where `passTime` goes on. */
  holdTime(instant: Date): Promise<void>;
  close(): Promise<void>;
}

/** An empty database with the current schema; usually one per test file. */
export function createTestDatabase(): Promise<TestDatabase> {
  return cloneDatabase(inject('testServer'));
}

/** Like `createTestDatabase`, for programs outside a test run, on the given server. */
export async function cloneDatabase(server: ServerConnection): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Faster than copying through the WAL, because this server never syncs to disk.
  await onServer(
    server,
    `create database ${name} template ${server.database} strategy file_copy`,
    // A job queue on a test clock has every session ask that clock.
    `alter database ${name} set pgboss.test_clock = 'on'`,
  );
  const log = createLog({ level: 'silent' });
  const database = openPool({ connection: { ...server, database: name }, log });
  let held = 'now()';
  let aheadMs = 0;
  const replaceTime = () =>
    database.db.execute(
      `create or replace function database_time() returns timestamptz language sql stable parallel safe
       return ${held} + interval '${aheadMs} ms'`,
    );
  return {
    database,
    async passTime(ms) {
      aheadMs += ms;
      await replaceTime();
    },
    async holdTime(instant) {
      held = `timestamptz '${instant.toISOString()}'`;
      aheadMs = 0;
      await replaceTime();
    },
    async close() {
      await database.close();
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

/** One kept connection for each server, by its socket folder: to connect costs the server as much as to copy. */
const administrators = new Map<string, pg.Pool>();

async function onServer(server: ServerConnection, ...statements: string[]): Promise<void> {
  const pool = administrators.get(server.host) ?? administrate(server);
  for (const statement of statements) await pool.query(statement);
}

function administrate(server: ServerConnection): pg.Pool {
  const kept = { max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true };
  const pool = new pg.Pool({ ...server, database: 'postgres', ...kept });
  // At the end of a run the server is gone before its workers.
  pool.on('error', () => {});
  administrators.set(server.host, pool);
  return pool;
}
