import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { type BybitClient, loadBybitClass } from '#server/exchanges/ccxt/library.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { paperLedger } from '#test/venues/paper-ledger.ts';
import type { VenueFault } from '../faults.ts';
import { type MemoryMarks, memoryMarks } from '../memory-marks.ts';
import { createVenue, type TestVenue } from '../venue.ts';
import { venueCredentials } from '../venue-credentials.ts';
import type { VenueKey } from '../venue-key.ts';
import { bybitSignature } from './signature.ts';

/*
 * Bybit's dialect as the client library speaks it, and request by request where the library leaves something out.
 */

const SECRET_KEY = 'a secret key that only this test uses';
const clock = fakeClock();
const SYMBOL = 'BTC/USDT:USDT';

let own: TestDatabase;
let marks: MemoryMarks;
let venue: TestVenue;
let client: BybitClient;
let userId: string;
let key: VenueKey;

beforeAll(async () => {
  own = await createTestDatabase();
  const Bybit = await loadBybitClass();
  client = new Bybit({
    enableRateLimit: false,
    options: {
      defaultType: 'swap',
      fetchMarkets: { types: ['linear'] },
      enableUnifiedMargin: false,
      enableUnifiedAccount: true,
      unifiedMarginStatus: 6,
    },
  });
  client.has.fetchCurrencies = false;
  client.milliseconds = () => clock.now().getTime();
  client.fetchImplementation = async (url: string, request: LibraryRequest) => {
    const { pathname, search } = new URL(url);
    const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    const answer = await venue.handle({
      method: request.method,
      path: pathname,
      query: search.slice(1),
      headers: Object.fromEntries(headers),
      body: request.body ?? '',
    });
    if (answer.delivery === 'cut') throw new Error('other side closed');
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
});
afterAll(() => own?.close());
beforeEach(() => {
  marks = memoryMarks();
  marks.push('BTC', '65000');
  key = { mayTrade: true, mayWithdraw: false };
  venue = createVenue({
    db: own.database.db,
    clock,
    marks,
    startBalance: '10000',
    credentialsFor: (id) => venueCredentials(id, SECRET_KEY),
    keyOf: () => key,
    onError: (error) => {
      throw error;
    },
  });
  signInAs(randomUUID());
});

interface LibraryRequest {
  method: string;
  headers?: Record<string, string>;
  body?: string;
}

function signInAs(id: string): void {
  userId = id;
  const { apiKey, apiSecret } = venueCredentials(id, SECRET_KEY);
  client.apiKey = apiKey;
  client.secret = apiSecret;
}

interface Answer {
  status: number;
  retCode: number;
  retMsg: string;
  result: Record<string, unknown> & { list?: Record<string, unknown>[] };
  headers: Record<string, string>;
}

/** One signed request; `headers` replace what belongs there. */
async function send(
  method: 'GET' | 'POST',
  path: string,
  fields: Record<string, string | number | boolean> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters = { category: 'linear', ...fields };
  const texts = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const query = method === 'GET' ? texts.join('&') : '';
  const body = method === 'POST' ? JSON.stringify(parameters) : '';
  const { apiKey, apiSecret } = venueCredentials(userId, SECRET_KEY);
  const terms = { apiKey, timestamp: String(clock.now().getTime()), window: '5000' };
  const answer = await venue.handle({
    method,
    path,
    query,
    body,
    headers: {
      'x-bapi-api-key': apiKey,
      'x-bapi-timestamp': terms.timestamp,
      'x-bapi-recv-window': terms.window,
      'x-bapi-sign': bybitSignature(apiSecret, terms, { method, query, body }),
      ...headers,
    },
  });
  return {
    status: answer.status,
    headers: answer.headers,
    ...(JSON.parse(answer.body) as Omit<Answer, 'status' | 'headers'>),
  };
}

const code = async (answer: Promise<Answer>) => (await answer).retCode;

const order = (fields: Record<string, string | number | boolean> = {}) =>
  send('POST', '/v5/order/create', {
    symbol: 'BTCUSDT',
    side: 'Buy',
    orderType: 'Limit',
    qty: '0.01',
    price: '65000',
    orderLinkId: randomUUID(),
    positionIdx: 0,
    ...fields,
  });

const PROTECTED = {
  stopLoss: '63000',
  takeProfit: '69000',
  slTriggerBy: 'MarkPrice',
  tpTriggerBy: 'MarkPrice',
  tpslMode: 'Full',
};

const find = async (orderLinkId: string, path = 'realtime') => {
  const { result } = await send('GET', `/v5/order/${path}`, { symbol: 'BTCUSDT', orderLinkId });
  return result.list?.[0] ?? null;
};

const position = async () => {
  const { result } = await send('GET', '/v5/position/list', { symbol: 'BTCUSDT' });
  return result.list?.[0] ?? {};
};

const stops = async () => {
  const query = { symbol: 'BTCUSDT', orderFilter: 'StopOrder' };
  const { result } = await send('GET', '/v5/order/realtime', query);
  return (result.list ?? []).map(({ stopOrderType, triggerPrice }) => [stopOrderType, triggerPrice]);
};

const fault = (...faults: VenueFault[]) => venue.setFaults(faults);

describe('through the client library', () => {
  test('contracts are listed, with their steps, and PEPE is not among them', async () => {
    marks.push('ADA', '0.71');
    const markets = await client.loadMarkets(true);
    expect(markets[SYMBOL]).toMatchObject({
      id: 'BTCUSDT',
      linear: true,
      active: true,
      contractSize: 1,
      precision: { amount: 0.001, price: 0.1 },
      limits: { amount: { min: 0.001 }, cost: { min: 5 }, leverage: { max: 100 } },
    });
    expect(Object.keys(markets)).toContain('ADA/USDT:USDT');
    expect(Object.keys(markets).some((symbol) => symbol.includes('PEPE'))).toBe(false);
  });

  test('an account is prepared, an order placed, filled, protected and found', async () => {
    await client.loadMarkets();
    await expect(client.setPositionMode(false, SYMBOL)).rejects.toThrow('110025');
    await client.setMarginMode('isolated');
    await expect(client.setLeverage(10, SYMBOL)).rejects.toThrow('110043');
    await client.setLeverage(5, SYMBOL);
    const placed = await client.createOrder(SYMBOL, 'limit', 'buy', 0.01, 65000, {
      clientOrderId: 'entry-1',
      stopLoss: { triggerPrice: 63000 },
      takeProfit: { triggerPrice: 69000 },
      slTriggerBy: 'MarkPrice',
      tpTriggerBy: 'MarkPrice',
      tpslMode: 'Full',
      positionIdx: 0,
    });
    expect(placed).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), clientOrderId: 'entry-1' });
    const found = await client.fetchOrder('', SYMBOL, { orderLinkId: 'entry-1', acknowledged: true });
    expect(found).toMatchObject({
      id: placed.id,
      status: 'closed',
      filled: 0.01,
      average: 65000,
      stopLossPrice: 63000,
      takeProfitPrice: 69000,
      fee: { cost: 0.39, currency: 'USDT' },
    });
    const [held] = await client.fetchPositions([SYMBOL]);
    expect(held).toMatchObject({
      side: 'long',
      contracts: 0.01,
      entryPrice: 65000,
      leverage: 5,
      stopLossPrice: 63000,
      takeProfitPrice: 69000,
    });
    const balance = await client.fetchBalance();
    // 10,000 less 0.39 of fee; 650 / 5 of it is the position's margin.
    expect(balance.USDT).toMatchObject({ total: 9999.61, used: 130, free: 9869.61 });
    expect(await client.fetchOpenOrders(SYMBOL)).toHaveLength(2);
  });

  test('a position is closed at the market, and its history and its fills tell of it', async () => {
    await client.loadMarkets();
    await client.createOrder(SYMBOL, 'limit', 'buy', 0.01, 65000, { ...PROTECTED, clientOrderId: 'in' });
    marks.push('BTC', '66000');
    await client.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, {
      clientOrderId: 'out',
      reduceOnly: true,
      positionIdx: 0,
    });
    expect(await client.fetchOpenOrders(SYMBOL)).toEqual([]);
    const trades = await client.fetchMyTrades(SYMBOL);
    trades.sort((a, b) => Number(b.price) - Number(a.price));
    expect(
      trades.map(({ side, price, amount, takerOrMaker }) => [side, price, amount, takerOrMaker]),
    ).toEqual([
      ['sell', 66000, 0.01, 'taker'],
      ['buy', 65000, 0.01, 'taker'],
    ]);
    const history = await client.fetchPositionsHistory([SYMBOL]);
    // 10 of profit less 0.39 and 0.396 of fees.
    expect(history).toMatchObject([{ side: 'long', contracts: 0.01, realizedPnl: 9.214, lastPrice: 66000 }]);
  });

  test('a resting order is cancelled by its client id, and found as cancelled', async () => {
    await client.loadMarkets();
    await client.createOrder(SYMBOL, 'limit', 'buy', 0.01, 60000, { clientOrderId: 'rests' });
    expect(await client.fetchOpenOrders(SYMBOL)).toMatchObject([{ clientOrderId: 'rests', status: 'open' }]);
    await client.cancelOrder(undefined as unknown as string, SYMBOL, { orderLinkId: 'rests' });
    const found = await client.fetchOrder('', SYMBOL, { orderLinkId: 'rests', acknowledged: true });
    expect(found).toMatchObject({ status: 'canceled', filled: 0 });
  });

  test('the time is the exchange’s, and a clock that is off is set by it', async () => {
    fault({ kind: 'clockOff', offsetMs: 300_000 });
    await expect(client.fetchBalance()).rejects.toThrow('10002');
    await client.loadTimeDifference();
    await expect(client.fetchBalance()).resolves.toBeDefined();
    client.options.timeDifference = 0;
  });
});

