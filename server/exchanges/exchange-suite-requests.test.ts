import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { signatureProblem } from '#test/venues/exchange-suite-signatures.ts';
import { jsonAnswer, type VenueRequest } from '#test/venues/http.ts';
import type { EntryOrder, Exchange, ExchangeAccount, PlacementContext } from './exchange.ts';
import { createExchangeRegistry, type ExchangeRegistry } from './registry.ts';

/*
 * What leaves for each exchange, to the letter: the client library's documented request formats and the exchanges' own
 * documentation are what these were written from.
 */

const account = (platform: ExchangePlatform): ExchangeAccount => ({
  userId: 'ann',
  environment: 'paper',
  credentials: {
    apiKey: 'key of ann',
    apiSecret: 'secret of ann',
    ...(platform === 'Bitget' ? { passphrase: 'phrase of ann' } : {}),
    accountMode: platform === 'Bitget' ? 'classic' : 'unified',
  },
});

const inTime = (): PlacementContext => ({ notAfter: new Date(Date.now() + 60_000) });

const ENTRY: EntryOrder = {
  token: 'BTC',
  side: 'buy',
  clientOrderId: 'trade-a1',
  price: '65000.5',
  quantity: '0.012',
  leverage: 10,
  stopLoss: '63000',
  takeProfit: '69000.1',
};

interface Sent {
  route: string;
  parameters: Record<string, unknown>;
}

type Case = [string, (exchange: Exchange, of: ExchangeAccount) => Promise<unknown>, Sent[]];

const reference = { token: 'BTC', clientOrderId: 'trade-a1' };
const protection = { token: 'BTC', side: 'long' as const, quantity: '0.012', clientOrderId: 'trade-p' };
const closed = {
  positionId: 'p',
  token: 'BTC',
  side: 'long' as const,
  quantity: '0.01',
  entryPrice: '65000',
  closePrice: '66000',
  realisedProfit: '10',
  fees: '0.786',
  openedAt: new Date(1795273017323),
  closedAt: new Date(1795273117323),
};

