import type { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { nextMillisecond } from '#test/app/next-millisecond.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { addUpList, forgetRows } from './add-up-list.ts';
import { countList, listValues } from './count-list.ts';
import { COUNTED_LISTS, type CountedList, type ListFilter } from './counted-lists.ts';
import { noteClockLag } from './keep-totals.ts';

const board = await createTestDatabase();
const { pool, db } = board.database;
const OWNER = '01890a5d-ac96-774b-bcce-b302099a8057';
const HOUR_MS = 3_600_000;
const TABLES = { signals: 'signals', 'price-logs': 'price_logs', workflows: 'workflows' } as const;
const TOTALS = ['counted_lists', 'list_totals', 'list_totals_by_month', 'signal_totals_by_quarter'];
/** Without a margin: everything that was committed is added up immediately. */
const NOW = { marginMs: 0 };

beforeEach(() =>
  pool.query(`truncate ${[...TOTALS, 'workflows', 'signals', 'price_logs'].join(', ')} cascade`),
);
afterAll(() => board.close());

interface Row {
  id?: string;
  at?: Date;
  token?: string;
  processor?: string;
}

const ask = (client: Pick<typeof pool, 'query'>, statement: string, values: unknown[]) =>
  client.query(statement, values);

async function storeSignal(row: Row = {}, client: Pick<typeof pool, 'query'> = pool): Promise<string> {
  const { at = new Date(), token = 'BTC', processor = 'Tesla', id = timeOrderedId() } = row;
  await ask(
    client,
    `insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe, processor,
       received_at, source_ip, hash_value, parameters)
     values ($1::uuid, $2, $2, true, $3, 'buy', 1, 'USDT', '15', $4, $5, '::1', $1::uuid::text, '{}')`,
    [id, OWNER, token, processor, at],
  );
  return id;
}

async function storePriceLog({
  at = new Date(),
  token = 'BTC',
  processor,
  id = timeOrderedId(),
}: Row): Promise<void> {
  await pool.query(
    `insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     values ($1::uuid, $2, $2, true, $3, '15', 1, 'USDT', $4, '', $5, $5, '::1', $1::uuid::text, '{}')`,
    [id, OWNER, token, processor ?? null, at],
  );
}

async function storeWorkflow(status: string): Promise<string> {
  const id = timeOrderedId();
  await pool.query(
    `insert into workflows (id, signal_id, trigger, status, token, processor, created_at)
     values ($1, $2, 'manual', $3, 'BTC', 'Tesla', now())`,
    [id, await storeSignal(), status],
  );
  return id;
}

/** Waits first, because rows stored in the current millisecond do not count as earlier. */
async function addUpAll(list: CountedList, options = NOW): Promise<void> {
  await nextMillisecond();
  while (await addUpList(db, list, options));
}

/** The total according to the tables of totals only. */
async function addedUp(list: CountedList): Promise<number> {
  const { rows } = await pool.query(
    'select coalesce(sum(rows), 0)::int as sum from list_totals where list = $1',
    [list],
  );
  return rows[0].sum;
}

const total = (list: CountedList, filter: ListFilter = {}, until?: Date, now = new Date()) =>
  countList(db, list, { filter, until, now });

async function countRows(list: CountedList): Promise<number> {
  const { rows } = await pool.query(`select count(*)::int as count from ${TABLES[list]}`);
  return rows[0].count;
}

describe.each(COUNTED_LISTS)('the total of %s', (list) => {
  const store = {
    signals: (row: Row) => storeSignal(row),
    'price-logs': storePriceLog,
    workflows: () => storeWorkflow('completed'),
  }[list];

  test('is zero without rows', async () => {
    expect(await total(list)).toBe(0);
    await addUpAll(list);
    expect(await total(list)).toBe(0);
  });

  test('is the same before, during and after adding up, and each row is added up once', async () => {
    for (let count = 1; count <= 5; count += 1) await store({});
    expect(await total(list)).toBe(5);
    await nextMillisecond();
    expect(await addUpList(db, list, { ...NOW, rowsAStep: 2 })).toBe(true);
    expect([await addedUp(list), await total(list)]).toEqual([2, 5]);
    await addUpAll(list);
    await addUpAll(list);
    await store({});
    expect([await addedUp(list), await total(list)]).toEqual([5, 6]);
  });
});

test('counts matching rows, whether added up or not', async () => {
  const rows = [
    { token: 'BTC', processor: 'Tesla' },
    { token: 'BTC', processor: 'UD Bot' },
    { token: 'ETH', processor: 'Tesla' },
  ];
  for (const row of rows) await storeSignal(row);
  await addUpAll('signals');
  for (const row of rows) await storeSignal(row);
  expect(await total('signals', { token: 'BTC' })).toBe(4);
  expect(await total('signals', { processor: 'Tesla', action: 'buy', timeframe: '15' })).toBe(4);
  expect(await total('signals', { token: 'BTC', processor: 'UD Bot' })).toBe(2);
  expect(await total('signals', { token: 'btc' })).toBe(0);
  expect(await total('signals', { token: ['BTC', 'ETH', 'SOL'], processor: 'Tesla' })).toBe(4);
  expect(await listValues(db, 'signals', 'processor')).toEqual(['Tesla', 'UD Bot']);
});

test('counts a price log without a processor in the total, but in no filter by processor', async () => {
  await storePriceLog({});
  await storePriceLog({ processor: 'Tesla' });
  await addUpAll('price-logs');
  expect([await total('price-logs'), await total('price-logs', { processor: 'Tesla' })]).toEqual([2, 1]);
  expect(await listValues(db, 'price-logs', 'processor')).toEqual(['Tesla']);
});

test('counts exactly up to an instant: months ago, at the edges of a month, and recently', async () => {
  const now = new Date('2026-11-22T12:00:00.000Z');
  const instants = [
    '2026-08-31T23:59:59.999Z',
    '2026-09-01T00:00:00.000Z',
    '2026-09-10T00:00:00.000Z',
    '2026-09-28T00:00:00.000Z',
    '2026-09-30T23:59:59.999Z',
    '2026-10-01T00:00:00.000Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-22T11:00:00.000Z',
    // From a clock that is ahead.
    '2026-12-24T00:00:00.000Z',
  ].map((text) => new Date(text));
  for (const at of instants) await storeSignal({ at, id: firstIdOf(at) });
  const wanted = instants.map((_, index) => index + 1);
  const found = () => Promise.all(instants.map((until) => total('signals', {}, until, now)));
  expect(await found()).toEqual(wanted);
  await addUpAll('signals');
  expect(await found()).toEqual(wanted);
  // Every range between two of the instants, both ends included, and ranges that end before they begin.
  for (const [first, from] of instants.entries()) {
    const counts = instants.map((until) => countList(db, 'signals', { filter: {}, from, until, now }));
    expect(await Promise.all(counts)).toEqual(instants.map((_, last) => Math.max(0, last - first + 1)));
    expect(await countList(db, 'signals', { filter: {}, from, now })).toBe(instants.length - first);
  }
  const before = instants.map((at) => total('signals', { token: 'BTC' }, new Date(at.getTime() - 1), now));
  expect(await Promise.all(before)).toEqual(instants.map((_, index) => index));
});

test('waits for a transaction that commits late, and then counts its rows', async () => {
  const late = await pool.connect();
  await late.query('begin');
  try {
    await storeSignal({ token: 'SOL' }, late);
    for (let count = 1; count <= 10; count += 1) await storeSignal();
    await addUpAll('signals');
    expect(await total('signals')).toBe(await countRows('signals'));
    // Other writers continue while lists are added up.
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        await storeSignal();
        await addUpList(db, 'signals', NOW);
      }),
    );
    expect(await total('signals')).toBe(30);
    await late.query('commit');
  } finally {
    late.release();
  }
  expect([await total('signals'), await countRows('signals')]).toEqual([31, 31]);
  await addUpAll('signals');
  expect([await total('signals'), await addedUp('signals')]).toEqual([31, 31]);
  expect(await total('signals', { token: 'SOL' })).toBe(1);
});