describe('signatures', () => {
  const wallet = (headers: Record<string, string>) =>
    send('GET', '/v5/account/wallet-balance', { accountType: 'UNIFIED' }, headers);

  test.each([
    ['no key', { 'x-bapi-api-key': '' }, 10003],
    ['a key of nobody', { 'x-bapi-api-key': 'paper-nobody' }, 10003],
    ['no signature', { 'x-bapi-sign': '' }, 10004],
    ['a wrong signature', { 'x-bapi-sign': 'f'.repeat(64) }, 10004],
    ['another window than was signed', { 'x-bapi-recv-window': '6000' }, 10004],
    ['no time', { 'x-bapi-timestamp': '' }, 10002],
  ])('%s is refused, with HTTP status 200', async (_, headers, retCode) => {
    expect(await wallet(headers)).toMatchObject({ status: 200, retCode, result: {} });
  });

  test('a request older than its window, or a second ahead, is refused', async () => {
    for (const offsetMs of [-5_001, 1_000]) {
      const timestamp = String(clock.now().getTime() + offsetMs);
      expect(await code(wallet({ 'x-bapi-timestamp': timestamp }))).toBe(10002);
    }
  });

  test('a body that was changed on its way is refused', async () => {
    const path = '/v5/order/create';
    const { apiKey, apiSecret } = venueCredentials(userId, SECRET_KEY);
    const terms = { apiKey, timestamp: String(clock.now().getTime()), window: '5000' };
    const signed = { method: 'POST', query: '', body: '{"qty":"0.01"}' };
    const answer = await venue.handle({
      method: 'POST',
      path,
      query: '',
      body: '{"qty":"10.0"}',
      headers: {
        'x-bapi-api-key': apiKey,
        'x-bapi-timestamp': terms.timestamp,
        'x-bapi-recv-window': terms.window,
        'x-bapi-sign': bybitSignature(apiSecret, terms, signed),
      },
    });
    expect(answer.body).toContain('"retCode":10004');
  });
});

