import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { PositionsAnswer } from '#contract/positions.ts';
import type { TradingHaltsAnswer } from '#contract/trading-halts.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { TRADING_KEY } from '#test/venues/venue-credentials.ts';
import type { SiteKey } from '#test/world/keys.ts';
import { startWorld, type TestUser } from '#test/world.ts';

/* The whole program with accounts of Bitget that are unified, or become so while work depends on them. */

const UNIFIED = { ...TRADING_KEY, accountMode: 'unified' } as const;
const TOKENS = [
  'ETH',
  'SOL',
  'XRP',
  'ADA',
  'DOGE',
  'LTC',
  'LINK',
  'DOT',
  'AVAX',
  'BCH',
  'UNI',
  'ATOM',
  'NEAR',
  'FIL',
];

const board = await startWorld({ exchange: 'demo', engine: true });
const { site } = board;
for (const name of TOKENS) await site.push(name, '100');
afterAll(() => board.close());

let trader: TestUser;
let key: SiteKey;
let token: string;

beforeEach(async () => {
  site.setFaults([]);
  token = TOKENS.shift() ?? '';
  for (const { user } of [trader].filter(Boolean)) await board.setTrading(user.id, false);
  trader = await board.createTrader();
  key = board.newKey();
});

const kindOf = async () =>
  (
    await board.query(
      'select account_mode, inspected_at, rejected_at from exchange_credentials where user_id = $1',
      [trader.user.id],
    )
  )[0];

async function trade(of = token): Promise<void> {
  await board.traded(await board.send(of));
}

const soon = { timeout: 15_000, interval: 100 };
const paths = () => site.requests.map(({ path }) => path);
const positions = async () =>
  (await board.admin.get('/api/positions'))
    .json<PositionsAnswer>()
    .open.filter(({ userId }) => userId === trader.user.id);
const halts = async () =>
  (await board.admin.get('/api/admin/trading-halts'))
    .json<TradingHaltsAnswer>()
    .halts.filter(({ userId }) => userId === trader.user.id);
/** After a look at the account, as a screen takes it. */
const readHalts = async () => {
  await positions();
  return (await halts()).length;
};
const readKind = async () => {
  await positions();
  return (await kindOf()).account_mode;
};

describe('a key of a unified account', () => {
  test('is accepted by asking the exchange, and its orders are placed and protected as unified', async () => {
    site.setKey(key.accountId, UNIFIED);
    expect((await board.enter(trader, key)).json()).toMatchObject({
      connected: true,
      state: 'ready',
      test: { success: true, futuresBalance: '10000' },
    });
    expect(await kindOf()).toMatchObject({ account_mode: 'unified' });
    site.requests.length = 0;
    await trade();
    const [order, ...more] = await site.exchangeOrders(key.accountId);
    expect(more).toEqual([]);
    expect(order).toMatchObject({ token, state: 'filled', marginMode: 'isolated' });
    const { position, stopLoss, takeProfit } = await site.holding(key.accountId, token);
    expect(position).toMatchObject({ side: 'long', marginMode: 'isolated' });
    expect([stopLoss, takeProfit]).not.toContain(null);
    expect(paths().filter((path) => !path.startsWith('/api/v3/'))).toEqual([]);
    expect(await board.testKey(trader)).toMatchObject({ success: true });
  });

  test('that is changed to another mode is not used any more, with the reason, until it is changed back', async () => {
    site.setKey(key.accountId, UNIFIED);
    await board.enter(trader, key);
    site.setKey(key.accountId, { ...UNIFIED, accountLevel: 'advanced' });
    expect(await board.testKey(trader)).toMatchObject({
      success: false,
      message: expect.stringContaining('unified account in advanced mode'),
    });
    await trade();
    expect(await site.exchangeOrders(key.accountId)).toEqual([]);
    site.setKey(key.accountId, UNIFIED);
    expect(await board.testKey(trader)).toMatchObject({ success: true });
  });
});

describe('an account that becomes one of another kind', () => {
  beforeEach(async () => {
    await board.enter(trader, key);
    await trade();
    expect(await positions()).toMatchObject([{ token }]);
  });

  // The second one has been unified in between.
  testEveryCase.each<[string, typeof UNIFIED | typeof TRADING_KEY]>([
    ['unified', UNIFIED],
    ['classic again', TRADING_KEY],
  ])(
    '(%s) is asked about at the first refusal, and its position is found and watched on',
    async (_, kind) => {
      if (kind === TRADING_KEY) {
        site.setKey(key.accountId, UNIFIED);
        await expect.poll(readKind, soon).toBe('unified');
      }
      site.setKey(key.accountId, kind);
      await expect.poll(readKind, soon).toBe(kind === UNIFIED ? 'unified' : 'classic');
      await expect
        .poll(
          async () => (await positions()).map((position) => [position.token, position.stopLoss !== null]),
          {
            timeout: 10_000,
          },
        )
        .toEqual([[token, true]]);
      expect(await kindOf()).toMatchObject({
        account_mode: kind === UNIFIED ? 'unified' : 'classic',
        inspected_at: expect.any(Date),
        rejected_at: null,
      });
      expect(await halts()).toEqual([]);
      const next = TOKENS.shift() ?? '';
      await trade(next);
      expect((await site.exchangeOrders(key.accountId)).map((order) => order.token)).toContain(next);
    },
  );

  testEveryCase('opens nothing while the exchange does not say which kind it is', async () => {
    site.setKey(key.accountId, UNIFIED);
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/settings', times: 1_000 } }]);
    const inspected = async () => (await readKind()) && (await kindOf()).inspected_at;
    await expect.poll(inspected, soon).toBeNull();
    expect(await kindOf()).toMatchObject({ account_mode: 'classic', rejected_at: null });
    const next = TOKENS.shift() ?? '';
    await trade(next);
    expect((await site.exchangeOrders(key.accountId)).map((order) => order.token)).toEqual([token]);
    site.setFaults([]);
    await expect.poll(readKind, soon).toBe('unified');
    expect(await positions()).toMatchObject([{ token }]);
  });

  test('halts its user with the reason when it does not show the position any more', async () => {
    await site.forgetPosition(key.accountId, token);
    site.setKey(key.accountId, UNIFIED);
    await expect.poll(readHalts, soon).toBe(1);
    expect(await halts()).toMatchObject([
      {
        token,
        kind: 'unprotected',
        reason: `The ${token} position was open when the Bitget account became a unified one, which shows neither the position nor how it ended: look for it at Bitget`,
      },
    ]);
    expect(await kindOf()).toMatchObject({ account_mode: 'unified' });
    const next = TOKENS.shift() ?? '';
    await trade(next);
    expect((await site.exchangeOrders(key.accountId)).map((order) => order.token)).toEqual([token]);
  });

  testEveryCase('halts nobody for a position that ended before, as its history says', async () => {
    await site.push(token, '1000');
    site.setKey(key.accountId, UNIFIED);
    await expect.poll(readKind, soon).toBe('unified');
    expect(await halts()).toEqual([]);
  });
});