const CASES: Record<ExchangePlatform, Case[]> = {
  Bitget: [
    [
      'a price',
      (exchange) => exchange.fetchTicker('BTC'),
      [
        {
          route: 'GET /api/v2/mix/market/ticker',
          parameters: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' },
        },
      ],
    ],
    [
      'a balance',
      (exchange, of) => exchange.fetchBalance(of),
      [{ route: 'GET /api/v2/mix/account/accounts', parameters: { productType: 'USDT-FUTURES' } }],
    ],
    [
      'a key',
      (exchange, of) => exchange.inspectKey(of),
      [{ route: 'GET /api/v2/spot/account/info', parameters: {} }],
    ],
    [
      'an entry',
      (exchange, of) => exchange.placeOrder(of, ENTRY, inTime()),
      [
        {
          route: 'POST /api/v2/mix/order/place-order',
          parameters: {
            symbol: 'BTCUSDT',
            productType: 'USDT-FUTURES',
            marginCoin: 'USDT',
            marginMode: 'isolated',
            side: 'buy',
            orderType: 'limit',
            force: 'GTC',
            price: '65000.5',
            size: '0.012',
            clientOid: 'trade-a1',
            presetStopLossPrice: '63000',
            presetStopSurplusPrice: '69000.1',
          },
        },
      ],
    ],
    [
      'a look-up',
      (exchange, of) => exchange.findOrder(of, reference),
      [
        {
          route: 'GET /api/v2/mix/order/detail',
          parameters: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', clientOid: 'trade-a1' },
        },
      ],
    ],
    [
      'a cancel',
      (exchange, of) => exchange.cancelOrder(of, reference),
      [
        {
          route: 'POST /api/v2/mix/order/cancel-order',
          parameters: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', clientOid: 'trade-a1' },
        },
      ],
    ],
    [
      'open orders',
      (exchange, of) => exchange.fetchOpenOrders(of, 'BTC'),
      [
        {
          route: 'GET /api/v2/mix/order/orders-pending',
          parameters: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' },
        },
      ],
    ],
    [
      'the holdings',
      (exchange, of) => exchange.fetchHoldings(of),
      [
        {
          route: 'GET /api/v2/mix/position/all-position',
          parameters: { productType: 'USDT-FUTURES', marginCoin: 'USDT' },
        },
        {
          route: 'GET /api/v2/mix/order/orders-plan-pending',
          parameters: { planType: 'profit_loss', productType: 'USDT-FUTURES' },
        },
      ],
    ],
    [
      'a missing stop',
      (exchange, of) =>
        exchange.placeProtection(of, { ...protection, stopLoss: '63000', takeProfit: null }, inTime()),
      [
        {
          route: 'POST /api/v2/mix/order/place-tpsl-order',
          parameters: {
            symbol: 'BTCUSDT',
            productType: 'USDT-FUTURES',
            marginCoin: 'USDT',
            orderType: 'market',
            force: 'GTC',
            size: '0.012',
            clientOid: 'trade-p',
            planType: 'pos_loss',
            holdSide: 'buy',
            triggerPrice: '63000',
            triggerType: 'mark_price',
          },
        },
      ],
    ],
    [
      'a close',
      (exchange, of) => exchange.closePosition(of, { ...protection, clientOrderId: 'trade-c' }, inTime()),
      [
        {
          route: 'POST /api/v2/mix/order/place-order',
          parameters: {
            symbol: 'BTCUSDT',
            productType: 'USDT-FUTURES',
            marginCoin: 'USDT',
            marginMode: 'isolated',
            side: 'sell',
            orderType: 'market',
            force: 'GTC',
            size: '0.012',
            clientOid: 'trade-c',
            reduceOnly: 'YES',
          },
        },
      ],
    ],
    [
      'what ended a position',
      (exchange, of) => exchange.findClosingOrder(of, closed),
      [
        {
          route: 'GET /api/v2/mix/order/orders-history',
          parameters: {
            symbol: 'BTCUSDT',
            productType: 'USDT-FUTURES',
            startTime: '1795272957323',
            endTime: '1795273177323',
            limit: '100',
          },
        },
      ],
    ],
  ],
  Bybit: [
    [
      'a price',
      (exchange) => exchange.fetchTicker('BTC'),
      [{ route: 'GET /v5/market/tickers', parameters: { category: 'linear', symbol: 'BTCUSDT' } }],
    ],
    [
      'a balance',
      (exchange, of) => exchange.fetchBalance(of),
      [{ route: 'GET /v5/account/wallet-balance', parameters: { accountType: 'UNIFIED', coin: 'USDT' } }],
    ],
    [
      'a key',
      (exchange, of) => exchange.inspectKey(of),
      [{ route: 'GET /v5/user/query-api', parameters: {} }],
    ],
    [
      'an entry',
      (exchange, of) => exchange.placeOrder(of, ENTRY, inTime()),
      [
        {
          route: 'POST /v5/order/create',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            side: 'Buy',
            orderType: 'Limit',
            timeInForce: 'GTC',
            positionIdx: 0,
            price: '65000.5',
            qty: '0.012',
            orderLinkId: 'trade-a1',
            stopLoss: '63000',
            takeProfit: '69000.1',
            tpslMode: 'Full',
            slTriggerBy: 'MarkPrice',
            tpTriggerBy: 'MarkPrice',
            slOrderType: 'Market',
            tpOrderType: 'Market',
          },
        },
      ],
    ],
    [
      'a look-up',
      (exchange, of) => exchange.findOrder(of, reference),
      [
        {
          route: 'GET /v5/order/realtime',
          parameters: { category: 'linear', symbol: 'BTCUSDT', orderLinkId: 'trade-a1' },
        },
      ],
    ],
    [
      'a cancel',
      (exchange, of) => exchange.cancelOrder(of, reference),
      [
        {
          route: 'POST /v5/order/cancel',
          parameters: { category: 'linear', symbol: 'BTCUSDT', orderLinkId: 'trade-a1' },
        },
      ],
    ],
    [
      'open orders',
      (exchange, of) => exchange.fetchOpenOrders(of, 'BTC'),
      [
        {
          route: 'GET /v5/order/realtime',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            openOnly: '0',
            orderFilter: 'Order',
            limit: '50',
          },
        },
      ],
    ],
    [
      'the holdings',
      (exchange, of) => exchange.fetchHoldings(of),
      [
        {
          route: 'GET /v5/position/list',
          parameters: { category: 'linear', settleCoin: 'USDT', limit: '200' },
        },
      ],
    ],
    [
      'a missing stop',
      (exchange, of) =>
        exchange.placeProtection(of, { ...protection, stopLoss: '63000', takeProfit: null }, inTime()),
      [
        {
          route: 'POST /v5/position/trading-stop',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            tpslMode: 'Full',
            positionIdx: 0,
            stopLoss: '63000',
            slTriggerBy: 'MarkPrice',
            slOrderType: 'Market',
          },
        },
      ],
    ],
    [
      'a missing stop and target: the stop first, and alone',
      (exchange, of) =>
        exchange.placeProtection(of, { ...protection, stopLoss: '63000', takeProfit: '69000' }, inTime()),
      [
        {
          route: 'POST /v5/position/trading-stop',
          parameters: expect.objectContaining({ stopLoss: '63000', slTriggerBy: 'MarkPrice' }),
        },
        {
          route: 'POST /v5/position/trading-stop',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            tpslMode: 'Full',
            positionIdx: 0,
            takeProfit: '69000',
            tpTriggerBy: 'MarkPrice',
            tpOrderType: 'Market',
          },
        },
      ],
    ],
    [
      'a close',
      (exchange, of) => exchange.closePosition(of, { ...protection, clientOrderId: 'trade-c' }, inTime()),
      [
        {
          route: 'POST /v5/order/create',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            side: 'Sell',
            orderType: 'Market',
            qty: '0.012',
            orderLinkId: 'trade-c',
            reduceOnly: true,
            positionIdx: 0,
          },
        },
      ],
    ],
    [
      'what ended a position',
      (exchange, of) => exchange.findClosingOrder(of, closed),
      [
        {
          route: 'GET /v5/order/history',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            startTime: '1795272957323',
            endTime: '1795273177323',
            limit: '50',
          },
        },
      ],
    ],
    [
      'stops and targets that are left',
      (exchange, of) => exchange.cancelProtection(of, 'BTC'),
      [
        {
          route: 'GET /v5/order/realtime',
          parameters: {
            category: 'linear',
            symbol: 'BTCUSDT',
            openOnly: '0',
            orderFilter: 'StopOrder',
            limit: '50',
          },
        },
        {
          route: 'POST /v5/order/cancel',
          parameters: { category: 'linear', symbol: 'BTCUSDT', orderId: 'stop-1' },
        },
        {
          route: 'POST /v5/order/cancel',
          parameters: { category: 'linear', symbol: 'BTCUSDT', orderId: 'target-1' },
        },
      ],
    ],
  ],
};

