import { sql } from 'drizzle-orm';
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { SessionAnswer } from '#contract/auth.ts';
import {
  type PerformanceAnswer,
  RESULT_GROUPS,
  type ResultChoices,
  type ResultGroup,
} from '#contract/performance.ts';
import { addUpOrders } from '#server/platform/db/list-totals/add-up-orders.ts';
import { closedPositions, trades } from '#server/platform/db/schema.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { generateTrades } from '#test/app/generated-trades.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import {
  type ReckonedOrder,
  type ReckonedTrade,
  reckon,
  reckonDistribution,
  reckonFall,
  reckonOrders,
  textOf,
} from '#test/app/reckon-results.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { startWorldWithResults } from '#test/world/results.ts';

const SINCE = new Date('2026-01-05T10:00:00Z');
const NOW = new Date('2026-11-20T12:34:56Z');
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const clock = fakeClock(NOW);

const board = await startWorldWithResults({
  trades: inject('everyCase') ? 3_000 : 1_000,
  seed: 7,
  since: SINCE,
  clock,
  config: { displayTimezone: 'America/Los_Angeles' },
});
const half = await startWorldWithResults({
  trades: 400,
  seed: 11,
  since: SINCE,
  clock,
  config: { displayTimezone: 'Asia/Kolkata' },
});
afterAll(async () => {
  await board.close();
  await half.close();
});
type Board = typeof board;

interface Filter {
  from?: string;
  to?: string;
  userId?: string;
  processor?: string;
  token?: string;
  timeframe?: string;
  sizingMethod?: string;
}

