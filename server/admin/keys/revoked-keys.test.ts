import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OrderResult, OrdersInDoubt } from '#contract/position-maker.ts';
import type { PositionsAnswer } from '#contract/positions.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { forgetCredentialCalls } from '#test/app/credential-limits.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import {
  type ExchangeSite,
  type SiteCredentials,
  startExchangeSite,
} from '#test/venues/test-exchange-site.ts';

/** The whole program against an exchange that revokes keys while there is work to do with them. */
const PATH = '/api/user-settings/exchange-credentials';
const TOKENS = ['ETH', 'SOL', 'XRP', 'ADA', 'DOGE', 'LTC', 'LINK', 'DOT', 'AVAX'];
const REJECTED =
  /^The Bitget API key is not used since .*Z: Bitget refused it: Invalid ACCESS_KEY \(40006\)$/;

type Key = SiteCredentials & { accountId: string };

let site: ExchangeSite;
let board: TestApp;
let sender: TestSender;
let trader: TestUser;
let key: Key;
let token: string;

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  board = await startTestApp({
    engine: true,
    config: {
      appEnv: 'production',
      exchangeMode: 'demo',
      autoTrade: { enabled: true, configured: true },
      bitgetBaseUrl: site.url,
      bybitBaseUrl: site.url,
      exchangeTimeoutMs: 700,
      verifyFirstMs: 300,
      verifySecondMs: 300,
      cancelDelayMs: 100,
    },
  });
  for (const name of TOKENS) await site.push(name, '100');
  sender = await createSender({ app: board.app, client: board.admin });
});
afterAll(async () => {
  await board.close();
  await site.close();
});
beforeEach(async () => {
  site.setFaults([]);
  token = TOKENS.shift() ?? '';
  trader = await board.createUser();
  await trader.client.put('/api/user-settings', { positionSizingMethod: 'Risk Management' });
  await board.admin.put(`/api/admin/user/${trader.user.id}/active-trading`, { activeTrading: true });
  key = newKey();
  expect((await enter(key)).statusCode).toBe(200);
});
afterEach(async () => {
  await board.admin.put(`/api/admin/user/${trader.user.id}/active-trading`, { activeTrading: false });
});

const secrets = (): SiteCredentials => ({
  apiKey: `key-${randomUUID()}`,
  apiSecret: `secret-${randomUUID()}`,
  passphrase: `phrase-${randomUUID()}`,
});
function newKey(): Key {
  const credentials = secrets();
  return { ...credentials, accountId: site.addAccount(credentials) };
}
async function enter({ accountId: _id, ...credentials }: SiteCredentials & { accountId?: string }) {
  await forgetCredentialCalls(board.database.pool);
  return await trader.client.put(PATH, { exchangePlatform: 'Bitget', ...credentials });
}
const shown = async () => (await trader.client.get(PATH)).json();
const query = async (text: string, values: unknown[] = []) =>
  (await board.database.pool.query(text, values)).rows;

