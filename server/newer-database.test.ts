import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { type Instance, startWorld, TRADING, type World } from '#test/world.ts';
import { findNewestWorkflow } from './engine/records/workflows.store.ts';
import { migrateDatabase } from './platform/db/migrate.ts';
import { withShortLocks } from './platform/db/partitions.ts';
import { createLog } from './platform/log.ts';

/** During a rolling upgrade this program is the older one: a newer one has migrated the database under it. */
let world: World;
let sender: TestSender;

/** What a migration of the next version may add: tables, optional columns, indexes. */
async function migrateAsNewer(): Promise<void> {
  const { db } = world;
  const { rows } = await db.execute<{ name: string }>(
    // A partition has the columns of its table.
    sql`select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  // With the short locks of a migration, because the program goes on writing.
  const client = new pg.Client(world.database.connection);
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
  world = await startWorld(TRADING);
  sender = await createSender({ app: world.app, client: world.admin });
  await world.createTrader({ positionSizingMethod: 'Portfolio Allocation' });
});
afterAll(() => world.close());

/** Trades from the delivery to the protected order, and checks the screens. */
async function expectTraded(token: string, { app, admin }: Pick<Instance, 'app' | 'admin'>): Promise<void> {
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
    .poll(() => findNewestWorkflow(world.db, id))
    .toMatchObject({ status: 'completed', successfulUsersCount: 1 });
  const trades = (await admin.get(`/api/signals/${id}/trades`)).json();
  expect(trades).toMatchObject([{ success: true, fillStatus: 'filled' }]);
  for (const screen of ['/api/signals', '/api/price-logs', '/api/automation-workflows', '/api/positions']) {
    expect((await admin.get(screen)).statusCode, screen).toBe(200);
  }
}

test('keeps serving and trading on a database that a newer version migrates under it', async () => {
  await expectTraded('ONE', world);
  await migrateAsNewer();
  await expectTraded('TWO', world);
});

test('starts again on it, without touching the additions of the newer version', async () => {
  await world.stopProgram();
  await migrateDatabase({ connection: world.database.connection, log: createLog({ level: 'silent' }) });
  await expectTraded('THREE', await world.startInstance());
  const { rows } = await world.db.execute(
    sql`select hash from drizzle.__drizzle_migrations order by created_at desc limit 1`,
  );
  expect(rows).toEqual([{ hash: 'of the next version' }]);
});
