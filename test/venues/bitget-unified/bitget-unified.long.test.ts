import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { TRADING_KEY } from '../venue-credentials.ts';
import { type Fields, signedRequest, venueUnderTest } from '../venue-under-test.ts';

const under = venueUnderTest();

beforeEach(() => {
  under.key = { ...TRADING_KEY, accountMode: 'unified' };
});

type Rows = Record<string, string>[];

async function send(method: 'GET' | 'POST', path: string, fields: Fields = {}, on = under.venue) {
  const response = await on.handle(signedRequest('Bitget', under, { method, path, fields }));
  const { code, data } = JSON.parse(response.body) as { code: string; data: never };
  return { status: response.status, code, data: data as Record<string, unknown> };
}

const futures = (fields: Fields = {}) => ({ category: 'USDT-FUTURES', ...fields });

const order = (fields: Fields = {}, on = under.venue) =>
  send(
    'POST',
    '/api/v3/trade/place-order',
    futures({
      symbol: 'BTCUSDT',
      side: 'buy',
      orderType: 'limit',
      price: '65000',
      qty: '0.01',
      marginMode: 'isolated',
      clientOid: randomUUID().slice(0, 30),
      ...fields,
    }),
    on,
  );

const strategy = (fields: Fields = {}) =>
  send(
    'POST',
    '/api/v3/trade/place-strategy-order',
    futures({ symbol: 'BTCUSDT', posSide: 'long', slTriggerBy: 'mark', tpTriggerBy: 'mark', ...fields }),
  );

async function strategies(): Promise<Rows> {
  const { data } = await send('GET', '/api/v3/trade/unfilled-strategy-orders', futures());
  return data as unknown as Rows;
}

async function listOf(path: string, fields: Fields = {}): Promise<Rows> {
  const { data } = await send('GET', path, futures(fields));
  return data.list as Rows;
}

const positions = () => listOf('/api/v3/position/current-position');

const prepare = () => send('POST', '/api/v3/account/set-hold-mode', { holdMode: 'one_way_mode' });

describe('kinds of account', () => {
  test('a key of a classic account is refused here, and one of a unified account by v2', async () => {
    expect((await send('GET', '/api/v3/account/assets')).code).toBe('00000');
    const classic = { productType: 'USDT-FUTURES' };
    expect((await send('GET', '/api/v2/mix/account/accounts', classic)).code).toBe('40085');
    under.key = TRADING_KEY;
    expect((await send('GET', '/api/v3/account/assets')).code).toBe('40084');
    expect((await order()).code).toBe('40084');
    expect((await send('GET', '/api/v2/mix/account/accounts', classic)).code).toBe('00000');
  });

  test('both see one account: what was opened in one kind is there in the other', async () => {
    await prepare();
    await order({ stopLoss: '63000', slTriggerBy: 'mark' });
    under.key = TRADING_KEY;
    const { data } = await send('GET', '/api/v2/mix/position/all-position', {
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
    });
    expect(data).toMatchObject([{ symbol: 'BTCUSDT', total: '0.01', stopLoss: '63000' }]);
  });

  test('signatures, keys and times are checked as by v2', async () => {
    const request = { method: 'GET', path: '/api/v3/account/assets', fields: {} } as const;
    const answered = async (headers: Record<string, string>) => {
      const { body } = await under.venue.handle(signedRequest('Bitget', under, { ...request, headers }));
      return (JSON.parse(body) as { code: string }).code;
    };
    expect(await answered({ 'access-sign': 'AAAA' })).toBe('40009');
    expect(await answered({ 'access-key': 'paper-nobody' })).toBe('40006');
    expect(await answered({ 'access-timestamp': '1' })).toBe('40005');
  });

  test.each([
    [{}, { permType: 'read-and-write', permissions: ['uta_mgt', 'uta_trade'] }],
    [{ mayTrade: false }, { permType: 'read-only' }],
    [{ mayWithdraw: true }, { permissions: ['uta_mgt', 'uta_trade', 'withdraw'] }],
  ])('a key that %j shows its permissions', async (key, shown) => {
    under.key = { ...under.key, ...key };
    expect((await send('GET', '/api/v3/account/info')).data).toMatchObject(shown);
  });
});

