import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { AttentionAnswer } from '#contract/attention.ts';
import type { Delivery } from '#contract/hooks.ts';
import type { PriceLog } from '#contract/price-logs.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import type { Answer } from '#test/app/test-client.ts';
import { CANDLE, createSender, type DeliveryPath, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

const clock = fakeClock();
let board: World;
let sender: TestSender;

beforeAll(async () => {
  board = await startWorld({ clock, config: { webhookRateLimit: 0 } });
  sender = await createSender({ app: board.app, client: board.admin });
});
// Keeps deliveries of one test from being duplicates in the next.
afterEach(() => clock.advance(61_000));
afterAll(() => board.close());

let minutes = 0;
/** A candle time that no other candle of this file uses. */
function newCandleTime(): string {
  minutes += 1;
  const iso = new Date(Date.UTC(2025, 0, 1, 0, minutes)).toISOString();
  return iso.slice(0, 16).replaceAll(/\D/g, '');
}

async function storedSignal(answer: Answer): Promise<SignalDetail> {
  expect(answer.body).toContain('"duplicate":false');
  return (await board.admin.get(`/api/signals/${answer.json().id}`)).json<SignalDetail>();
}

async function storedCandle(answer: Answer): Promise<PriceLog> {
  expect(answer.body).toContain('"duplicate":false');
  const { priceLogs } = (await board.admin.get('/api/price-logs?limit=1')).json<{ priceLogs: PriceLog[] }>();
  const [newest] = priceLogs;
  if (newest === undefined || newest.id !== answer.json().id)
    throw new Error('another price log is the newest');
  return newest;
}

async function rowsStored(): Promise<string> {
  const { rows } = await board.database.pool.query(
    'select (select count(*) from signals) as signals, (select count(*) from price_logs) as candles',
  );
  return JSON.stringify(rows);
}

/** Expects 400 with the reason, and nothing stored. */
async function expectRefused(send: () => Promise<Answer>, message: RegExp | string): Promise<void> {
  const before = await rowsStored();
  const answer = await send();
  expect(answer.statusCode, answer.body).toBe(400);
  expect(answer.json()).toMatchObject({ success: false });
  if (typeof message === 'string') expect(answer.json().message).toBe(message);
  else expect(answer.json().message).toMatch(message);
  expect(await rowsStored()).toBe(before);
}

describe('field names', () => {
  // Requirements: webhook-deliveries-16
  test.each([
    ['capital letters', { SYMBOL: 'ETHUSDT', ACTION: 'sell', PRICE: '3000', TIMEFRAME: '5', PROCESSOR: 'P' }],
    ['a capital first', { Symbol: 'ETHUSDT', Action: 'sell', Price: '3000', Timeframe: '5', Processor: 'P' }],
    ['two words', { symbol: 'ETHUSDT', action: 'sell', price: '3000', timeFrame: '5', processor: 'P' }],
  ])('of a signal can be written with %s', async (_how, fields) => {
    const signal = await storedSignal(await sender.send('trading_view_signal', JSON.stringify(fields)));
    expect(signal).toMatchObject({
      token: 'ETH',
      action: 'sell',
      price: '3000',
      timeframe: '5',
      processor: 'P',
    });
    expect(signal.parameters).toEqual({});
  });

  // Requirements: webhook-deliveries-16
  test.each([
    ['small letters', { symbol: 'SOLUSDT', timeframe: '5', datetime: '202601010000', close: '150' }],
    ['capital letters', { SYMBOL: 'SOLUSDT', TIMEFRAME: '5', DATETIME: '202601010005', CLOSE: '150' }],
  ])('of a candle can be written with %s', async (_how, fields) => {
    const candle = await storedCandle(await sender.send('trading_view_candler', JSON.stringify(fields)));
    expect(candle).toMatchObject({ token: 'SOL', timeframe: '5', price: '150' });
  });

  test.each([
    ['"action":"buy","action":"sell"', 'action'],
    ['"action":"buy","\\u0061ction":"buy"', 'action'],
    ['"a":[{"b":1,"c":{"b":2},"b":3}]', 'b'],
    ['"a":{"\\u0000":1,"\\u0000":2},"a":1', '\\u0000'],
  ])('are refused when the text has one twice: %s', async (raw, name) => {
    for (const [path, fields] of [
      ['trading_view_signal', { ...SIGNAL, action: undefined }],
      ['trading_view_candler', CANDLE],
    ] as const) {
      const body = `${JSON.stringify(fields).slice(0, -1)},${raw}}`;
      await expectRefused(() => sender.send(path, body), `${name} is given twice`);
    }
  });

  test('may occur again in another object, and as a value', async () => {
    const parameters = { a: { note: 'a' }, note: 'note', list: ['note', 'note', { note: '"note":' }] };
    expect((await storedSignal(await sender.signal(parameters))).parameters).toEqual(parameters);
  });

  test('are refused when they differ only in case', async () => {
    await expectRefused(() => sender.signal({ Price: '1' }), 'price is given twice');
    await expectRefused(() => sender.candle({ close: '1' }), 'Close is given twice');
  });
});

describe('symbols', () => {
  // Requirements: webhook-deliveries-19
  test.each([
    ['BTCUSDT', 'BTC', 'USDT'],
    ['btcusdt', 'BTC', 'USDT'],
    ['BITGET:BTCUSDT.P', 'BTC', 'USDT'],
    ['BTC/USDT', 'BTC', 'USDT'],
    ['BTCUSD', 'BTC', 'USD'],
    ['BTC', 'BTC', 'USDT'],
    ['1000PEPEUSDT', '1000PEPE', 'USDT'],
    [`${'A'.repeat(20)}USDT`, 'A'.repeat(20), 'USDT'],
  ])('reads %s as the token %s in %s', async (symbol, token, currency) => {
    expect(await storedSignal(await sender.signal({ symbol }))).toMatchObject({ token, currency });
    const candle = await sender.candle({ Symbol: symbol, Currency: undefined, DateTime: newCandleTime() });
    expect(await storedCandle(candle)).toMatchObject({ token, currency });
  });

  // Requirements: webhook-deliveries-19
  test.each([
    'A'.repeat(21),
    'BTC USDT',
    '../../x',
    'BTC?x=',
    '@169.254.169.254',
    '=HYPERLINK("http://x")',
    '<script>',
    'БТЦ',
    'BTC\u200B',
    ' ',
    5,
    true,
    ['BTC'],
    { token: 'BTC' },
  ])('refuses %j', async (symbol) => {
    await expectRefused(() => sender.signal({ symbol }), /^symbol (must be|is required)/);
    await expectRefused(() => sender.candle({ Symbol: symbol }), /^Symbol (must be|is required)/);
  });
});

describe('actions', () => {
  // Requirements: webhook-deliveries-20
  test.each([
    ['buy', 'buy'],
    ['BUY', 'buy'],
    ['Long', 'buy'],
    [' sell ', 'sell'],
    ['SHORT', 'sell'],
  ])('reads %j as %s', async (action, stored) => {
    expect((await storedSignal(await sender.signal({ action }))).action).toBe(stored);
  });

  // Requirements: webhook-deliveries-20
  test.each(['hold', 'buy sell', 'constructor', '__proto__', 'toString', 1, true, ['buy'], { buy: 1 }])(
    'refuses %j',
    async (action) => {
      const message = 'action must be buy, sell, long, short, close, close_long, close_short or reduce';
      await expectRefused(() => sender.signal({ action }), message);
    },
  );

  // Requirements: additions-exits-6
  test('stores what leaves as a close or a reduction, and keeps the action as it came', async () => {
    expect(await storedSignal(await sender.signal({ action: 'Close_Long' }))).toMatchObject({
      action: 'close',
      parameters: { action: 'Close_Long' },
    });
    const reduce = { action: 'reduce', 'Reduce-Percent': 40 };
    expect(await storedSignal(await sender.signal(reduce))).toMatchObject({
      action: 'reduce',
      parameters: { action: 'reduce', 'Reduce-Percent': 40 },
    });
  });

  // Requirements: additions-exits-6
  test("reads what a strategy's market position says, however its fields are written", async () => {
    const flat = { action: 'sell', 'prev market position': 'long', marketPosition: 'flat' };
    expect(await storedSignal(await sender.signal(flat))).toMatchObject({ action: 'close' });
    const entry = { action: 'buy', prev_market_position: 'flat', market_position: 'long' };
    expect((await storedSignal(await sender.signal(entry))).action).toBe('buy');
    const wrong = { action: 'sell', prev_market_position: 'flat', market_position: 'long' };
    await expectRefused(
      () => sender.signal(wrong),
      'action sell contradicts a market position that goes from flat to long',
    );
  });

  test.each([
    [{ action: 'reduce' }, 'reduce_percent is required'],
    [{ action: 'reduce', reduce_percent: 120 }, 'reduce_percent must be a whole number from 1 to 99'],
    [
      { action: 'sell', market_position: 'flat', marketPosition: 'long', prev_market_position: 'long' },
      'market_position is given twice',
    ],
  ])('refuses %j', async (fields, message) => {
    await expectRefused(() => sender.signal(fields), message);
  });
});

describe('numbers', () => {
  // Requirements: webhook-deliveries-20
  test.each([
    ['65000.50', '65000.5'],
    ['0065000', '65000'],
    ['0.00001234', '0.00001234'],
    ['0.000000000001', '0.000000000001'],
    ['1000000000000', '1000000000000'],
    ['123456789012.123456789012', '123456789012.123456789012'],
    [65000.5, '65000.5'],
    [1e-7, '0.0000001'],
    [65000, '65000'],
    ['65000 ', '65000'],
    [' 5\n', '5'],
    ['1.234e-05', '0.00001234'],
  ])('stores %j as %s', async (given, stored) => {
    expect((await storedSignal(await sender.signal({ price: given }))).price).toBe(stored);
    const candle = await sender.candle({ Close: given, DateTime: newCandleTime() });
    expect((await storedCandle(candle)).price).toBe(stored);
  });

  // Raw JSON, because JSON.stringify would not write some of these.
  const nasties = [
    '"NaN"',
    '"Infinity"',
    '"-Infinity"',
    '1e400',
    '-1e400',
    '"1e400"',
    '-1',
    '"-1"',
    '-0',
    '"-0"',
    '0',
    '"0"',
    '"0.0"',
    '""',
    'null',
    '[5]',
    '{"value":5}',
    'true',
    'false',
    '"0x10"',
    '"0b11"',
    '"1_000"',
    '"1,000"',
    '"1.2.3"',
    '"."',
    '"+5"',
    '"٣٤٥"',
    '"５"',
    '"1e-30"',
    '1e-30',
    '"0.0000000000001"',
    '9007199254740993',
    '"9007199254740993"',
    '"1000000000001"',
    '"1e"',
    '"5 5"',
    '"12abc"',
    '"$5"',
    '"5\\u200b"',
    `"${'1'.repeat(100)}"`,
    `"0.${'0'.repeat(5000)}1"`,
  ];
  // Requirements: webhook-deliveries-20
  test.each(nasties)('refuses %s', async (raw) => {
    const withRaw = (fields: object, field: string) =>
      JSON.stringify({ ...fields, [field]: 'RAW' }).replace('"RAW"', raw);
    const refusals: [DeliveryPath, string][] = [
      ['trading_view_signal', withRaw(SIGNAL, 'price')],
      ['trading_view_candler', withRaw(CANDLE, 'Close')],
    ];
    for (const [path, body] of refusals)
      await expectRefused(() => sender.send(path, body), /^(price|Close):? /);
  });
});

describe('numbers that a double does not hold', () => {
  const withId = (fields: object, id: string) => `${JSON.stringify(fields).slice(0, -1)},"order_id":${id}}`;
  const ids = ['1386798662616748153', '1386798662616748154', '"1386798662616748153"', '1386798662616748200'];

  test.each([
    ['trading_view_signal', SIGNAL],
    ['trading_view_candler', CANDLE],
  ] as const)('make deliveries to %s differ, and are stored as sent', async (path, fields) => {
    const answers = [];
    for (const id of ids) answers.push((await sender.send(path, withId(fields, id))).json());
    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, false, false, false]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(ids.length);
    const { rows } = await board.database.pool.query(
      `select parameters->>'order_id' as id from ${fields === SIGNAL ? 'signals' : 'price_logs'}
       where id = any($1::uuid[]) order by 1`,
      [answers.map(({ id }) => id)],
    );
    expect(rows.map(({ id }) => id)).toEqual(ids.map((id) => id.replaceAll('"', '')).sort());
    const again = await sender.send(path, withId(fields, '1386798662616748153'));
    expect(again.json()).toMatchObject({ id: answers[0].id, duplicate: true });
  });

  test('keep all their digits in a price and on screens', async () => {
    const body = withId({ ...SIGNAL, price: 'RAW' }, '-1e-400').replace('"RAW"', '65000.12345678901234567');
    const signal = await storedSignal(await sender.send('trading_view_signal', body));
    expect(signal).toMatchObject({
      price: '65000.12345678901234567',
      parameters: { order_id: '-1e-400' },
    });
  });

  test('are no others: written differently, a number is the same delivery', async () => {
    const first = await sender.send('trading_view_signal', withId(SIGNAL, '1234567890123456'));
    for (const same of ['1234567890123456.0', '1.234567890123456e15', '1234567890123456.0000000000']) {
      expect((await sender.send('trading_view_signal', withId(SIGNAL, same))).json()).toMatchObject({
        id: first.json().id,
        duplicate: true,
      });
    }
  });
});