test('does not wait for a listener that reads nothing, whose last statement is old', async () => {
  const listener = new pg.Client(board.database.connection);
  await listener.connect();
  await listener.query('listen unread');
  // Not in its types.
  const { stream } = (listener as unknown as { connection: { stream: Socket } }).connection;
  stream.pause();
  // More than the buffers of a socket hold.
  const notify = `select pg_notify('unread', number || repeat('x', 7900)) from generate_series(1, 1000) as number`;
  try {
    await pool.query(notify);
    const sending = `select state from pg_stat_activity where query = 'listen unread' and xact_start is not null`;
    await expect.poll(async () => (await pool.query(sending)).rows).toEqual([{ state: 'idle' }]);
    await storeSignal();
    await addUpAll('signals');
    expect(await addedUp('signals')).toBe(1);
  } finally {
    stream.resume();
    await listener.end();
  }
});

test('does not add up rows younger than the margin, so an id made before its transaction is counted', async () => {
  await storeSignal({ id: firstIdOf(new Date(Date.now() - 2 * HOUR_MS)) });
  await storeSignal();
  const id = timeOrderedId();
  await addUpAll('signals', { marginMs: HOUR_MS });
  expect(await addedUp('signals')).toBe(1);
  await storeSignal({ id });
  await addUpAll('signals', { marginMs: HOUR_MS });
  expect(await total('signals')).toBe(3);
});

