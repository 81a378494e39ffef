import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { listFills, ordersById } from '#server/exchanges/paper/paper-queries.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import { paperLedger } from '#test/venues/paper-ledger.ts';
import type { VenueFault } from '../faults.ts';
import { type Fields, signedRequest, venueUnderTest } from '../venue-under-test.ts';

const under = venueUnderTest();

interface Answer {
  status: number;
  retCode: number;
  retMsg: string;
  result: Record<string, unknown> & { list?: Record<string, unknown>[] };
  headers: Record<string, string>;
}

async function send(
  method: 'GET' | 'POST',
  path: string,
  fields: Fields = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = { method, path, fields: { category: 'linear', ...fields }, headers };
  const answer = await under.venue.handle(signedRequest('Bybit', under, request));
  return {
    status: answer.status,
    headers: answer.headers,
    ...(JSON.parse(answer.body) as Omit<Answer, 'status' | 'headers'>),
  };
}

const code = async (answer: Promise<Answer>) => (await answer).retCode;

const order = (fields: Fields = {}) =>
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

const fault = (...faults: VenueFault[]) => under.venue.setFaults(faults);

describe('signatures', () => {
  const wallet = (headers: Record<string, string>) =>
    send('GET', '/v5/account/wallet-balance', { accountType: 'UNIFIED' }, headers);

  test.each([
    ['no key', { 'x-bapi-api-key': '' }, 10003],
    ['an unknown key', { 'x-bapi-api-key': 'paper-nobody' }, 10003],
    ['no signature', { 'x-bapi-sign': '' }, 10004],
    ['a wrong signature', { 'x-bapi-sign': 'f'.repeat(64) }, 10004],
    ['a window other than the signed one', { 'x-bapi-recv-window': '6000' }, 10004],
    ['no time', { 'x-bapi-timestamp': '' }, 10002],
  ])('%s is refused, with HTTP status 200', async (_, headers, retCode) => {
    expect(await wallet(headers)).toMatchObject({ status: 200, retCode, result: {} });
  });

  test('refuses a request older than its window or a second ahead', async () => {
    for (const offsetMs of [-5_001, 1_000]) {
      const timestamp = String(under.clock.now().getTime() + offsetMs);
      expect(await code(wallet({ 'x-bapi-timestamp': timestamp }))).toBe(10002);
    }
  });

  test('refuses a body changed in transit', async () => {
    const path = '/v5/order/create';
    const signed = signedRequest('Bybit', under, { method: 'POST', path, fields: { qty: '0.01' } });
    const answer = await under.venue.handle({ ...signed, body: '{"qty":"10.0"}' });
    expect(answer.body).toContain('"retCode":10004');
  });
});

describe('orders are refused with the codes of the real exchange', () => {
  test.each([
    ['a size between steps', { qty: '0.0105' }, 10001],
    ['a price between ticks', { price: '65000.05' }, 10001],
    ['a size below the minimum', { qty: '0.0005' }, 10001],
    ['less than the minimum value', { qty: '0.001', price: '4000' }, 110094],
    ['a symbol that is not listed', { symbol: 'NOSUCHUSDT' }, 10001],
    ['PEPE, which is traded only in thousands', { symbol: 'PEPEUSDT' }, 10001],
    ['more than the balance', { qty: '10' }, 110007],
    ['a stop above a long entry', { ...PROTECTED, stopLoss: '65000' }, 10001],
    ['a stop below a short entry', { ...PROTECTED, side: 'Sell', stopLoss: '64000' }, 10001],
    ['a target below a long entry', { ...PROTECTED, takeProfit: '64000' }, 10001],
    ['a stop on an unknown trigger price', { ...PROTECTED, slTriggerBy: 'OtherPrice' }, 10001],
    ['a partial stop', { ...PROTECTED, tpslMode: 'Partial' }, 10001],
    ['a reduction without a position', { reduceOnly: true }, 110017],
    ['an id that is too long', { orderLinkId: 'x'.repeat(37) }, 10001],
    ['an unknown side', { side: 'Hold' }, 10001],
    ['a side in hedge mode', { positionIdx: 1 }, 10001],
    ['another product', { category: 'inverse' }, 10001],
  ])('%s', async (_, fields, retCode) => {
    expect(await order(fields)).toMatchObject({ status: 200, retCode, result: {} });
    expect(await paperLedger(under.db).exchangeOrders(under.userId)).toEqual([]);
  });

  test('the id of a pending order, but not that of a filled one', async () => {
    await order({ orderLinkId: 'twice', price: '60000' });
    expect(await code(order({ orderLinkId: 'twice' }))).toBe(110072);
    await order({ orderLinkId: 'filled' });
    expect(await code(order({ orderLinkId: 'filled' }))).toBe(0);
  });

  test('a missing side in hedge mode', async () => {
    await send('POST', '/v5/position/switch-mode', { coin: 'USDT', mode: 3 });
    expect(await order()).toMatchObject({ retCode: 10001, retMsg: 'position idx not match position mode' });
  });

  test('an unknown path is HTTP 404', async () => {
    const request = { method: 'GET', path: '/v5/nothing', query: '', headers: {}, body: '' };
    expect((await under.venue.handle(request)).status).toBe(404);
  });
});

