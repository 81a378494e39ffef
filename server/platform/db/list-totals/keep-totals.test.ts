import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { createLog } from '#server/platform/log.ts';
import { createRowRefusals } from '#test/app/refused-rows.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { startWorld } from '#test/world.ts';
import { countList } from './count-list.ts';
import { startKeepingTotals } from './keep-totals.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

test('adds up earlier rows at the start, with any number of instances', async () => {
  const { database, close } = await createTestDatabase();
  closings.push(close);
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  for (let minutes = 10; minutes > 5; minutes -= 1) {
    await database.pool.query(
      `insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe, processor,
         received_at, source_ip, hash_value, parameters)
       values ($1::uuid, $1, $1, true, 'BTC', 'buy', 1, 'USDT', '15', 'Tesla', now(), '::1', '', '{}')`,
      [firstIdOf(new Date(Date.now() - minutes * 60_000))],
    );
  }
  for (let instance = 1; instance <= 3; instance += 1) {
    closings.push(startKeepingTotals({ db: database.db, clock: systemClock, log }));
  }
  const addedUp = async () =>
    (await database.pool.query('select coalesce(sum(rows), 0)::int as sum from list_totals')).rows[0].sum;
  await expect.poll(addedUp).toBe(5);
  expect(await countList(database.db, 'signals', { filter: {}, now: new Date() })).toBe(5);
  expect(lines).toEqual([]);
});

test('keeps the totals and the choices of all lists in a running program', async () => {
  const board = await startWorld({ engine: true, background: ['totals'] });
  closings.push(() => board.close());
  const lists = async () =>
    (await board.database.pool.query('select list from counted_lists order by 1')).rows.map(
      ({ list }) => list,
    );
  await expect
    .poll(lists)
    .toEqual(['price-logs', 'price-logs choices', 'signals', 'signals choices', 'workflows']);
});

test('a list that cannot be added up keeps no other from being added up', async () => {
  const { database, close } = await createTestDatabase();
  closings.push(close);
  const rows = await createRowRefusals(database.pool, 'counted_lists');
  await rows.refuse('signals');
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  closings.push(startKeepingTotals({ db: database.db, clock: systemClock, log }));
  const lists = async () =>
    (await database.pool.query('select list from counted_lists order by 1')).rows.map(({ list }) => list);
  await expect.poll(lists).toEqual(['price-logs', 'price-logs choices', 'workflows']);
  await expect.poll(() => lines.join('')).toContain('"list":"signals"');
});