/** An account in hedge and cross mode, at another leverage, that becomes what is set. */
const PREPARATION: Record<ExchangePlatform, Sent[]> = {
  Bitget: [
    {
      route: 'GET /api/v2/mix/account/account',
      parameters: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' },
    },
    {
      route: 'POST /api/v2/mix/account/set-position-mode',
      parameters: { posMode: 'one_way_mode', productType: 'USDT-FUTURES' },
    },
    {
      route: 'POST /api/v2/mix/account/set-margin-mode',
      parameters: {
        symbol: 'BTCUSDT',
        marginCoin: 'USDT',
        marginMode: 'isolated',
        productType: 'USDT-FUTURES',
      },
    },
    {
      route: 'POST /api/v2/mix/account/set-leverage',
      parameters: { symbol: 'BTCUSDT', marginCoin: 'USDT', leverage: '7', productType: 'USDT-FUTURES' },
    },
    { route: 'GET /api/v2/mix/account/account', parameters: expect.anything() },
  ],
  Bybit: [
    { route: 'GET /v5/account/info', parameters: {} },
    { route: 'GET /v5/position/list', parameters: { category: 'linear', symbol: 'BTCUSDT' } },
    {
      route: 'POST /v5/position/switch-mode',
      parameters: { category: 'linear', symbol: 'BTCUSDT', mode: 0 },
    },
    { route: 'POST /v5/account/set-margin-mode', parameters: { setMarginMode: 'ISOLATED_MARGIN' } },
    {
      route: 'POST /v5/position/set-leverage',
      parameters: { category: 'linear', symbol: 'BTCUSDT', buyLeverage: '7', sellLeverage: '7' },
    },
    { route: 'GET /v5/account/info', parameters: {} },
    { route: 'GET /v5/position/list', parameters: expect.anything() },
  ],
};

