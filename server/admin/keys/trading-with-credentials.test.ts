import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { KEY_PATH as PATH } from '#test/world/keys.ts';
import { type ExchangeOptions, type ExchangeWorld, startWorld, type TestUser } from '#test/world.ts';

const IN_USE = { message: 'An order of this user is still under way; try again when it is settled' };
const ELSEWHERE =
  'An order of this user on Bitget is not settled, and this API key belongs to another account, where the order cannot be looked up. ';
const NOBODY_THERE = 'http://127.0.0.1:9';
const soon = { timeout: 20_000, interval: 50 };

let board: ExchangeWorld;
let site: ExchangeWorld['site'];
let trader: TestUser;

async function start(options: Partial<ExchangeOptions>, settings: object = {}): Promise<void> {
  board = await startWorld({ exchange: 'demo', engine: true, ...options });
  site = board.site;
  trader = await board.createTrader(settings);
}

/** The whole program against an exchange that it knows only by its URL and its users' keys. */
describe.each(firstCases(['demo', 'live']))('in %s mode', (environment) => {
  let accountId: string;
  beforeAll(() => start({ exchange: environment, config: { bybitBaseUrl: NOBODY_THERE } }));
  afterAll(() => board.close());

  async function expectCompleted(signalId: string): Promise<void> {
    await board.traded(signalId);
    const { automaticWorkflows } = (await board.admin.get(`/api/signals/${signalId}/workflows`)).json();
    expect(automaticWorkflows).toMatchObject([{ status: 'completed' }]);
  }

  test('a user without credentials is not eligible, with the reason', async () => {
    const id = await board.send('BTC', '65000');
    await expectCompleted(id);
    expect(await board.userOf(id, trader)).toMatchObject({
      status: 'not eligible',
      reason: 'No Bitget credentials are connected',
    });
    expect(site.requests).toEqual([]);
  });

  // Requirements: users-21
  test('credentials entered on the settings page trade a signal, filled and protected in that account', async () => {
    const credentials = board.newKey();
    ({ accountId } = credentials);
    expect((await board.enter(trader, credentials)).json()).toMatchObject({
      connected: true,
      test: { success: true },
    });
    const id = await board.send('ETH', '3000');
    await expectCompleted(id);
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

  test('the key of an order in progress cannot be removed or changed, but its secret can', async () => {
    const before = board.newKey();
    // The previous key's account holds a position.
    await trader.client.delete(PATH);
    expect((await board.enter(trader, before)).statusCode).toBe(200);
    // The order rests, and look-ups of it fail.
    const silence = {
      kind: 'refuse',
      code: '40725',
      on: { path: '/order/detail', times: Infinity },
    } as const;
    site.setFaults([{ kind: 'restFirst' }, silence]);
    const id = await board.send('SOL', '150');
    await expect.poll(async () => (await site.exchangeOrders(before.accountId)).length, soon).toBe(1);
    expectAnswer(await trader.client.delete(PATH), 409, IN_USE);
    const replaced = await board.enter(trader, board.newKey());
    expectAnswer(
      replaced,
      409,
      `${ELSEWHERE}Enter a key of account ${before.accountId}, wait until the order is settled, or have an administrator write it off.`,
    );
    const elsewhere = { ...board.newKey(), exchangePlatform: 'Bybit' };
    expect((await trader.client.put(PATH, elsewhere)).statusCode).toBe(200);
    expect((await board.enter(trader, before)).statusCode).toBe(200);
    await site.push('SOL', '149');
    site.setFaults([]);
    await expectCompleted(id);
    expect(await board.query("select * from trades where state <> 'done'")).toEqual([]);
    expect((await trader.client.delete(PATH)).statusCode).toBe(200);
    const after = board.newKey();
    expect((await board.enter(trader, after)).json()).toMatchObject({ apiKeyHint: after.apiKey.slice(-4) });
    expect((await trader.client.delete(PATH)).statusCode).toBe(200);
  });

  test('unreadable credentials make the user not eligible, and nothing is sent', async () => {
    await board.enter(trader, board.newKey());
    await board.query(
      "update exchange_credentials set sealed = 'v1.' || reverse(substr(sealed, 4)) where exchange_platform = 'Bitget'",
    );
    const asked = site.requests.length;
    const id = await board.send('XRP', '2');
    await expectCompleted(id);
    expect(site.requests).toHaveLength(asked);
    expect(await board.userOf(id, trader)).toMatchObject({
      status: 'not eligible',
      reason: 'The stored Bitget credentials cannot be opened any more: enter them again',
    });
  });
});

describe('a user who chose Bybit', () => {
  beforeAll(() => start({ config: { bitgetBaseUrl: NOBODY_THERE } }, { exchangePlatform: 'Bybit' }));
  afterAll(() => board.close());

  const stored = async () => (await trader.client.get(`${PATH}?exchangePlatform=Bybit`)).json();

  describe('entering a key is refused and stores nothing', () => {
    test.each([
      ['may withdraw', { mayTrade: true, mayWithdraw: true }, /withdraw/],
      ['may not trade', { mayTrade: false, mayWithdraw: false }, /trade/],
      [
        'belongs to a classic account',
        { mayTrade: true, mayWithdraw: false, accountMode: 'classic' as const },
        /unified/i,
      ],
    ])('if it %s', async (_what, key, words) => {
      const entered = board.newKey();
      site.setKey(entered.accountId, key);
      const answer = await board.enter(trader, entered, 'Bybit');
      expect(answer.statusCode).toBe(400);
      expect(answer.json().message).toMatch(words);
      expect(await stored()).toMatchObject({ connected: false, state: 'none' });
    });
  });

  testEveryCase(
    'a key without a passphrase trades a signal, filled and protected in its own account',
    async () => {
      const key = board.newKey();
      expect((await board.enter(trader, key, 'Bybit')).json()).toMatchObject({
        exchangePlatform: 'Bybit',
        connected: true,
        test: { success: true, futuresBalance: '10000' },
      });
      const id = await board.send('ETH', '3000');
      await board.traded(id);
      const trades = (await board.admin.get(`/api/signals/${id}/trades`)).json();
      expect(trades).toMatchObject([{ state: 'done', success: true, fillStatus: 'filled' }]);
      const [order, ...others] = await site.exchangeOrders(key.accountId, 'Bybit');
      expect(others).toEqual([]);
      expect(order).toMatchObject({ token: 'ETH', side: 'buy', state: 'filled' });
      const { position, stopLoss, takeProfit } = await site.holding(key.accountId, 'ETH', 'Bybit');
      expect(position).toMatchObject({ side: 'long' });
      expect(Number(stopLoss)).toBeLessThan(3000);
      expect(Number(takeProfit)).toBeGreaterThan(3000);
    },
  );

  testEveryCase('a revoked key stops its user with the reason, and is not used again', async () => {
    const key = board.newKey();
    // The previous key's account holds a position.
    await trader.client.delete(`${PATH}?exchangePlatform=Bybit`);
    expect((await board.enter(trader, key, 'Bybit')).json()).toMatchObject({ connected: true });
    site.replaceKey(key.accountId);
    const test = await trader.client.post(`${PATH}/test`, { exchangePlatform: 'Bybit' });
    expect(test.json()).toMatchObject({ success: false, error: 'credentials' });
    expect(await stored()).toMatchObject({ connected: false, state: 'rejected' });
    const before = site.requests.length;
    const id = await board.send('SOL', '150');
    await board.traded(id);
    expect(await board.userOf(id, trader)).toMatchObject({
      status: 'not eligible',
      reason: expect.stringContaining('Bybit'),
    });
    expect(site.requests.slice(before)).toEqual([]);
  });
});