describe('placeholders that arrive literally', () => {
  // Requirements: webhook-deliveries-21
  test.each([
    [{ symbol: '{{ticker}}' }, 'symbol: is still the placeholder {{ticker}}'],
    [{ action: '{{strategy.order.action}}' }, 'action: is still the placeholder {{strategy.order.action}}'],
    [{ price: 'at {{close}}' }, 'price: is still the placeholder {{close}}'],
    [{ timeframe: '{{interval}}' }, 'timeframe: is still the placeholder {{interval}}'],
    [{ processor: '{{plot("Bot")}}' }, 'processor: is still the placeholder {{plot("Bot")}}'],
    [{ time: '{{timenow}}' }, 'time: is still the placeholder {{timenow}}'],
    [{ time: 'na', timenow: '{{timenow}}' }, 'timenow: is still the placeholder {{timenow}}'],
    [
      { market_position: '{{strategy.market_position}}' },
      'market_position: is still the placeholder {{strategy.market_position}}',
    ],
    [
      { 'Prev-Market-Position': '{{strategy.prev_market_position}}' },
      'Prev-Market-Position: is still the placeholder {{strategy.prev_market_position}}',
    ],
    [{ reduce_percent: '{{plot_0}}' }, 'reduce_percent: is still the placeholder {{plot_0}}'],
    [{ market_position_size: '{{plot_0}}' }, 'market_position_size: is still the placeholder {{plot_0}}'],
  ])('refuse a signal that needs the field, by name: %j', async (fields, message) => {
    await expectRefused(() => sender.signal(fields), message);
  });

  // Requirements: webhook-deliveries-21
  test.each([
    [{ Symbol: '{{ticker}}' }, 'Symbol: is still the placeholder {{ticker}}'],
    [{ Timeframe: '{{interval}}' }, 'Timeframe: is still the placeholder {{interval}}'],
    [{ DateTime: '{{time}}' }, 'DateTime: is still the placeholder {{time}}'],
    [{ Close: '{{close}}' }, 'Close: is still the placeholder {{close}}'],
    // It says which signals the candle belongs to.
    [{ processor: '{{plot_0}}' }, 'processor: is still the placeholder {{plot_0}}'],
  ])('refuse a candle that needs the field, by name: %j', async (fields, message) => {
    await expectRefused(() => sender.candle(fields), message);
  });

  // Requirements: webhook-deliveries-31
  test.each([
    [{ note: 'at {{plot("RSI")}} now' }],
    [{ inner: { list: ['ok', '{{strategy.order.id}}'] } }],
    [{ '{{plot_3}}': '{{plot_3}}', time: '2026-01-01T01:45:07Z', timenow: '{{timenow}}' }],
  ])('do no harm in a field that a signal does not need: %j', async (fields) => {
    expect((await storedSignal(await sender.signal(fields))).parameters).toEqual(
      expect.objectContaining(fields),
    );
  });

  // Requirements: webhook-deliveries-31
  test.each([
    [{ RSI: '{{plot("RSI")}}', Volume: '{{volume}}', price: '{{close}}' }, undefined],
    [{ ATR: '{{plot("ATR")}}' }, ['ATR "{{plot("ATR")}}" is not a number']],
    [
      { Open: '{{open}}', Mature_Trend: '{{plot_2}}' },
      ['mature_trend "{{plot_2}}" is not a known trend', 'Open "{{open}}" is not a number'],
    ],
    [
      { Currency: '{{syminfo.currency}}' },
      ['Currency "{{syminfo.currency}}" is a placeholder, so the currency is USDT'],
    ],
  ])('do no harm in a field that a candle does not need: %j', async (fields, warnings) => {
    const answer = await sender.candle({ DateTime: newCandleTime(), ...fields });
    expect(answer.json().warnings).toEqual(warnings);
    const candle = await storedCandle(answer);
    expect(candle.parameters).toEqual(expect.objectContaining(fields));
    expect(candle.currency).toBe('USDT');
  });

  test('keeps other braces as data', async () => {
    const note = '{"a":{"b":1}} }}{{ {one}';
    expect((await storedSignal(await sender.signal({ note }))).parameters).toEqual({ note });
  });
});

