import { inject } from 'vitest';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { type OpenDatabase, openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { copyDatabase, dropDatabase, KeptDatabase } from './kept-database.ts';

export interface TestDatabase {
  database: OpenDatabase;
  /** Moves the time of leases and heartbeats on, for all sessions and instances. */
  passTime(ms: number): Promise<void>;
  /** Lets that time stand still at an instant, from where `passTime` goes on. */
  holdTime(instant: Date): Promise<void>;
  /** `stop` ends what uses the database: its connections are kept for later tests. */
  close(stop?: () => Promise<unknown>): Promise<void>;
}

/** Emptied databases of earlier tests of this worker. */
const free: KeptDatabase[] = [];

/** An empty database with the current schema; usually one per test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const kept = free.pop() ?? (await KeptDatabase.create(inject('testServer')));
  const database = openPool({ ...(await kept.lend()), log: silent });
  const { setBack, ...time } = timeOf(database);
  return {
    database,
    ...time,
    async close(stop = async () => {}) {
      const isEmpty = await kept.empty(async () => {
        await stop();
        await setBack();
        await database.close();
      });
      if (isEmpty) free.push(kept);
      else await kept.drop();
    },
  };
}

/** Like `createTestDatabase`, for programs outside a test run, on the given server. */
export async function cloneDatabase(server: ServerConnection): Promise<TestDatabase> {
  const connection = await copyDatabase(server);
  const database = openPool({ connection, log: silent });
  return {
    database,
    ...timeOf(database),
    async close(stop = async () => {}) {
      await stop();
      await database.close();
      await dropDatabase(server, connection);
    },
  };
}

const silent = createLog({ level: 'silent' });

function timeOf({ db }: OpenDatabase) {
  let held = 'now()';
  let aheadMs = 0;
  let isSet = false;
  async function replaceTime(): Promise<void> {
    isSet = true;
    await db.execute(
      `create or replace function database_time() returns timestamptz language sql stable parallel safe
       return ${held} + interval '${aheadMs} ms'`,
    );
  }
  return {
    async passTime(ms: number) {
      aheadMs += ms;
      await replaceTime();
    },
    async holdTime(instant: Date) {
      held = `timestamptz '${instant.toISOString()}'`;
      aheadMs = 0;
      await replaceTime();
    },
    async setBack() {
      if (!isSet) return;
      [held, aheadMs] = ['now()', 0];
      await replaceTime();
    },
  };
}
