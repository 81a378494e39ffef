import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetCredentialCalls } from '#test/app/credential-limits.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import type { Answer } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { type ExchangeSite, startExchangeSite } from '#test/venues/test-exchange-site.ts';

const PATH = '/api/user-settings/exchange-credentials';
const IN_USE = { message: 'An order of this user is still under way; try again when it is settled' };
const ELSEWHERE =
  'An order of this user on Bitget is not settled, and this API key belongs to another account, where the order cannot be looked up. ';

/** The whole program against an exchange that it knows by its address and its users' keys alone. */
describe.each(['demo', 'live'] as const)('in %s mode', (environment) => {
  let site: ExchangeSite;
  let board: TestApp;
  let sender: TestSender;
  let trader: TestUser;
  let accountId: string;

  beforeAll(async () => {
    site = await startExchangeSite({ environment });
    board = await startTestApp({
      engine: true,
      config: {
        appEnv: 'production',
        exchangeMode: environment,
        autoTrade: { enabled: true, configured: true },
        bitgetBaseUrl: site.url,
        // Nobody listens there.
        bybitBaseUrl: 'http://127.0.0.1:9',
        verifyFirstMs: 300,
        verifySecondMs: 300,
        cancelDelayMs: 100,
      },
    });
    sender = await createSender({ app: board.app, client: board.admin });
    trader = await createTrader();
  });
  afterAll(async () => {
    await board.close();
    await site.close();
  });

  async function createTrader(): Promise<TestUser> {
    const created = await board.createUser();
    const { id } = created.user;
    await created.client.put('/api/user-settings', { positionSizingMethod: 'Risk Management' });
    await board.admin.put(`/api/admin/user/${id}/active-trading`, { activeTrading: true });
    return created;
  }

  const newCredentials = () => {
    const secrets = {
      apiKey: `key-${randomUUID()}`,
      apiSecret: `secret-${randomUUID()}`,
      passphrase: `phrase-${randomUUID()}`,
    };
    return { ...secrets, accountId: site.addAccount(secrets) };
  };
  async function enter({ accountId: _id, ...secrets }: ReturnType<typeof newCredentials>): Promise<Answer> {
    await forgetCredentialCalls(board.database.pool);
    return await trader.client.put(PATH, { exchangePlatform: 'Bitget', ...secrets });
  }

  async function until<Result>(read: () => Promise<Result | null>): Promise<Result> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const result = await read();
      if (result !== null) return result;
      if (Date.now() > deadline) throw new Error('nothing came in time');
      await sleep(50);
    }
  }

  /** A signal by the webhook; answers its id. */
  async function send(token: string, price: string): Promise<string> {
    await site.push(token, price);
    const answer = await sender.signal({ symbol: `${token}USDT`, price });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<{ id: string }>().id;
  }

  async function usersOf(signalId: string) {
    const answer = await board.admin.get(`/api/signals/${signalId}/users`);
    return answer.json<{ id: string; status: string; reason: string }[]>();
  }

  const workflowEnd = (signalId: string) =>
    until(async () => {
      const answer = await board.admin.get(`/api/signals/${signalId}/workflows`);
      const [workflow] = answer.json<{ automaticWorkflows: { status: string }[] }>().automaticWorkflows;
      const ended = workflow !== undefined && ['completed', 'failed', 'aborted'].includes(workflow.status);
      return ended ? workflow : null;
    });

  test('who has no credentials is not eligible, and why is said', async () => {
    const id = await send('BTC', '65000');
    expect(await workflowEnd(id)).toMatchObject({ status: 'completed' });
    expect(await usersOf(id)).toContainEqual(
      expect.objectContaining({
        id: trader.user.id,
        status: 'not eligible',
        reason: 'No Bitget credentials are connected',
      }),
    );
    expect(site.requests).toEqual([]);
  });

  // Requirements: users-21
  test('credentials entered on the settings page trade a signal, filled and protected on that account', async () => {
    const credentials = newCredentials();
    ({ accountId } = credentials);
    expect((await enter(credentials)).json()).toMatchObject({ connected: true, test: { success: true } });
    const id = await send('ETH', '3000');
    expect(await workflowEnd(id)).toMatchObject({ status: 'completed' });
    const [trade, ...more] = (await board.admin.get(`/api/signals/${id}/trades`)).json();
    expect(more).toEqual([]);
    expect(trade).toMatchObject({ success: true });
    const [order, ...others] = await site.exchangeOrders(accountId);
    expect(others).toEqual([]);
    expect(order).toMatchObject({ token: 'ETH', side: 'buy', state: 'filled' });
    const { position, stopLoss, takeProfit } = await site.holding(accountId, 'ETH');
    expect(position).toMatchObject({ side: 'long' });
    expect(Number(stopLoss)).toBeLessThan(3000);
    expect(Number(takeProfit)).toBeGreaterThan(3000);
    expect(new Set(site.requests.map(({ headers }) => headers['access-key']))).toEqual(
      new Set([credentials.apiKey]),
    );
  });

  test('while an order is under way its key cannot be taken away or changed; its secret can', async () => {
    const before = newCredentials();
    // A position is held with the one before.
    await trader.client.delete(PATH);
    expect((await enter(before)).statusCode).toBe(200);
    // It rests, and nothing is to be learned of it.
    const silence = {
      kind: 'refuse',
      code: '40725',
      on: { path: '/order/detail', times: Infinity },
    } as const;
    site.setFaults([{ kind: 'restFirst' }, silence]);
    const id = await send('SOL', '150');
    await until(async () => ((await site.exchangeOrders(before.accountId)).length > 0 ? true : null));
    const removed = await trader.client.delete(PATH);
    expect([removed.statusCode, removed.json()]).toEqual([409, IN_USE]);
    const replaced = await enter(newCredentials());
    expect([replaced.statusCode, replaced.json()]).toEqual([
      409,
      {
        message: `${ELSEWHERE}Enter a key of account ${before.accountId}, wait until the order is settled, or have an administrator write it off.`,
      },
    ]);
    const elsewhere = { ...newCredentials(), exchangePlatform: 'Bybit' };
    expect((await trader.client.put(PATH, elsewhere)).statusCode).toBe(200);
    expect((await enter(before)).statusCode).toBe(200);
    await site.push('SOL', '149');
    site.setFaults([]);
    expect(await workflowEnd(id)).toMatchObject({ status: 'completed' });
    const { rows } = await board.database.pool.query("select * from trades where state <> 'done'");
    expect(rows).toEqual([]);
    expect((await trader.client.delete(PATH)).statusCode).toBe(200);
    const after = newCredentials();
    expect((await enter(after)).json()).toMatchObject({ apiKeyHint: after.apiKey.slice(-4) });
    expect((await trader.client.delete(PATH)).statusCode).toBe(200);
  });

  test('credentials that do not open make the user not eligible, and nothing is sent', async () => {
    await enter(newCredentials());
    await board.database.pool.query(
      "update exchange_credentials set sealed = 'v1.' || reverse(substr(sealed, 4)) where exchange_platform = 'Bitget'",
    );
    const asked = site.requests.length;
    const id = await send('XRP', '2');
    expect(await workflowEnd(id)).toMatchObject({ status: 'completed' });
    expect(site.requests).toHaveLength(asked);
    expect(await usersOf(id)).toContainEqual(
      expect.objectContaining({
        id: trader.user.id,
        status: 'not eligible',
        reason: 'The stored Bitget credentials cannot be opened any more: enter them again',
      }),
    );
  });
});
