import { afterEach, describe, expect, test } from 'vitest';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { jsonAnswer, textAnswer, type VenueRequest } from '#test/venues/http.ts';
import { accountOn, answeringRegistry, buy, inTime } from '#test/venues/test-registry.ts';
import type { CallRecord } from '../exchange.ts';
import type { ExchangeRegistry } from '../registry.ts';

const registries: ExchangeRegistry[] = [];
afterEach(async () => {
  for (const registry of registries.splice(0)) await registry.close();
});

type Answer = {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  result?: object;
  retCode?: number;
  retMsg?: string;
};

/** Bybit with its documented answers, except for these path endings, and a record of the requested paths. */
function openAgainst(answers: Record<string, (request: VenueRequest) => Answer | null> = {}) {
  const asked: string[] = [];
  const registry = answeringRegistry((request) => {
    const end = request.path.replace('/v5/', '');
    asked.push(end);
    const { status = 200, body, headers = {}, ...fields } = answers[end]?.(request) ?? {};
    if (body !== undefined) {
      const answer = textAnswer(status, body);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    }
    return jsonAnswer(status, { ...(documentedAnswer('Bybit', request) as object), ...fields });
  });
  registries.push(registry);
  return { exchange: registry.get('Bybit'), asked };
}

/** One list for each status that matters: trading, being delivered, closed. */
const CONTRACTS = Array.from({ length: 3 }, () => 'market/instruments-info');
const account = accountOn('Bybit');
const ORDER = buy({ clientOrderId: 'c1' });
const NONE = { result: { category: 'linear', list: [], nextPageCursor: '' } };

test('loads the contracts once, ended ones too, and never asks for the kind of account', async () => {
  const { exchange, asked } = openAgainst();
  await exchange.placeOrder(account, ORDER, inTime());
  await exchange.fetchBalance(account);
  await exchange.findOrder(account, ORDER);
  await exchange.cancelOrder(account, ORDER);
  expect(asked).toEqual([
    ...CONTRACTS,
    'order/create',
    'account/wallet-balance',
    'order/realtime',
    'order/cancel',
  ]);
});

test('reads every page of contracts and rejects circular pages', async () => {
  const contract = (token: string) => ({
    symbol: `${token}USDT`,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: token,
    quoteCoin: 'USDT',
    settleCoin: 'USDT',
    leverageFilter: { maxLeverage: '50' },
    priceFilter: { tickSize: '0.01' },
    lotSizeFilter: { minOrderQty: '0.1', qtyStep: '0.1', minNotionalValue: '5' },
  });
  const paged = openAgainst({
    'market/instruments-info': (request) =>
      parametersIn(request).cursor === 'second'
        ? { result: { category: 'linear', list: [contract('ETH')], nextPageCursor: '' } }
        : { result: { category: 'linear', list: [contract('SOL')], nextPageCursor: 'second' } },
  });
  expect(await paged.exchange.fetchContract('ETH')).toMatchObject({ quantityStep: '0.1' });
  expect(await paged.exchange.fetchContract('SOL')).toMatchObject({ maximumLeverage: 50 });
  const circling = openAgainst({
    'market/instruments-info': () => ({
      result: { category: 'linear', list: [contract('SOL')], nextPageCursor: 'again' },
    }),
  });
  await expect(circling.exchange.fetchContract('SOL')).rejects.toMatchObject({ kind: 'unknown' });
});

describe('a look-up by client order id', () => {
  test('also asks the history, and returns null if both know nothing', async () => {
    const moved = openAgainst({ 'order/realtime': () => NONE });
    expect(await moved.exchange.findOrder(account, ORDER)).toMatchObject({
      clientOrderId: 'c1',
      state: 'filled',
    });
    const none = openAgainst({ 'order/realtime': () => NONE, 'order/history': () => NONE });
    expect(await none.exchange.findOrder(account, ORDER)).toBeNull();
    expect(none.asked.slice(CONTRACTS.length)).toEqual(['order/realtime', 'order/history']);
  });

  test('asks the history if the first list answers "order does not exist"', async () => {
    const unknown = { retCode: 110001, retMsg: 'order not exists', result: {} };
    const moved = openAgainst({ 'order/realtime': () => unknown });
    expect(await moved.exchange.findOrder(account, ORDER)).toMatchObject({ state: 'filled' });
    const none = openAgainst({ 'order/realtime': () => unknown, 'order/history': () => unknown });
    expect(await none.exchange.findOrder(account, ORDER)).toBeNull();
  });

  test.each([
    ['no answer from the second', { 'order/realtime': () => NONE, 'order/history': () => ({ body: '' }) }],
    ['an error in the second', { 'order/realtime': () => NONE, 'order/history': () => ({ retCode: 10016 }) }],
    ['no list', { 'order/realtime': () => ({ result: {} }) }],
  ])('is unknown with %s', async (_, answers) => {
    const { exchange } = openAgainst(answers as Parameters<typeof openAgainst>[0]);
    await expect(exchange.findOrder(account, ORDER)).rejects.toMatchObject({ kind: 'unknown' });
  });

  test('rejects an answer with another order', async () => {
    const { exchange } = openAgainst({
      'order/realtime': (request) =>
        documentedAnswer('Bybit', { ...request, query: 'orderLinkId=c2' }) as Answer,
    });
    await expect(exchange.findOrder(account, ORDER)).rejects.toMatchObject({ kind: 'unknown' });
  });
});

