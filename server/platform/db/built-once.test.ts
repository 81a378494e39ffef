import { and, eq, gt, sql } from 'drizzle-orm';
import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { builtOnce, writtenOnce } from './built-once.ts';
import type { Queryable } from './database.ts';
import { together } from './together.ts';

const birds = pgTable('birds', {
  name: text().primaryKey(),
  legs: integer().notNull(),
  seenAt: timestamp('seen_at', { withTimezone: true }).notNull(),
});
const SEEN_AT = new Date('2026-05-04T10:00:00.123Z');
let own: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  [own, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  for (const { database } of [own, other]) {
    await database.db.execute(
      sql`create table birds (name text primary key, legs int not null, seen_at timestamptz not null)`,
    );
  }
});
beforeEach(async () => {
  await own.database.db.delete(birds);
  await own.database.db.insert(birds).values({ name: 'crane', legs: 2, seenAt: SEEN_AT });
});
afterAll(() => Promise.all([own.close(), other.close()]));

let builds = 0;
const birdsWith = builtOnce<{ legs: number; since: Date }>()((db, value) => {
  builds += 1;
  return db
    .select()
    .from(birds)
    .where(and(eq(birds.legs, value('legs')), gt(birds.seenAt, value('since'))));
});
const namesWith = writtenOnce<{ legs: number; names: string[] }>()<{ name: string }>(
  (value) =>
    sql`select name from birds where legs = ${value('legs')} and name = any(${value('names')}::text[])`,
);

test('runs a query that is built once with the values and on the connection of each caller', async () => {
  const { db, engineDb } = own.database;
  const since = new Date(SEEN_AT.getTime() - 1);
  for (const on of [db, engineDb]) {
    expect(await birdsWith(on, { legs: 2, since })).toEqual([{ name: 'crane', legs: 2, seenAt: SEEN_AT }]);
    expect(await birdsWith(on, { legs: 4, since })).toEqual([]);
    expect(await birdsWith(on, { legs: 2, since: SEEN_AT })).toEqual([]);
    expect((await namesWith(on, { legs: 2, names: ['crane', 'heron'] })).rows).toEqual([{ name: 'crane' }]);
    expect((await namesWith(on, { legs: 2, names: [] })).rows).toEqual([]);
  }
  expect(await birdsWith(other.database.db, { legs: 2, since })).toEqual([]);
  expect(builds).toBe(1);
});

test('sees what its transaction has written, unlike other connections', async () => {
  const since = new Date(0);
  const count = async (on: Queryable) => (await birdsWith(on, { legs: 2, since })).length;
  await own.database.engineDb.transaction(async (tx) => {
    const [before, , after] = await together(
      count(tx),
      tx.insert(birds).values({ name: 'heron', legs: 2, seenAt: SEEN_AT }).execute(),
      count(tx),
    );
    expect([before, after]).toEqual([1, 2]);
    expect(await count(own.database.engineDb)).toBe(1);
  });
  expect(await count(own.database.db)).toBe(2);
});
