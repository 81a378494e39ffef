import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { type Clock, systemClock } from '../clock.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';

let own: TestDatabase;
/** The machine's clock goes on as the database's does, this far ahead of it. */
let aheadMs: number;
const clock: Clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) };
let followed: DatabaseClock;
let logged: string[];

beforeAll(async () => {
  own = await createTestDatabase();
});
beforeEach(() => {
  aheadMs = 0;
  logged = [];
  const log = { warn: (...said: unknown[]) => void logged.push(said.map(String).at(-1) ?? '') };
  followed = createDatabaseClock({ clock, db: own.database.db, log });
});
afterAll(() => own.close());

const MINUTE_MS = 60_000;
/** By how many whole minutes the program's time is ahead of the machine's. */
const minutesAhead = () =>
  Math.round((followed.clock.now().getTime() - clock.now().getTime()) / MINUTE_MS) + 0;

test.each([10, -10])('a machine %s minutes ahead takes the time of the database', async (minutes) => {
  aheadMs = minutes * MINUTE_MS;
  await followed.measure();
  expect(minutesAhead()).toBe(-minutes);
  expect(logged).toEqual([
    'the clock of this machine differs from the database’s, and times are taken from the database',
  ]);
  await followed.measure();
  expect(logged).toHaveLength(1);
});

test('a machine whose clock is put right takes its own time again', async () => {
  aheadMs = 10 * MINUTE_MS;
  await followed.measure();
  aheadMs = 0;
  await followed.measure();
  expect(minutesAhead()).toBe(0);
  expect(logged.at(-1)).toBe('the clock of this machine agrees with the database again');
});

test('clocks that agree are left alone', async () => {
  aheadMs = 300;
  await followed.measure();
  expect(minutesAhead()).toBe(0);
  expect(logged).toEqual([]);
});

test('what was measured holds while the database is away', async () => {
  aheadMs = 10 * MINUTE_MS;
  let isAway = false;
  const { db } = own.database;
  const execute = ((statement) =>
    isAway ? Promise.reject(new Error('away')) : db.execute(statement)) as typeof db.execute;
  followed = createDatabaseClock({ clock, db: { execute }, log: { warn() {} } });
  await followed.measure();
  isAway = true;
  await followed.measure();
  expect(minutesAhead()).toBe(-10);
});