describe('settings', () => {
  const settings = async () => (await send('GET', '/api/v3/account/settings')).data;
  const leverage = (fields: Fields) =>
    send('POST', '/api/v3/account/set-leverage', futures({ symbol: 'BTCUSDT', ...fields }));

  test('a new account is in hedge mode and isolated margin mode', async () => {
    expect(await settings()).toMatchObject({
      accountMode: 'unified',
      accountLevel: 'isolated',
      holdMode: 'hedge_mode',
    });
    under.key = { ...under.key, accountLevel: 'advanced' };
    expect((await settings()).accountLevel).toBe('advanced');
  });

  test('the leverage of isolated margin is set where it is named: the usual one is that of cross margin', async () => {
    await prepare();
    expect((await leverage({ leverage: '7' })).code).toBe('00000');
    await leverage({ leverage: '9', marginMode: 'isolated' });
    await leverage({ leverage: '3' });
    expect((await settings()).symbolConfigList).toContainEqual({
      ...futures({ symbol: 'BTCUSDT' }),
      marginMode: 'isolated',
      leverage: '9',
    });
    expect((await leverage({ leverage: '126', marginMode: 'isolated' })).code).toBe('45045');
  });

  test('the holding mode cannot change while a position is open', async () => {
    await prepare();
    await order();
    expect((await send('POST', '/api/v3/account/set-hold-mode', { holdMode: 'hedge_mode' })).code).toBe(
      '40920',
    );
  });
});

describe('orders are refused with the codes of v3', () => {
  test.each([
    ['a symbol that is not listed', { symbol: 'NOSUCHUSDT' }, '25100'],
    ['more than the balance', { qty: '10' }, '25203'],
    ['a reduction without a position', { reduceOnly: 'yes' }, '25227'],
    ['the field of v2 for the side of a position', { holdSide: 'long' }, '25236'],
    ['the word of v2 for reducing', { reduceOnly: 'YES' }, '400172'],
    ['another category', { category: 'COIN-FUTURES' }, '400172'],
    ['an unknown margin mode', { marginMode: 'cross' }, '400172'],
    ['an id that is too long', { clientOid: 'x'.repeat(33) }, '400172'],
    ['a stop above a long entry', { stopLoss: '65000' }, '40917'],
  ])('%s', async (_, fields, code) => {
    await prepare();
    expect((await order(fields)).code).toBe(code);
    expect(await positions()).toEqual([]);
  });

  test('any in hedge mode', async () => {
    expect((await order()).code).toBe('25236');
  });

  test('a second one with the client order id of a pending one', async () => {
    await prepare();
    const fields = { clientOid: 'twice', price: '60000' };
    expect((await order(fields)).code).toBe('00000');
    expect((await order(fields)).code).toBe('25212');
  });
});