describe('books apart', () => {
  test('an order on one platform is nothing to the other', async () => {
    await order({ orderLinkId: 'mine', price: '60000' });
    const bitget = { userId, platform: 'Bitget' } as const;
    const ledger = paperLedger(own.database.db);
    expect(await ledger.exchangeOrders(userId, 'Bybit')).toMatchObject([{ clientOrderId: 'mine' }]);
    expect(await ledger.exchangeOrders(bitget.userId, bitget.platform)).toEqual([]);
    const accounts = await own.database.db
      .select({ platform: paperAccounts.platform })
      .from(paperAccounts)
      .where(and(eq(paperAccounts.userId, userId)));
    expect(accounts).toEqual([{ platform: 'Bybit' }]);
  });
});

describe('orders are refused with the codes of the real exchange', () => {
  test.each([
    ['a size between steps', { qty: '0.0105' }, 10001],
    ['a price between ticks', { price: '65000.05' }, 10001],
    ['a size below the least', { qty: '0.0005' }, 10001],
    ['less than the minimum value', { qty: '0.001', price: '4000' }, 110094],
    ['a symbol that is not listed', { symbol: 'NOSUCHUSDT' }, 10001],
    ['PEPE, of which there are only thousands', { symbol: 'PEPEUSDT' }, 10001],
    ['more than the balance', { qty: '10' }, 110007],
    ['a stop above a long entry', { ...PROTECTED, stopLoss: '65000' }, 10001],
    ['a stop below a short entry', { ...PROTECTED, side: 'Sell', stopLoss: '64000' }, 10001],
    ['a target below a long entry', { ...PROTECTED, takeProfit: '64000' }, 10001],
    ['a stop by a price that there is not', { ...PROTECTED, slTriggerBy: 'OtherPrice' }, 10001],
    ['a partial stop', { ...PROTECTED, tpslMode: 'Partial' }, 10001],
    ['a reduction of no position', { reduceOnly: true }, 110017],
    ['an id that is too long', { orderLinkId: 'x'.repeat(37) }, 10001],
    ['a side that is none', { side: 'Hold' }, 10001],
    ['a side of hedge mode', { positionIdx: 1 }, 10001],
    ['another product', { category: 'inverse' }, 10001],
  ])('%s', async (_, fields, retCode) => {
    expect(await order(fields)).toMatchObject({ status: 200, retCode, result: {} });
    expect(await paperLedger(own.database.db).exchangeOrders(userId)).toEqual([]);
  });

  test('an id that is still pending, and not one that was filled', async () => {
    await order({ orderLinkId: 'twice', price: '60000' });
    expect(await code(order({ orderLinkId: 'twice' }))).toBe(110072);
    await order({ orderLinkId: 'filled' });
    expect(await code(order({ orderLinkId: 'filled' }))).toBe(0);
  });

  test('in hedge mode, without saying which side', async () => {
    await send('POST', '/v5/position/switch-mode', { coin: 'USDT', mode: 3 });
    expect(await order()).toMatchObject({ retCode: 10001, retMsg: 'position idx not match position mode' });
  });

  test('a path that is not known is HTTP 404', async () => {
    const request = { method: 'GET', path: '/v5/nothing', query: '', headers: {}, body: '' };
    expect((await venue.handle(request)).status).toBe(404);
  });
});

