import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignalDetail } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

/** All signals of this file are received at this time. */
const NOW = '2026-01-02T12:00:00.000Z';
const clock = fakeClock(NOW);
let board: World;
let admin: TestSender;
let user: TestSender;
let other: TestSender;

beforeAll(async () => {
  board = await startWorld({ clock });
  const sender = async () => createSender({ app: board.app, client: (await board.createUser()).client });
  admin = await createSender({ app: board.app, client: board.admin });
  [user, other] = [await sender(), await sender()];
});
afterAll(() => board.close());

let tokens = 0;
/** A token that no other test uses. */
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

/** Sends the candles in this order, then a signal; returns the time of the candle that the signal matched. */
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

const bot = { processor: 'UD Bot' };
const hour = { timeframe: '60' };
const carriedTime = [{ time: '10:00' }, { time: '11:00' }, { time: '11:45' }];
const others = (): Candle[] => [
  { from: user, time: '11:15' },
  { from: other, time: '11:45' },
];
const timeframes = (candle: string, signal: string, isMatch: boolean) =>
  [
    `a candle of ${candle} and a signal of ${signal} ${isMatch ? 'match' : 'do not match'}`,
    () => [{ time: '11:45', timeframe: candle }],
    () => ({ timeframe: signal }),
    isMatch ? '11:45' : null,
  ] as const;
const seconds = [
  { time: '11:45', timeframe: '30S' },
  { time: '11:46', timeframe: '15S' },
  { time: '11:50', timeframe: '1' },
];

// Requirements: price-log-and-trend-1
test.each<readonly [string, () => Candle[], () => Signal, string | null]>([
  ['no candle', () => [], () => ({}), null],
  [
    'the newest by its own time, in any order of arrival',
    () => [{ time: '11:15' }, { time: '11:45' }, { time: '11:30' }],
    () => ({}),
    '11:45',
  ],
  ['one of exactly the signal’s time', () => [{ time: '11:30' }, { time: '12:00' }], () => ({}), '12:00'],
  ['no later one', () => [{ time: '11:30' }, { time: '12:01' }], () => ({}), '11:30'],
  ['nothing where only a later one exists', () => [{ time: '12:01' }], () => ({}), null],
  ['one as old as two candles and thirty minutes', () => [{ time: '11:00' }], () => ({}), '11:00'],
  ['no older one', () => [{ time: '10:59' }], () => ({}), null],
  [
    'an hour candle as old as two and thirty minutes',
    () => [{ time: '09:30', ...hour }],
    () => hour,
    '09:30',
  ],
  ['no older hour candle', () => [{ time: '09:29', ...hour }], () => hour, null],
  [
    'by the time that the signal carries',
    () => carriedTime,
    () => ({ time: '2026-01-02T10:30:00Z' }),
    '10:00',
  ],
  ['by its receipt if that time is absent', () => carriedTime, () => ({ time: 'na' }), '11:45'],
  timeframes('15', '15m', true),
  timeframes('60', '1h', true),
  timeframes('D', '1d', true),
  timeframes('15', '60', false),
  timeframes('15', '15s', false),
  ['a timeframe without minutes by its text', () => seconds, () => ({ timeframe: '30s' }), '11:45'],
  ['no other timeframe without minutes', () => seconds, () => ({ timeframe: '45S' }), null],
  ['the same processor in another case', () => [{ time: '11:30', processor: 'ud bot' }], () => bot, '11:30'],
  ['no other processor', () => [{ time: '11:30', processor: 'Tesla' }], () => bot, null],
  [
    'a candle without a processor before one of another',
    () => [{ time: '11:30' }, { time: '11:45', processor: 'Tesla' }],
    () => bot,
    '11:30',
  ],
  ['no other token', () => [{ time: '11:45', symbol: 'OTHERUSDT' }], () => ({}), null],
  ['one of the same webhook, not of another user', others, () => ({ from: user }), '11:15'],
  [
    'one of an administrator',
    () => [...others(), { from: admin, time: '11:30' }],
    () => ({ from: user }),
    '11:30',
  ],
  ['none of a user for an administrator’s signal', others, () => ({ from: admin }), null],
])('a signal gets %s', async (_name, candles, signal, expected) => {
  expect(await match(candles(), signal())).toBe(expected);
});

test.each([
  ['of another user', { from: () => other, timeframe: "'1D'", processor: 'null' }],
  [
    'of shorter timeframes',
    { from: () => user, timeframe: "(array['1', '2', '3'])[1 + n % 3]", processor: "'Tesla'" },
  ],
  ['of another processor', { from: () => user, timeframe: "'D'", processor: "'UD Bot'" }],
])(
  'a signal finds its own candle behind thousands of newer candles %s',
  async (_name, { from, timeframe, processor }) => {
    const symbol = newSymbol();
    const own = (await user.candle({ Symbol: symbol, Timeframe: '1D', DateTime: '202601010000' })).json().id;
    await board.database.pool.query(
      `insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, processor, price, currency,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     select gen_random_uuid(), $1, gen_random_uuid(), false, $2, ${timeframe}, ${processor}, 1, 'USDT', '',
       timestamptz '2026-01-02 11:59Z' - n * interval '20 s', now(), '', gen_random_uuid(), '{}'
     from generate_series(1, 4300) as n`,
      [from().hook.id, symbol.replace('USDT', '')],
    );
    const { id } = (await user.signal({ symbol, timeframe: 'D', processor: 'Tesla' })).json();
    expect((await board.admin.get(`/api/signals/${id}`)).json().priceLogId).toBe(own);
  },
);

test('a signal gets the candle received last among candles of the same time', async () => {
  const symbol = newSymbol();
  const candle = async (serial: number) =>
    (await user.candle({ Symbol: symbol, DateTime: '202601021130', serial })).json().id;
  const first = await candle(1);
  const last = await candle(2);
  // Their ids would give the opposite order.
  const receive = (candleId: string, at: string) =>
    board.database.pool.query('update price_logs set received_at = $1 where id = $2', [at, candleId]);
  await receive(first, '2026-01-02T11:31:30Z');
  await receive(last, '2026-01-02T11:31:00Z');
  const { id } = (await user.signal({ symbol })).json();
  expect((await board.admin.get(`/api/signals/${id}`)).json().priceLogId).toBe(first);
});

test('a signal gets a late candle from its arrival on', async () => {
  const symbol = newSymbol();
  const { id } = (await admin.signal({ symbol })).json();
  const detail = async () => (await board.admin.get(`/api/signals/${id}`)).json<SignalDetail>();
  expect((await detail()).priceLogId).toBeNull();
  const late = (await admin.candle({ Symbol: symbol, DateTime: '202601021130' })).json().id;
  expect((await detail()).priceLogId).toBe(late);
});