describe('orders', () => {
  beforeEach(prepare);

  test('are found by client order id in any state, without naming a contract', async () => {
    const find = async (clientOid: string) =>
      (await send('GET', '/api/v3/trade/order-info', { clientOid })).data;
    await order({ clientOid: 'filled' });
    await order({ clientOid: 'resting', price: '60000' });
    await order({ clientOid: 'cancelled', price: '59000' });
    await send('POST', '/api/v3/trade/cancel-order', { clientOid: 'cancelled' });
    expect(await find('filled')).toMatchObject({
      symbol: 'BTCUSDT',
      orderStatus: 'filled',
      cumExecQty: '0.01',
      feeDetail: [{ feeCoin: 'USDT', fee: '0.39' }],
    });
    expect(await find('resting')).toMatchObject({ orderStatus: 'live', cumExecQty: '0' });
    expect(await find('cancelled')).toMatchObject({ orderStatus: 'cancelled' });
    expect((await send('GET', '/api/v3/trade/order-info', { clientOid: 'unknown' })).code).toBe('25204');
    const open = await listOf('/api/v3/trade/unfilled-orders', { symbol: 'BTCUSDT' });
    expect(open.map(({ clientOid }) => clientOid)).toEqual(['resting']);
    const ended = await listOf('/api/v3/trade/history-orders', { symbol: 'BTCUSDT' });
    expect(ended.map(({ clientOid }) => clientOid)).toEqual(['cancelled', 'filled']);
  });

  test('that have ended or never were cannot be cancelled', async () => {
    await order({ clientOid: 'filled' });
    for (const clientOid of ['filled', 'unknown'])
      expect((await send('POST', '/api/v3/trade/cancel-order', { clientOid })).code).toBe('25204');
  });

  test('are of cross margin unless isolated margin is named', async () => {
    await order({ marginMode: '' });
    expect(await positions()).toMatchObject([{ marginMode: 'crossed', posSide: 'long' }]);
  });
});

describe('stops and targets', () => {
  beforeEach(prepare);

  test.each([
    ['named', { slTriggerBy: 'mark' }, 'mark'],
    ['not named', {}, 'market'],
    ['named as the market’s', { slTriggerBy: 'market' }, 'market'],
  ])('of an entry are triggered by the mark price only where it is %s', async (_, by, shown) => {
    await order({ stopLoss: '63000', ...by });
    expect(await strategies()).toMatchObject([{ stopLoss: '63000', takeProfit: '', slTriggerBy: shown }]);
  });

  test('of an entry are two orders, and close the whole position', async () => {
    await order({ stopLoss: '63000', slTriggerBy: 'mark', takeProfit: '69000', tpTriggerBy: 'mark' });
    const held = await strategies();
    expect(held.map(({ stopLoss, takeProfit }) => [stopLoss, takeProfit])).toEqual([
      ['63000', ''],
      ['', '69000'],
    ]);
    under.marks.push('BTC', '62900');
    expect(await positions()).toEqual([]);
    expect(await strategies()).toEqual([]);
    const past = await listOf('/api/v3/trade/history-strategy-orders');
    expect(past.map(({ stopLoss, status }) => [stopLoss, status])).toEqual([
      ['', 'cancelled'],
      ['63000', 'success'],
    ]);
  });

  test('placed together are one order: a change drops what it does not name', async () => {
    await order();
    await strategy({ clientOid: 'both', stopLoss: '63000', takeProfit: '69000' });
    const [both, ...more] = await strategies();
    expect([both?.stopLoss, both?.takeProfit, more]).toEqual(['63000', '69000', []]);
    const change = (fields: Fields) =>
      send('POST', '/api/v3/trade/modify-strategy-order', { clientOid: 'both', qty: '0.01', ...fields });
    await change({ stopLoss: '64000', takeProfit: '69000', slTriggerBy: 'mark', tpTriggerBy: 'mark' });
    expect(await strategies()).toMatchObject([{ stopLoss: '64000', takeProfit: '69000' }]);
    await change({ stopLoss: '62000', slTriggerBy: 'mark' });
    expect(await strategies()).toMatchObject([{ stopLoss: '62000', takeProfit: '' }]);
  });

  test('placed again with the same client order id are the same order', async () => {
    await order();
    const [first, second] = [
      await strategy({ clientOid: 'stop', stopLoss: '63000' }),
      await strategy({ clientOid: 'stop', stopLoss: '64000' }),
    ];
    expect(second.data).toEqual(first.data);
    expect(await strategies()).toMatchObject([{ stopLoss: '63000' }]);
  });

  test('are refused without a position, on the wrong side and without the side of the position', async () => {
    expect((await strategy({ stopLoss: '63000' })).code).toBe('25227');
    await order();
    expect((await strategy({ stopLoss: '66000' })).code).toBe('40917');
    expect((await strategy({ stopLoss: '63000', posSide: 'short' })).code).toBe('25601');
    expect((await strategy({ stopLoss: '63000', posSide: '' })).code).toBe('400172');
    expect((await strategy({ stopLoss: '63000', tpslMode: 'partial' })).code).toBe('400172');
    expect(await strategies()).toEqual([]);
  });

  test('of a part show its size, those of the whole position its own', async () => {
    await order();
    await strategy({ clientOid: 'part', tpslMode: 'partial', qty: '0.004', stopLoss: '62000' });
    await strategy({ clientOid: 'whole', stopLoss: '61000' });
    expect((await strategies()).map(({ clientOid, qty }) => [clientOid, qty])).toEqual([
      ['part', '0.004'],
      ['whole', '0.01'],
    ]);
  });

  test('are cancelled by either id', async () => {
    await order();
    await strategy({ clientOid: 'stop', stopLoss: '63000' });
    await strategy({ clientOid: 'target', takeProfit: '69000' });
    const [, target] = await strategies();
    const cancel = (handle: Fields) => send('POST', '/api/v3/trade/cancel-strategy-order', handle);
    expect((await cancel({ clientOid: 'stop' })).code).toBe('00000');
    expect((await cancel({ orderId: String(target?.orderId) })).code).toBe('00000');
    expect(await strategies()).toEqual([]);
    expect((await cancel({ clientOid: 'stop' })).code).toBe('25204');
  });
});

