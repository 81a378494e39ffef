import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Delivery, TestDeliveryAnswer, Webhook } from '#contract/hooks.ts';
import type { UserEligibility } from '#contract/signals.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { CANDLE, createSender, SIGNAL } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, type World, type WorldOptions } from '#test/world.ts';

const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
let board: World;

beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());

interface Owner extends TestUser {
  hook: Webhook;
  send: (kind: string, payload: unknown) => Promise<Awaited<ReturnType<TestClient['post']>>>;
}

async function owner(fields: { isAdmin?: boolean } = {}, on = board): Promise<Owner> {
  const user = await on.createUser(fields);
  const hook = (await user.client.post('/api/hooks', {})).json<Webhook>();
  const url = `/api/hooks/${hook.id}/test-deliveries`;
  return { ...user, hook, send: (kind, payload) => user.client.post(url, { kind, payload }) };
}

const log = async ({ client, hook }: Owner) =>
  (await client.get(`/api/hooks/${hook.id}/deliveries`)).json<Delivery[]>();

async function withBoard(options: WorldOptions, run: (on: World) => Promise<void>) {
  const on = await startWorld(options);
  try {
    await run(on);
  } finally {
    await on.close();
  }
}

describe('a test delivery that can be stored', () => {
  // Requirements: webhook-deliveries-27
  test('becomes a signal with its workflow, while the key stays hidden from the sender', async () => {
    const user = await owner();
    expect((await user.client.get('/api/hooks')).json()).toMatchObject([{ masked: true }]);
    const answer = await user.send('signal', { ...SIGNAL, symbol: 'ETHUSDT', price: 3120.45 });
    expect(answer.statusCode).toBe(200);
    const { id, ...rest } = answer.json<TestDeliveryAnswer>();
    expect(rest).toEqual({
      success: true,
      duplicate: false,
      message: 'The delivery is stored',
      errors: [],
    });
    expect((await board.admin.get(`/api/signals/${id}`)).json()).toMatchObject({
      token: 'ETH',
      price: '3120.45',
      workflowStatus: 'pending',
      automaticCount: 1,
    });
  });

  // Requirements: webhook-deliveries-27
  test('becomes a price log', async () => {
    const user = await owner();
    const { id } = (await user.send('candle', { ...CANDLE, Symbol: 'XRPUSDT' })).json();
    const { priceLogs } = (await board.admin.get('/api/price-logs?token=XRP')).json();
    expect(priceLogs).toMatchObject([{ id, token: 'XRP', price: '65000' }]);
  });

  test('is a duplicate when it was sent before, even as an alert', async () => {
    const user = await board.createUser();
    const sender = await createSender({ app: board.app, client: user.client });
    const url = `/api/hooks/${sender.hook.id}/test-deliveries`;
    const time = '2026-11-21T10:00:00.000Z';
    const first = (await sender.signal({ time })).json();
    const again = await user.client.post(url, { kind: 'signal', payload: { ...SIGNAL, time } });
    expect(again.statusCode).toBe(200);
    expect(again.json()).toEqual({
      success: true,
      id: first.id,
      duplicate: true,
      message: 'This delivery is stored already',
      errors: [],
    });
  });

  test('appears in the delivery log with the address of the sender, and marks the webhook as used', async () => {
    const user = await owner();
    const url = `/api/hooks/${user.hook.id}/test-deliveries`;
    const remoteAddress = '203.0.113.9';
    await user.client.post(url, { kind: 'candle', payload: CANDLE }, { remoteAddress });
    expect(await log(user)).toMatchObject([
      { kind: 'candle', result: 'stored', reason: null, sourceIp: remoteAddress },
    ]);
    expect((await user.client.get('/api/hooks')).json()[0].lastUsedAt).not.toBeNull();
  });
});

describe('the audience of a test signal', () => {
  const reasonsOf = async (signalId: string | null) => {
    const users = (await board.admin.get(`/api/signals/${signalId}/users`)).json<UserEligibility[]>();
    return new Map(users.map((user) => [user.username, JSON.stringify(user)]));
  };
  const FOREIGN = 'Signal belongs to another user';

  test('is the user for an ordinary user’s signal', async () => {
    const [user, other] = [await owner(), await board.createUser()];
    const { id } = (await user.send('signal', { ...SIGNAL, note: 'of the user' })).json<TestDeliveryAnswer>();
    const reasons = await reasonsOf(id);
    expect(reasons.get(other.username)).toContain(FOREIGN);
    expect(reasons.get(user.username) ?? '').not.toContain(FOREIGN);
  });

  test('is everybody for an administrator’s signal', async () => {
    const [admin, other] = [await owner({ isAdmin: true }), await board.createUser()];
    const { id } = (await admin.send('signal', { ...SIGNAL, note: 'of all' })).json<TestDeliveryAnswer>();
    const reasons = await reasonsOf(id);
    expect(reasons.get(other.username)).not.toContain(FOREIGN);
  });
});