describe('settings', () => {
  const leverage = (value: string) =>
    send('POST', '/v5/position/set-leverage', { symbol: 'BTCUSDT', buyLeverage: value, sellLeverage: value });
  const mode = (fields: Record<string, string | number>) => send('POST', '/v5/position/switch-mode', fields);
  const margin = (setMarginMode: string) => send('POST', '/v5/account/set-margin-mode', { setMarginMode });

  test('a leverage that is already so is not modified, one that is too high is refused', async () => {
    expect(await code(leverage('10'))).toBe(110043);
    expect(await code(leverage('20'))).toBe(0);
    expect(await code(leverage('101'))).toBe(110013);
    expect(await code(leverage('0'))).toBe(10001);
    expect(await position()).toMatchObject({ leverage: '20', size: '0', side: '' });
  });

  test('the margin mode is the whole account’s', async () => {
    const info = async () => (await send('GET', '/v5/account/info')).result.marginMode;
    expect(await info()).toBe('REGULAR_MARGIN');
    expect(await margin('ISOLATED_MARGIN')).toMatchObject({ retCode: 0, result: { reasons: [] } });
    expect(await info()).toBe('ISOLATED_MARGIN');
    expect(await code(margin('ISOLATED_MARGIN'))).toBe(0);
    await order();
    expect(await margin('REGULAR_MARGIN')).toMatchObject({
      retCode: 3400045,
      result: { reasons: [{ reasonCode: '3400000' }] },
    });
    const [stored] = await paperLedger(own.database.db).exchangeOrders(userId);
    expect(stored?.marginMode).toBe('isolated');
  });

  test('with isolated margin the figures of the whole account are left empty', async () => {
    const wallet = async () =>
      (await send('GET', '/v5/account/wallet-balance', { accountType: 'UNIFIED' })).result.list?.[0];
    expect(await wallet()).toMatchObject({ totalAvailableBalance: '10000' });
    await margin('ISOLATED_MARGIN');
    await order({ price: '60000' });
    expect(await wallet()).toMatchObject({
      totalAvailableBalance: '',
      coin: [
        { walletBalance: '10000', totalOrderIM: '60.36', totalPositionIM: '0', availableToWithdraw: '' },
      ],
    });
  });

  test('a position mode is set for a token or for all, unless something is open', async () => {
    expect(await code(mode({ coin: 'USDT', mode: 0 }))).toBe(110025);
    expect(await code(mode({ symbol: 'BTCUSDT', mode: 3 }))).toBe(0);
    const rows = await send('GET', '/v5/position/list', { symbol: 'BTCUSDT' });
    expect(rows.result.list).toMatchObject([{ positionIdx: 1 }, { positionIdx: 2 }]);
    expect(await code(mode({ coin: 'USDT', mode: 0 }))).toBe(0);
    await order({ price: '60000' });
    expect(await code(mode({ symbol: 'BTCUSDT', mode: 3 }))).toBe(110028);
    await order();
    expect(await code(mode({ coin: 'USDT', mode: 3 }))).toBe(110024);
  });
});

