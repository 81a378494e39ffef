import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { databaseErrorCode, isDataFault, isUniqueViolation } from './database-errors.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await createTestDatabase();
  await own.database.pool.query('create table numbers (n int primary key check (n > 0))');
  await own.database.pool.query('insert into numbers values (1)');
});
afterAll(() => own.close());

const failureOf = (statement: string): Promise<unknown> =>
  own.database.db.execute(sql.raw(statement)).then(
    () => null,
    (error: unknown) => error,
  );

test.each([
  ['insert into numbers values (1)', '23505', true, true],
  ['insert into numbers values (0)', '23514', true, false],
  ['insert into numbers values (null)', '23502', true, false],
  ["insert into numbers values ('one')", '22P02', true, false],
  ['insert into numbers values (99999999999)', '22003', true, false],
  ['insert into nothing values (1)', '42P01', false, false],
  ['set statement_timeout = 1; select pg_sleep(5)', '57014', false, false],
])('%s fails with %s; at fault is a value: %s, a unique one: %s', async (statement, code, data, unique) => {
  const error = await failureOf(statement);
  expect(databaseErrorCode(error)).toBe(code);
  expect(isDataFault(error)).toBe(data);
  expect(isUniqueViolation(error)).toBe(unique);
});

test.each([
  new Error('no code'),
  Object.assign(new Error('not ours'), { code: 5 }),
  'a text',
  null,
  undefined,
])('finds no code and no fault in %s', (error) => {
  expect(databaseErrorCode(error)).toBeNull();
  expect(isDataFault(error)).toBe(false);
});

test('does not treat a refused connection as a data fault', () => {
  const error = new Error('Failed query', {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  });
  expect(databaseErrorCode(error)).toBe('ECONNREFUSED');
  expect(isDataFault(error)).toBe(false);
});
