import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperPositions,
} from '#server/exchanges/paper/paper-schema.ts';
import { nextMillisecond } from '#test/app/next-millisecond.ts';
import { memoryMarks } from '../memory-marks.ts';
import type { TestVenue } from '../venue.ts';
import { type Fields, signedRequest, venueUnderTest } from '../venue-under-test.ts';

const under = venueUnderTest();

interface Call {
  as?: string;
  on?: TestVenue;
  headers?: Record<string, string>;
}

async function send(method: 'GET' | 'POST', path: string, fields: Fields = {}, call: Call = {}) {
  const { as: userId = under.userId, on = under.venue, headers = {} } = call;
  const request = { method, path, fields: { productType: 'USDT-FUTURES', ...fields }, headers };
  const response = await on.handle(signedRequest('Bitget', { ...under, userId }, request));
  const { code, msg, data } = JSON.parse(response.body) as { code: string; msg: string; data: never };
  return { status: response.status, code, msg, data: data as Record<string, unknown> };
}

const prepare = async (as = under.userId) => {
  await send('POST', '/api/v2/mix/account/set-position-mode', { posMode: 'one_way_mode' }, { as });
};

const order = (fields: Fields = {}, call: Call = {}) =>
  send(
    'POST',
    '/api/v2/mix/order/place-order',
    {
      symbol: 'BTCUSDT',
      marginCoin: 'USDT',
      marginMode: 'isolated',
      side: 'buy',
      orderType: 'limit',
      price: '65000',
      size: '0.01',
      clientOid: randomUUID().slice(0, 30),
      ...fields,
    },
    call,
  );

const balance = async () => {
  const { data } = await send('GET', '/api/v2/mix/account/accounts');
  return (data as unknown as Record<string, string>[])[0] ?? {};
};

describe('signatures', () => {
  const accounts = '/api/v2/mix/account/accounts';

  test.each([
    ['no key', { 'access-key': '' }, '40001'],
    ['an unknown key', { 'access-key': 'paper-nobody' }, '40006'],
    ['no signature', { 'access-sign': '' }, '40002'],
    ['a wrong signature', { 'access-sign': 'AAAA' }, '40009'],
    ['a wrong passphrase', { 'access-passphrase': 'guessed' }, '40012'],
    ['no time', { 'access-timestamp': '' }, '40003'],
    ['a non-numeric time', { 'access-timestamp': 'yesterday' }, '40005'],
  ])('%s is refused', async (_, headers, code) => {
    expect(await send('GET', accounts, {}, { headers })).toMatchObject({ status: 400, code, data: null });
  });

  test('refuses a request more than 30 s old or early, whatever its signature', async () => {
    for (const offsetMs of [-30_001, 30_001]) {
      const timestamp = String(under.clock.now().getTime() + offsetMs);
      const answer = await send('GET', accounts, {}, { headers: { 'access-timestamp': timestamp } });
      expect(answer.code).toBe('40008');
    }
  });

  test('refuses a body changed in transit', async () => {
    const signed = signedRequest('Bitget', under, {
      method: 'POST',
      path: '/api/v2/mix/account/set-position-mode',
      fields: { posMode: 'one_way_mode', productType: 'USDT-FUTURES' },
    });
    const body = '{"posMode":"hedge_mode","productType":"USDT-FUTURES"}';
    const response = await under.venue.handle({ ...signed, body });
    expect(response.body).toContain('"40009"');
  });

  test('verifies a query as it was before percent-encoding', async () => {
    await prepare();
    await order({ clientOid: 'a#b:c' });
    const signed = signedRequest('Bitget', under, {
      method: 'GET',
      path: '/api/v2/mix/order/detail',
      fields: { clientOid: 'a#b:c', productType: 'USDT-FUTURES', symbol: 'BTCUSDT' },
    });
    const query = 'clientOid=a%23b%3Ac&productType=USDT-FUTURES&symbol=BTCUSDT';
    const response = await under.venue.handle({ ...signed, query });
    expect(response.status).toBe(200);
  });
});