describe('a refused body', () => {
  const newestLine = async () => {
    const [line] = (await board.admin.get(`/api/hooks/${sender.hook.id}/deliveries`)).json<Delivery[]>();
    return line;
  };

  // Requirements: webhook-deliveries-32
  test('that is not JSON is answered and logged with the position of its fault', async () => {
    const body = '{\n  "symbol": "BTCUSDT",\n  "note": "a "quoted" word"\n}';
    const where = 'The body is not valid JSON: unexpected "q" at line 3, column 15';
    await expectRefused(() => sender.send('trading_view_signal', body), where);
    expect(await newestLine()).toMatchObject({
      result: 'refused',
      reason: where,
      refused: { body, position: { line: 3, column: 15 } },
    });
  });

  // Requirements: webhook-deliveries-32
  test('is kept in the log without its secrets, also when only a field is wrong', async () => {
    const fields = { ...SIGNAL, price: '{{close}}', password: 'hunter2', note: sender.hook.hookKey };
    await expectRefused(() => sender.signal(fields), /placeholder/);
    const kept = JSON.stringify({ ...fields, password: '*'.repeat(7), note: '*'.repeat(43) });
    expect((await newestLine())?.refused).toEqual({ body: kept, position: null });
  });

  // Requirements: webhook-deliveries-32
  test('is kept up to 2 KB', async () => {
    await sender.send('trading_view_candler', `{"note":"${'long '.repeat(1000)}`);
    const { refused } = (await newestLine()) ?? {};
    expect(refused?.body).toBe(`{"note":"${'long '.repeat(1000)}`.slice(0, 2048).concat('…'));
    expect(refused?.position).toEqual({ line: 1, column: 5010 });
  });

  test('is the only one that is kept', async () => {
    await sender.signal();
    expect(await newestLine()).not.toHaveProperty('refused');
  });
});

