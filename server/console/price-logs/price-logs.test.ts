import { afterAll, describe, expect, test } from 'vitest';
import type { PriceLog } from '#contract/price-logs.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld } from '#test/world.ts';

const clock = fakeClock('2026-01-02T03:04:05.678Z');
const hashes: string[] = [];

/** Twelve candles: BTC and ETH alternating, three timeframes, two processors and none. */
const board = await startWorld({ clock });
const sender = await createSender({ app: board.app, client: board.admin });
for (let index = 0; index < 12; index += 1) {
  clock.advance(1000);
  await sender.candle({
    Symbol: index % 2 === 0 ? 'BTCUSDT' : 'ETHUSDT',
    Timeframe: ['15', '60', 'D'][index % 3],
    Close: `${100 + index}`,
    processor: [undefined, 'Tesla', 'UD Bot'][Math.floor(index / 4)],
    DateTime: `2026010203${String(index).padStart(2, '0')}`,
  });
}
afterAll(() => board.close());

async function list(query = ''): Promise<{ prices: number[]; total: number }> {
  const answer = await board.admin.get(`/api/price-logs${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  const { priceLogs, total } = answer.json<{ priceLogs: PriceLog[]; total: number }>();
  return { prices: priceLogs.map(({ price }) => Number(price)), total };
}

const REFUSED = { message: expect.any(String), errors: [expect.anything()] };
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

// Requirements: trading-fields-1, trading-calls-1
test('returns price logs newest first with all their fields', async () => {
  const { priceLogs } = (await board.admin.get('/api/price-logs')).json();
  expect(priceLogs).toHaveLength(12);
  expect(priceLogs[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{14}7/),
    token: 'ETH',
    timeframe: 'D',
    price: '111',
    currency: 'USDT',
    processor: 'UD Bot',
    candleTimeTradingview: '202601020311',
    candleTimeServer: '2026-01-02T03:11:00.000Z',
    receivedAt: '2026-01-02T03:04:17.678Z',
    sourceIp: '127.0.0.1',
    hashValue: expect.stringMatching(/^[0-9a-f]{64}$/),
    parameters: expect.objectContaining({ Close: '111', close: '111', RSI: '55.1' }),
  });
  hashes.push(priceLogs[0].hashValue);
});

test.each([
  'page=0',
  'page=-1',
  'page=1.5',
  'page=one',
  'page=',
  'page=1000001',
  'page=1&page=2',
  'limit=0',
  'limit=1001',
  'limit=all',
  'limit=',
  'limit=1e2',
])('answers 400 to the paging %s', async (query) => {
  for (const path of ['/api/price-logs', '/api/signals', '/api/automation-workflows']) {
    expectAnswer(await board.admin.get(`${path}?${query}`), 400, REFUSED);
  }
});

// Requirements: price-logs-2, trading-validation-13, trading-calls-1
test.each([
  ['?token=BTC', [110, 108, 106, 104, 102, 100]],
  ['?timeframe=60', [110, 107, 104, 101]],
  // Any spelling matches.
  ['?timeframe=1h', [110, 107, 104, 101]],
  ['?processor=UD%20Bot', [111, 110, 109, 108]],
  ['?token=ETH&timeframe=D&processor=Tesla', [105]],
  ['?token=ETH&timeframe=D&processor=', [111, 105]],
  ['?token=&timeframe=&processor=', down(111, 100)],
  ['?token=all', down(111, 100)],
  ['?token=DOGE', []],
  ["?token=BTC'%20or%201=1--", []],
])('filters by %s, and the total counts only matches', async (query, prices) => {
  expect(await list(query)).toEqual({ prices, total: prices.length });
});

// Requirements: trading-calls-1
test.each([
  ['?limit=5', { prices: down(111, 107), total: 12 }],
  ['?page=3&limit=5', { prices: [101, 100], total: 12 }],
  ['?page=1000000&limit=1000', { prices: [], total: 12 }],
  ['?token=BTC&limit=2&page=2', { prices: [106, 104], total: 6 }],
  ['?until=9998-12-30T00:00:00Z', { prices: down(111, 100), total: 12 }],
  ['?until=2026-01-02T03:04:09.678Z', { prices: down(103, 100), total: 4 }],
  ['?until=2026-01-02T03:04:09.677Z&token=BTC', { prices: [102, 100], total: 2 }],
  ['?until=2026-01-02T03:04:09.678Z&limit=3&page=2', { prices: [100], total: 4 }],
  ['?from=2026-01-02T03:04:08.678Z&to=2026-01-02T03:04:09.678Z', { prices: [103, 102], total: 2 }],
  ['?order=asc&limit=2', { prices: [100, 101], total: 12 }],
])('the list %s returns its page and total, without rows received later', async (query, answer) => {
  expect(await list(query)).toEqual(answer);
});

test.each([
  ['without a zone', '2026-01-02T03:04:09'],
  ['beyond the calendar of the database in its zone', '9999-12-31T23:59:59-12:00'],
  ['whose month has no next one', '9999-12-31T23:59:59Z'],
  ['before any candle', '0000-01-01T00:00:00Z'],
])('answers 400 to an instant %s', async (_what, until) => {
  expect((await board.admin.get(`/api/price-logs?until=${encodeURIComponent(until)}`)).statusCode).toBe(400);
});

// Requirements: trading-calls-2
test('lists each value of a column once, sorted, without missing values', async () => {
  const values = async (path: string) => (await board.admin.get(`/api/price-logs/${path}`)).json();
  expect(await values('tokens')).toEqual(['BTC', 'ETH']);
  expect(await values('timeframes')).toEqual(['15', '60', 'D']);
  expect(await values('processors')).toEqual(['Tesla', 'UD Bot']);
});

describe('a price log by its hash', () => {
  async function detailOf(fields: object) {
    const { id } = (await sender.candle({ Symbol: 'SOLUSDT', ...fields })).json();
    const { priceLogs } = (await board.admin.get('/api/price-logs?token=SOL')).json();
    const { hashValue } = priceLogs.find((log: PriceLog) => log.id === id);
    const answer = await board.admin.get(`/api/price-logs/hash/${hashValue}`);
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json();
  }

  // Requirements: trading-fields-2, trading-calls-3
  test('has its figures, times and parameters', async () => {
    const atr = { ATR: '1.25', immediate_trend: 'bullish', mature_trend: '-0.8' };
    const detail = await detailOf({ DateTime: '202601020315', ...atr });
    expect(detail).toMatchObject({
      token: 'SOL',
      open: '64950',
      high: '65100.5',
      low: '64900',
      close: '65000',
      volume: '1234.5',
      timestamp: '2026-01-02T03:15:00.000Z',
      received_at: clock.now().toISOString(),
      receivedAt: clock.now().toISOString(),
      parameters: {
        close: '65000',
        atr: '1.25',
        immediate_trend: 'bullish',
        mature_trend: '-0.8',
        datetime: '202601020315',
      },
    });
  });

  // Requirements: trading-fields-2
  test('reads its figures in any letter case and as numbers, and null for others', async () => {
    const fields = {
      Open: undefined,
      OPEN: 1e-7,
      High: 'n/a',
      Low: { toString: 1 },
      Volume: '25000000000000.5',
    };
    expect(await detailOf({ DateTime: '202601020316', ...fields })).toMatchObject({
      open: '0.0000001',
      high: null,
      low: null,
      volume: '25000000000000.5',
    });
    expect(await detailOf({ DateTime: '202601020317', Volume: 0, High: null })).toMatchObject({
      high: null,
      volume: '0',
    });
  });

  // Requirements: trading-calls-3
  test('answers 404 when unknown, and 400 for a malformed hash', async () => {
    expectAnswer(await board.admin.get(`/api/price-logs/hash/${'0'.repeat(64)}`), 404, 'Price log not found');
    for (const hash of ['short', 'Z'.repeat(64), `${hashes[0]}0`, '..%2f']) {
      expect((await board.admin.get(`/api/price-logs/hash/${hash}`)).statusCode).toBe(400);
    }
  });
});