describe('meaning of the HTTP status', () => {
  const placing = async (status: number, body: string, headers: Record<string, string> = {}) => {
    const { exchange } = openAgainst({ 'order/create': () => ({ status, body, headers }) });
    return exchange.placeOrder(account, ORDER, inTime());
  };

  test.each([
    [403, '<html>access too frequent</html>', 'retry-later'],
    [403, '{"retCode":10003,"retMsg":"API key is invalid."}', 'refused'],
    [403, '{"retCode":0,"retMsg":"OK","result":{}}', 'unknown'],
    [401, '', 'refused'],
    [404, '', 'unknown'],
    [429, '', 'retry-later'],
    [429, '{"retCode":429,"retMsg":"high server load"}', 'retry-later'],
    [500, '{"retCode":110007,"retMsg":"ab not enough"}', 'unknown'],
  ])('HTTP %i with %s: %s', async (status, body, outcome) => {
    expect((await placing(status, body)).outcome).toBe(outcome);
  });

  test.each([
    ['120', 120_000],
    ['3600', 600_000],
  ])('a refusal that asks for %s s is waited for, at most ten minutes', async (seconds, retryAfterMs) => {
    expect(await placing(429, '', { 'retry-after': seconds })).toMatchObject({
      outcome: 'retry-later',
      retryAfterMs,
    });
  });

  test('an address rejected by the gateway waits 30 seconds', async () => {
    expect(await placing(403, '<html>')).toMatchObject({ outcome: 'retry-later', retryAfterMs: 30_000 });
  });

  test('a key rejected by the gateway is a credentials error', async () => {
    const { exchange } = openAgainst({ 'account/wallet-balance': () => ({ status: 401, body: '' }) });
    await expect(exchange.fetchBalance(account)).rejects.toMatchObject({ kind: 'credentials' });
  });
});

describe('preparing an account', () => {
  test.each([
    ['position mode', 'position/switch-mode', 110025],
    ['margin mode', 'account/set-margin-mode', 110026],
    ['leverage', 'position/set-leverage', 110043],
  ])('treats "%s not modified" as done if the value read back is right', async (_, path, retCode) => {
    let isSet = false;
    const { exchange, asked } = openAgainst({
      [path]: () => {
        isSet = true;
        return { retCode, retMsg: 'not modified', result: {} };
      },
      'account/info': () => ({
        result: {
          marginMode: isSet || path !== 'account/set-margin-mode' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN',
        },
      }),
      'position/list': () => {
        const positionIdx = isSet || path !== 'position/switch-mode' ? 0 : 1;
        const leverage = isSet || path !== 'position/set-leverage' ? '10' : '20';
        return { result: { list: [{ positionIdx, leverage, symbol: 'BTCUSDT', side: '', size: '0' }] } };
      },
    });
    await exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
    expect(asked).toContain(path);
  });

  test('another refusal fails the preparation', async () => {
    const { exchange } = openAgainst({
      'account/set-margin-mode': () => ({ retCode: 3400045, retMsg: 'Set margin mode failed', result: {} }),
    });
    await expect(exchange.prepareAccount(account, { token: 'BTC', leverage: 10 })).rejects.toMatchObject({
      kind: 'refused',
      code: '3400045',
    });
  });
});

describe('a stop that is "not modified"', () => {
  const stopping = (stopLoss: string) => {
    const { exchange } = openAgainst({
      'position/trading-stop': () => ({ retCode: 34040, retMsg: 'not modified', result: {} }),
    });
    const request = { token: 'BTC', side: 'long' as const, quantity: '0.01', takeProfit: null };
    return exchange.placeProtection(account, { ...request, stopLoss, clientOrderId: 'c1-p' }, inTime());
  };

  test('counts as placed if the position has it', async () => {
    await expect(stopping('63000')).resolves.toBeUndefined();
  });

  test('is refused if the position has another', async () => {
    await expect(stopping('62000')).rejects.toMatchObject({ kind: 'refused' });
  });
});

