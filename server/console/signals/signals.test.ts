import { afterAll, describe, expect, test } from 'vitest';
import type { Signal } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { startTestApp } from '#test/app/test-app.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';

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
const board = await startTestApp({ clock });
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