describe('settings', () => {
  const leverage = (value: string) =>
    send('POST', '/v5/position/set-leverage', { symbol: 'BTCUSDT', buyLeverage: value, sellLeverage: value });
  const mode = (fields: Fields) => send('POST', '/v5/position/switch-mode', fields);
  const margin = (setMarginMode: string) => send('POST', '/v5/account/set-margin-mode', { setMarginMode });

  test('an unchanged leverage is not modified, and one that is too high is refused', async () => {
    expect(await code(leverage('10'))).toBe(110043);
    expect(await code(leverage('20'))).toBe(0);
    expect(await code(leverage('101'))).toBe(110013);
    expect(await code(leverage('0'))).toBe(10001);
    expect(await position()).toMatchObject({ leverage: '20', size: '0', side: '' });
  });

  test('the margin mode applies to the whole account', async () => {
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
    const [stored] = await paperLedger(under.db).exchangeOrders(under.userId);
    expect(stored?.marginMode).toBe('isolated');
  });

  test('account-wide figures are empty with isolated margin', async () => {
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

  test('sets a position mode for a token or for all, unless something is open', async () => {
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
  const set = (fields: Fields) =>
    send('POST', '/v5/position/trading-stop', {
      symbol: 'BTCUSDT',
      positionIdx: 0,
      tpslMode: 'Full',
      slTriggerBy: 'MarkPrice',
      tpTriggerBy: 'MarkPrice',
      ...fields,
    });

  test('an order brings its protection when it fills, as two conditional orders', async () => {
    await order({ ...PROTECTED, price: '64000' });
    expect(await position()).toMatchObject({ size: '0', stopLoss: '', takeProfit: '' });
    expect(await stops()).toEqual([]);
    under.marks.push('BTC', '64000');
    await under.venue.settle('BTC');
    expect(await position()).toMatchObject({ size: '0.01', stopLoss: '63000', takeProfit: '69000' });
    expect((await stops()).sort()).toEqual([
      ['StopLoss', '63000'],
      ['TakeProfit', '69000'],
    ]);
  });

  test('is set, moved and removed; an unchanged value is not modified', async () => {
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

  test('closes the position at the mark that crosses it, and is removed', async () => {
    await order(PROTECTED);
    under.marks.push('BTC', '62900');
    await under.venue.settle('BTC');
    expect(await position()).toMatchObject({ size: '0', stopLoss: '', takeProfit: '' });
    expect(await stops()).toEqual([]);
    const { result } = await send('GET', '/v5/position/closed-pnl', { symbol: 'BTCUSDT' });
    // -21 minus 0.39 and 0.3774 in fees; the row's side is that of the closing order.
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

  test('cancels a stop by its own order id', async () => {
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
  test('finds an order in the real-time list while it is open and after it has ended', async () => {
    await order({ orderLinkId: 'done' });
    expect(await find('done')).toMatchObject({ orderStatus: 'Filled', cumExecQty: '0.01', leavesQty: '0' });
    expect(await find('never')).toBeNull();
    const open = await send('GET', '/v5/order/realtime', { settleCoin: 'USDT' });
    expect(open.result.list).toEqual([]);
  });

  test('lists fills with their orders, at most a page', async () => {
    await order({ orderLinkId: 'first' });
    await under.db.execute(sql`
      with copied as (
        insert into paper_orders (user_id, platform, token, client_order_id, side, order_type, reduce_only, size,
          leverage, margin_mode, position_mode, state, source, created_at, updated_at)
        select user_id, platform, token, 'copy', side, order_type, reduce_only, size, leverage, margin_mode, position_mode,
          state, source, created_at, updated_at
        from paper_orders, generate_series(1, 60) where user_id = ${under.userId}
        returning id
      )
      insert into paper_fills (user_id, platform, token, order_id, side, price, size, value, fee, profit, liquidity, created_at)
      select user_id, platform, token, copied.id, side, price, size, value, fee, profit, liquidity, created_at
      from paper_fills, copied where user_id = ${under.userId}`);
    const fills = async (orderLinkId: string) =>
      (await send('GET', '/v5/execution/list', { symbol: 'BTCUSDT', orderLinkId })).result.list;
    expect(await fills('first')).toMatchObject([{ orderLinkId: 'first', execQty: '0.01' }]);
    expect(await fills('copy')).toHaveLength(50);
  });

  test('reads orders by more ids than a statement takes parameters', async () => {
    await order({ orderLinkId: 'first' });
    const owner = { userId: under.userId, platform: 'Bybit' } as const;
    const [fill] = await listFills(under.db, owner);
    const ids = [...Array.from({ length: 70_000 }, (_, id) => BigInt(id)), fill?.orderId ?? 0n];
    const found = await ordersById(under.db, owner, ids);
    expect([...found.values()]).toMatchObject([{ order: { clientOrderId: 'first' } }]);
  });

  test('finds an ended order only in the history after a restart of the service', async () => {
    await order({ orderLinkId: 'done' });
    await order({ orderLinkId: 'open', price: '60000' });
    fault({ kind: 'endedOrdersForgotten' });
    expect(await find('done')).toBeNull();
    expect(await find('open')).toMatchObject({ orderStatus: 'New' });
    expect(await find('done', 'history')).toMatchObject({ orderStatus: 'Filled' });
    expect(await find('open', 'history')).toBeNull();
  });

  test('treats a second cancel like that of an unknown order', async () => {
    const cancel = (orderLinkId: string) =>
      send('POST', '/v5/order/cancel', { symbol: 'BTCUSDT', orderLinkId });
    await order({ orderLinkId: 'once', price: '60000' });
    expect(await code(cancel('once'))).toBe(0);
    expect(await code(cancel('once'))).toBe(110001);
    expect(await code(cancel('never'))).toBe(110001);
    expect(await find('once')).toMatchObject({ orderStatus: 'Cancelled', cumExecQty: '0', leavesQty: '0' });
  });

  test('ends a page of history with a cursor that continues after it, up to the empty page', async () => {
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

  test('reports its permissions, its kind of account and its user id', async () => {
    const first = await asked();
    expect(first).toMatchObject({ readOnly: 0, uta: 1, permissions: { Wallet: [] } });
    under.key = { mayTrade: false, mayWithdraw: true, accountMode: 'classic' };
    expect(await asked()).toMatchObject({ readOnly: 1, uta: 0, userID: first.userID });
    expect((await asked()).permissions).toMatchObject({ Wallet: expect.arrayContaining(['Withdraw']) });
  });
});

test('keeps amounts exact to the last digit through many trades in both directions', async () => {
  for (const [side, price] of [
    ['Buy', '65000'],
    ['Sell', '65000'],
    ['Sell', '65000'],
    ['Buy', '65000'],
  ]) {
    await order({ side: side ?? '', price: price ?? '', qty: '0.1' });
  }
  const [account] = await under.db.select().from(paperAccounts).where(eq(paperAccounts.userId, under.userId));
  expect(D(account?.balance ?? 0).toFixed()).toBe('9984.4');
});
