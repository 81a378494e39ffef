import { eq, sql } from 'drizzle-orm';
import { pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '#test/faults/database-proxy.ts';
import { createLog } from '../log.ts';
import type { Queryable, Tx } from './database.ts';
import { databaseErrorCode } from './database-errors.ts';
import { onOneConnection, withCommit } from './drizzle-over.ts';
import { type OpenDatabase, openPool } from './pool.ts';
import { together } from './together.ts';

const POOL_SIZE = 2;
let own: TestDatabase;
let database: OpenDatabase;
let killer: pg.Client;

beforeAll(async () => {
  own = await createTestDatabase();
  const { connection } = own.database;
  database = openPool({ connection, log: createLog({ level: 'silent' }), maxConnections: POOL_SIZE });
  killer = new pg.Client(connection);
  await killer.connect();
  await killer.query('create table notes (text text primary key)');
});
beforeEach(() => killer.query('truncate notes'));
afterAll(async () => {
  await killer.end();
  await database.close();
  await own.close();
});

const note = (text: string) => sql`insert into notes values (${text})`;
const notes = async () => {
  const { rows } = await killer.query<{ text: string }>('select text from notes order by text');
  return rows.map(({ text }) => text);
};
/** Ends a connection of the pool on the server, and waits until it is gone there. */
const terminate = (pid: number) => killer.query('select pg_terminate_backend($1, 10000)', [pid]);
const ownPid = sql<{ pid: number }>`select pg_backend_pid() as pid`;

async function poolWorks() {
  // All connections concurrently: a connection lost to the pool would leave the last call waiting.
  await Promise.all(
    Array.from({ length: POOL_SIZE }, (_, index) =>
      database.db.transaction((tx) => tx.execute(note(`${index}`))),
    ),
  );
  expect(await notes()).toEqual(Array.from({ length: POOL_SIZE }, (_, index) => `${index}`));
  expect(database.pool.totalCount).toBeLessThanOrEqual(POOL_SIZE);
  expect(database.pool.idleCount).toBe(database.pool.totalCount);
}

test('releases a connection that ends between its checkout and its BEGIN', async () => {
  const connect = database.pool.connect.bind(database.pool) as () => Promise<pg.PoolClient>;
  const connectDying = async () => {
    const client = await connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    client.on('error', () => {});
    await terminate(rows[0].pid);
    return client;
  };
  database.pool.connect = connectDying as typeof database.pool.connect;
  try {
    for (let times = 0; times < POOL_SIZE * 3; times += 1) {
      await expect(database.db.transaction((tx) => tx.execute(note('lost')))).rejects.toThrow();
    }
  } finally {
    database.pool.connect = connect as typeof database.pool.connect;
  }
  await poolWorks();
});

test.each<[string, (ending: (on: Queryable) => Promise<unknown>) => Promise<unknown>]>([
  ['a transaction', (ending) => database.db.transaction(ending)],
  ['statements on one connection', (ending) => onOneConnection(database.db, ending)],
])('fails only %s when its connection ends in between', async (_, run) => {
  for (let times = 0; times < POOL_SIZE * 3; times += 1) {
    const work = run(async (on) => {
      await on.execute(sql`select 1`);
      const { rows } = await on.execute<{ pid: number }>(ownPid);
      await terminate(Number(rows[0]?.pid));
      // The notice of the end has arrived once another connection has answered.
      await killer.query('select 1');
      await on.execute(note('after'));
    });
    await expect(work).rejects.toThrow();
  }
  expect(await notes()).toEqual([]);
  await poolWorks();
});

test('does not reuse a connection whose ROLLBACK failed', async () => {
  const connect = database.pool.connect.bind(database.pool) as () => Promise<pg.PoolClient>;
  const connectLosing = async () => {
    const client = await connect();
    const send = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]) =>
      JSON.stringify(parameters[0]).includes('rollback')
        ? Promise.reject(new Error('lost on the way'))
        : send(...parameters)) as typeof client.query;
    return client;
  };
  for (const statement of [note('abandoned'), sql`select 1`]) {
    database.pool.connect = connectLosing as typeof database.pool.connect;
    try {
      const work = database.db.transaction(async (tx) => {
        await tx.execute(statement);
        throw new Error('changed its mind');
      });
      await expect(work).rejects.toThrow('lost on the way');
    } finally {
      database.pool.connect = connect as typeof database.pool.connect;
    }
    await database.db.execute(note('written'));
    expect(await notes()).toEqual(['written']);
    await killer.query('truncate notes');
  }
  await poolWorks();
});