describe('a test delivery that cannot be used', () => {
  test('is answered 200 with every reason, and recorded', async () => {
    const user = await owner();
    const answer = await user.send('signal', { symbol: 'BTCUSDT', action: 'hold', price: '-1' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      success: false,
      id: null,
      duplicate: false,
      message: 'action must be buy, sell, long, short, close, close_long, close_short or reduce',
      errors: [
        {
          path: 'action',
          message: 'must be buy, sell, long, short, close, close_long, close_short or reduce',
        },
        { path: 'price', message: 'must be digits with at most one point' },
        { path: 'timeframe', message: 'is required' },
        { path: 'processor', message: 'is required' },
      ],
    });
    expect(await log(user)).toMatchObject([
      {
        kind: 'signal',
        result: 'refused',
        reason: 'action must be buy, sell, long, short, close, close_long, close_short or reduce',
      },
    ]);
  });

  test('is answered with the name of its placeholder', async () => {
    const answer = await (await owner()).send('candle', { ...CANDLE, Close: '{{close}}' });
    expect(answer.json()).toMatchObject({
      success: false,
      errors: [{ path: 'Close', message: 'is still the placeholder {{close}}' }],
    });
  });

  test.each([
    ['no kind', { payload: SIGNAL }],
    ['another kind', { kind: 'order', payload: SIGNAL }],
    ['no payload', { kind: 'signal' }],
    ['a list as payload', { kind: 'signal', payload: [] }],
    ['nested values', { kind: 'signal', payload: { symbol: { name: 'BTC' } } }],
    ['a long value', { kind: 'signal', payload: { ...SIGNAL, note: 'x'.repeat(201) } }],
  ])('with %s is answered 400 and leaves no trace', async (_what, body) => {
    const user = await owner();
    const answer = await user.client.post(`/api/hooks/${user.hook.id}/test-deliveries`, body);
    expect(answer.statusCode).toBe(400);
    expect(await log(user)).toEqual([]);
  });

  test('is answered 413 when it is larger than a delivery may be', async () => {
    const user = await owner();
    const fields = Array.from({ length: 400 }, (_, index) => [`field${index}`, 'x'.repeat(200)]);
    const answer = await user.send('signal', { ...SIGNAL, ...Object.fromEntries(fields) });
    expect(answer.statusCode).toBe(413);
    expect(await log(user)).toEqual([]);
  });
});

describe('the webhook of a test delivery', () => {
  test('is not found when it is another user’s, not even for an administrator', async () => {
    const [victim, stranger, admin] = [await owner(), await owner(), await owner({ isAdmin: true })];
    for (const { client } of [stranger, admin]) {
      for (const id of [victim.hook.id, UNKNOWN_ID]) {
        const answer = await client.post(`/api/hooks/${id}/test-deliveries`, {
          kind: 'signal',
          payload: SIGNAL,
        });
        expect(answer.statusCode).toBe(404);
        expect(answer.json()).toEqual({ message: 'Webhook not found' });
      }
    }
    expect(await log(victim)).toEqual([]);
  });

  test('is not found when deleted, and still accepts deliveries when renewed', async () => {
    const user = await owner();
    const url = `/api/hooks/${user.hook.id}`;
    await user.client.put(url, { generateNewKey: true, password: user.password });
    expect((await user.send('candle', CANDLE)).json()).toMatchObject({ success: true, id: ID });
    await user.client.delete(url, { password: user.password });
    expect((await user.send('candle', CANDLE)).statusCode).toBe(404);
  });
});

test('answers 503 over the limit of the webhook, which alerts share', async () => {
  await withBoard({ config: { webhookRateLimit: 2 } }, async (on) => {
    const user = await on.createUser();
    const sender = await createSender({ app: on.app, client: user.client });
    const send = (price: string) =>
      user.client.post(`/api/hooks/${sender.hook.id}/test-deliveries`, {
        kind: 'signal',
        payload: { ...SIGNAL, price },
      });
    expect((await sender.signal()).statusCode).toBe(200);
    expect((await send('2')).statusCode).toBe(200);
    const limited = await send('3');
    expect(limited.statusCode).toBe(503);
    expect(limited.json()).toEqual({ message: 'Over the limit of deliveries a minute. Send it again.' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    const answer = await user.client.get(`/api/hooks/${sender.hook.id}/deliveries`);
    expect(answer.json<Delivery[]>().map(({ result }) => result)).toEqual(['limited', 'stored', 'stored']);
  });
});

test('answers 503 when the database cannot store it', async () => {
  await withBoard({}, async (on) => {
    const user = await owner({}, on);
    await on.deps.receiver.idle();
    await on.database.pool.query('alter table signals rename to gone');
    const answer = await user.send('signal', SIGNAL);
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toEqual({ message: 'The delivery could not be stored. Send it again.' });
  });
});

describe('in live mode', () => {
  const live = { exchangeMode: 'live', appEnv: 'production' } as const;

  // Requirements: webhook-deliveries-28
  test('refuses test signals and test candles with automatic trading', async () => {
    await withBoard({ config: { ...live, autoTrade: { enabled: true, configured: true } } }, async (on) => {
      for (const isAdmin of [false, true]) {
        const user = await owner({ isAdmin }, on);
        for (const [kind, payload] of [
          ['signal', SIGNAL],
          ['candle', CANDLE],
        ] as const) {
          const answer = await user.send(kind, payload);
          expect(answer.statusCode).toBe(403);
          expect(answer.json()).toEqual({
            message: 'Test deliveries are refused while real money is traded automatically',
          });
        }
        expect(await log(user)).toEqual([]);
      }
      expect((await on.admin.get('/api/signals')).json().total).toBe(0);
      expect((await on.admin.get('/api/price-logs')).json().total).toBe(0);
    });
  });

  test('accepts a test signal without automatic trading', async () => {
    await withBoard({ config: { ...live, autoTrade: { enabled: false, configured: true } } }, async (on) => {
      expect((await (await owner({}, on)).send('signal', SIGNAL)).json()).toMatchObject({ success: true });
    });
  });
});

test('accepts a test signal in demo mode with automatic trading, because no real money moves', async () => {
  const config = {
    exchangeMode: 'demo',
    appEnv: 'production',
    autoTrade: { enabled: true, configured: true },
  } as const;
  await withBoard({ config }, async (on) => {
    expect((await (await owner({}, on)).send('signal', SIGNAL)).json()).toMatchObject({ success: true });
  });
});
