import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Delivery, Webhook } from '#contract/hooks.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { CANDLE, createSender, type DeliveryPath, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
const clock = fakeClock();
let board: World;
let sender: TestSender;

beforeAll(async () => {
  board = await startWorld({ clock });
  const { client } = await board.createUser();
  sender = await createSender({ app: board.app, client });
});
afterAll(() => board.close());

let prices = 0;
/** A price that no other delivery of this file uses. */
const newPrice = () => `${++prices}.5`;

async function newSender() {
  const user = await board.createUser();
  return { ...user, sender: await createSender({ app: board.app, client: user.client }) };
}

async function countRows(...tables: string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const table of tables) {
    const { rows } = await board.database.pool.query(`select count(*)::int as count from ${table}`);
    counts.push(rows[0].count);
  }
  return counts;
}

const paths: [DeliveryPath, object][] = [
  ['trading_view_signal', SIGNAL],
  ['trading_view_candler', CANDLE],
];

describe('a delivery that can be stored', () => {
  // Requirements: accounts-calls-20, webhook-deliveries-8
  test.each(paths)('is answered 200 with the id of what was stored: %s', async (path, fields) => {
    const price = newPrice();
    const answer = await sender.send(path, JSON.stringify({ ...fields, price, Close: price }));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ success: true, id: ID, duplicate: false });
    const [signals, priceLogs] = [
      await board.admin.get('/api/signals'),
      await board.admin.get('/api/price-logs'),
    ];
    const stored: { id: string }[] = [...signals.json().signals, ...priceLogs.json().priceLogs];
    expect(stored.map(({ id }) => id)).toContain(answer.json().id);
  });

  test.each(paths)('is stored while screens hold all of their connections: %s', async (path, fields) => {
    const { pool } = board.database;
    const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    try {
      const price = newPrice();
      const answer = await sender.send(path, JSON.stringify({ ...fields, price, Close: price }));
      expect(answer.json()).toEqual({ success: true, id: ID, duplicate: false });
    } finally {
      for (const connection of held) connection.release();
    }
  });

  test('is stored with all its fields as TradingView really sends it', async () => {
    clock.set('2026-01-02T10:30:07.250Z');
    const body = `{
      "symbol": "BITGET:ETHUSDT.P", "action": "sell", "price": 3120.45, "timeframe": "15",
      "processor": "UD Bot", "time": "2026-01-02T10:30:00Z", "note": "crossing down"
    }`;
    const { id } = (await sender.send('trading_view_signal', body)).json();
    expect((await board.admin.get(`/api/signals/${id}`)).json()).toMatchObject({
      token: 'ETH',
      currency: 'USDT',
      action: 'sell',
      price: '3120.45',
      timeframe: '15',
      processor: 'UD Bot',
      signalTimeTradingview: '2026-01-02T10:30:00Z',
      signalTimeServer: '2026-01-02T10:30:00.000Z',
      receivedAt: '2026-01-02T10:30:07.250Z',
      hashValue: expect.stringMatching(/^[0-9a-f]{64}$/),
      parameters: { time: '2026-01-02T10:30:00Z', note: 'crossing down' },
      workflowStatus: 'pending',
      automaticCount: 1,
    });
  });

  // Requirements: webhook-deliveries-7
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'text/plain; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'weird',
    ';;;',
    'text/',
    '',
    undefined,
  ])('is read as JSON under the content type %j', async (type) => {
    const answer = await board.app.inject({
      method: 'POST',
      url: `/hooks/trading_view_candler?hkid=${sender.hook.hookKey}`,
      payload: Buffer.from(JSON.stringify({ ...CANDLE, Close: newPrice() })),
      headers: type === undefined ? {} : { 'content-type': type },
    });
    expect(answer.json()).toMatchObject({ success: true, duplicate: false });
  });

  test('is answered 400 when its time lies in the year 10000 in UTC', async () => {
    const answer = await sender.signal({ price: newPrice(), time: '9999-12-31T23:59:00-14:00' });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().message).toBe('time must be a date as yyyymmddhhmm');
  });
});

describe('the same delivery again', () => {
  // Requirements: webhook-deliveries-9
  test('is a duplicate with the id of the first for sixty seconds, and new after that', async () => {
    const price = newPrice();
    const first = (await sender.signal({ price })).json();
    clock.advance(60_000);
    expect((await sender.signal({ price })).json()).toEqual({ success: true, id: first.id, duplicate: true });
    // The window begins with the first delivery; a repetition does not extend it.
    clock.advance(1);
    const second = (await sender.signal({ price })).json();
    expect(second).toEqual({ success: true, id: ID, duplicate: false });
    expect(second.id).not.toBe(first.id);
    clock.advance(30_000);
    expect((await sender.signal({ price })).json()).toMatchObject({ id: second.id, duplicate: true });
  });

  // Requirements: webhook-deliveries-9
  test.each([
    ['signal', { time: '2026-01-02T03:00:00Z' }],
    ['signal', { timenow: '2026-01-02T03:00:00Z' }],
    ['signal', { Time: 1_767_322_800_000 }],
    ['signal', { TimeNow: '202601020300' }],
    ['candle', {}],
  ] as const)('is a permanent duplicate when a %s carries a time: %j', async (kind, time) => {
    const price = newPrice();
    const fields = kind === 'signal' ? { price, ...time } : { Close: price };
    const first = (await sender[kind](fields)).json();
    clock.advance(365 * 24 * 3_600_000);
    expect((await sender[kind](fields)).json()).toEqual({ success: true, id: first.id, duplicate: true });
  });

  // Requirements: webhook-deliveries-8
  test('creates neither a second workflow nor a second job', async () => {
    const price = newPrice();
    const tables = ['signals', 'workflows', "jobs.job where name = 'run-workflow'"];
    const before = await countRows(...tables);
    for (let times = 0; times < 4; times += 1) await sender.signal({ price });
    expect(await countRows(...tables)).toEqual(before.map((count) => count + 1));
  });
});