describe('payloads that cannot be stored or read again', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
  const withField = (fields: object, raw: string) => JSON.stringify(fields).replace(/\}$/, `,${raw}}`);

  // Requirements: webhook-deliveries-22
  test.each([
    ['a NUL in a value', '"note":"a\\u0000b"', 'The body contains characters that cannot be stored'],
    ['a NUL in a key', '"a\\u0000b":1', 'The body contains characters that cannot be stored'],
    ['a lone surrogate', '"note":"\\ud800"', 'The body contains characters that cannot be stored'],
    ['a lone surrogate in a key', '"\\udc00":1', 'The body contains characters that cannot be stored'],
    ['twenty-one levels', `"deep":${nested(20)}`, 'The body is nested deeper than 20 levels'],
    ['five thousand levels', `"deep":${nested(5000)}`, 'The body is nested deeper than 20 levels'],
    ['__proto__', '"__proto__":{"polluted":true}', 'The body contains a forbidden key'],
    ['__proto__ below', '"a":[{"__proto__":{"polluted":true}}]', 'The body contains a forbidden key'],
    ['an escaped __proto__', '"__pr\\u006fto__":{"polluted":true}', 'The body contains a forbidden key'],
    [
      'constructor.prototype',
      '"constructor":{"prototype":{"polluted":true}}',
      'The body contains a forbidden key',
    ],
  ])('are refused: %s', async (_what, raw, message) => {
    await expectRefused(() => sender.send('trading_view_signal', withField(SIGNAL, raw)), message);
    await expectRefused(() => sender.send('trading_view_candler', withField(CANDLE, raw)), message);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('do not include twenty levels, odd but harmless keys, every plane of Unicode', async () => {
    const parameters = {
      deep: JSON.parse(nested(19)),
      constructor: 'a word',
      toString: 1,
      valueOf: null,
      toJSON: {},
      '': 'empty',
      'key "with" \\ quotes': [1e308, -0.5, 'é𝄞\uFFFF\u0001'],
    };
    expect((await storedSignal(await sender.signal(parameters))).parameters).toEqual(parameters);
  });

  // Requirements: webhook-deliveries-22
  test.each([
    ['processor', 'Tes\u200Bla'],
    ['processor', 'x'.repeat(65)],
    ['processor', 5],
    ['processor', 'a\nb'],
    ['timeframe', '1'.repeat(17)],
    ['timeframe', 1.5],
    ['timeframe', { minutes: 15 }],
  ])('are refused: %s %j', async (field, value) => {
    await expectRefused(() => sender.signal({ [field]: value }), new RegExp(`^${field} must be `));
  });
});

