import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '#contract/users.ts';
import { signIn, type TestClient } from '#test/app/test-client.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { findNewestWorkflow } from './engine/records/workflows.store.ts';
import { systemClock } from './platform/clock.ts';
import { parseConfig } from './platform/config/config.ts';
import { migrateDatabase } from './platform/db/migrate.ts';
import { withShortLocks } from './platform/db/partitions.ts';
import { createLog } from './platform/log.ts';
import { buildProgram, type Program } from './program.ts';

/** During a rolling upgrade this program is the older one: a newer one has migrated the database under it. */
const ADMIN = { username: 'admin@example.com', password: 'correct horse battery' };
const log = createLog({ level: 'silent' });

let own: TestDatabase;
let program: Program | null = null;
let admin: TestClient;
let sender: TestSender;

async function start(): Promise<void> {
  program = await buildProgram({
    config: parseConfig({
      APP_ENV: 'production',
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      SECRET_KEY: 'a secret key of the tests, long enough',
      VERIFY_FIRST_MS: '200',
      VERIFY_SECOND_MS: '300',
      CANCEL_DELAY_MS: '200',
    }),
    log,
    clock: systemClock,
    database: own.database,
  });
  await program.start({ background: [] });
  admin = await signIn(program.app, ADMIN.username, ADMIN.password);
}

async function stop(): Promise<void> {
  await program?.app.close();
  await program?.stop();
  program = null;
}

/** What a migration of the next version may add: tables, optional columns, indexes. */
async function migrateAsNewer(): Promise<void> {
  const { db } = own.database;
  const { rows } = await db.execute<{ name: string }>(
    // A partition has the columns of its table.
    sql`select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  // With the short locks of a migration, because the program goes on writing.
  const client = new pg.Client(own.database.connection);
  await client.connect();
  for (const { name } of rows) {
    await withShortLocks(client, (tx) =>
      tx.execute(sql`alter table ${sql.identifier(name)} add column of_the_next_version text`),
    );
  }
  await client.end();
  await db.execute(sql`create table things_of_the_next_version (id uuid primary key, kind text not null)`);
  await db.execute(sql`create index of_the_next_version on signals (token, of_the_next_version)`);
  await db.execute(sql`
    insert into drizzle.__drizzle_migrations (hash, created_at)
    values ('of the next version', ${Date.now() + 86_400_000})`);
}

beforeAll(async () => {
  own = await createTestDatabase();
  await start();
  if (program !== null) sender = await createSender({ app: program.app, client: admin });
  const body = { username: 'trader@example.com', password: 'a password of a user' };
  const { user } = (await admin.post('/api/admin/create-client', body)).json<{ user: User }>();
  const settings = { positionSizingMethod: 'Portfolio Allocation' };
  expect((await admin.put(`/api/admin/user-settings/${user.id}`, settings)).statusCode).toBe(200);
  const path = `/api/admin/user/${user.id}/active-trading`;
  expect((await admin.put(path, { activeTrading: true })).statusCode).toBe(200);
});
afterAll(async () => {
  await stop();
  await own.close();
});

/** Trades from the delivery to the protected order, and checks the screens. */
async function expectTraded(token: string): Promise<void> {
  const app = program?.app;
  if (app === undefined) throw new Error('no program runs');
  const post = (route: string, body: object) =>
    app.inject({ method: 'POST', url: `/hooks/${route}?hkid=${sender.hook.hookKey}`, payload: body });
  const candle = {
    ...{ Timeframe: '15', Symbol: `${token}USDT`, Currency: 'USDT', Volume: '1' },
    ...{ High: '100', Low: '100', Open: '100', Close: '100' },
    DateTime: new Date().toISOString().replaceAll(/[-:T]/g, '').slice(0, 12),
  };
  for (const duplicate of [false, true]) {
    const answer = await post('trading_view_candler', candle);
    expect(answer.statusCode).toBe(200);
    expect(answer.json<{ duplicate?: boolean }>().duplicate ?? false).toBe(duplicate);
  }
  const signal = {
    ...{ symbol: `${token}USDT`, action: 'buy', price: '100', timeframe: '15', processor: 'Tesla' },
  };
  const { id } = (await post('trading_view_signal', signal)).json<{ id: string }>();
  await expect
    .poll(() => findNewestWorkflow(own.database.db, id))
    .toMatchObject({ status: 'completed', successfulUsersCount: 1 });
  const trades = (await admin.get(`/api/signals/${id}/trades`)).json();
  expect(trades).toMatchObject([{ success: true, fillStatus: 'filled' }]);
  for (const screen of ['/api/signals', '/api/price-logs', '/api/automation-workflows', '/api/positions']) {
    expect((await admin.get(screen)).statusCode, screen).toBe(200);
  }
}

test('keeps serving and trading on a database that a newer version migrates under it', async () => {
  await expectTraded('ONE');
  await migrateAsNewer();
  await expectTraded('TWO');
});

test('starts again on it, without touching the additions of the newer version', async () => {
  await stop();
  await migrateDatabase({ connection: own.database.connection, log });
  await start();
  await expectTraded('THREE');
  const { rows } = await own.database.db.execute(
    sql`select hash from drizzle.__drizzle_migrations order by created_at desc limit 1`,
  );
  expect(rows).toEqual([{ hash: 'of the next version' }]);
});
