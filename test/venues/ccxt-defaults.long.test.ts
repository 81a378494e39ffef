import type { bitget, bybit } from 'ccxt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { loadBitgetClass, loadBybitClass } from '#server/exchanges/ccxt/client.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { startVenueProgram, type VenueProgram } from './program/program.ts';

/*
 * The plain client library against npm run paper-exchange: its defaults, with the printed keys and address.
 * docs/exchanges.md lists what is served and what is not.
 */

const SYMBOL = 'BTC/USDT:USDT';

let own: TestDatabase;
let program: VenueProgram;

beforeAll(async () => {
  own = await createTestDatabase();
  program = await startVenueProgram({
    database: own.database,
    port: 0,
    seed: '1',
    walkEveryMs: 0,
    startBalance: '10000',
    onError: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await program?.close();
  await own?.close();
});

async function newClient(platform: ExchangePlatform): Promise<bitget | bybit> {
  const Client = platform === 'Bitget' ? await loadBitgetClass() : await loadBybitClass();
  const { apiKey, apiSecret: secret, passphrase: password } = program.keys;
  const { api } = new Client().urls as { api: Record<string, string> };
  const urls = { api: Object.fromEntries(Object.keys(api).map((name) => [name, program.url])) };
  return new Client({ apiKey, secret, password, urls }) as bitget | bybit;
}

async function push(price: string): Promise<void> {
  const body = JSON.stringify({ BTC: price });
  const answer = await fetch(`${program.url}/paper/prices`, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
}

describe.each(['Bitget', 'Bybit'] as const)('%s', (platform) => {
  let client: bitget | bybit;
  beforeAll(async () => {
    await push('65000');
    client = await newClient(platform);
  });

  test('lists the contracts, and no other market', async () => {
    await client.loadMarkets();
    expect(client.market(SYMBOL)).toMatchObject({ swap: true, linear: true, active: true, settle: 'USDT' });
    expect(new Set(Object.values(client.markets ?? {}).map(({ type }) => type))).toEqual(new Set(['swap']));
  });

  test('reads a price and a balance', async () => {
    expect(await client.fetchTicker(SYMBOL)).toMatchObject({ symbol: SYMBOL, last: 65_000 });
    expect(await client.fetchBalance({ type: 'swap' })).toMatchObject({ free: { USDT: 10_000 } });
    await client.fetchBalance();
  });

  test('sets the modes and the leverage', async () => {
    await client.setPositionMode(true, SYMBOL);
    await client.setPositionMode(false, SYMBOL);
    await client.setMarginMode('isolated', SYMBOL);
    await client.setLeverage(5, SYMBOL);
    expect(await client.fetchLeverage(SYMBOL)).toMatchObject({ longLeverage: 5, shortLeverage: 5 });
    await client.setMarginMode('cross', SYMBOL);
  });

  test('accepts a limit order with stop and target, and cancels it', async () => {
    const protection = { stopLoss: { triggerPrice: 59_000 }, takeProfit: { triggerPrice: 70_000 } };
    const { id = '' } = await client.createOrder(SYMBOL, 'limit', 'buy', 0.01, 60_000, protection);
    const order = await fetchOrder(client, id);
    expect(order).toMatchObject({ id, status: 'open', price: 60_000, amount: 0.01, filled: 0 });
    expect((await client.fetchOpenOrders(SYMBOL)).map((order) => order.id)).toEqual([id]);
    await client.cancelOrder(id, SYMBOL);
    expect(await client.fetchOpenOrders(SYMBOL)).toEqual([]);
    expect(await fetchOrder(client, id)).toMatchObject({ status: 'canceled' });
  });

  test('opens and closes a position, and lists it afterwards', async () => {
    const protection = { stopLoss: { triggerPrice: 59_000 }, takeProfit: { triggerPrice: 70_000 } };
    await client.createOrder(SYMBOL, 'limit', 'buy', 0.01, 65_000, protection);
    expect(await openPositions(client)).toMatchObject([
      { symbol: SYMBOL, side: 'long', contracts: 0.01, entryPrice: 65_000 },
    ]);
    await push('66000');
    await client.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, { reduceOnly: true });
    expect(await openPositions(client)).toEqual([]);
    const trades = await client.fetchMyTrades(SYMBOL);
    expect(trades.map(({ side, amount, price }) => [side, amount, price])).toEqual([
      ['buy', 0.01, 65_000],
      ['sell', 0.01, 66_000],
    ]);
    const history = await client.fetchPositionsHistory([SYMBOL]);
    expect(history).toMatchObject([{ symbol: SYMBOL, contracts: 0.01 }]);
  });

  test('keeps the stop: it closes the position when the price falls through it', async () => {
    await push('65000');
    const stopLoss = { triggerPrice: 64_000 };
    await client.createOrder(SYMBOL, 'market', 'buy', 0.01, undefined, { stopLoss });
    expect(await openPositions(client)).toHaveLength(1);
    await push('63900');
    expect(await openPositions(client)).toEqual([]);
  });
});

/** Acknowledges the library's warning that Bybit finds ended orders only for a while. */
const fetchOrder = (client: bitget | bybit, id: string) =>
  client.fetchOrder(id, SYMBOL, client.id === 'bybit' ? { acknowledged: true } : {});

/** Bybit returns a row for the requested contract, whether or not there is a position. */
const openPositions = async (client: bitget | bybit) =>
  (await client.fetchPositions([SYMBOL])).filter(({ contracts }) => (contracts ?? 0) > 0);