test('a refused target does not prevent the stop from being placed', async () => {
  const set: unknown[] = [];
  const { exchange } = openAgainst({
    'position/trading-stop': (request) => {
      set.push(parametersIn(request));
      return parametersIn(request).takeProfit === undefined ? null : { retCode: 10001, result: {} };
    },
  });
  const request = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: 'c1-p' };
  await expect(
    exchange.placeProtection(account, { ...request, stopLoss: '63000', takeProfit: '60000' }, inTime()),
  ).rejects.toMatchObject({ kind: 'refused' });
  expect(set).toMatchObject([{ stopLoss: '63000' }, { takeProfit: '60000' }]);
});

test('does not set a stop that is off-step or too late', async () => {
  const { exchange, asked } = openAgainst();
  const request = { token: 'BTC', side: 'long' as const, quantity: '0.01', takeProfit: null };
  const stop = { ...request, stopLoss: '63000', clientOrderId: 'c1-p' };
  await expect(
    exchange.placeProtection(account, { ...stop, stopLoss: '63000.123' }, inTime()),
  ).rejects.toMatchObject({ code: 'not-sent' });
  const late = { notAfter: new Date(Date.now() - 1) };
  await expect(exchange.placeProtection(account, stop, late)).rejects.toMatchObject({ code: 'not-sent' });
  expect(asked).toEqual(CONTRACTS);
});

describe('multiple pages', () => {
  const position = (symbol: string) => ({
    symbol,
    side: 'Buy',
    size: '1',
    avgPrice: '1',
    leverage: '10',
    stopLoss: '',
    takeProfit: '',
  });

  test('of positions are read to the end', async () => {
    const page = Array.from({ length: 200 }, (_, index) => position(`T${index}USDT`));
    const { exchange } = openAgainst({
      'position/list': (request) =>
        parametersIn(request).cursor === 'next%3A1' || parametersIn(request).cursor === 'next:1'
          ? { result: { list: [position('LASTUSDT')], nextPageCursor: 'next%3A2' } }
          : { result: { list: page, nextPageCursor: 'next%3A1' } },
    });
    const { holdings } = await exchange.fetchHoldings(account);
    expect(holdings).toHaveLength(201);
  });

  test('without an end are an error, not a partial result', async () => {
    let pages = 0;
    const page = Array.from({ length: 200 }, (_, index) => position(`T${index}USDT`));
    const { exchange } = openAgainst({
      'position/list': () => {
        pages += 1;
        return { result: { list: page, nextPageCursor: `next${pages}` } };
      },
    });
    await expect(exchange.fetchHoldings(account)).rejects.toMatchObject({ kind: 'unknown' });
    expect(pages).toBeLessThan(30);
  });
});

describe('a wrong clock', () => {
  test('is adjusted once for all refused requests, which are sent again', async () => {
    const serverTime = () => Date.now() + 3_600_000;
    const { exchange, asked } = openAgainst({
      'market/time': () => ({ ...NONE, ...{ time: serverTime() } }) as Answer,
      'account/wallet-balance': ({ headers }) =>
        Math.abs(Number(headers['x-bapi-timestamp']) - serverTime()) > 5_000
          ? { retCode: 10002, retMsg: 'timestamp', result: {} }
          : null,
    });
    await exchange.fetchContract('BTC');
    const read = await Promise.all(Array.from({ length: 5 }, () => exchange.fetchBalance(account)));
    expect(read).toMatchObject(Array(5).fill({ futuresBalance: '330.5' }));
    expect(asked.filter((path) => path === 'market/time')).toHaveLength(1);
  });

  test('is kept if the answer has no time', async () => {
    let isRefusing = true;
    const { exchange } = openAgainst({
      'market/time': () => ({ time: undefined }) as Answer,
      'account/wallet-balance': ({ headers }) => {
        expect(Number(headers['x-bapi-timestamp'])).toBeGreaterThan(1_500_000_000_000);
        return isRefusing ? { retCode: 10002, retMsg: 'timestamp', result: {} } : null;
      },
    });
    await expect(exchange.fetchBalance(account)).rejects.toMatchObject({
      kind: 'retry-later',
      code: '10002',
    });
    isRefusing = false;
    expect(await exchange.fetchBalance(account)).toMatchObject({ futuresBalance: '330.5' });
  });
});

test('records each request of a call without the key', async () => {
  const calls: CallRecord[] = [];
  const { exchange } = openAgainst({ 'order/realtime': () => NONE });
  await exchange.findOrder(account, ORDER, { onCall: (call) => calls.push(call) });
  expect(calls.map(({ type, endpoint }) => [type, endpoint])).toEqual([
    ['find-order', '/v5/order/realtime'],
    ['find-order', '/v5/order/history'],
  ]);
  expect(JSON.stringify(calls)).not.toMatch(/BAPI|secret/);
});
