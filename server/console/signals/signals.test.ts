import { afterAll, describe, expect, test } from 'vitest';
import type { Signal } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld } from '#test/world.ts';

/** One second before midnight in the display time zone, Los Angeles. */
const clock = fakeClock('2026-01-02T07:59:59.000Z');
const ids: string[] = [];

/** The counts of the stat cards; signals-per-day.test.ts tests the days. */
async function stats() {
  const { perDay: _perDay, ...counts } = (await board.admin.get('/api/signals/stats')).json();
  return counts;
}

const statsByStep: unknown[] = [];

/** Twelve signals, the first five from yesterday; BTC and ETH, buy and sell alternating. */
const board = await startWorld({ clock });
const sender = await createSender({ app: board.app, client: board.admin });
statsByStep.push(await stats());
for (let index = 0; index < 12; index += 1) {
  if (index === 5) {
    statsByStep.push(await stats());
    clock.set('2026-01-02T08:00:00.000Z');
    statsByStep.push(await stats());
  }
  const answer = await sender.signal({
    symbol: index % 2 === 0 ? 'BTCUSDT' : 'ETHUSDT',
    action: index % 3 === 0 ? 'sell' : 'buy',
    timeframe: ['15', '60', 'D'][index % 3],
    price: `${100 + index}`,
    processor: index < 6 ? 'Tesla' : 'UD Bot',
  });
  ids.push(answer.json().id);
  clock.advance(1);
}
afterAll(() => board.close());

async function list(query = ''): Promise<{ prices: number[]; total: number }> {
  const answer = await board.admin.get(`/api/signals${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  const { signals, total } = answer.json<{ signals: Signal[]; total: number }>();
  return { prices: signals.map(({ price }) => Number(price)), total };
}

const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

// Requirements: trading-fields-3, trading-calls-4
test('returns signals newest first with all their fields', async () => {
  const { signals } = (await board.admin.get('/api/signals')).json();
  expect(signals.map(({ id }: Signal) => id)).toEqual([...ids].reverse());
  expect(signals[0]).toEqual({
    id: ids[11],
    token: 'ETH',
    action: 'buy',
    price: '111',
    currency: 'USDT',
    timeframe: 'D',
    processor: 'UD Bot',
    signalTimeTradingview: null,
    signalTimeServer: null,
    receivedAt: '2026-01-02T08:00:00.006Z',
    hashValue: expect.stringMatching(/^[0-9a-f]{64}$/),
    parameters: {},
    workflowId: expect.stringMatching(/^[0-9a-f-]{14}7/),
    workflowStatus: 'pending',
    workflowError: null,
    workflowTrigger: 'automatic',
    outcome: { kind: 'running', filled: 0, failed: 0, skipped: 0, topReason: null },
    eligibleUsersCount: 0,
    successfulUsersCount: 0,
    totalTrades: 0,
    successfulTrades: 0,
    automaticCount: 1,
    manualCount: 0,
    stopLoss: null,
    takeProfit: null,
  });
});

// Requirements: signals-the-table-2, trading-validation-13, trading-calls-4
test.each([
  ['?token=BTC', [110, 108, 106, 104, 102, 100]],
  ['?action=sell', [109, 106, 103, 100]],
  ['?timeframe=60', [110, 107, 104, 101]],
  // Any spelling matches.
  ['?timeframe=1h', [110, 107, 104, 101]],
  ['?processor=Tesla', down(105, 100)],
  ['?token=BTC&action=sell&timeframe=15&processor=UD%20Bot', [106]],
  ['?token=&action=&timeframe=&processor=', down(111, 100)],
  ['?action=all', down(111, 100)],
  ['?token=btc', []],
])('filters by %s, and the total counts only matches', async (query, prices) => {
  expect(await list(query)).toEqual({ prices, total: prices.length });
});

test.each(['action=hold', 'action=buy&action=sell', `token=${'x'.repeat(101)}`, 'until=now'])(
  'answers 400 to the filter %s',
  async (query) => {
    expect((await board.admin.get(`/api/signals?${query}`)).statusCode).toBe(400);
  },
);

// Requirements: trading-calls-4
test.each([
  ['?limit=5', { prices: down(111, 107), total: 12 }],
  ['?page=3&limit=5', { prices: [101, 100], total: 12 }],
  ['?until=2026-01-02T08:00:00.000Z', { prices: down(105, 100), total: 6 }],
  ['?until=2026-01-02T00:00:00.000-08:00', { prices: down(105, 100), total: 6 }],
  ['?until=2026-01-02T08:00:00.000Z&limit=2&page=2', { prices: [103, 102], total: 6 }],
  ['?until=2026-01-02T07:59:58.999Z', { prices: [], total: 0 }],
  ['?until=', { prices: down(111, 100), total: 12 }],
])('the list %s returns its page and total, without signals received later', async (query, answer) => {
  expect(await list(query)).toEqual(answer);
});

// Requirements: additions-lists-1
test.each([
  ['?from=2026-01-02T08:00:00.001Z', { prices: down(111, 106), total: 6 }],
  ['?from=2026-01-02T08:00:00.000Z', { prices: down(111, 105), total: 7 }],
  ['?from=2026-01-02T00:00:00.000-08:00&token=BTC', { prices: [110, 108, 106], total: 3 }],
  ['?from=2026-01-02T07:59:59.000Z&to=2026-01-02T08:00:00.000Z', { prices: down(105, 100), total: 6 }],
  ['?from=2026-01-02T08:00:00.000Z&to=2026-01-02T08:00:00.000Z', { prices: [105], total: 1 }],
  ['?from=2026-01-03T00:00:00Z&to=2026-01-02T00:00:00Z', { prices: [], total: 0 }],
  [
    '?from=2026-01-02T08:00:00.001Z&until=2026-01-02T08:00:00.002Z&to=2027-01-01T00:00:00Z',
    { prices: [107, 106], total: 2 },
  ],
  ['?order=asc&limit=3', { prices: [100, 101, 102], total: 12 }],
  ['?sort=time&order=asc&limit=3&page=2', { prices: [103, 104, 105], total: 12 }],
  ['?order=asc&from=2026-01-02T08:00:00.001Z&limit=2', { prices: [106, 107], total: 6 }],
])('the list %s has the signals of that time in that order', async (query, answer) => {
  expect(await list(query)).toEqual(answer);
});

test.each([
  ['from=yesterday', 'From is not valid'],
  ['to=2026-01-02', 'To is not valid'],
  ['order=up', 'order must be asc or desc'],
  ['sort=mood', 'sort must be time, token or outcome'],
  ['outcome=great', 'outcome must be one of running, filled'],
  ['id=42', 'id must be an ID or its first characters'],
  ['id=gggggggg', 'id must be an ID or its first characters'],
])('answers 400 to %s, and says why', async (query, words) => {
  const answer = await board.admin.get(`/api/signals?${query}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json<{ message: string }>().message).toContain(words);
});

