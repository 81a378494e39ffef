import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstIdOf } from '#server/platform/ids.ts';
import { crossed, inTurn, testEveryCase } from '#test/app/in-turn.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { addUpList } from './add-up-list.ts';
import type { OutcomeList } from './count-outcomes.ts';
import { addUpOutcomes } from './keep-outcomes.ts';
import { readSortedList, type SortedOptions } from './read-sorted-list.ts';

const board = await createTestDatabase();
const { pool, db } = board.database;
afterAll(() => board.close());

const OWNER = '01890a5d-ac96-774b-bcce-b302099a8057';
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 20);
const NOW = new Date(START + 60 * DAY_MS);
const KINDS = ['running', 'filled', 'partial', 'not_filled', 'failed', 'aborted', 'skipped'] as const;
type Kind = (typeof KINDS)[number] | null;

interface Row {
  id: string;
  at: Date;
  token: string;
  action: string;
  timeframe: string;
  processor: string;
  status: string;
  outcome: Kind;
}

/** 60 signals in 60 days, each with a workflow; what the lists hold, kept beside them. */
const held: Record<OutcomeList, Row[]> = { signals: [], workflows: [] };

const idAt = (at: Date, last: string) =>
  firstIdOf(at).replace(/0000-000000000000$/, `0000-0000000000${last}`);
const statusOf = (kind: Kind) =>
  kind === 'running' ? 'processing' : kind === 'failed' || kind === 'aborted' ? kind : 'completed';

async function storeWorkflow(row: Row, id: string, trigger: string, signalId = row.id): Promise<void> {
  await pool.query(
    `insert into workflows (id, signal_id, trigger, status, token, processor, created_at)
     values ($1, $2, $3, 'processing', $4, $5, $6)`,
    [id, signalId, trigger, row.token, row.processor, row.at],
  );
  held.workflows.push({ ...row, id, status: 'processing', outcome: 'running' });
}

/** Ends a workflow as the engine does, or changes its outcome later. */
async function end(id: string, outcome: Exclude<Kind, 'running' | null>): Promise<void> {
  const fills = outcome === 'filled' ? 2 : outcome === 'partial' ? 1 : 0;
  await pool.query(
    'update workflows set status = $2, outcome = $3, successful_users_count = $4 where id = $1',
    [id, statusOf(outcome), outcome, fills],
  );
  const row = held.workflows.find((one) => one.id === id);
  Object.assign(row ?? {}, { outcome, status: statusOf(outcome) });
}

beforeAll(async () => {
  for (let index = 0; index < 60; index += 1) {
    const at = new Date(START + index * DAY_MS);
    const outcome = KINDS[index % KINDS.length] as (typeof KINDS)[number];
    const row: Row = {
      id: idAt(at, '01'),
      at,
      token: ['BTC', 'ETH', 'SOL', 'PEPE'][(index * 7) % 4] as string,
      action: index % 3 === 0 ? 'sell' : 'buy',
      timeframe: ['15', '60'][index % 2] as string,
      processor: index % 5 === 0 ? 'UD Bot' : 'Tesla',
      status: '',
      outcome,
    };
    await pool.query(
      `insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
         processor, received_at, source_ip, hash_value, parameters)
       values ($1::uuid, $2, $2, true, $3, $4, 1, 'USDT', $5, $6, $7, '::1', $1::uuid::text, '{}')`,
      [row.id, OWNER, row.token, row.action, row.timeframe, row.processor, at],
    );
    held.signals.push(row);
    await storeWorkflow(row, idAt(at, '02'), 'automatic');
    if (outcome !== 'running') await end(idAt(at, '02'), outcome);
    // Halfway, so that the lists read totals, changes that are not added up, and rows.
    if (index === 30) await addUpOutcomes(db);
  }
  await addUpList(db, 'signals', { marginMs: 0, rowsAStep: 30 });
});

const rank = (row: Row) => (row.outcome === null ? KINDS.length : KINDS.indexOf(row.outcome));

/** What the list has to hold, without a database. */
function expected(list: OutcomeList, options: Partial<SortedOptions> = {}): string[] {
  const { sort = 'time', order = 'desc', outcome, from, until, id, filter = {} } = options;
  const direction = order === 'asc' ? 1 : -1;
  const byTime = (a: Row, b: Row) => Number(b.at) - Number(a.at) || (a.id < b.id ? 1 : -1);
  return held[list]
    .filter((row) => outcome === undefined || row.outcome === outcome)
    .filter((row) => (from === undefined || row.at >= from) && (until === undefined || row.at <= until))
    .filter((row) => id === undefined || row.id.startsWith(id))
    .filter((row) => Object.entries(filter).every(([name, value]) => row[name as keyof Row] === value))
    .sort((a, b) => {
      if (sort === 'token' && a.token !== b.token) return a.token < b.token ? -direction : direction;
      if (sort === 'outcome' && rank(a) !== rank(b)) return (rank(a) - rank(b)) * direction;
      return sort === 'time' ? -direction * byTime(a, b) : byTime(a, b);
    })
    .map((row) => row.id);
}

async function readAll(list: OutcomeList, options: Partial<SortedOptions>, limit = 17): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const asked = { filter: {}, ...options, page, limit, now: NOW };
    const { rows, total } = await readSortedList(db, list, asked);
    expect(total).toBe(expected(list, options).length);
    ids.push(...rows.map(({ id }) => id));
    if (page * limit >= total) return ids;
  }
}