describe('a delivery with an invalid key', () => {
  // Requirements: webhook-deliveries-11
  test('is answered 401 with the same bytes whatever is wrong with the key', async () => {
    const [renewed, deleted] = [await newSender(), await newSender()];
    const { hook } = renewed.sender;
    await renewed.client.put(`/api/hooks/${hook.id}`, { generateNewKey: true, password: renewed.password });
    await deleted.client.delete(`/api/hooks/${deleted.sender.hook.id}`, { password: deleted.password });
    const { hookKey } = sender.hook;
    const queries = [
      '',
      '?',
      '?hkid',
      '?hkid=',
      '?other=1',
      `?HKID=${hookKey}`,
      `?hkid[]=${hookKey}`,
      '?hkid=short',
      '?hkid=%00',
      `?hkid=${'A'.repeat(43)}`,
      `?hkid=${'A'.repeat(5000)}`,
      '?hkid=%E0%A4%A',
      `?hkid=${hookKey}&hkid=${hookKey}`,
      `?hkid=${hookKey}&hkid=other`,
      `?hkid=${hookKey}%20`,
      `?hkid=${hook.hookKey}`,
      `?hkid=${deleted.sender.hook.hookKey}`,
    ];
    const before = await countRows('signals', 'price_logs', 'deliveries');
    const answers = await Promise.all(
      paths.flatMap(([path, body]) =>
        queries.map((query, index) =>
          sender.send(path, JSON.stringify(body), { query, remoteAddress: `198.51.100.${index}` }),
        ),
      ),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ body }) => body))).toEqual(
      new Set(['{"success":false,"message":"Unknown webhook key"}']),
    );
    expect(await countRows('signals', 'price_logs', 'deliveries')).toEqual(before);
  });

  test('is answered without the faults of its body', async () => {
    const answer = await sender.send('trading_view_signal', 'not JSON', { query: '?hkid=unknown' });
    expect(answer.statusCode).toBe(401);
  });

  test('is refused on the next request after a renewal, while the new key works', async () => {
    const user = await newSender();
    const { hook } = user.sender;
    expect((await user.sender.signal()).statusCode).toBe(200);
    const renewed = await user.client.put(`/api/hooks/${hook.id}`, {
      generateNewKey: true,
      password: user.password,
    });
    expect((await user.sender.signal()).statusCode).toBe(401);
    const query = `?hkid=${renewed.json<Webhook>().hookKey}`;
    expect((await user.sender.signal({}, { query })).json()).toMatchObject({ duplicate: true });
  });
});