describe('the time of a signal', () => {
  // Requirements: webhook-deliveries-24
  test.each([
    [{ time: '2026-01-02T03:00:00Z' }, '2026-01-02T03:00:00Z', '2026-01-02T03:00:00.000Z'],
    [{ timenow: '2026-01-02T04:00:00+01:00' }, '2026-01-02T04:00:00+01:00', '2026-01-02T03:00:00.000Z'],
    [{ time: 1_767_322_800_000 }, '1767322800000', '2026-01-02T03:00:00.000Z'],
    [{ TIME: '202601020300' }, '202601020300', '2026-01-02T03:00:00.000Z'],
    [{ time: '', timenow: '2026-01-02 03:00' }, '2026-01-02 03:00', '2026-01-02T03:00:00.000Z'],
    [{ time: 'na', timenow: 1_767_322_800 }, '1767322800', '2026-01-02T03:00:00.000Z'],
    [{ time: '20260102030000' }, '20260102030000', '2026-01-02T03:00:00.000Z'],
    [{ time: 'Fri, 02 Jan 2026 03:00:00 GMT' }, 'Fri, 02 Jan 2026 03:00:00 GMT', '2026-01-02T03:00:00.000Z'],
    [{ time: null, timenow: 'NaN' }, null, null],
    [{}, null, null],
  ])('%j is kept as %s and read as %s', async (fields, text, instant) => {
    const { signalTimeTradingview, signalTimeServer } = await storedSignal(await sender.signal(fields));
    expect([signalTimeTradingview, signalTimeServer]).toEqual([text, instant]);
  });
});

