import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignalDetail } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { startTestApp, type TestApp } from '#test/app/test-app.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';

/** All signals of this file are of this time, by their receipt. */
const NOW = '2026-01-02T12:00:00.000Z';
const clock = fakeClock(NOW);
let board: TestApp;
let admin: TestSender;
let user: TestSender;
let other: TestSender;

beforeAll(async () => {
  board = await startTestApp({ clock });
  const sender = async () => createSender({ app: board.app, client: (await board.createUser()).client });
  admin = await createSender({ app: board.app, client: board.admin });
  [user, other] = [await sender(), await sender()];
});
afterAll(() => board.close());

let tokens = 0;
/** A token of the test's own. */
function newSymbol(): string {
  tokens += 1;
  return `T${tokens}USDT`;
}

interface Candle {
  from?: TestSender;
  time: string;
  timeframe?: string;
  processor?: string | null;
  symbol?: string;
}

interface Signal {
  from?: TestSender;
  timeframe?: string;
  processor?: string;
  time?: string;
}

/** The candle times, in their order of arrival; answers the time of the one that belongs to the signal. */
async function match(candles: Candle[], signal: Signal = {}): Promise<string | null> {
  const own = newSymbol();
  const times = new Map<string, string>();
  for (const { from = admin, time, timeframe = '15', processor = null, symbol = own } of candles) {
    const DateTime = `20260102${time.replace(':', '')}`;
    const fields = { Symbol: symbol, Timeframe: timeframe, DateTime, processor };
    const answer = await from.candle(fields);
    expect(answer.statusCode, answer.body).toBe(200);
    times.set(answer.json().id, time);
  }
  const { from = admin, ...fields } = signal;
  const { id } = (await from.signal({ symbol: own, ...fields })).json();
  const detail = (await board.admin.get(`/api/signals/${id}`)).json<SignalDetail>();
  if (detail.priceLogId === null) {
    expect(detail.priceLogHash).toBeNull();
    return null;
  }
  const found = (await board.admin.get(`/api/price-logs/hash/${detail.priceLogHash}`)).json();
  expect(found.id).toBe(detail.priceLogId);
  return times.get(detail.priceLogId) ?? 'another';
}

test('without a candle there is no price log', async () => {
  expect(await match([])).toBeNull();
});

// Requirements: price-log-and-trend-1
test('the newest candle by its own time belongs to the signal, however the candles arrive', async () => {
  expect(await match([{ time: '11:15' }, { time: '11:45' }, { time: '11:30' }])).toBe('11:45');
});

test('a candle of the signal’s very time belongs to it, a later one does not', async () => {
  expect(await match([{ time: '11:30' }, { time: '12:00' }])).toBe('12:00');
  expect(await match([{ time: '11:30' }, { time: '12:01' }])).toBe('11:30');
  expect(await match([{ time: '12:01' }])).toBeNull();
});

// Requirements: price-log-and-trend-1
test('a candle may be as old as two candles and thirty minutes, and no older', async () => {
  expect(await match([{ time: '11:00' }])).toBe('11:00');
  expect(await match([{ time: '10:59' }])).toBeNull();
  const hours = { timeframe: '60' };
  expect(await match([{ time: '09:30', ...hours }], hours)).toBe('09:30');
  expect(await match([{ time: '09:29', ...hours }], hours)).toBeNull();
});

test('the time that a signal carries counts, not its receipt', async () => {
  const candles = [{ time: '10:00' }, { time: '11:00' }, { time: '11:45' }];
  expect(await match(candles, { time: '2026-01-02T10:30:00Z' })).toBe('10:00');
  expect(await match(candles, { time: 'at noon' })).toBe('11:45');
});

test.each([
  ['15', '15m', true],
  ['60', '1h', true],
  ['D', '1d', true],
  ['15', '60', false],
  ['15', '15s', false],
])('a candle of %s and a signal of %s belong together: %s', async (candle, signal, together) => {
  const expected = together ? '11:45' : null;
  expect(await match([{ time: '11:45', timeframe: candle }], { timeframe: signal })).toBe(expected);
});

// Requirements: price-log-and-trend-1
test('the processor must be the same without regard to case, and a candle without one fits all', async () => {
  const signal = { processor: 'UD Bot' };
  expect(await match([{ time: '11:30', processor: 'ud bot' }], signal)).toBe('11:30');
  expect(await match([{ time: '11:30', processor: 'Tesla' }], signal)).toBeNull();
  const candles = [
    { time: '11:30', processor: null },
    { time: '11:45', processor: 'Tesla' },
  ];
  expect(await match(candles, signal)).toBe('11:30');
});