describe('accounts', () => {
  test('a new one has the start balance and Bitget’s default modes', async () => {
    expect(await balance()).toMatchObject({ available: '10000', locked: '0', accountEquity: '10000' });
    const { data } = await send('GET', '/api/v2/mix/account/account', {
      symbol: 'BTCUSDT',
      marginCoin: 'USDT',
    });
    expect(data).toMatchObject({ posMode: 'hedge_mode', marginMode: 'crossed', isolatedLongLever: '20' });
  });

  test('modes cannot be changed while a position is open, but may be repeated', async () => {
    const margin = (marginMode: string) =>
      send('POST', '/api/v2/mix/account/set-margin-mode', {
        symbol: 'BTCUSDT',
        marginCoin: 'USDT',
        marginMode,
      });
    const mode = (posMode: string) => send('POST', '/api/v2/mix/account/set-position-mode', { posMode });
    await mode('one_way_mode');
    await margin('isolated');
    await order();
    expect((await mode('hedge_mode')).code).toBe('40920');
    expect((await mode('one_way_mode')).code).toBe('00000');
    expect((await margin('crossed')).code).toBe('45117');
    expect((await margin('isolated')).code).toBe('00000');
  });

  test('a lower leverage takes margin for the open position from the free balance', async () => {
    await prepare();
    await order();
    const leverage = (value: string) =>
      send('POST', '/api/v2/mix/account/set-leverage', {
        symbol: 'BTCUSDT',
        marginCoin: 'USDT',
        leverage: value,
      });
    expect((await leverage('5')).code).toBe('00000');
    // 10,000 - 0.39 fee - 130 margin.
    expect((await balance()).available).toBe('9869.61');
    expect((await leverage('126')).code).toBe('45045');
    expect((await leverage('0')).code).toBe('40017');
  });
});

describe('orders are refused with the codes of the real exchange', () => {
  test.each([
    ['a size between steps', { size: '0.01001' }, '40808'],
    ['a price between ticks', { price: '65000.05' }, '40808'],
    ['a size below the minimum notional', { size: '0.0001', price: '40000' }, '45110'],
    ['a size of zero', { size: '0' }, '40017'],
    ['a symbol that is not listed', { symbol: 'NOSUCHUSDT' }, '40034'],
    ['an invalid symbol', { symbol: '../../x' }, '40034'],
    ['more than the balance', { size: '10' }, '40762'],
    ['a stop above a long entry', { presetStopLossPrice: '65000' }, '40917'],
    ['a stop below a short entry', { side: 'sell', presetStopLossPrice: '64000' }, '45122'],
    ['a target below a long entry', { presetStopSurplusPrice: '64000' }, '40915'],
    ['a reduction without a position', { reduceOnly: 'YES' }, '22002'],
    ['an id that is too long', { clientOid: 'x'.repeat(33) }, '40305'],
    ['an unknown side', { side: 'hold' }, '40017'],
    ['another product', { productType: 'COIN-FUTURES' }, '40017'],
  ])('%s', async (_, fields, code) => {
    await prepare();
    expect((await order(fields)).code).toBe(code);
    const stored = await under.db.select().from(paperOrders).where(eq(paperOrders.userId, under.userId));
    expect(stored).toEqual([]);
  });

  test('a quantity below the minimum', async () => {
    await prepare();
    under.marks.push('PEPE', '0.00001');
    const pepe = { symbol: 'PEPEUSDT', price: '0.00001', size: '999' };
    expect((await order(pepe)).code).toBe('45111');
  });

  test('an unknown path is 404', async () => {
    expect(await send('GET', '/api/v2/mix/nothing')).toMatchObject({ status: 404, code: '40404' });
  });
});

describe('contracts', () => {
  const symbols = async () => {
    const { data } = await send('GET', '/api/v2/mix/market/contracts');
    return (data as unknown as { symbol: string }[]).map(({ symbol }) => symbol);
  };

  test('are listed for the seven tokens and for every other token with a price', async () => {
    expect(await symbols()).toEqual(expect.arrayContaining(['BTCUSDT', 'PEPEUSDT', 'SUIUSDT']));
    expect(await symbols()).not.toContain('ADAUSDT');
    under.marks.push('ADA', '0.71');
    expect(await symbols()).toContain('ADAUSDT');
    await prepare();
    expect((await order({ symbol: 'ADAUSDT', price: '0.71', size: '100' })).code).toBe('00000');
  });
});