// Without its time, the repetition of a signal would be traded again.
test.each(['2026-11-28 01:45:07 UTC', '2025-02-30T00:00:00Z', 'at noon', true, { toString: 1 }, []])(
  'a signal with the unreadable time %j is refused',
  async (time) => {
    await expectRefused(() => sender.signal({ time }), 'time must be a date as yyyymmddhhmm');
  },
);

describe('a time ahead of its receipt', () => {
  const ahead = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000).toISOString();

  test.each([
    [{}, 480, '8 h', '15 min'],
    [{}, 15.1, '15 min 6 s', '15 min'],
    [{ Timeframe: '1' }, 6, '6 min', '5 min'],
    [{ Timeframe: '30S' }, 6, '6 min', '5 min'],
    [{ Timeframe: 'D' }, 25 * 60, '25 h', '24 h'],
  ])('of a candle is refused: %j, %d minutes', async (fields, minutes, by, limit) => {
    await expectRefused(
      () => sender.candle({ ...fields, DateTime: ahead(minutes) }),
      `DateTime is ${by} ahead of its receipt, the limit is ${limit}`,
    );
  });

  test('of a candle is stored up to one bar and five minutes', async () => {
    await storedCandle(await sender.candle({ DateTime: ahead(15) }));
    await storedCandle(await sender.candle({ Timeframe: '1', DateTime: ahead(5) }));
  });

  test('of a signal is refused beyond five minutes', async () => {
    await expectRefused(
      () => sender.signal({ timeframe: 'D', time: ahead(90) }),
      'time is 1 h 30 min ahead of its receipt, the limit is 5 min',
    );
    await storedSignal(await sender.signal({ time: ahead(5) }));
  });
});