describe('a delivery that cannot be used', () => {
  // Requirements: webhook-deliveries-12
  test.each([
    ['nothing', ''],
    ['a form', 'symbol=BTCUSDT&action=buy'],
    ['half of an object', '{"symbol":"BTCUSDT"'],
    ['an array', '[]'],
    ['a text', '"buy"'],
    ['null', 'null'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['a gzip stream', Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
  ])('is answered 400 when it is %s', async (_what, body) => {
    for (const [path] of paths) {
      const answer = await sender.send(path, body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({
        success: false,
        message: expect.stringMatching(/^The body is /),
        errors: [{ path: '', message: expect.any(String) }],
      });
    }
  });

  // Requirements: webhook-deliveries-16
  test.each([
    ['signal', ['symbol', 'action', 'price', 'timeframe', 'processor']],
    ['candle', ['Symbol', 'Timeframe', 'DateTime', 'Close']],
  ] as const)('is answered 400 that names the field when a %s lacks one of %j', async (kind, fields) => {
    for (const field of fields) {
      for (const value of [undefined, null, '']) {
        const answer = await sender[kind]({ [field]: value });
        expect(answer.statusCode).toBe(400);
        expect(answer.json()).toEqual({
          success: false,
          message: `${field} is required`,
          errors: [{ path: field, message: 'is required' }],
        });
      }
    }
  });

  // Requirements: webhook-deliveries-12
  test('is answered 400 when its DateTime lies in the year 10000 in UTC', async () => {
    const answer = await sender.candle({ DateTime: '9999-12-31T23:59:00-14:00' });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().message).toBe('DateTime must be a date as yyyymmddhhmm');
  });

  // Requirements: webhook-deliveries-12
  test('is answered with all its faults together', async () => {
    const answer = await sender.send('trading_view_signal', '{"action":"hold","price":"-1"}');
    expect(answer.json().errors).toEqual([
      { path: 'symbol', message: 'is required' },
      { path: 'action', message: 'must be buy, sell, long, short, close, close_long, close_short or reduce' },
      { path: 'price', message: 'must be digits with at most one point' },
      { path: 'timeframe', message: 'is required' },
      { path: 'processor', message: 'is required' },
    ]);
  });

  // Requirements: webhook-deliveries-13
  test('is answered 413 over 64 KiB, and stored with exactly 64 KiB', async () => {
    for (const [path, fields] of paths) {
      const body = (bytes: number) => {
        const bare = JSON.stringify({ ...fields, price: newPrice(), filler: '' });
        return bare.replace('"filler":""', `"filler":"${'x'.repeat(bytes - bare.length)}"`);
      };
      expect((await sender.send(path, body(64 * 1024))).statusCode).toBe(200);
      const answer = await sender.send(path, body(64 * 1024 + 1));
      expect(answer.statusCode).toBe(413);
      expect(answer.json()).toEqual({ success: false, message: expect.any(String) });
    }
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'] as const)(
    'is answered 404 when it comes as a %s',
    async (method) => {
      const url = `/hooks/trading_view_signal?hkid=${sender.hook.hookKey}`;
      const answer = await board.app.inject({ method, url });
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toEqual({ success: false, message: 'Not found' });
    },
  );
});

describe('the log of deliveries', () => {
  // Requirements: webhook-deliveries-12
  test('shows the owner each delivery with its result, reason and source, newest first', async () => {
    const user = await newSender();
    const { hook } = user.sender;
    clock.set('2027-03-04T05:06:07.000Z');
    const client = await board.signIn(user.username, user.password);
    const remoteAddress = '52.89.214.238';
    await user.sender.signal({}, { remoteAddress });
    await user.sender.signal({}, { remoteAddress });
    await user.sender.signal({ price: 'none' }, { remoteAddress: '::ffff:34.212.75.30' });
    await user.sender.candle();
    await user.sender.send('trading_view_candler', '{');
    await user.sender.signal({}, { query: '?hkid=unknown' });
    const log = (await client.get(`/api/hooks/${hook.id}/deliveries`)).json<Delivery[]>();
    expect(log.map(({ kind, result, reason, sourceIp }) => [kind, result, reason, sourceIp])).toEqual([
      ['candle', 'refused', expect.stringMatching(/^The body is /), '127.0.0.1'],
      ['candle', 'stored', null, '127.0.0.1'],
      ['signal', 'refused', 'price must be digits with at most one point', '34.212.75.30'],
      ['signal', 'duplicate', null, remoteAddress],
      ['signal', 'stored', null, remoteAddress],
    ]);
    expect(log.every(({ receivedAt }) => receivedAt === '2027-03-04T05:06:07.000Z')).toBe(true);
  });

  test('is visible only to its owner', async () => {
    const [owner, other] = [await newSender(), await newSender()];
    await owner.sender.signal();
    expect((await owner.client.get(`/api/hooks/${owner.sender.hook.id}/deliveries`)).json()).toHaveLength(1);
    expect((await other.client.get(`/api/hooks/${other.sender.hook.id}/deliveries`)).json()).toEqual([]);
  });

  test('cuts a long reason, whatever a refused body holds', async () => {
    const user = await newSender();
    await user.sender.signal({ price: `{{${'🔑'.repeat(2500)}}}` });
    const [entry] = (await user.client.get(`/api/hooks/${user.sender.hook.id}/deliveries`)).json<
      Delivery[]
    >();
    expect(entry?.result).toBe('refused');
    expect(entry?.reason?.length).toBeLessThanOrEqual(500);
  });

  // Requirements: webhook-deliveries-12
  test.each([400, 401])('never cuts a reason within a character, after %d others', async (before) => {
    const user = await newSender();
    const beginning = 'price: is still the placeholder {{';
    const name = `${'k'.repeat(before - beginning.length)}${'🔑'.repeat(100)}`;
    const answer = await user.sender.signal({ price: `{{${name}}}` });
    expect(answer.statusCode).toBe(400);
    const [entry] = (await user.client.get(`/api/hooks/${user.sender.hook.id}/deliveries`)).json<
      Delivery[]
    >();
    expect(entry).toMatchObject({
      result: 'refused',
      reason: `${beginning}${name}`.slice(0, before + 2 * Math.floor((500 - before) / 2)),
    });
  });

  test('records when the webhook was last used, at most every thirty seconds', async () => {
    const user = await newSender();
    const lastUsed = async () => (await user.client.get('/api/hooks')).json<Webhook[]>()[0]?.lastUsedAt;
    expect(await lastUsed()).toBeNull();
    const first = clock.now().toISOString();
    await user.sender.signal();
    expect(await lastUsed()).toBe(first);
    clock.advance(30_000);
    await user.sender.candle();
    expect(await lastUsed()).toBe(first);
    clock.advance(1);
    await user.sender.send('trading_view_signal', 'refused');
    expect(await lastUsed()).toBe(clock.now().toISOString());
  });
});