/** The documented answers of an account that becomes what it is set to. */
function becoming(platform: ExchangePlatform) {
  const state = { mode: 'hedged', margin: 'crossed', leverage: '20' };
  return (request: VenueRequest): unknown => {
    const answer = documentedAnswer(platform, request) as { data?: object; result?: { list?: object[] } };
    const given = parametersIn(request);
    if (request.path.endsWith('set-position-mode') || request.path.endsWith('switch-mode'))
      state.mode = 'one-way';
    if (request.path.endsWith('set-margin-mode')) state.margin = 'isolated';
    if (request.path.endsWith('set-leverage')) state.leverage = String(given.leverage ?? given.buyLeverage);
    if (request.path.endsWith('/account/account')) {
      const levers = { isolatedLongLever: state.leverage, isolatedShortLever: state.leverage };
      const posMode = state.mode === 'one-way' ? 'one_way_mode' : 'hedge_mode';
      return { ...answer, data: { ...answer.data, ...levers, posMode, marginMode: state.margin } };
    }
    if (request.path.endsWith('/account/info') && platform === 'Bybit') {
      const marginMode = state.margin === 'isolated' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN';
      return { ...answer, result: { ...answer.result, marginMode } };
    }
    if (request.path.endsWith('/position/list')) {
      const of = (positionIdx: number) => ({
        ...answer.result?.list?.[0],
        positionIdx,
        leverage: state.leverage,
      });
      return { ...answer, result: { list: state.mode === 'one-way' ? [of(0)] : [of(1), of(2)] } };
    }
    return answer;
  };
}

describe.each(['Bitget', 'Bybit'] as const)('what is sent to %s', (platform) => {
  const sent: VenueRequest[] = [];
  let answering: (request: VenueRequest) => unknown;
  let registry: ExchangeRegistry;
  let exchange: Exchange;

  beforeAll(async () => {
    answering = (request) => documentedAnswer(platform, request);
    registry = createExchangeRegistry({
      exchangeMode: 'paper',
      bitgetBaseUrl: null,
      bybitBaseUrl: null,
      exchangeProxyUrls: [],
      exchangeTimeoutMs: 5_000,
      venue: {
        async handle(request) {
          sent.push(request);
          return jsonAnswer(200, answering(request));
        },
      },
    });
    exchange = registry.get(platform);
    await exchange.fetchContract('BTC');
  });
  afterAll(() => registry?.close());

  const shown = () =>
    sent.map((request) => ({
      route: `${request.method} ${request.path}`,
      parameters: parametersIn(request),
    }));

  test.each(CASES[platform])('%s', async (_, call, expected) => {
    sent.length = 0;
    await call(exchange, account(platform));
    expect(shown()).toEqual(expected);
  });

  test('the preparation of an account', async () => {
    sent.length = 0;
    answering = becoming(platform);
    await exchange.prepareAccount(account(platform), { token: 'BTC', leverage: 7 });
    expect(shown()).toEqual(PREPARATION[platform]);
  });

  test('private requests are signed with the key of the account, public ones carry none', async () => {
    sent.length = 0;
    answering = (request) => documentedAnswer(platform, request);
    await exchange.placeOrder(account(platform), ENTRY, inTime());
    await exchange.findOrder(account(platform), reference);
    await exchange.fetchTicker('BTC');
    const [placed, found, ticker] = sent as [VenueRequest, VenueRequest, VenueRequest];
    for (const request of [placed, found])
      expect(signatureProblem(platform, request, 'secret of ann')).toBeNull();
    expect(Object.keys(ticker.headers).filter((name) => /key|sign|phrase|bapi/i.test(name))).toEqual([]);
  });

  test('no request carries the library’s broker id', () => {
    for (const { headers } of sent) {
      expect(headers).not.toHaveProperty('x-channel-api-code');
      expect(headers).not.toHaveProperty('referer');
      expect(headers['user-agent']).toMatch(/^SignalBoard\//);
    }
  });
});