describe('optional fields of a candle', () => {
  const send = (fields: object) => sender.candle({ DateTime: newCandleTime(), ...fields });
  const log = async () =>
    (await board.admin.get(`/api/hooks/${sender.hook.id}/deliveries`)).json<Delivery[]>()[0];
  const unreadable = async () =>
    (await board.admin.get('/api/attention'))
      .json<AttentionAnswer>()
      .conditions.filter(({ code }) => code === 'candle_unreadable');

  test.each([
    [{ ATR: '$3' }, ['ATR "$3" is not a number']],
    [{ ATR: '0' }, ['ATR "0" is not above zero']],
    [{ atr: -1.5 }, ['ATR "-1.5" is not above zero']],
    [{ ATR: [3] }, ['ATR "[3]" is not a number']],
    [{ ATR: '3,5' }, ['ATR "3,5" is not a number']],
    [{ mature_trend: 'Bullish ↑' }, ['mature_trend "Bullish ↑" is not a known trend']],
    [{ immediate_trend: true }, ['immediate_trend "true" is not a known trend']],
    [{ High: 'high', ATR: '3 x' }, ['ATR "3 x" is not a number', 'High "high" is not a number']],
  ])('are stored with a warning where they cannot be read: %j', async (fields, warnings) => {
    const answer = await send(fields);
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { success: true, id: expect.any(String), duplicate: false, warnings },
    ]);
    expect((await storedCandle(answer)).parameters).toMatchObject(fields);
    expect(await log()).toMatchObject({ kind: 'candle', result: 'stored', reason: warnings.join('; ') });
    const [condition] = await unreadable();
    for (const warning of warnings) expect(condition?.text).toContain(warning);
    await send({ ATR: '3' });
    expect(await unreadable()).toEqual([]);
  });

  test.each([null, '', 'na', 'NaN', ' NA ', '3 ', '1.5e-01', 3])(
    'are read without a warning: %j',
    async (ATR) => {
      const answer = await send({ ATR });
      expect(answer.json()).toEqual({ success: true, id: expect.any(String), duplicate: false });
      expect(await log()).toMatchObject({ result: 'stored', reason: null });
      expect(await unreadable()).toEqual([]);
    },
  );

  test('that are given twice are refused', async () => {
    await expectRefused(() => send({ ATR: 3, atr: 4 }), 'atr is given twice');
  });
});