test('counts rows once when two instances add up concurrently', async () => {
  for (let count = 1; count <= 20; count += 1) await storeSignal();
  await nextMillisecond();
  const step = () => addUpList(db, 'signals', { ...NOW, rowsAStep: 3 });
  for (let round = 1; round <= 10; round += 1) await Promise.all([step(), step(), total('signals')]);
  expect([await addedUp('signals'), await total('signals')]).toEqual([20, 20]);
});

testEveryCase('reads a total as of one instant while rows are added up', async () => {
  for (let count = 1; count <= 40; count += 1) await storeSignal();
  let adding = true;
  const added = (async () => {
    while (await addUpList(db, 'signals', { ...NOW, rowsAStep: 1 }));
    adding = false;
  })();
  const seen = new Set<number>();
  while (adding) for (const one of await Promise.all([total('signals'), total('signals')])) seen.add(one);
  await added;
  expect([...seen]).toEqual([40]);
});

test('counts a running workflow with its current status', async () => {
  const running = await storeWorkflow('pending');
  await storeWorkflow('completed');
  await addUpAll('workflows');
  const statuses = async () => [
    await total('workflows', { status: 'pending' }),
    await total('workflows', { status: 'failed' }),
    await total('workflows', { status: 'completed', processor: 'Tesla' }),
    await total('workflows'),
  ];
  expect(await statuses()).toEqual([1, 0, 1, 2]);
  await pool.query(`update workflows set status = 'failed' where id = $1`, [running]);
  expect(await statuses()).toEqual([0, 1, 1, 2]);
  await addUpAll('workflows');
  expect(await statuses()).toEqual([0, 1, 1, 2]);
  expect(await addedUp('workflows')).toBe(2);
});

test('subtracts dropped rows from the totals and the filters', async () => {
  const [old, bound] = [new Date('2026-01-15T00:00:00Z'), firstIdOf(new Date('2026-02-01T00:00:00Z'))];
  await storePriceLog({ at: old, id: firstIdOf(old), token: 'OLD' });
  await storePriceLog({ at: old, id: timeOrderedId() });
  await addUpAll('price-logs');
  await storePriceLog({});
  await db.transaction(async (tx) => {
    await forgetRows(tx, 'price-logs', { from: firstIdOf(new Date(0)), to: bound });
    await tx.execute(`delete from price_logs where id < '${bound}'`);
  });
  expect([await total('price-logs'), await total('price-logs', {}, old)]).toEqual([2, 1]);
  expect(await listValues(db, 'price-logs', 'token')).toEqual(['BTC']);
  const { rows } = await pool.query('select from list_totals_by_month');
  expect(rows).toHaveLength(1);
});

test('counts rows from a clock that is far behind, once the lag is noticed', async () => {
  const lagMs = 5 * HOUR_MS;
  const idClock = () => Date.now() - lagMs;
  await storeSignal();
  await addUpAll('signals');
  await storeSignal({ id: firstIdOf(new Date(idClock())) });
  expect(await noteClockLag(db, { marginMs: HOUR_MS, idClock: () => Date.now() - HOUR_MS / 3 })).toBe(0);
  expect(await noteClockLag(db, { marginMs: HOUR_MS, idClock })).toBeGreaterThanOrEqual(lagMs);
  expect(await total('signals')).toBe(2);
  await addUpAll('signals');
  await storeSignal({ id: firstIdOf(new Date(idClock())) });
  expect(await total('signals')).toBe(3);
});

test('forgets a clock lag a day after the clock is right again', async () => {
  await noteClockLag(db, { idClock: () => Date.now() - HOUR_MS + 30_000 });
  const lags = async () =>
    (await pool.query('select distinct clock_lag_ms::int as ms from counted_lists')).rows;
  await noteClockLag(db);
  expect(await lags()).toEqual([{ ms: HOUR_MS }]);
  await pool.query(`update counted_lists set clock_lag_seen_at = now() - interval '25 hours'`);
  await noteClockLag(db);
  expect(await lags()).toEqual([{ ms: 0 }]);
});