const ask = async (on: Board, filter: Filter & { groupBy?: ResultGroup }, client = on.admin) => {
  const answer = await client.get(`/api/performance?${new URLSearchParams({ ...filter })}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<PerformanceAnswer>();
};

const within = <Row extends ReckonedTrade | ReckonedOrder>(rows: Row[], { from, to, ...same }: Filter) =>
  rows.filter(
    (row) =>
      (from === undefined || timeOf(row) >= new Date(from)) &&
      (to === undefined || timeOf(row) < new Date(to)) &&
      Object.entries(same).every(([name, value]) => row[name as keyof Row] === value),
  );

const timeOf = (row: ReckonedTrade | ReckonedOrder) => ('beganAt' in row ? row.beganAt : row.closedAt);

/** Local figures of the zone without the database. */
const inZone = (at: Date, timeZone: string, parts: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, ...parts }).format(at);
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const keyOf = (trade: ReckonedTrade | ReckonedOrder, by: ResultGroup, timeZone: string): string => {
  if (by === 'user') return trade.userId;
  if (by === 'hour') return inZone(timeOf(trade), timeZone, { hour: '2-digit', hourCycle: 'h23' });
  if (by === 'weekday') {
    return String(1 + WEEKDAYS.indexOf(inZone(timeOf(trade), timeZone, { weekday: 'short' })));
  }
  return trade[by];
};

async function expectReckoned(on: Board, filter: Filter): Promise<void> {
  const { displayTimezone: timeZone } = on.config;
  const chosen = within(on.known, filter);
  const orders = within(on.orders, filter);
  const days =
    ((filter.to ? Date.parse(filter.to) : NOW.getTime()) -
      Date.parse(filter.from ?? '2000-01-01T00:00:00Z')) /
    DAY_MS;
  const unitMs = days <= 31 ? HOUR_MS : DAY_MS;
  for (const groupBy of RESULT_GROUPS) {
    const { totals, groups } = await ask(on, { ...filter, groupBy });
    const { distributionOfR, distributionOfHolding, ...figures } = totals;
    expect(figures).toEqual({
      ...reckon(chosen),
      ...reckonOrders(orders),
      maxDrawdown: reckonFall(chosen, unitMs),
    });
    const bars = distributionOfR.filter(({ trades }) => trades > 0).map(({ r, trades }) => [r, trades]);
    expect(Object.fromEntries(bars)).toEqual(reckonDistribution(chosen));
    expect(distributionOfHolding.reduce((total, { trades }) => total + trades, 0)).toBe(
      chosen.filter(({ net }) => net !== null).length,
    );
    const tradesBy = Map.groupBy(chosen, (trade) => keyOf(trade, groupBy, timeZone));
    const ordersBy = Map.groupBy(orders, (order) => keyOf(order, groupBy, timeZone));
    const wanted = [...new Set([...tradesBy.keys(), ...ordersBy.keys()])].map((key) => ({
      key,
      label: groupBy === 'user' ? on.users.find(({ user }) => user.id === key)?.username : key,
      ...reckon(tradesBy.get(key) ?? []),
      ...reckonOrders(ordersBy.get(key) ?? []),
      maxDrawdown: reckonFall(tradesBy.get(key) ?? [], unitMs),
    }));
    const byKey = <Row extends { key: string }>(rows: Row[]) =>
      rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    expect(byKey(groups)).toEqual(byKey(wanted));
  }
}

describe('figures of closed trades of the paper ledger, Bitget and Bybit agree with a reckoning in integers', () => {
  // Requirements: results-performance-1
  test('over all time', () => expectReckoned(board, {}));

  // Requirements: results-fills-1
  testEveryCase('while some of the orders are in the totals, and when all are', async () => {
    const before = await ask(board, { groupBy: 'token' });
    await addUpOrders(board.deps.db, { rowsAStep: 1_000 });
    expect(await ask(board, { groupBy: 'token' })).toEqual(before);
    while (await addUpOrders(board.deps.db, { rowsAStep: 500 }));
    expect(await ask(board, { groupBy: 'token' })).toEqual(before);
  });

  testEveryCase.each([
    ['months with cut ends', { from: '2026-01-20T03:21:45.678Z', to: '2026-05-17T19:00:00.001Z' }],
    ['whole days of the zone', { from: '2026-02-01T08:00:00Z', to: '2026-02-08T08:00:00Z' }],
    ['within one hour', { from: '2026-03-03T10:10:00Z', to: '2026-03-03T10:50:00Z' }],
    ['from an instant', { from: '2026-03-31T23:59:59.999Z' }],
    ['until an instant', { to: '2026-02-28T12:00:00Z' }],
    ['nothing', { from: '2030-01-01T00:00:00Z' }],
  ])('over %s', async (_what, range) => {
    await expectReckoned(board, range);
  });

  test.each<[string, () => Filter]>(
    firstCases([
      [
        'everything',
        () => ({
          processor: 'Tesla',
          token: 'SOL',
          timeframe: '60',
          sizingMethod: 'Risk Management',
          from: '2026-01-15T00:30:00Z',
        }),
      ],
      ['a user', () => ({ userId: board.users[1]?.user.id ?? '' })],
      ['a strategy', () => ({ processor: 'UD Bot' })],
      ['a token of a user', () => ({ userId: board.users[0]?.user.id ?? '', token: 'ETH' })],
    ]),
  )('filtered by %s', async (_what, filter) => {
    await expectReckoned(board, filter());
  });

  testEveryCase('in a zone whose hours begin at half past', async () => {
    await expectReckoned(half, {});
    while (await addUpOrders(half.deps.db, { rowsAStep: 100 }));
    await expectReckoned(half, { from: '2026-01-19T18:30:00Z', to: '2026-02-19T18:30:00Z' });
  });

  test.each<[string, () => Board, Filter]>(
    firstCases(
      [
        [
          'of whole hours, in a range',
          () => board,
          { from: '2026-02-01T08:00:00Z', to: '2026-03-20T07:00:00Z' },
        ],
        ['of half hours', () => half, {}],
        ['of whole hours', () => board, {}],
        ['of whole hours, of a strategy', () => board, { processor: 'Tesla' }],
      ],
      2,
    ),
  )('day by day in a zone %s', async (_what, which, filter) => {
    const on = which();
    const { displayTimezone: timeZone } = on.config;
    const answer = await on.admin.get(`/api/performance/calendar?${new URLSearchParams({ ...filter })}`);
    const days = Map.groupBy(within(on.known, filter), ({ closedAt }) =>
      new Intl.DateTimeFormat('en-CA', { timeZone }).format(closedAt),
    );
    const wanted = [...days].map(([day, trades]) => ({
      day,
      net: textOf(
        trades.reduce((total, { net }) => total + (net ?? 0n), 0n),
        8,
      ),
      trades: trades.length,
      unknown: trades.filter(({ net }) => net === null).length,
    }));
    expectAnswer(answer, 200, {
      timeZone,
      days: wanted.sort((a, b) => (a.day < b.day ? -1 : 1)).slice(-400),
      daysUp: wanted.filter(({ net }) => !net.startsWith('-') && net !== '0').length,
      daysDown: wanted.filter(({ net }) => net.startsWith('-')).length,
    });
  });
});

describe('a position that closes', () => {
  // Requirements: results-performance-2
  test('counts as unknown until the exchange explains it, then with its figures', async () => {
    const [first, second] = generateTrades(2, 99, new Date('2026-11-01T00:00:00Z'));
    if (first === undefined || second === undefined) throw new Error('no trades');
    await board.closeOne(first, { isExplained: false });
    const { totals } = await ask(board, { from: '2026-11-01T00:00:00Z' });
    expect(totals).toMatchObject({ trades: 1, net: '0', winRate: null, unknown: { net: 1, fees: 1, r: 1 } });
    await board.closeOne(second, { isExplained: true });
    for (const filter of firstCases([{ from: '2026-11-01T00:00:00Z' }, {}]))
      await expectReckoned(board, filter);
  });

  test('closes beside another one without waiting for each other forever', async () => {
    const trades = generateTrades(24, 123, new Date('2026-11-10T00:00:00Z'));
    // Two at a time: a busy machine gives more of them no connection within its limit.
    const next = trades.values();
    const closeAll = async () => {
      for (const trade of next) await board.closeOne(trade, { isExplained: true });
    };
    await Promise.all([closeAll(), closeAll()]);
    await expectReckoned(board, { from: '2026-11-10T00:00:00Z' });
  });
});

test('a corrected and a removed closed position take their figures along', async () => {
  const { db } = half.deps;
  const [best] = await db.select().from(closedPositions).orderBy(sql`realised_profit - fees desc`).limit(1);
  if (best === undefined) throw new Error('no position');
  const before = await ask(half, {});
  await db.update(closedPositions).set({ realisedProfit: '0' }).where(sql`id = ${best.id}`);
  expect((await ask(half, {})).totals.best).not.toBe(before.totals.best);
  await db.update(closedPositions).set({ realisedProfit: best.realisedProfit }).where(sql`id = ${best.id}`);
  expect((await ask(half, {})).totals).toEqual(before.totals);
  await db.delete(closedPositions).where(sql`id = ${best.id}`);
  expect((await ask(half, {})).totals).toMatchObject({ trades: before.totals.trades - 1 });
  await db.insert(closedPositions).values(best);
  expect((await ask(half, {})).totals).toEqual(before.totals);
});

// Requirements: results-fills-1
test('an order counts from its end, as filled once a fill is known, and once however often its stop is looked after', async () => {
  const { db } = board.deps;
  const [order] = await db.select().from(trades).where(sql`fill_status = 'unfilled'`).limit(1);
  if (order === undefined) throw new Error('no order');
  const read = async () => {
    const { orders, filled } = (await ask(board, { from: order.createdAt.toISOString() })).totals;
    return { orders, filled };
  };
  const change = (set: Partial<typeof order>) => db.update(trades).set(set).where(sql`id = ${order.id}`);
  const before = await read();
  await change({ state: 'working', completedAt: null, fillStatus: null });
  expect(await read()).toEqual({ ...before, orders: before.orders - 1 });
  await change({ state: 'done', completedAt: order.completedAt, fillStatus: 'unknown' });
  expect(await read()).toEqual(before);
  await change({ fillStatus: 'partial' });
  expect(await read()).toEqual({ ...before, filled: before.filled + 1 });
  await change({ state: 'protecting' });
  await change({ state: 'done' });
  await addUpOrders(db);
  expect(await read()).toEqual({ ...before, filled: before.filled + 1 });
  await change({ fillStatus: 'unfilled' });
  expect(await read()).toEqual(before);
});

describe('access', () => {
  // Requirements: results-performance-3
  test('an ordinary user sees the own figures, and not those of another', async () => {
    const [me, other] = board.users;
    if (me === undefined || other === undefined) throw new Error('no users');
    const own = await ask(board, {}, me.client);
    expect(own.totals.trades).toBe(within(board.known, { userId: me.user.id }).length);
    expect(own.totals).toEqual((await ask(board, { userId: me.user.id })).totals);
    for (const path of ['', '/calendar', '/trades']) {
      const answer = await me.client.get(`/api/performance${path}?userId=${other.user.id}`);
      expectAnswer(answer, 403, 'Administrators only');
    }
    const choices = await me.client.get('/api/performance/choices');
    expect(choices.json()).toMatchObject({ users: [{ id: me.user.id, username: me.username }] });
    // Administrators choose from all users: one without a closed trade has equity and statements.
    const { users } = (await board.admin.get('/api/performance/choices')).json<ResultChoices>();
    const { id, username } = (await board.admin.get('/api/auth/user')).json<SessionAnswer>().user;
    expect(within(board.known, { userId: id })).toEqual([]);
    expect(users).toContainEqual({ id, username });
    const list = await me.client.get('/api/performance/trades?limit=1000');
    expect(new Set(list.json<{ trades: { userId: string }[] }>().trades.map(({ userId }) => userId))).toEqual(
      new Set([me.user.id]),
    );
  });

  test.each([
    ['groupBy=colour', /groupBy must be one of user, processor/],
    ['from=2026-02-02T00:00:00Z&to=2026-02-02T00:00:00Z', /from must be before to/],
    ['from=yesterday', /From is not valid/],
    ['userId=me', /User id must be an id/],
  ])('refuses %s with a message', async (query, message) => {
    const answer = await board.admin.get(`/api/performance?${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toMatch(message);
  });
});