describe('marks', () => {
  test("a user's own price moves only that user's books", async () => {
    const other = randomUUID();
    await prepare();
    await prepare(other);
    const resting = { price: '60000', presetStopLossPrice: '50000' };
    await order(resting);
    await order(resting, { as: other });
    under.marks.push('BTC', '59000', { userId: under.userId });
    await under.venue.settle('BTC');
    const states = await under.db
      .select({ userId: paperOrders.userId, state: paperOrders.state })
      .from(paperOrders);
    expect(states).toContainEqual({ userId: under.userId, state: 'filled' });
    expect(states).toContainEqual({ userId: other, state: 'live' });
    const ticker = (headers: Record<string, string>) =>
      send('GET', '/api/v2/mix/market/ticker', { symbol: 'BTCUSDT' }, { headers });
    expect(await ticker({ 'paper-viewer': under.userId })).toMatchObject({ data: [{ lastPr: '59000' }] });
    expect(await ticker({})).toMatchObject({ data: [{ lastPr: '65000' }] });
  });

  test('every mark since the last read counts, not only the newest', async () => {
    await prepare();
    await order({ presetStopLossPrice: '63000' });
    under.marks.push('BTC', '62500');
    under.marks.push('BTC', '66000');
    const positions = await send('GET', '/api/v2/mix/position/all-position', { marginCoin: 'USDT' });
    expect(positions.data).toEqual([]);
    expect((await balance()).available).toBe('9974.235');
  });

  test('marks older than an order do not fill it', async () => {
    await prepare();
    under.marks.push('BTC', '59000');
    under.marks.push('BTC', '65000');
    await order({ price: '60000' });
    const pending = await send('GET', '/api/v2/mix/order/orders-pending', { symbol: 'BTCUSDT' });
    expect(pending.data.entrustedList).toHaveLength(1);
  });

  test('a new price settles the affected accounts without a request of theirs', async () => {
    await prepare();
    await order({ presetStopLossPrice: '63000' });
    under.marks.push('BTC', '62000');
    await under.venue.settle('BTC');
    const { db } = under;
    expect(await db.select().from(paperPositions).where(eq(paperPositions.userId, under.userId))).toEqual([]);
    const fills = await db.select().from(paperFills).where(eq(paperFills.userId, under.userId));
    expect(fills.map(({ price, liquidity }) => [D(price).toFixed(), liquidity])).toEqual([
      ['65000', 'taker'],
      ['62000', 'taker'],
    ]);
  });
});

describe('several processes over one database', () => {
  test('fifty orders through two of them leave one consistent account', async () => {
    await prepare();
    const second = under.openAgain();
    const placed = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        order({ size: '0.001' }, { on: index % 2 ? under.venue : second }),
      ),
    );
    expect(placed.every(({ code }) => code === '00000')).toBe(true);
    const { db } = under;
    const [account] = await db.select().from(paperAccounts).where(eq(paperAccounts.userId, under.userId));
    const [position] = await db.select().from(paperPositions).where(eq(paperPositions.userId, under.userId));
    expect(D(position?.size ?? 0).toFixed()).toBe('0.05');
    expect(D(account?.balance ?? 0).toFixed()).toBe('9998.05');
  });

  test('two concurrent orders with the same client order id rest only once', async () => {
    await prepare();
    const second = under.openAgain();
    const twin = { clientOid: 'twin', price: '60000' };
    const answers = await Promise.all([order(twin), order(twin, { on: second })]);
    expect(answers.map(({ code }) => code).sort()).toEqual(['00000', '45034']);
  });

  test('a restart loses nothing', async () => {
    await prepare();
    await order({ price: '60000', presetStopLossPrice: '59000', clientOid: 'kept' });
    under.venue = under.openAgain();
    under.marks.push('BTC', '59900');
    const found = await send('GET', '/api/v2/mix/order/detail', { symbol: 'BTCUSDT', clientOid: 'kept' });
    expect(found.data).toMatchObject({ state: 'filled', priceAvg: '59900' });
    const plans = await send('GET', '/api/v2/mix/order/orders-plan-pending', {
      symbol: 'BTCUSDT',
      planType: 'profit_loss',
    });
    expect(plans.data.entrustedList).toMatchObject([{ planType: 'pos_loss', triggerPrice: '59000' }]);
  });
});

describe('prices in memory', () => {
  test('count after a restart, however many came before', async () => {
    await prepare();
    for (let count = 0; count < 5; count += 1) under.marks.push('BTC', '65000');
    await order({ price: '60000' });
    await under.venue.settle('BTC');
    await nextMillisecond();
    under.marks = memoryMarks();
    under.venue = under.openAgain();
    under.marks.push('BTC', '59000');
    await under.venue.settle('BTC');
    const pending = await send('GET', '/api/v2/mix/order/orders-pending', { symbol: 'BTCUSDT' });
    expect(pending.data.entrustedList).toEqual([]);
  });
});

describe('fills', () => {
  test('are listed with their fees, newest first', async () => {
    await prepare();
    await order();
    const { data } = await send('GET', '/api/v2/mix/order/fills', { symbol: 'BTCUSDT' });
    expect(data.fillList).toMatchObject([
      { price: '65000', baseVolume: '0.01', tradeScope: 'taker', feeDetail: [{ totalFee: '-0.39' }] },
    ]);
  });
});

describe('faults', () => {
  test('affect the request, user and count they are meant for, then end', async () => {
    await prepare();
    under.venue.setFaults([
      { kind: 'refuse', code: '40015', on: { path: 'place-order', userId: under.userId, nth: 2, times: 1 } },
    ]);
    const codes = [];
    for (let nth = 1; nth <= 3; nth += 1) codes.push((await order({ size: '0.001' })).code);
    expect(codes).toEqual(['00000', '40015', '00000']);
    under.venue.setFaults([
      { kind: 'tooManyRequests', on: { userId: randomUUID(), times: Number.POSITIVE_INFINITY } },
    ]);
    expect((await order({ size: '0.001' })).code).toBe('00000');
  });
});
