import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createLog } from '#server/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { type StrictExchange, startStrictExchange } from '#test/venues/strict-exchange.ts';
import { accountOn, buy, inTime, testRegistry } from '#test/venues/test-registry.ts';
import type { Exchange } from '../exchange.ts';
import { createExchangeClock } from '../exchange-clock.ts';
import type { ExchangeRegistry } from '../registry.ts';
import { BITGET } from './bitget.ts';
import { createCcxtExchange } from './ccxt-exchange.ts';
import { createMarketCache } from './market-cache.ts';
import { createPreparationMemory } from './prepared-accounts.ts';
import { createTransport } from './transport.ts';

let database: TestDatabase;
let site: StrictExchange;
let registries: ExchangeRegistry[];
let first: Exchange;
let second: Exchange;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  site = await startStrictExchange({ perSecondOfKey: () => 1_000, perTwoSecondsOfAddress: 1_000 });
  const start = () =>
    testRegistry({
      exchangeMode: 'live',
      bitgetBaseUrl: site.url,
      shared: { pool: database.database.pool, log: createLog({ level: 'silent' }) },
    });
  registries = [start(), start()];
  [first, second] = registries.map((registry) => registry.get('Bitget')) as [Exchange, Exchange];
});
afterEach(async () => {
  for (const one of [...registries, site]) await one.close();
  await database.database.pool.query('delete from exchange_slots; delete from exchange_preparations');
});
afterAll(() => database.close());

const account = accountOn('Bitget', { environment: 'live' });
const { apiKey } = account.credentials;
const order = buy({ clientOrderId: 'o1' });
const prepare = (exchange: Exchange, leverage = 10, of = account) =>
  exchange.prepareAccount(of, { token: 'BTC', leverage });

/** Account reads and leverage changes since the last call. */
function asked(): string[] {
  const endpoints = site.requests.map(({ endpoint }) => endpoint);
  site.requests.splice(0);
  return endpoints.filter((endpoint) => endpoint === 'account' || endpoint === 'set-leverage');
}

test('does not prepare an account again, in any instance', async () => {
  await prepare(first);
  expect(asked()).toEqual(['account']);
  await prepare(first);
  await prepare(second);
  expect(asked()).toEqual([]);
});

test('sets and reads back another leverage, even if another instance changed it', async () => {
  await prepare(first);
  asked();
  await prepare(second, 5);
  expect(asked()).toEqual(['account', 'set-leverage', 'account']);
  await prepare(first);
  expect(asked()).toEqual(['account', 'set-leverage', 'account']);
});

test('remembers a preparation for fifteen minutes', async () => {
  await prepare(first);
  const age = (seconds: number) =>
    database.database.pool.query(
      'update exchange_preparations set prepared_at = now() - make_interval(secs => $1)',
      [seconds],
    );
  asked();
  await age(15 * 60 - 30);
  await prepare(first);
  expect(asked()).toEqual([]);
  await age(15 * 60 + 1);
  await prepare(first);
  expect(asked()).toEqual(['account']);
});

test('does not remember a failed preparation', async () => {
  await prepare(first);
  site.answerWith(apiKey, 'set-leverage', '45045');
  await expect(prepare(first, 5)).rejects.toMatchObject({ kind: 'refused' });
  asked();
  await prepare(first);
  expect(asked()[0]).toBe('account');
});

test('prepares again with another API key, which may belong to another account', async () => {
  await prepare(first);
  asked();
  await prepare(first, 10, { ...account, credentials: { ...account.credentials, apiKey: 'other' } });
  expect(asked()).toEqual(['account']);
});

test('forgets the preparation after a refused order, close or stop', async () => {
  const position = { token: 'BTC', side: 'long', quantity: '0.001', clientOrderId: 'c1' } as const;
  const refused = [
    async () => {
      site.answerWith(apiKey, 'place-order', '40762');
      expect(await first.placeOrder(account, order, inTime())).toMatchObject({ outcome: 'refused' });
    },
    async () => {
      site.answerWith(apiKey, 'place-order', '22002');
      expect(await second.closePosition(account, position, inTime())).toMatchObject({ outcome: 'refused' });
    },
    async () => {
      site.answerWith(apiKey, 'place-tpsl-order', '40917');
      const stop = { ...position, stopLoss: '63000', takeProfit: null };
      await expect(first.placeProtection(account, stop, inTime())).rejects.toMatchObject({ kind: 'refused' });
    },
  ];
  for (const refuse of refused) {
    await prepare(first);
    asked();
    await refuse();
    await prepare(second);
    expect(asked()).toEqual(['account']);
  }
});

test('forgets all preparations of the user after a refused key', async () => {
  await prepare(first);
  site.answerWith(apiKey, 'accounts', '40037');
  await expect(first.fetchBalance(account)).rejects.toMatchObject({ kind: 'credentials' });
  asked();
  await prepare(first);
  expect(asked()).toEqual(['account']);
});

test('forgets the preparation after an order with another leverage, not after one with the same', async () => {
  await prepare(first);
  asked();
  await first.findOrder(account, { token: 'BTC', clientOrderId: 'o1' });
  await prepare(first);
  expect(asked()).toEqual([]);
  site.setLeverage(apiKey, '20');
  expect(await second.findOrder(account, { token: 'BTC', clientOrderId: 'o1' })).not.toBeNull();
  await prepare(first);
  expect(asked()).toEqual(['account', 'set-leverage', 'account']);
});

test('forgets the preparation after a reading of all positions that shows another leverage', async () => {
  const { holdings } = await first.fetchHoldings(account);
  const leverage = holdings[0]?.position.leverage ?? 0;
  for (const [prepared, again] of [
    [leverage, []],
    [leverage + 1, ['account']],
  ] as const) {
    site.setLeverage(apiKey, String(prepared));
    await prepare(first, prepared);
    asked();
    await second.fetchHoldings(account);
    await prepare(second, prepared);
    expect(asked()).toEqual(again);
  }
});

test('a refused stop stays a refusal if the database is unavailable', async () => {
  const pool = { query: () => Promise.reject(new Error('no database')) } as never;
  const memory = createPreparationMemory({ platform: 'Bitget', pool });
  await expect(memory.forget(account.userId, null)).rejects.toThrow('no database');
  site.answerWith(apiKey, 'place-tpsl-order', '40917');
  const unremembered = createCcxtExchange({
    dialect: BITGET,
    apiEndpoint: site.url,
    requestsWaiting: () => 0,
    tickerMaxAgeMs: 0,
    isPerViewer: false,
    markets: createMarketCache({ now: systemClock.now, missingRefreshMs: 0 }),
    addresses: 1,
    now: () => new Date(),
    clock: createExchangeClock({ now: () => new Date() }),
    memory,
    createClient: () => clientTo(site.url),
  });
  const stop = { token: 'BTC', side: 'long', quantity: '0.001', clientOrderId: 'c1' } as const;
  const request = { ...stop, stopLoss: '63000', takeProfit: null };
  const placing = unremembered.placeProtection(account, request, inTime());
  await expect(placing).rejects.toMatchObject({ kind: 'refused', code: '40917' });
});

function clientTo(url: string) {
  const { now } = systemClock;
  const transport = createTransport({
    environment: 'live',
    origins: { [BITGET.origins.live]: url },
    timeoutMs: 5_000,
    clock: systemClock,
    isSuccess: () => true,
  });
  return BITGET.createClient({ environment: 'live', userAgent: 'test', transport, now });
}
