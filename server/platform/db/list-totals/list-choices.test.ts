import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import { nextMillisecond } from '#test/app/next-millisecond.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { addUpList, forgetRows } from './add-up-list.ts';
import { CHOICE_LISTS, type ChoiceList } from './counted-lists.ts';
import { noteClockLag } from './keep-totals.ts';
import { listChoices } from './list-choices.ts';

const board = await createTestDatabase();
const { pool, db } = board.database;
const ME = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER = '01890a5d-ac96-774b-bcce-b302099a8058';
const ADMINISTRATOR = '01890a5d-ac96-774b-bcce-b302099a8059';

beforeEach(() =>
  pool.query('truncate counted_lists, list_choices, list_totals, signals, price_logs cascade'),
);
afterAll(() => board.close());

interface Row {
  owner?: string;
  fromAdmin?: boolean;
  token?: string;
  timeframe?: string;
  processor?: string | null;
  id?: string;
}

async function store(list: ChoiceList, row: Row = {}): Promise<void> {
  const { owner = ADMINISTRATOR, fromAdmin = owner === ADMINISTRATOR, id = timeOrderedId() } = row;
  const { token = 'BTC', timeframe = '15', processor = 'Tesla' } = row;
  const [table, own, values] =
    list === 'signals'
      ? ['signals', 'action', `'buy'`]
      : ['price_logs', 'candle_time_tradingview, candle_time_server', `'', now()`];
  await pool.query(
    `insert into ${table} (id, hook_id, owner_user_id, from_admin, token, timeframe, processor, price, currency,
       received_at, source_ip, hash_value, parameters, ${own})
     values ($1::uuid, $2, $2, $3, $4, $5, $6, 1, 'USDT', now(), '::1', $1::uuid::text, '{}', ${values})`,
    [id, owner, fromAdmin, token, timeframe, processor],
  );
}

/** Waits first, because rows stored in the current millisecond do not count as earlier. */
async function addUpAll(list: ChoiceList, rowsAStep = 20_000): Promise<void> {
  await nextMillisecond();
  while (await addUpList(db, list, { marginMs: 0, rowsAStep, what: 'choices' }));
}

const tokens = (list: ChoiceList, viewer = ME) => listChoices(db, list, 'token', viewer);

describe.each(CHOICE_LISTS)('the choices of %s', (list) => {
  test('are the values of administrators and the viewer, before and after adding up', async () => {
    await store(list, { token: 'BTC' });
    await store(list, { owner: ME, token: 'MINE' });
    await store(list, { owner: OTHER, token: 'THEIRS' });
    // Sent by an administrator who was an ordinary user at that time.
    await store(list, { owner: ADMINISTRATOR, fromAdmin: false, token: 'BEFORE' });
    const check = async () => {
      expect(await tokens(list)).toEqual(['BTC', 'MINE']);
      expect(await tokens(list, OTHER)).toEqual(['BTC', 'THEIRS']);
      expect(await tokens(list, ADMINISTRATOR)).toEqual(['BEFORE', 'BTC']);
    };
    await check();
    await addUpAll(list, 2);
    await check();
    await store(list, { owner: ME, token: 'NEW' });
    expect(await tokens(list)).toEqual(['BTC', 'MINE', 'NEW']);
    expect(await tokens(list, OTHER)).toEqual(['BTC', 'THEIRS']);
  });

  test('are the fifty most frequent values', async () => {
    for (let number = 1; number <= 60; number += 1) {
      for (let times = 0; times < (number <= 10 ? 1 : 2); times += 1) {
        await store(list, { token: `T${String(number).padStart(2, '0')}` });
      }
    }
    const most = Array.from({ length: 50 }, (_, at) => `T${at + 11}`);
    expect(await tokens(list)).toEqual(most);
    await addUpAll(list);
    expect(await tokens(list)).toEqual(most);
    await store(list, { token: 'T01' });
    await store(list, { token: 'T01' });
    await addUpAll(list);
    expect(await tokens(list)).toEqual(['T01', ...most.slice(0, -1)]);
  });

  test('do not show other users the values of a user who sent many', async () => {
    for (let number = 1; number <= 80; number += 1)
      await store(list, { owner: OTHER, timeframe: `${number}x` });
    await store(list, { timeframe: '15' });
    await addUpAll(list);
    expect(await listChoices(db, list, 'timeframe', ME)).toEqual(['15']);
    expect(await listChoices(db, list, 'timeframe', OTHER)).toHaveLength(50);
  });
});

test('offers no processor for a candle without one', async () => {
  await store('price-logs', { processor: null });
  await addUpAll('price-logs');
  expect(await listChoices(db, 'price-logs', 'processor', ME)).toEqual([]);
});

test('offers choices from rows that an older version added only to the totals', async () => {
  await store('signals', { token: 'BTC' });
  await nextMillisecond();
  while (await addUpList(db, 'signals', { marginMs: 0 }));
  expect(await tokens('signals')).toEqual(['BTC']);
  await addUpAll('signals');
  expect(await tokens('signals')).toEqual(['BTC']);
});

test('does not offer values of dropped rows', async () => {
  const bound = firstIdOf(new Date('2026-02-01T00:00:00Z'));
  await store('price-logs', { token: 'OLD', id: firstIdOf(new Date('2026-01-15T00:00:00Z')) });
  await store('price-logs', { token: 'BTC' });
  await addUpAll('price-logs');
  await db.transaction(async (tx) => {
    await forgetRows(tx, 'price-logs', { from: firstIdOf(new Date(0)), to: bound });
    await tx.execute(`delete from price_logs where id < '${bound}'`);
  });
  expect(await tokens('price-logs')).toEqual(['BTC']);
  expect((await pool.query('select from list_choices where value = $1', ['OLD'])).rows).toEqual([]);
});

test('offers values from a clock that is far behind, once the lag is noticed', async () => {
  const idClock = () => Date.now() - 5 * 3_600_000;
  await store('signals');
  await addUpAll('signals');
  await store('signals', { token: 'LATE', id: firstIdOf(new Date(idClock())) });
  await noteClockLag(db, { idClock });
  expect(await tokens('signals')).toEqual(['BTC', 'LATE']);
  const { rows } = await pool.query(`select from list_choices where list = 'signals'`);
  expect(rows).toEqual([]);
});