test('rolls back a transaction that throws, and reuses its connection', async () => {
  await poolWorks();
  await killer.query('truncate notes');
  let connected = 0;
  const count = () => (connected += 1);
  database.pool.on('connect', count);
  for (let times = 0; times < POOL_SIZE * 3; times += 1) {
    const work = database.db.transaction(async (tx) => {
      await tx.execute(note('never'));
      throw new RangeError('changed its mind');
    });
    await expect(work).rejects.toThrow(new RangeError('changed its mind'));
  }
  await poolWorks();
  database.pool.off('connect', count);
  expect(connected).toBe(0);
});

/** Fails at the COMMIT, which checks `pages`. */
const page = sql`insert into pages values ('not there')`;

test.each<[string, (tx: Tx) => Promise<unknown>, string]>([
  [
    'in which a statement fails',
    async (tx) => {
      await tx.execute(note('twice'));
      await tx.execute(note('twice'));
    },
    '23505',
  ],
  ['whose COMMIT the database refuses', (tx) => tx.execute(page), '23503'],
  [
    'whose statement left to the COMMIT fails',
    async (tx) => {
      await tx.execute(note('twice'));
      withCommit(tx, tx.execute(note('twice')).execute(), tx.execute(note('after')).execute());
    },
    '23505',
  ],
  [
    'whose failed statement was caught',
    async (tx) => {
      await tx.execute(note('twice'));
      await tx
        .execute(note('twice'))
        .execute()
        .catch(() => {});
    },
    'A statement of the transaction had failed: it was rolled back',
  ],
])('rolls back a transaction %s, and reuses its connection', async (_, work, reason) => {
  await killer.query(
    'create table if not exists pages (note text references notes deferrable initially deferred)',
  );
  for (let times = 0; times < POOL_SIZE * 3; times += 1) {
    const error = await database.db.transaction(work).catch((thrown: unknown) => thrown);
    expect(databaseErrorCode(error) ?? (error as Error).message).toBe(reason);
    expect(await notes()).toEqual([]);
  }
  await killer.query('drop table pages');
  await poolWorks();
});

test('runs statements on one connection in order, each committed on its own', async () => {
  for (let times = 0; times < POOL_SIZE * 3; times += 1) {
    const work = onOneConnection(database.db, async (on) => {
      const [first, failing, seen, last] = await Promise.allSettled([
        on.execute(note('first')).execute(),
        on.execute(note('first')).execute(),
        on.execute<{ pid: number }>(sql`select text, pg_backend_pid() as pid from notes`).execute(),
        on.execute<{ pid: number }>(ownPid).execute(),
      ]);
      expect(first.status).toBe('fulfilled');
      expect(failing).toMatchObject({ status: 'rejected', reason: { cause: { code: '23505' } } });
      if (seen.status === 'rejected' || last.status === 'rejected')
        throw new Error('an independent statement failed');
      expect(seen.value.rows).toEqual([{ text: 'first', pid: last.value.rows[0]?.pid }]);
    });
    await work;
    expect(await notes()).toEqual(['first']);
    await killer.query('truncate notes');
  }
  await poolWorks();
});

test('sends statements left to the COMMIT with it, and waits for their continuations', async () => {
  let hasFollowed = false;
  const answer = await database.db.transaction(async (tx) => {
    await tx.execute(note('before'));
    const following = tx
      .execute(note('with it'))
      .execute()
      .then(async () => {
        await killer.query('select pg_sleep(0.05)');
        hasFollowed = true;
      });
    withCommit(tx, following);
    return 'an answer';
  });
  expect(answer).toBe('an answer');
  expect(hasFollowed).toBe(true);
  expect(await notes()).toEqual(['before', 'with it']);
});

test('refuses to leave statements to the COMMIT outside of a transaction', () => {
  const { db } = database;
  expect(() => withCommit(db, db.execute(sql`select 1`).execute())).toThrow('belong to no transaction');
});

test('returns the result of a transaction, in its isolation level', async () => {
  const level = await database.db.transaction(
    async (tx) => {
      const { rows } = await tx.execute<{ level: string }>(
        sql`select current_setting('transaction_isolation') as level`,
      );
      return rows[0]?.level;
    },
    { isolationLevel: 'serializable' },
  );
  expect(level).toBe('serializable');
});

/** One connection at a time, through the given network. */
const openThrough = ({ port }: DatabaseProxy, limits?: Parameters<typeof openPool>[0]['limits']) =>
  openPool({
    connection: { ...inject('testServer'), ...own.database.connection, host: '127.0.0.1', port },
    log: createLog({ level: 'silent' }),
    maxConnections: 1,
    ...(limits === undefined ? {} : { limits }),
  });