test('candles of another token do not belong to it', async () => {
  expect(await match([{ time: '11:45', symbol: 'OTHERUSDT' }])).toBeNull();
});

// Requirements: price-log-and-trend-1
test('candles of the same webhook and of an administrator belong to a user’s signal, another user’s do not', async () => {
  const candles = [
    { from: user, time: '11:15' },
    { from: other, time: '11:45' },
  ];
  expect(await match(candles, { from: user })).toBe('11:15');
  expect(await match([...candles, { from: admin, time: '11:30' }], { from: user })).toBe('11:30');
  expect(await match(candles, { from: admin })).toBeNull();
});

test('however many candles other users send, a signal finds its own', async () => {
  const symbol = newSymbol();
  const own = (await user.candle({ Symbol: symbol, DateTime: '202601021130' })).json().id;
  await board.database.pool.query(
    `insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     select gen_random_uuid(), $1, gen_random_uuid(), false, $2, '15', 1, 'USDT', '',
       timestamptz '2026-01-02 11:45Z' + n * interval '1 ms', now(), '', gen_random_uuid(), '{}'
     from generate_series(1, 1500) as n`,
    [other.hook.id, symbol.replace('USDT', '')],
  );
  const { id } = (await user.signal({ symbol })).json();
  expect((await board.admin.get(`/api/signals/${id}`)).json().priceLogId).toBe(own);
});

test('a timeframe without minutes is compared by its text', async () => {
  const seconds = [
    { time: '11:45', timeframe: '30S' },
    { time: '11:46', timeframe: '15S' },
    { time: '11:50', timeframe: '1' },
  ];
  expect(await match(seconds, { timeframe: '30s' })).toBe('11:45');
  expect(await match(seconds, { timeframe: '45S' })).toBeNull();
});

test.each([
  ['of shorter timeframes', { timeframe: "(array['1', '2', '3'])[1 + n % 3]", processor: "'Tesla'" }],
  ['of the same timeframe by another processor', { timeframe: "'D'", processor: "'UD Bot'" }],
])('however many newer candles %s there are, a signal finds its own', async (_, { timeframe, processor }) => {
  const symbol = newSymbol();
  const own = (await user.candle({ Symbol: symbol, Timeframe: '1D', DateTime: '202601010000' })).json().id;
  await board.database.pool.query(
    `insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, processor, price, currency,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     select gen_random_uuid(), $1, gen_random_uuid(), false, $2, ${timeframe}, ${processor}, 1, 'USDT', '',
       timestamptz '2026-01-02 11:59Z' - n * interval '20 s', now(), '', gen_random_uuid(), '{}'
     from generate_series(1, 4300) as n`,
    [user.hook.id, symbol.replace('USDT', '')],
  );
  const { id } = (await user.signal({ symbol, timeframe: 'D', processor: 'Tesla' })).json();
  expect((await board.admin.get(`/api/signals/${id}`)).json().priceLogId).toBe(own);
});

test('of candles of the same time the one received last belongs to the signal', async () => {
  const symbol = newSymbol();
  const candle = async (serial: number) =>
    (await user.candle({ Symbol: symbol, DateTime: '202601021130', serial })).json().id;
  const first = await candle(1);
  const last = await candle(2);
  // As ids go it would be the other way round.
  const receive = (candleId: string, at: string) =>
    board.database.pool.query('update price_logs set received_at = $1 where id = $2', [at, candleId]);
  await receive(first, '2026-01-02T11:31:30Z');
  await receive(last, '2026-01-02T11:31:00Z');
  const { id } = (await user.signal({ symbol })).json();
  expect((await board.admin.get(`/api/signals/${id}`)).json().priceLogId).toBe(first);
});

test('a candle that arrives late belongs to the signal from then on', async () => {
  const symbol = newSymbol();
  const { id } = (await admin.signal({ symbol })).json();
  const detail = async () => (await board.admin.get(`/api/signals/${id}`)).json<SignalDetail>();
  expect((await detail()).priceLogId).toBeNull();
  const late = (await admin.candle({ Symbol: symbol, DateTime: '202601021130' })).json().id;
  expect((await detail()).priceLogId).toBe(late);
});
