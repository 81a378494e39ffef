import { afterAll, describe, expect, test } from 'vitest';
import type { Candle } from '#contract/charts.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld } from '#test/world.ts';

const clock = fakeClock('2026-01-02T12:00:00.000Z');

const board = await startWorld({ clock });
const admin = await createSender({ app: board.app, client: board.admin });
const user = await createSender({ app: board.app, client: (await board.createUser()).client });
afterAll(() => board.close());

let tokens = 0;
function newToken(): string {
  tokens += 1;
  return `T${tokens}`;
}

/** Stores a candle of 2 January 2026 and returns the id of its price log. */
async function store(token: string, time: string, fields: object = {}, from = admin): Promise<string> {
  clock.advance(1000);
  const DateTime = `20260102${time.replace(':', '')}`;
  const answer = await from.candle({ Symbol: `${token}USDT`, DateTime, ...fields });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().id;
}

async function candles(token: string, query = '', timeframe = '15'): Promise<Candle[]> {
  const answer = await board.admin.get(
    `/api/price-logs/candles?token=${token}&timeframe=${timeframe}${query}`,
  );
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().candles;
}

const closes = async (...parameters: Parameters<typeof candles>) =>
  (await candles(...parameters)).map(({ close }) => close);

// Requirements: additions-charts-2
test('returns candles as decimal strings, oldest first by candle time', async () => {
  const token = newToken();
  await store(token, '03:30', { Close: '64960' });
  await store(token, '03:00');
  await store(token, '03:15', { Open: 64999.5, High: 65001, Low: '64998.25', Close: 65000 });
  expect(await candles(token)).toEqual([
    { time: '2026-01-02T03:00:00.000Z', open: '64950', high: '65100.5', low: '64900', close: '65000' },
    { time: '2026-01-02T03:15:00.000Z', open: '64999.5', high: '65001', low: '64998.25', close: '65000' },
    { time: '2026-01-02T03:30:00.000Z', open: '64950', high: '65100.5', low: '64900', close: '64960' },
  ]);
});

test('uses the last arrival among candles with the same candle time', async () => {
  const token = newToken();
  await store(token, '03:00', { Close: '1', processor: 'Tesla' });
  await store(token, '03:15', { Close: '5' });
  await store(token, '03:00', { Close: '3' });
  await store(token, '03:00', { Close: '2', processor: 'UD Bot' });
  expect(await closes(token)).toEqual(['2', '5']);
});

test('returns the newest candles up to an instant, limited to the requested number', async () => {
  const token = newToken();
  expect(await closes(token)).toEqual([]);
  for (const minute of [10, 11, 12, 13, 14]) await store(token, `03:${minute}`, { Close: `${minute}` });
  expect(await closes(token, '&limit=2')).toEqual(['13', '14']);
  expect(await closes(token, '&limit=500')).toEqual(['10', '11', '12', '13', '14']);
  expect(await closes(token, '&until=2026-01-02T03:12:00Z')).toEqual(['10', '11', '12']);
  expect(await closes(token, '&until=2026-01-02T03:11:59.999Z')).toEqual(['10', '11']);
  expect(await closes(token, '&until=2026-01-01T19:12:00-08:00&limit=1')).toEqual(['12']);
  expect(await closes(token, '&until=2026-01-02T03:09:00Z')).toEqual([]);
});

test('returns 120 candles by default', async () => {
  const token = newToken();
  for (let minute = 0; minute < 121; minute += 1) {
    const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    await store(token, time, { Close: `${minute + 1}` });
  }
  const shown = await closes(token);
  expect([shown.length, shown[0]]).toEqual([120, '2']);
});

test('compares timeframes in minutes', async () => {
  const token = newToken();
  await store(token, '03:00', { Timeframe: '60', Close: '1' });
  await store(token, '04:00', { Timeframe: '1h', Close: '2' });
  await store(token, '05:00', { Timeframe: 'H', Close: '3' });
  await store(token, '06:00', { Timeframe: '15', Close: '4' });
  await store(token, '07:00', { Timeframe: '30S', Close: '5' });
  for (const hour of ['1h', '60', '60m', 'h']) expect(await closes(token, '', hour)).toEqual(['1', '2', '3']);
  expect(await closes(token, '', '15m')).toEqual(['4']);
  expect(await closes(token, '', '30s')).toEqual(['5']);
  expect(await closes(token, '', 'M')).toEqual([]);
});