test('does not reuse a connection that did not answer its BEGIN in time', async () => {
  const network = await startDatabaseProxy(inject('testServer'));
  const silent = openThrough(network, { answerMs: 300, idleInTransactionMs: 1_000 });
  const ask = () => silent.db.transaction((tx) => tx.execute(sql`select 1 as one`));
  await ask();
  network.setMode({ kind: 'black-hole' });
  await expect(ask()).rejects.toThrow();
  network.setMode({ kind: 'pass' });
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  await silent.close();
  await network.close();
});

test.each(['db', 'engineDb'] as const)(
  'survives the last answer and the end of a connection of %s in one packet while a caller waits for it',
  async (which) => {
    const network = await startDatabaseProxy(inject('testServer'));
    const only = openThrough(network);
    const db = only[which];
    const [session] = (await db.execute<{ pid: number }>(ownPid)).rows;
    network.setMode({ kind: 'hold' });
    const asked = db.execute(sql`select 1 as one`).execute();
    const waiting = db.transaction((tx) => tx.execute(sql`select 2 as two`));
    waiting.catch(() => {});
    await expect.poll(network.heldBytes).toBeGreaterThan(0);
    await terminate(session?.pid ?? 0);
    network.setMode({ kind: 'pass' });
    expect((await asked).rows).toEqual([{ one: 1 }]);
    await expect(waiting).rejects.toThrow();
    expect((await db.execute(sql`select 3 as three`)).rows).toEqual([{ three: 3 }]);
    await only.close();
    await network.close();
  },
);

test('plans statements of the engine once per connection, and all others each time', async () => {
  const { connection } = own.database;
  const { engineDb, db, close } = openPool({
    connection,
    log: createLog({ level: 'silent' }),
    maxConnections: 1,
  });
  const prepared = async (on: typeof db) => {
    const { rows } = await on.execute(
      sql`select statement from pg_prepared_statements where name like 'engine-%' and statement like 'select%as chosen'`,
    );
    return rows;
  };
  const chosen = (value: number) => sql`select ${value}::int as chosen`;
  expect((await db.execute(chosen(1))).rows).toEqual([{ chosen: 1 }]);
  expect(await prepared(db)).toEqual([]);
  expect((await engineDb.execute(chosen(2))).rows).toEqual([{ chosen: 2 }]);
  const inside = await engineDb.transaction(async (tx) => (await tx.execute(chosen(3))).rows);
  expect(inside).toEqual([{ chosen: 3 }]);
  expect(await prepared(engineDb)).toEqual([{ statement: 'select $1::int as chosen' }]);
  await close();
});

test('runs statements that are awaited together in the order in which they were written', async () => {
  const texts = pgTable('notes', { text: text().primaryKey() });
  const seen = async (tx: Tx) => (await tx.select().from(texts).execute()).length;
  const counted = async (tx: Tx) =>
    (await tx.execute<{ count: number }>(sql`select count(*)::int as count from notes`).execute()).rows[0]
      ?.count;
  for (const db of [database.db, database.engineDb]) {
    await db.transaction(async (tx) => {
      const results = await together(
        seen(tx),
        tx.execute(note('a')).execute(),
        counted(tx),
        tx.insert(texts).values({ text: 'b' }).execute(),
        seen(tx),
        tx.update(texts).set({ text: 'c' }).where(eq(texts.text, 'b')).execute(),
        tx.execute(note('d')).execute(),
        tx.select().from(texts).for('update').execute(),
        tx.delete(texts).execute(),
        counted(tx),
      );
      const ofReads = [results[0], results[2], results[4], results[7].length, results[9]];
      expect(ofReads).toEqual([0, 1, 2, 3, 0]);
      expect(() => together(tx.select().from(texts))).toThrow('.execute() is missing');
    });
  }
});

test('rolls back statements awaited together when one fails, and refuses those after it', async () => {
  let late: Promise<unknown> | undefined;
  const failing = database.engineDb.transaction((tx) => {
    const twoAfterAnother = async () => {
      await tx.execute(note('before')).execute();
      await failing.catch(() => undefined);
      await tx.execute(note('after'));
    };
    late = twoAfterAnother();
    return together(late, tx.execute(sql`select 1 / 0`).execute(), tx.execute(note('together')).execute());
  });
  await expect(failing).rejects.toThrow();
  await expect(late).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/^The transaction is over/) },
  });
  expect(await notes()).toEqual([]);
  await poolWorks();
});