describe('a candle', () => {
  test.each([
    '202502300000',
    '202513010000',
    '202501012400',
    '202501010060',
    '20250101000',
    '202501011260',
    'now',
    true,
    { year: 2025 },
    20250230,
  ])('with the time %j is refused', async (DateTime) => {
    await expectRefused(() => sender.candle({ DateTime }), 'DateTime must be a date as yyyymmddhhmm');
  });

  // Requirements: webhook-deliveries-24
  test('keeps its time as sent next to the instant in UTC', async () => {
    for (const DateTime of ['202402291530', 202402291530]) {
      expect(await storedCandle(await sender.candle({ DateTime }))).toMatchObject({
        candleTimeTradingview: '202402291530',
        candleTimeServer: '2024-02-29T15:30:00.000Z',
      });
    }
  });

  test.each([
    ['2026-01-02 03:00:00', '2026-01-02T03:00:00.000Z'],
    ['2026-01-02T03:00:00Z', '2026-01-02T03:00:00.000Z'],
    [1_767_322_800, '2026-01-02T03:00:00.000Z'],
    ['1767322800000', '2026-01-02T03:00:00.000Z'],
    ['20260102030001', '2026-01-02T03:00:01.000Z'],
  ])('reads its time %j as that of a signal', async (DateTime, instant) => {
    expect(await storedCandle(await sender.candle({ DateTime }))).toMatchObject({
      candleTimeServer: instant,
    });
  });

  // Requirements: webhook-deliveries-17
  test('takes its named currency, else that of its symbol, else USDT; the processor is optional', async () => {
    const stored = async (fields: object) => {
      const { currency, processor } = await storedCandle(
        await sender.candle({ DateTime: newCandleTime(), ...fields }),
      );
      return [currency, processor];
    };
    expect(await stored({ Currency: 'usdc' })).toEqual(['USDC', null]);
    expect(await stored({ Currency: '', Symbol: 'BTCUSD', processor: null })).toEqual(['USD', null]);
    expect(await stored({ Currency: undefined, Symbol: 'BTC', Processor: ' Tesla ' })).toEqual([
      'USDT',
      'Tesla',
    ]);
    await expectRefused(() => sender.candle({ Currency: 'U$D' }), /^Currency must be/);
    await expectRefused(() => sender.candle({ processor: 7 }), /^processor must be/);
  });

  // Requirements: trading-constants-18, webhook-deliveries-18
  test('keeps its payload as parameters, with the fields of the calculator in lower case next to it', async () => {
    const fields = {
      ...CANDLE,
      DateTime: '202601011234',
      ATR: '310.5',
      Immediate_Trend: 'bullish',
      MATURE_TREND: -0.8,
      WT1: '12',
    };
    const { parameters } = await storedCandle(await sender.candle(fields));
    expect(parameters).toEqual({
      ...fields,
      close: '65000',
      atr: '310.5',
      immediate_trend: 'bullish',
      mature_trend: -0.8,
      datetime: '202601011234',
    });
  });
});

// Requirements: webhook-deliveries-18
test('stores the fields of a signal beyond the required ones as its parameters', async () => {
  const beyond = { note: 'x', stop: 64000, time: '2026-01-02T03:00:00Z', nested: { a: [1, null, true] } };
  expect((await storedSignal(await sender.signal(beyond))).parameters).toEqual(beyond);
});

// Requirements: webhook-deliveries-25
test('stores a timeframe as sent, and a number as its digits', async () => {
  expect((await storedSignal(await sender.signal({ timeframe: 15 }))).timeframe).toBe('15');
  expect((await storedSignal(await sender.signal({ timeframe: ' 1h ' }))).timeframe).toBe('1h');
  expect((await storedSignal(await sender.signal({ timeframe: 'D' }))).timeframe).toBe('D');
});