describe('histories', () => {
  beforeEach(prepare);

  test('show closed positions with fees as negative figures, page by page', async () => {
    for (const price of ['65100', '65200']) {
      under.marks.push('BTC', '65000');
      await order();
      under.marks.push('BTC', price);
      await order({ side: 'sell', orderType: 'market', price: '', reduceOnly: 'yes' });
    }
    const path = '/api/v3/position/history-position';
    const { data } = await send('GET', path, futures({ limit: '1' }));
    expect(data.list).toMatchObject([
      { closePriceAvg: '65200', openFeeTotal: '-0.39', closeFeeTotal: '-0.3912', cumRealisedPnl: '2' },
    ]);
    const next = await listOf(path, { limit: '1', cursor: String(data.cursor) });
    expect(next).toMatchObject([{ closePriceAvg: '65100' }]);
  });

  test('show ended stops and targets page by page, newest first', async () => {
    await order({ stopLoss: '63000', takeProfit: '69000' });
    under.marks.push('BTC', '62900');
    await positions();
    const path = '/api/v3/trade/history-strategy-orders';
    const { data } = await send('GET', path, futures({ limit: '1' }));
    expect(data.list).toMatchObject([{ takeProfit: '69000', status: 'cancelled' }]);
    const { data: next } = await send('GET', path, futures({ limit: '1', cursor: String(data.cursor) }));
    expect(next.list).toMatchObject([{ stopLoss: '63000', status: 'success' }]);
    expect(await listOf(path, { cursor: String(next.cursor) })).toEqual([]);
  });

  test('answer thirty days at a time', async () => {
    const now = under.clock.now().getTime();
    const asked = async (days: number) =>
      (
        await send(
          'GET',
          '/api/v3/position/history-position',
          futures({ startTime: String(now - days * 86_400_000), endTime: String(now) }),
        )
      ).code;
    expect([await asked(30), await asked(31)]).toEqual(['00000', '400172']);
  });
});

test('enforces the documented limits beside those of v2, and one for the address of both', async () => {
  const limited = under.openAgain({ limits: 'documented' });
  await prepare();
  const codes: string[] = [];
  for (let count = 0; count < 21; count += 1)
    codes.push((await send('GET', '/api/v3/account/settings', {}, limited)).code);
  expect(codes.slice(0, 20).every((code) => code === '00000')).toBe(true);
  expect(codes.at(-1)).toBe('429');
  const placed: string[] = [];
  for (let count = 0; count < 11; count += 1) placed.push((await order({ qty: '0.001' }, limited)).code);
  expect(placed.at(-1)).toBe('429');
});