async function send(): Promise<string> {
  await site.push(token, '100');
  const answer = await sender.signal({
    symbol: `${token}USDT`,
    price: '100',
    time: new Date().toISOString(),
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ id: string }>().id;
}

const workflowEnd = (signalId: string) =>
  expect
    .poll(
      async () => (await query('select status from workflows where signal_id = $1', [signalId]))[0]?.status,
      { timeout: 15_000, interval: 50 },
    )
    .toMatch(/completed|failed|aborted/);

const userOf = async (signalId: string) => {
  const users = (await board.admin.get(`/api/signals/${signalId}/users`)).json<Record<string, string>[]>();
  return users.find(({ id }) => id === trader.user.id);
};
const orderOf = async (tradeId: string) =>
  (await board.admin.get(`/api/position-maker/orders/${tradeId}`)).json<OrderResult>();
const inDoubt = async () =>
  (await board.admin.get('/api/position-maker/orders-in-doubt')).json<OrdersInDoubt>().orders;
const writeOff = (tradeId: string) => board.admin.post(`/api/position-maker/orders/${tradeId}/write-off`);

/** An order whose answer got lost and whose look-ups fail, until faults are lifted. */
async function sendIntoDoubt(): Promise<{ tradeId: string; signalId: string }> {
  site.setFaults([
    { kind: 'acceptThenTimeout', on: { path: '/place-order' } },
    { kind: 'refuse', code: '40725', on: { path: '/order/detail', times: Infinity } },
  ]);
  const signalId = await send();
  const unknown = () =>
    query(
      "select t.id from trades t join order_attempts a on a.trade_id = t.id where t.user_id = $1 and a.state = 'unknown'",
      [trader.user.id],
    );
  await expect.poll(async () => (await unknown()).length, { timeout: 10_000, interval: 50 }).toBe(1);
  return { signalId, tradeId: (await unknown())[0].id };
}

/** Revokes the key and waits until the engine has met it. */
async function revokeDuring(tradeId: string): Promise<void> {
  site.replaceKey(key.accountId);
  site.setFaults([]);
  await expect
    .poll(async () => (await orderOf(tradeId)).message, { timeout: 10_000, interval: 50 })
    .toMatch(/^The order cannot be followed, it is tried every 30 s: The Bitget API key is not used since /);
}

// Requirements: users-17
test('a key that is revoked ends the automation of its user with the reason, and is not asked again', async () => {
  site.replaceKey(key.accountId);
  const first = await send();
  await workflowEnd(first);
  expect((await shown()).problem).toMatch(REJECTED);
  const asked = site.requests.length;
  const second = await send();
  await workflowEnd(second);
  expect(await userOf(second)).toMatchObject({
    status: 'not eligible',
    reason: expect.stringMatching(REJECTED),
  });
  await sleep(300);
  expect(site.requests).toHaveLength(asked);

  site.replaceKey(key.accountId, key);
  expect((await trader.client.post(`${PATH}/test`)).json()).toMatchObject({ success: true });
  const third = await send();
  await workflowEnd(third);
  expect(await userOf(third)).toMatchObject({ status: 'eligible' });
  expect(await site.exchangeOrders(key.accountId)).toHaveLength(1);
});

// Requirements: users-18
test('an order in doubt is looked up slowly with a revoked key, and a new key of the account settles it', async () => {
  const { tradeId, signalId } = await sendIntoDoubt();
  await revokeDuring(tradeId);
  const wait = () =>
    query('select extract(epoch from due_at - now())::int as s from trades where id = $1', [tradeId]);
  await expect.poll(async () => (await wait())[0].s, { timeout: 5_000, interval: 50 }).toBeGreaterThan(20);
  const asked = site.requests.length;
  await sleep(500);
  expect(site.requests).toHaveLength(asked);

  const elsewhere = await enter(newKey());
  expect(elsewhere.statusCode).toBe(409);
  expect(elsewhere.json().message).toMatch(
    new RegExp(
      `and this API key belongs to another account, .* Enter a key of account ${key.accountId}, wait until`,
    ),
  );
  const another = secrets();
  site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
  const unknown = await enter(another);
  expect(unknown.statusCode).toBe(409);
  expect(unknown.json().message).toContain('Bitget has not told to which account this API key belongs.');
  expect(await shown()).toMatchObject({ state: 'rejected' });

  site.setFaults([]);
  site.replaceKey(key.accountId, another);
  expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
  await expect
    .poll(() => orderOf(tradeId), { timeout: 10_000 })
    .toMatchObject({
      done: true,
      success: true,
      fillStatus: 'filled',
    });
  await workflowEnd(signalId);
  expect((await site.holding(key.accountId, token)).stopLoss).not.toBeNull();
});

// Requirements: users-18
test('an order in doubt is not concluded from an account that does not know it', async () => {
  const { tradeId } = await sendIntoDoubt();
  await revokeDuring(tradeId);
  // As if somebody had put another account's key into the row: it answers that it knows no such order.
  const other = newKey();
  const stranger = await board.createUser();
  await stranger.client.put(PATH, { exchangePlatform: 'Bitget', ...other, accountId: undefined });
  await query('update exchange_credentials set account_id = $2, rejected_at = null where user_id = $1', [
    trader.user.id,
    other.accountId,
  ]);
  const { findAccount } = board.deps;
  const deps = {
    ...board.deps,
    findAccount: async (...[userId, ...more]: Parameters<typeof findAccount>) => {
      const found = await findAccount(stranger.user.id, ...more);
      return found && { ...found, userId };
    },
  };
  await query(
    "update order_attempts set submitted_at = submitted_at - interval '10 minutes' where trade_id = $1",
    [tradeId],
  );
  const asked = site.requests.length;
  for (let look = 0; look < 5; look += 1) {
    await query('update trades set due_at = null where id = $1', [tradeId]);
    await advanceTrade(deps, tradeId);
  }
  const [attempt] = await query('select state, lookup_misses from order_attempts where trade_id = $1', [
    tradeId,
  ]);
  expect(attempt).toEqual({ state: 'unknown', lookup_misses: 0 });
  expect(site.requests).toHaveLength(asked);
  expect((await orderOf(tradeId)).message).toContain(
    `The order is in account ${key.accountId}, and the connected API key belongs to account ${other.accountId}`,
  );
});

test('nothing is concluded in one mode of an order of another', async () => {
  const { tradeId } = await sendIntoDoubt();
  await query("update trades set exchange_mode = 'live', due_at = null where id = $1", [tradeId]);
  await query(
    "update order_attempts set submitted_at = submitted_at - interval '10 minutes' where trade_id = $1",
    [tradeId],
  );
  await expect
    .poll(async () => (await orderOf(tradeId)).message, { timeout: 5_000 })
    .toContain('The order belongs to live mode, and the program runs in demo mode');
  const [attempt] = await query('select state from order_attempts where trade_id = $1', [tradeId]);
  expect(attempt).toEqual({ state: 'unknown' });
});

describe('while a position is open', () => {
  async function withPosition(): Promise<void> {
    await workflowEnd(await send());
    await expectPositions({ open: [{ token, tradeId: expect.any(String) }] });
  }

  /** Not those that were read a moment ago: nothing is to be closed in a token that nobody holds. */
  async function positions(): Promise<PositionsAnswer> {
    await board.admin.post('/api/positions/close', { userId: trader.user.id, token: 'BTC' });
    return (await trader.client.get('/api/my-positions')).json<PositionsAnswer>();
  }

  /** The limits of requests hold some of them up, and keys are asked about once a second. */
  const expectPositions = (expected: object) =>
    expect.poll(positions, { timeout: 10_000, interval: 500 }).toMatchObject(expected);

  // Requirements: users-20
  test('a key of another account is refused; after a deletion it is taken, and the position is not taken for closed', async () => {
    await withPosition();
    const other = newKey();
    const refused = await enter(other);
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      `A position of this user on Bitget is open (${token}), and this API key belongs to another account, which does not show it. Enter a key of account ${key.accountId}, or close the position first. Who has no such key any more deletes the stored one: the position is not watched from here then, and keeps signals in its token away until an administrator writes it off.`,
    ]);
    const another = secrets();
    site.replaceKey(key.accountId, another);
    expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({ open: [{ token }] });

    await trader.client.delete(PATH, { exchangePlatform: 'Bitget' });
    expect((await enter(other)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({
      open: [],
      closed: [],
      unreachable: [
        {
          message: `${token}: The position is in account ${key.accountId}, and the connected API key belongs to account ${other.accountId}`,
        },
      ],
    });
    // Nothing is held with this one.
    expect((await enter(newKey())).json()).toMatchObject({ state: 'ready' });
    expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({ open: [{ token, differences: [] }], unreachable: [] });
  });

  // Requirements: users-20
  test('a key that the exchange refuses is named as what keeps the position from being read', async () => {
    await withPosition();
    site.replaceKey(key.accountId);
    await trader.client.post(`${PATH}/test`, { exchangePlatform: 'Bitget' });
    await expectPositions({
      open: [],
      closed: [],
      unreachable: [
        {
          message: expect.stringMatching(new RegExp(`^${token}: ${REJECTED.source.slice(1)}`)),
          hidden: [{ token }],
        },
      ],
    });
  });

  // Requirements: users-20
  test('a key whose account is not known yet is asked about before anything is concluded', async () => {
    await withPosition();
    await trader.client.delete(PATH, { exchangePlatform: 'Bitget' });
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info', times: 1_000 } }]);
    expect((await enter(key)).json()).toMatchObject({ state: 'unverified' });
    await expectPositions({
      open: [{ token, tradeId: null }],
      unreachable: [{ message: expect.stringContaining('belongs to an account that is not known') }],
    });
    site.setFaults([]);
    await expectPositions({ open: [{ token, differences: [] }], unreachable: [] });
  });
});

// Requirements: users-19
test('an order that nobody can ask about is written off by an administrator, and stays unknown', async () => {
  const { tradeId, signalId } = await sendIntoDoubt();
  await query("update trades set created_at = created_at - interval '1 minute' where id = $1", [tradeId]);
  expect(await inDoubt()).not.toContainEqual(expect.objectContaining({ tradeId }));
  const early = await writeOff(tradeId);
  expect([early.statusCode, early.json()]).toEqual([
    409,
    {
      message:
        'Asking the exchange may still settle the order: only one that it cannot settle is written off',
    },
  ]);
  await revokeDuring(tradeId);
  expect(await inDoubt()).toContainEqual(
    expect.objectContaining({
      tradeId,
      username: trader.username,
      token,
      problem: expect.stringMatching(REJECTED),
    }),
  );
  expect((await trader.client.post(`/api/position-maker/orders/${tradeId}/write-off`)).statusCode).toBe(403);

  const written = await writeOff(tradeId);
  expect(written.statusCode, written.body).toBe(200);
  const error = expect.stringMatching(
    /^Outcome unknown, written off by admin@example\.com: The Bitget API key is not used since /,
  );
  expect(written.json()).toMatchObject({ done: true, success: false, fillStatus: 'unknown', error });
  const [row] = await query('select written_off_by, written_off_at from trades where id = $1', [tradeId]);
  const admin = (await board.admin.get('/api/auth/user')).json().user.id;
  expect(row).toEqual({ written_off_by: admin, written_off_at: expect.any(Date) });
  expect(await inDoubt()).not.toContainEqual(expect.objectContaining({ tradeId }));
  expect((await writeOff(tradeId)).json()).toEqual({ message: 'The order is settled' });

  const other = newKey();
  expect((await enter(other)).json()).toMatchObject({ state: 'ready' });
  const retried = await board.admin.post(`/api/signals/${signalId}/trigger-automation`, {});
  expect(retried.statusCode).not.toBe(500);
  const trades = await query('select id from trades where user_id = $1', [trader.user.id]);
  expect(trades).toHaveLength(1);
});