test('treats different spellings of a timeframe as one series', async () => {
  const token = newToken();
  await store(token, '05:00', { Timeframe: '1h', Close: '5' });
  await store(token, '03:00', { Timeframe: '60', Close: '3' });
  await store(token, '04:00', { Timeframe: 'H', Close: '9' });
  await store(token, '04:00', { Timeframe: '60', Close: '4' });
  await store(token, '06:00', { Timeframe: '60', Close: '9' });
  await store(token, '06:00', { Timeframe: '01H', Close: '6' });
  expect(await closes(token, '', '60')).toEqual(['3', '4', '5', '6']);
  expect(await closes(token, '&limit=2', '60')).toEqual(['5', '6']);
  expect(await closes(token, '&until=2026-01-02T05:30:00Z&limit=2', '60')).toEqual(['4', '5']);
});

describe('an absent or unusable figure', () => {
  test.each([
    ['all three', { Open: undefined, High: undefined, Low: undefined }, ['65000', '65000', '65000']],
    ['open', { Open: 'n/a' }, ['65000', '65100.5', '64900']],
    ['high below the open', { Open: '65050', High: null }, ['65050', '65050', '64900']],
    ['low above the open', { Low: '0' }, ['64950', '65100.5', '64950']],
    ['negative or beyond all measure', { Open: '-5', High: '9e99', Low: 1e-30 }, ['65000', '65000', '65000']],
    ['under another case', { Open: undefined, OPEN: 64_999 }, ['64999', '65100.5', '64900']],
  ])('is derived from the close: %s', async (_, fields, [open, high, low]) => {
    const token = newToken();
    await store(token, '03:00', fields);
    expect(await candles(token)).toEqual([expect.objectContaining({ open, high, low, close: '65000' })]);
  });

  test('a price with eight decimals keeps them', async () => {
    const token = newToken();
    const prices = { Open: '0.00001233', High: '0.00001250', Low: 1.2e-5, Close: '0.00001234' };
    await store(token, '03:00', prices);
    expect(await candles(token)).toMatchObject([
      { open: '0.00001233', high: '0.0000125', low: '0.000012', close: '0.00001234' },
    ]);
  });
});

describe('the chart', () => {
  test('shows administrators’ candles and, with a price log, those of its webhook', async () => {
    const token = newToken();
    const other = await createSender({ app: board.app, client: (await board.createUser()).client });
    const ofAdmin = await store(token, '03:00', { Close: '1' });
    const ofUser = await store(token, '03:15', { Close: '2' }, user);
    await store(token, '03:30', { Close: '3' }, other);
    expect(await closes(token)).toEqual(['1']);
    expect(await closes(token, `&priceLogId=${ofAdmin}`)).toEqual(['1']);
    expect(await closes(token, `&priceLogId=${ofUser}`)).toEqual(['1', '2']);
  });

  test('leaves out candles of other processors for a price log that names one', async () => {
    const token = newToken();
    const ofTesla = await store(token, '03:00', { Close: '1', processor: 'Tesla' });
    await store(token, '03:15', { Close: '2', processor: 'UD Bot' });
    await store(token, '03:30', { Close: '3', processor: 'TESLA' });
    const ofNone = await store(token, '03:45', { Close: '4' });
    expect(await closes(token, `&priceLogId=${ofTesla}`)).toEqual(['1', '3', '4']);
    expect(await closes(token, `&priceLogId=${ofNone}`)).toEqual(['1', '2', '3', '4']);
  });

  test('of an unknown price log is answered 404', async () => {
    const query = `token=BTC&timeframe=15&priceLogId=${UNKNOWN_ID}`;
    expectAnswer(await board.admin.get(`/api/price-logs/candles?${query}`), 404, 'Price log not found');
  });
});

test.each([
  'timeframe=15',
  'token=BTC',
  'token=&timeframe=15',
  'token=BTC&timeframe=',
  'token=BTC&timeframe=15&limit=0',
  'token=BTC&timeframe=15&limit=501',
  'token=BTC&timeframe=15&limit=ten',
  'token=BTC&timeframe=15&until=yesterday',
  'token=BTC&timeframe=15&priceLogId=none',
])('answers 400 to the query %s', async (query) => {
  const answer = await board.admin.get(`/api/price-logs/candles?${query}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toEqual({ message: expect.any(String), errors: [expect.anything()] });
});