describe('the list of closed trades', () => {
  // Requirements: results-performance-4
  test.each(
    firstCases(
      [
        ['time', 'desc'],
        ['net', 'asc'],
        ['net', 'desc'],
        ['r', 'desc'],
      ],
      2,
    ),
  )('pages through all trades in the order of %s %s, unknown ones last', async (sort, order) => {
    const seen: { id: string; closedAt: string; net: string | null; r: string | null }[] = [];
    for (let page = 1; ; page += 1) {
      const query = `processor=Tesla&sort=${sort}&order=${order}&limit=200&page=${page}`;
      const answer = await board.admin.get(`/api/performance/trades?${query}`);
      const { trades, totalCount } = answer.json<{ trades: typeof seen; totalCount: number }>();
      expect(totalCount).toBe(within(board.known, { processor: 'Tesla' }).length);
      if (trades.length === 0) break;
      seen.push(...trades);
    }
    expect(new Set(seen.map(({ id }) => id)).size).toBe(within(board.known, { processor: 'Tesla' }).length);
    const values = seen.map((trade) =>
      sort === 'time' ? Date.parse(trade.closedAt) : sort === 'net' ? trade.net : trade.r,
    );
    const known = values.filter((value) => value !== null).map(Number);
    expect(values.slice(0, known.length)).not.toContain(null);
    expect(known).toEqual(known.toSorted((a, b) => (order === 'asc' ? a - b : b - a)));
  });
});