const LISTS: OutcomeList[] = ['signals', 'workflows'];
const day = (number: number) => new Date(START + number * DAY_MS);
const RANGES = [
  {},
  { from: day(50) },
  { from: day(3), until: day(5) },
  { from: day(5), until: day(55) },
  { from: new Date(Date.UTC(2026, 1, 1)), until: day(30) },
  { until: day(2) },
];
const FILTERS = [{}, { processor: 'UD Bot' }];

const ROWS = crossed(RANGES, FILTERS);
const ORDERS = (['time', 'token', 'outcome'] as const).flatMap((sort) =>
  (['asc', 'desc'] as const).flatMap((order) =>
    ([undefined, 'running', 'filled', 'skipped'] as const).map((outcome) => ({ sort, order, outcome })),
  ),
);

/** Every order and outcome, with the ranges and filters in turn. */
async function compareAll(list: OutcomeList): Promise<void> {
  for (const [order, [range, filter]] of inTurn(ORDERS, ROWS)) {
    const options = { ...range, filter, ...order };
    expect(await readAll(list, options), JSON.stringify(options)).toEqual(expected(list, options));
  }
}

describe.each(LISTS)('the list of %s', (list) => {
  // Requirements: additions-lists-5
  test('has every row once in each order, under every filter and in every range', async () => {
    await compareAll(list);
  });

  test('finds rows by the first characters of an id, with any filter and in any order', async () => {
    for (const id of [idAt(day(9), '01').slice(0, 8), idAt(day(9), '01'), idAt(day(9), '02')]) {
      const options = { id, sort: 'outcome', outcome: undefined } as const;
      const found = (await readSortedList(db, list, { ...options, filter: {}, page: 1, limit: 9, now: NOW }))
        .rows;
      const isWhole = id.length > 8;
      const names = list === 'signals' ? ['01'] : ['02'];
      const isFound = !isWhole || list === 'workflows' || id.endsWith('01');
      expect(found.map((row) => row.id)).toEqual(isFound ? names.map((last) => idAt(day(9), last)) : []);
    }
    const none = { id: '00000000', filter: {}, page: 1, limit: 9, now: NOW };
    expect(await readSortedList(db, list, none)).toEqual({ rows: [], total: 0 });
  });

  test('filters by timeframe, action and token where the list has them', async () => {
    if (list === 'workflows') {
      const options = { filter: { status: 'completed' }, sort: 'outcome', order: 'asc' } as const;
      return expect(await readAll(list, options)).toEqual(expected(list, options));
    }
    const filter = { token: 'BTC', action: 'buy', timeframe: '15', processor: 'Tesla' };
    for (const sort of ['token', 'outcome'] as const) {
      expect(await readAll(list, { filter, sort })).toEqual(expected(list, { filter, sort }));
    }
  });
});

describe('when a workflow changes', () => {
  // Requirements: additions-lists-5, additions-outcome-4
  testEveryCase('a later run changes the outcome of its signal only if it trades more', async () => {
    const skipped = held.signals.find(({ outcome }) => outcome === 'skipped') as Row;
    const second = idAt(skipped.at, '03');
    await storeWorkflow(skipped, second, 'manual');
    skipped.outcome = 'running';
    await compareAll('signals');
    await end(second, 'filled');
    skipped.outcome = 'filled';
    await compareAll('signals');
    const third = idAt(skipped.at, '04');
    await storeWorkflow(skipped, third, 'manual');
    await end(third, 'not_filled');
    await compareAll('signals');
    await compareAll('workflows');
  });

  test('an outcome that is settled late moves its rows to it', async () => {
    const failed = held.signals.find(({ outcome }) => outcome === 'not_filled') as Row;
    await end(idAt(failed.at, '02'), 'partial');
    failed.outcome = 'partial';
    await compareAll('signals');
    await compareAll('workflows');
  });

  test('rows of deleted workflows leave the list, and their signals have no outcome', async () => {
    const gone = held.signals.filter(({ outcome }) => outcome === 'aborted').slice(0, 3);
    for (const row of gone) {
      await pool.query('delete from workflows where id = $1', [idAt(row.at, '02')]);
      held.workflows = held.workflows.filter(({ id }) => id !== idAt(row.at, '02'));
      row.outcome = null;
    }
    await compareAll('signals');
    // Not of workflows by time: its totals are subtracted by the one who deletes (forgetRows).
    const counted = { sort: 'token', order: 'asc' } as const;
    expect(await readAll('workflows', counted)).toEqual(expected('workflows', counted));
  });

  test('adding up changes nothing that a list shows, however often it runs', async () => {
    while (await addUpOutcomes(db, { rowsAStep: 5 }));
    const { rows } = await pool.query('select count(*)::int as left from list_outcome_changes');
    expect(rows[0].left).toBe(0);
    await compareAll('signals');
  });

  test('two workflows of a signal that end at once leave the outcome of the one that traded', async () => {
    const row = held.signals.find(({ outcome }) => outcome === 'failed') as Row;
    const [first, second] = [idAt(row.at, '02'), idAt(row.at, '05')];
    await storeWorkflow(row, second, 'manual');
    const [one, other] = [await pool.connect(), await pool.connect()];
    try {
      await one.query('begin');
      await one.query(
        `update workflows set outcome = 'partial', status = 'completed', successful_users_count = 1 where id = $1`,
        [first],
      );
      const waiting = other.query(
        `update workflows set outcome = 'not_filled', status = 'completed' where id = $1`,
        [second],
      );
      await expect.poll(() => countWaitingForLocks(db)).toBe(1);
      await one.query('commit');
      await waiting;
    } finally {
      one.release();
      other.release();
    }
    const { rows } = await pool.query('select outcome from signal_outcomes where id = $1', [row.id]);
    expect(rows).toEqual([{ outcome: 'partial' }]);
  });
});
