import { expect, test } from 'vitest';
import { createTestDatabase } from './test-database.ts';

test('two databases of one run have the schema and are isolated', async () => {
  const one = await createTestDatabase();
  const other = await createTestDatabase();
  try {
    await one.database.pool.query('create table only_here ()');
    const tables =
      "select count(*) from information_schema.tables where table_name in ('users', 'only_here')";
    expect((await one.database.pool.query(tables)).rows).toEqual([{ count: '2' }]);
    expect((await other.database.pool.query(tables)).rows).toEqual([{ count: '1' }]);
  } finally {
    await one.close();
    await other.close();
  }
});
