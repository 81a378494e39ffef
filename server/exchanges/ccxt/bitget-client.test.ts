import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { contractView } from '#test/venues/bitget/views.ts';
import { buy, inTime, testRegistry } from '#test/venues/test-registry.ts';
import type { ExchangeAccount, ExchangeEnvironment } from '../exchange.ts';
import { paperContract } from '../paper/paper-contracts.ts';
import type { ExchangeRegistry } from '../registry.ts';
import { BITGET } from './bitget.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const BALANCES = [
  {
    marginCoin: 'USDT',
    available: '5',
    isolatedMaxAvailable: '4',
    locked: '1',
    maxTransferOut: '4',
    accountEquity: '6',
  },
];

interface Seen {
  url: string;
  headers: IncomingHttpHeaders;
}

/** Answers like Bitget and records the requests. */
async function openAgainst(
  environment: ExchangeEnvironment,
  answers: Record<string, unknown> = {},
): Promise<{
  registry: ExchangeRegistry;
  seen: Seen[];
  stop: () => Promise<unknown>;
}> {
  const seen: Seen[] = [];
  const data: Record<string, unknown> = {
    '/api/v2/mix/market/contracts': ['BTC', 'PEPE'].map((token) => contractView(paperContract(token))),
    '/api/v2/mix/account/accounts': BALANCES,
    ...answers,
  };
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    seen.push({ url, headers: request.headers });
    const path = url.split('?')[0] ?? '';
    const own = data[path];
    const fields = typeof own === 'function' ? own(request.headers) : { data: own ?? {} };
    response.end(JSON.stringify({ code: '00000', msg: 'success', requestTime: 1, ...fields }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry = testRegistry({
    exchangeMode: environment,
    bitgetBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  closing.push(stop, () => registry.close());
  return { registry, seen, stop };
}

const account = (environment: ExchangeEnvironment, key = 'key'): ExchangeAccount => ({
  userId: `user of ${key}`,
  environment,
  credentials: { apiKey: key, apiSecret: 'secret', passphrase: 'pass', accountMode: 'classic' },
});

describe('requests to Bitget', () => {
  test('loads the contracts with one request and never asks for the kind of account', async () => {
    const { registry, seen } = await openAgainst('live');
    await registry.get('Bitget').fetchBalance(account('live'));
    expect(seen.map(({ url }) => url)).toEqual([
      '/api/v2/mix/market/contracts?productType=USDT-FUTURES',
      '/api/v2/mix/account/accounts?productType=USDT-FUTURES',
    ]);
  });

  test.each([
    ['live', undefined],
    ['demo', '1'],
  ] as const)('in %s mode the demo header is %s on every request', async (environment, expected) => {
    const { registry, seen } = await openAgainst(environment);
    await registry.get('Bitget').fetchBalance(account(environment));
    expect(seen.map(({ headers }) => headers.paptrading)).toEqual([expected, expected]);
  });
});

test.each(['live', 'demo'] as const)(
  'in %s mode adjusts a wrong clock to the exchange’s, and sends what it refused again',
  async (mode) => {
    const serverTime = () => Date.now() + 3_600_000;
    const { registry } = await openAgainst(mode, {
      '/api/v2/public/time': () => ({
        requestTime: serverTime(),
        data: { serverTime: String(serverTime()) },
      }),
      '/api/v2/mix/account/accounts': (headers: IncomingHttpHeaders) =>
        Math.abs(Number(headers['access-timestamp']) - serverTime()) > 30_000
          ? { code: '40008', msg: 'Request timestamp expired', data: null }
          : { data: BALANCES },
    });
    const exchange = registry.get('Bitget');
    expect(await exchange.fetchBalance(account(mode))).toMatchObject({ futuresBalance: '6' });
  },
);

describe('environments and contracts', () => {
  test.each([
    ['demo', { 'ACCESS-KEY': 'key' }, 'a demo request must carry PAPTRADING: 1'],
    ['live', { 'ACCESS-KEY': 'key', PAPTRADING: '1' }, 'a live request must not carry PAPTRADING: 1'],
    ['live', { PAPTRADING: '1' }, 'a live request must not carry PAPTRADING: 1'],
    ['demo', { 'ACCESS-KEY': 'key', PAPTRADING: '1' }, null],
    ['live', { 'ACCESS-KEY': 'key' }, null],
  ] as const)('a %s request with the headers %j: %s', (environment, headers, problem) => {
    expect(BITGET.environmentProblem(environment, headers)).toBe(problem);
  });

  test('a scaled or renamed contract is not listed, and a suspended one says why it opens nothing', async () => {
    const scaled = { ...contractView(paperContract('PEPE')), symbol: '1000PEPEUSDT', baseCoin: '1000PEPE' };
    const suspended = { ...contractView(paperContract('SOL')), symbolStatus: 'maintain' };
    const { registry } = await openAgainst('live', { '/api/v2/mix/market/contracts': [scaled, suspended] });
    const exchange = registry.get('Bitget');
    expect(await exchange.fetchContract('PEPE')).toBeNull();
    expect(await exchange.fetchContract('SOL')).toMatchObject({
      entryProblem: 'it is under maintenance (maintain)',
    });
  });
});

describe('balances', () => {
  test('reports as available what an isolated position can use', async () => {
    const { registry } = await openAgainst('live');
    expect(await registry.get('Bitget').fetchBalance(account('live'))).toMatchObject({
      futuresBalance: '6',
      futuresAvailable: '4',
      futuresLocked: '1',
    });
  });

  test.each([
    ['an empty list', []],
    ['another coin only', [{ marginCoin: 'USDC', available: '5', locked: '0', accountEquity: '5' }]],
    ['no number', [{ marginCoin: 'USDT', available: 'NaN', locked: '0', accountEquity: '5' }]],
    ['a missing number', [{ marginCoin: 'USDT', locked: '0', accountEquity: '5' }]],
  ])('%s is not a balance', async (_, list) => {
    const { registry } = await openAgainst('live', { '/api/v2/mix/account/accounts': list });
    await expect(registry.get('Bitget').fetchBalance(account('live'))).rejects.toMatchObject({
      kind: 'unknown',
    });
  });

  test('includes spot figures on request', async () => {
    const { registry } = await openAgainst('live', {
      '/api/v2/spot/account/assets': [{ coin: 'USDT', available: '50.25', frozen: '1', locked: '0.5' }],
    });
    const balance = await registry.get('Bitget').fetchBalance(account('live'), { includeSpot: true });
    expect(balance).toMatchObject({ spotBalance: '51.75', spotAvailable: '50.25', spotLocked: '1.5' });
  });
});

const PLAN = {
  orderId: '21',
  symbol: 'BTCUSDT',
  planType: 'pos_loss',
  planStatus: 'live',
  side: 'sell',
  size: '0.01',
  triggerPrice: '63000',
};

test.each([
  ['names no order', { successList: [], failureList: [] }, 'Bitget did not cancel the plan 21'],
  [
    'names another order',
    { successList: [{ orderId: '22' }], failureList: [] },
    'Bitget did not cancel the plan 21',
  ],
  [
    'names it as failed',
    { successList: [], failureList: [{ orderId: '21', errorMsg: 'busy' }] },
    'Bitget did not cancel the plan 21: busy',
  ],
  [
    'names it as cancelled while the list still shows it',
    { successList: [{ orderId: '21' }], failureList: [] },
    'Bitget still shows stops and targets of BTC: 1',
  ],
])('a cancel of a stop that succeeds and %s leaves the stop in doubt', async (_, data, message) => {
  const { registry } = await openAgainst('live', {
    '/api/v2/mix/order/orders-plan-pending': { entrustedList: [PLAN], endId: '21' },
    '/api/v2/mix/order/cancel-plan-order': data,
  });
  const cancelling = registry.get('Bitget').cancelProtection(account('live'), 'BTC');
  await expect(cancelling).rejects.toMatchObject({ kind: 'unknown', message });
});

describe('an answer to an order', () => {
  test.each([
    ['400172', 'a parameter', 'refused'],
    ['400171', 'a parameter, by name', 'refused'],
    ['45112', 'more than the largest order', 'refused'],
    ['45045', 'too much leverage, renumbered', 'refused'],
    ['45021', 'another position mode, renumbered', 'refused'],
    ['45119', 'a contract that opens nothing', 'refused'],
    ['40845', 'a contract that is gone', 'refused'],
    ['45115', 'a price between ticks', 'refused'],
    ['45002', 'too little money', 'refused'],
    ['40038', 'an address that the key does not allow', 'refused'],
    ['45034', 'a client order id that was used', 'duplicate'],
    ['40200', 'an upgrade', 'retry-later'],
    ['40010', 'a time-out', 'unknown'],
    ['40910', 'a time-out', 'unknown'],
    ['40725', 'an error of the service', 'unknown'],
    ['45001', 'an unknown error', 'unknown'],
    ['45023', 'a failure to create the order', 'unknown'],
    ['43002', 'a failure of a pending order', 'unknown'],
    ['499999', 'a code that is in no list', 'unknown'],
  ])('with the code %s (%s) counts as %s', async (code, msg, outcome) => {
    const { registry } = await openAgainst('live', {
      '/api/v2/mix/order/place-order': () => ({ code, msg, data: null }),
    });
    const placement = await registry.get('Bitget').placeOrder(account('live'), buy(), inTime());
    expect(placement.outcome).toBe(outcome);
  });

  test('no code has two meanings for an order', () => {
    const { duplicate, credentials, otherAccountMode, clock, retryLater, refused } = BITGET.codes;
    const all = [duplicate, credentials, otherAccountMode, clock, retryLater, refused].flatMap((one) => [
      ...one,
    ]);
    expect(all).toEqual([...new Set(all)]);
    for (const code of BITGET.codes.otherTerms) expect(refused).toContain(code);
  });
});

describe('an unreachable exchange', () => {
  const order = buy();

  test('places nothing before its contracts are known', async () => {
    const { registry, stop } = await openAgainst('live');
    await stop();
    const placement = await registry.get('Bitget').placeOrder(account('live'), order, inTime());
    expect(placement.outcome).toBe('retry-later');
  });

  test('places nothing if its contracts cannot be read, however unclear the answer', async () => {
    const { registry, seen } = await openAgainst('live', {
      '/api/v2/mix/market/contracts': () => ({ code: '40725' }),
    });
    const placement = await registry.get('Bitget').placeOrder(account('live'), order, inTime());
    expect(placement.outcome).toBe('retry-later');
    expect(seen.some(({ url }) => url.includes('place-order'))).toBe(false);
  });

  test('places nothing if the connection is refused', async () => {
    const { registry, stop } = await openAgainst('live');
    const exchange = registry.get('Bitget');
    await exchange.fetchContract('BTC');
    await stop();
    expect((await exchange.placeOrder(account('live'), order, inTime())).outcome).toBe('retry-later');
  });
});

test('the registry lists the supported exchanges', async () => {
  const { registry } = await openAgainst('live');
  expect(registry.supported).toEqual(['Bitget', 'Bybit']);
  expect(registry.get('Bitget').apiEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(registry.get('Bybit').apiEndpoint).toBe('https://api.bybit.com');
  expect(() => registry.get('Kraken' as 'Bybit')).toThrow('Kraken is not supported in live mode');
});

test('rows of the list of plans that cannot be read hide no other plan and no other position', async () => {
  const position = (symbol: string) => ({
    symbol,
    holdSide: 'long',
    total: '1',
    openPriceAvg: '100',
    leverage: '5',
    marginMode: 'isolated',
    marginSize: '20',
    unrealizedPL: '0',
    stopLoss: '',
    takeProfit: '',
  });
  const plan = (symbol: string, planType: string, triggerPrice: string) => ({
    orderId: `${symbol} ${planType}`,
    symbol,
    planType,
    triggerPrice,
    size: '',
  });
  const { registry } = await openAgainst('live', {
    '/api/v2/mix/position/all-position': () => ({ data: [position('BTCUSDT'), position('PEPEUSDT')] }),
    '/api/v2/mix/order/orders-plan-pending': () => ({
      data: {
        entrustedList: [
          plan('BTCUSDT', 'pos_loss', '90'),
          null,
          7,
          plan('BTCUSDT', 'pos_profit', '110'),
          plan('PEPEUSDT', 'pos_loss', ''),
        ],
      },
    }),
  });
  expect(await registry.get('Bitget').fetchHoldings(account('live'))).toMatchObject({
    holdings: [{ position: { token: 'BTC' }, protection: { stopLoss: '90', takeProfit: '110' } }],
    unreadable: [{ token: 'PEPE', problem: expect.stringContaining('its stop loss cannot be read') }],
  });
});