describe('protection belongs to the position', () => {
  const set = (fields: Record<string, string | number>) =>
    send('POST', '/v5/position/trading-stop', {
      symbol: 'BTCUSDT',
      positionIdx: 0,
      tpslMode: 'Full',
      slTriggerBy: 'MarkPrice',
      tpTriggerBy: 'MarkPrice',
      ...fields,
    });

  test('an order brings it along when it fills, as two conditional orders', async () => {
    await order({ ...PROTECTED, price: '64000' });
    expect(await position()).toMatchObject({ size: '0', stopLoss: '', takeProfit: '' });
    expect(await stops()).toEqual([]);
    marks.push('BTC', '64000');
    await venue.settle('BTC');
    expect(await position()).toMatchObject({ size: '0.01', stopLoss: '63000', takeProfit: '69000' });
    expect((await stops()).sort()).toEqual([
      ['StopLoss', '63000'],
      ['TakeProfit', '69000'],
    ]);
  });

  test('is set, moved and taken back, and what is already so is not modified', async () => {
    expect(await set({ stopLoss: '63000' })).toMatchObject({
      retCode: 10001,
      retMsg: 'can not set tp/sl/ts for zero position',
    });
    await order();
    expect(await code(set({ stopLoss: '63000' }))).toBe(0);
    expect(await code(set({ stopLoss: '63000' }))).toBe(34040);
    expect(await code(set({ stopLoss: '63000', takeProfit: '69000' }))).toBe(0);
    expect(await position()).toMatchObject({ stopLoss: '63000', takeProfit: '69000' });
    expect(await code(set({ stopLoss: '65000' }))).toBe(10001);
    expect(await code(set({ takeProfit: '0' }))).toBe(0);
    expect(await stops()).toEqual([['StopLoss', '63000']]);
    expect(await code(set({ takeProfit: '0' }))).toBe(34040);
  });

  test('closes the position at the mark that crosses it, and goes with it', async () => {
    await order(PROTECTED);
    marks.push('BTC', '62900');
    await venue.settle('BTC');
    expect(await position()).toMatchObject({ size: '0', stopLoss: '', takeProfit: '' });
    expect(await stops()).toEqual([]);
    const { result } = await send('GET', '/v5/position/closed-pnl', { symbol: 'BTCUSDT' });
    // -21 less 0.39 and 0.3774 of fees; the row's side is that of the closing order.
    expect(result.list).toMatchObject([
      { side: 'Sell', closedPnl: '-21.7674', openFee: '0.39', closedSize: '0.01' },
    ]);
    const history = await send('GET', '/v5/order/history', { symbol: 'BTCUSDT' });
    expect(history.result.list?.[0]).toMatchObject({
      stopOrderType: 'StopLoss',
      createType: 'CreateByStopLoss',
      orderLinkId: '',
      orderStatus: 'Filled',
      reduceOnly: true,
    });
  });

  test('a stop is cancelled by its own order id', async () => {
    await order(PROTECTED);
    const { result } = await send('GET', '/v5/order/realtime', {
      symbol: 'BTCUSDT',
      orderFilter: 'StopOrder',
    });
    for (const { orderId } of result.list ?? []) {
      expect(
        await code(send('POST', '/v5/order/cancel', { symbol: 'BTCUSDT', orderId: String(orderId) })),
      ).toBe(0);
    }
    expect(await stops()).toEqual([]);
    expect(await position()).toMatchObject({ size: '0.01', stopLoss: '' });
  });
});