// Requirements: additions-lists-5
test.each([
  ['?sort=token&order=asc&limit=8', { prices: [110, 108, 106, 104, 102, 100, 111, 109], total: 12 }],
  ['?sort=token&order=asc&limit=8&page=2', { prices: [107, 105, 103, 101], total: 12 }],
  ['?sort=token&order=desc&limit=3&processor=Tesla', { prices: [105, 103, 101], total: 6 }],
  ['?sort=outcome&order=asc&limit=3', { prices: [111, 110, 109], total: 12 }],
  ['?outcome=running&token=BTC&limit=2', { prices: [110, 108], total: 6 }],
  ['?outcome=filled', { prices: [], total: 0 }],
  ['?outcome=all', { prices: down(111, 100), total: 12 }],
])('sorts and filters by %s', async (query, answer) => {
  expect(await list(query)).toEqual(answer);
});

// Requirements: additions-lists-5
test('finds a signal by its id or the first characters, in either case', async () => {
  for (const id of [ids[3], ids[3]?.toUpperCase(), ids[3]?.replaceAll('-', '')]) {
    expect(await list(`?id=${id}`)).toEqual({ prices: [103], total: 1 });
  }
  const { total } = await list(`?id=${ids[3]?.slice(0, 8)}&processor=Tesla`);
  expect(total).toBe(6);
});

// Requirements: trading-calls-5
test('lists each value of a column once, sorted', async () => {
  const values = async (path: string) => (await board.admin.get(`/api/signals/${path}`)).json();
  expect(await values('tokens')).toEqual(['BTC', 'ETH']);
  expect(await values('timeframes')).toEqual(['15', '60', 'D']);
  expect(await values('processors')).toEqual(['Tesla', 'UD Bot']);
});

// Requirements: signals-the-table-1, trading-fields-5, trading-calls-6
test('today begins at midnight in the display time zone', async () => {
  expect(statsByStep).toEqual([
    { totalSignals: 0, todaySignals: 0, buySignals: 0, sellSignals: 0 },
    { totalSignals: 5, todaySignals: 5, buySignals: 3, sellSignals: 2 },
    { totalSignals: 5, todaySignals: 0, buySignals: 3, sellSignals: 2 },
  ]);
  expect(await stats()).toEqual({ totalSignals: 12, todaySignals: 7, buySignals: 8, sellSignals: 4 });
});

describe('one signal', () => {
  // Requirements: trading-fields-4, trading-calls-7
  test('has the fields of its row and the names of the monitor', async () => {
    const answer = await board.admin.get(`/api/signals/${ids[0]}`);
    expect(answer.json()).toMatchObject({
      id: ids[0],
      token: 'BTC',
      action: 'sell',
      workflowStatus: 'pending',
      priceLogId: null,
      priceLogHash: null,
      priceLogsKept: true,
      originalTimeTrading: null,
      candleTimeServer: null,
      receivedAtServer: '2026-01-02T07:59:59.000Z',
    });
  });

  // Requirements: trading-calls-7
  test('answers 404 when unknown, and 400 for a malformed id', async () => {
    for (const path of ['', '/workflows', '/users', '/sltp', '/trades', '/chart']) {
      expectAnswer(await board.admin.get(`/api/signals/${UNKNOWN_ID}${path}`), 404, 'Signal not found');
      expect((await board.admin.get(`/api/signals/none${path}`)).statusCode).toBe(400);
    }
  });
});
