import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { type ExchangeSite, startExchangeSite } from '#test/venues/test-exchange-site.ts';

const PATH = '/api/user-settings/exchange-credentials';

/** The whole program, a user who chose Bybit, and an exchange that answers in Bybit's dialect. */
let site: ExchangeSite;
let board: TestApp;
let sender: TestSender;
let trader: TestUser;

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  board = await startTestApp({
    engine: true,
    config: {
      appEnv: 'production',
      exchangeMode: 'demo',
      autoTrade: { enabled: true, configured: true },
      // Nobody listens there.
      bitgetBaseUrl: 'http://127.0.0.1:9',
      bybitBaseUrl: site.url,
      verifyFirstMs: 300,
      verifySecondMs: 300,
      cancelDelayMs: 100,
    },
  });
  sender = await createSender({ app: board.app, client: board.admin });
  trader = await board.createUser();
  await trader.client.put('/api/user-settings', {
    positionSizingMethod: 'Risk Management',
    exchangePlatform: 'Bybit',
  });
  await board.admin.put(`/api/admin/user/${trader.user.id}/active-trading`, { activeTrading: true });
});
afterAll(async () => {
  await board.close();
  await site.close();
});

function newKey() {
  const secrets = { apiKey: `key-${randomUUID()}`, apiSecret: `secret-${randomUUID()}` };
  return { ...secrets, accountId: site.addAccount({ ...secrets, passphrase: '' }) };
}
const enter = ({ apiKey, apiSecret }: ReturnType<typeof newKey>) =>
  trader.client.put(PATH, { exchangePlatform: 'Bybit', apiKey, apiSecret });
const stored = async () => (await trader.client.get(`${PATH}?exchangePlatform=Bybit`)).json();

describe('a key that is refused when it is entered is not stored', () => {
  test.each([
    ['may withdraw', { mayTrade: true, mayWithdraw: true }, /withdraw/],
    ['may not trade', { mayTrade: false, mayWithdraw: false }, /trade/],
    [
      'belongs to a classic account',
      { mayTrade: true, mayWithdraw: false, accountMode: 'classic' as const },
      /unified/i,
    ],
  ])('since it %s', async (_what, key, words) => {
    const entered = newKey();
    site.setKey(entered.accountId, key);
    const answer = await enter(entered);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().message).toMatch(words);
    expect(await stored()).toMatchObject({ connected: false, state: 'none' });
  });
});

test('a key without a passphrase trades a signal, filled and protected on its own account', async () => {
  const key = newKey();
  expect((await enter(key)).json()).toMatchObject({
    exchangePlatform: 'Bybit',
    connected: true,
    test: { success: true, futuresBalance: '10000' },
  });
  await site.push('ETH', '3000');
  const { id } = (await sender.signal({ symbol: 'ETHUSDT', price: '3000' })).json();
  const trade = await endOfTrade(id);
  expect(trade).toMatchObject({ success: true, fillStatus: 'filled' });
  const [order, ...others] = await site.exchangeOrders(key.accountId, 'Bybit');
  expect(others).toEqual([]);
  expect(order).toMatchObject({ token: 'ETH', side: 'buy', state: 'filled' });
  const { position, stopLoss, takeProfit } = await site.holding(key.accountId, 'ETH', 'Bybit');
  expect(position).toMatchObject({ side: 'long' });
  expect(Number(stopLoss)).toBeLessThan(3000);
  expect(Number(takeProfit)).toBeGreaterThan(3000);
});

test('a key that is revoked at the exchange stops its user, says so, and is asked about no more', async () => {
  const key = newKey();
  // A position is held with the one before.
  await trader.client.delete(`${PATH}?exchangePlatform=Bybit`);
  expect((await enter(key)).json()).toMatchObject({ connected: true });
  site.replaceKey(key.accountId);
  const test = await trader.client.post(`${PATH}/test`, { exchangePlatform: 'Bybit' });
  expect(test.json()).toMatchObject({ success: false, error: 'credentials' });
  expect(await stored()).toMatchObject({ connected: false, state: 'rejected' });
  const before = site.requests.length;
  await site.push('SOL', '150');
  const { id } = (await sender.signal({ symbol: 'SOLUSDT', price: '150' })).json();
  const [user] = await until(async () => {
    const answer = await board.admin.get(`/api/signals/${id}/users`);
    const users = answer.json<{ id: string; status: string; reason: string }[]>();
    const found = users.filter((one) => one.id === trader.user.id);
    return found.length > 0 ? found : null;
  });
  expect(user).toMatchObject({ status: 'not eligible' });
  expect(user?.reason).toMatch(/Bybit/);
  expect(site.requests.slice(before)).toEqual([]);
});

const endOfTrade = (signalId: string) =>
  until(async () => {
    const answer = await board.admin.get(`/api/signals/${signalId}/trades`);
    const [trade] = answer.json<{ state: string; success: boolean; fillStatus: string }[]>();
    return trade?.state === 'done' ? trade : null;
  });

async function until<Result>(read: () => Promise<Result | null>): Promise<Result> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const result = await read();
    if (result !== null) return result;
    if (Date.now() > deadline) throw new Error('nothing came in time');
    await sleep(50);
  }
}