describe('look-ups', () => {
  test('an order is found in the real-time list while it is open and after it has ended', async () => {
    await order({ orderLinkId: 'done' });
    expect(await find('done')).toMatchObject({ orderStatus: 'Filled', cumExecQty: '0.01', leavesQty: '0' });
    expect(await find('never')).toBeNull();
    const open = await send('GET', '/v5/order/realtime', { settleCoin: 'USDT' });
    expect(open.result.list).toEqual([]);
  });

  test('fills are listed with their orders, however many the account has had', async () => {
    await order({ orderLinkId: 'first' });
    await own.database.db.execute(sql`
      with copied as (
        insert into paper_orders (user_id, platform, token, client_order_id, side, order_type, reduce_only, size,
          leverage, margin_mode, position_mode, state, source, created_at, updated_at)
        select user_id, platform, token, 'copy', side, order_type, reduce_only, size, leverage, margin_mode, position_mode,
          state, source, created_at, updated_at
        from paper_orders, generate_series(1, 70000) where user_id = ${userId}
        returning id
      )
      insert into paper_fills (user_id, platform, token, order_id, side, price, size, value, fee, profit, liquidity, created_at)
      select user_id, platform, token, copied.id, side, price, size, value, fee, profit, liquidity, created_at
      from paper_fills, copied where user_id = ${userId}`);
    const fills = async (orderLinkId: string) =>
      (await send('GET', '/v5/execution/list', { symbol: 'BTCUSDT', orderLinkId })).result.list;
    expect(await fills('first')).toMatchObject([{ orderLinkId: 'first', execQty: '0.01' }]);
    expect(await fills('copy')).toHaveLength(50);
  });

  test('after a restart of the service it is found in the history alone', async () => {
    await order({ orderLinkId: 'done' });
    await order({ orderLinkId: 'open', price: '60000' });
    fault({ kind: 'endedOrdersForgotten' });
    expect(await find('done')).toBeNull();
    expect(await find('open')).toMatchObject({ orderStatus: 'New' });
    expect(await find('done', 'history')).toMatchObject({ orderStatus: 'Filled' });
    expect(await find('open', 'history')).toBeNull();
  });

  test('a cancelled order is as good as an unknown one when it is cancelled again', async () => {
    const cancel = (orderLinkId: string) =>
      send('POST', '/v5/order/cancel', { symbol: 'BTCUSDT', orderLinkId });
    await order({ orderLinkId: 'once', price: '60000' });
    expect(await code(cancel('once'))).toBe(0);
    expect(await code(cancel('once'))).toBe(110001);
    expect(await code(cancel('never'))).toBe(110001);
    expect(await find('once')).toMatchObject({ orderStatus: 'Cancelled', cumExecQty: '0', leavesQty: '0' });
  });

  test('a page of history ends with a cursor that goes on behind it, to the empty page', async () => {
    for (let count = 0; count < 3; count += 1) await order({ orderLinkId: `o${count}` });
    const found: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 5; page += 1) {
      const { result } = await send('GET', '/v5/order/history', {
        symbol: 'BTCUSDT',
        limit: 2,
        ...(cursor === '' ? {} : { cursor }),
      });
      found.push(...(result.list ?? []).map(({ orderLinkId }) => orderLinkId));
      cursor = String(result.nextPageCursor);
      if (result.list?.length === 0) break;
    }
    expect(found).toEqual(['o2', 'o1', 'o0']);
    expect(cursor).toBe('');
  });
});

describe('the key', () => {
  const asked = async () => (await send('GET', '/v5/user/query-api')).result;

  test('says what it may do, of which kind its account is, and whose it is', async () => {
    const first = await asked();
    expect(first).toMatchObject({ readOnly: 0, uta: 1, permissions: { Wallet: [] } });
    key = { mayTrade: false, mayWithdraw: true, accountMode: 'classic' };
    expect(await asked()).toMatchObject({ readOnly: 1, uta: 0, userID: first.userID });
    expect((await asked()).permissions).toMatchObject({ Wallet: expect.arrayContaining(['Withdraw']) });
  });
});

test('money is kept to the last digit through many trades of both directions', async () => {
  for (const [side, price] of [
    ['Buy', '65000'],
    ['Sell', '65000'],
    ['Sell', '65000'],
    ['Buy', '65000'],
  ]) {
    await order({ side: side ?? '', price: price ?? '', qty: '0.1' });
  }
  const [account] = await own.database.db
    .select()
    .from(paperAccounts)
    .where(eq(paperAccounts.userId, userId));
  expect(D(account?.balance ?? 0).toFixed()).toBe('9984.4');
});
