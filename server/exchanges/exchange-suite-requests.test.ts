import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { signatureProblem } from '#test/venues/exchange-suite-signatures.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { accountOn, answeringRegistry, buy, inTime } from '#test/venues/test-registry.ts';
import { asExchangeError, type Exchange, type ExchangeAccount } from './exchange.ts';
import type { ExchangeRegistry } from './registry.ts';

/*
 * The exact requests to each exchange, written from the client library's documented formats and the exchanges' own
 * documentation.
 */

const ENTRY = buy({ clientOrderId: 'trade-a1', price: '65000.5', quantity: '0.012' });
const REFERENCE = { token: 'BTC', clientOrderId: 'trade-a1' };
const PROTECTION = { token: 'BTC', side: 'long' as const, quantity: '0.012', clientOrderId: 'trade-p' };
const CLOSED = {
  positionId: 'p',
  token: 'BTC',
  side: 'long' as const,
  quantity: '0.01',
  entryPrice: '65000',
  closePrice: '66000',
  realisedProfit: '10',
  fees: '0.786',
  funding: '0',
  openedAt: new Date(1795273017323),
  closedAt: new Date(1795273117323),
};

type Sent = [route: string, parameters: unknown];

const FUTURES = { productType: 'USDT-FUTURES' };
const BTC_FUTURES = { ...FUTURES, symbol: 'BTCUSDT' };
const BTC_ORDER = { ...BTC_FUTURES, marginCoin: 'USDT', force: 'GTC', size: '0.012' };
const LINEAR = { category: 'linear' };
const BTC_LINEAR = { ...LINEAR, symbol: 'BTCUSDT' };
const AROUND = { startTime: '1795272957323', endTime: '1795273177323' };
const STOPS = { ...BTC_LINEAR, openOnly: '0', orderFilter: 'StopOrder', limit: '50' };
const WHOLE_POSITION = { tpslMode: 'Full', positionIdx: 0 };
const STOP_BY_MARK = { slTriggerBy: 'MarkPrice', slOrderType: 'Market' };
const TARGET_BY_MARK = { tpTriggerBy: 'MarkPrice', tpOrderType: 'Market' };

const CASES: Record<
  string,
  { call: (exchange: Exchange, of: ExchangeAccount) => Promise<unknown> } & Record<ExchangePlatform, Sent[]>
> = {
  'a price': {
    call: (exchange) => exchange.fetchTicker('BTC'),
    Bitget: [['GET /api/v2/mix/market/ticker', BTC_FUTURES]],
    Bybit: [['GET /v5/market/tickers', BTC_LINEAR]],
  },
  'a balance': {
    call: (exchange, of) => exchange.fetchBalance(of),
    Bitget: [['GET /api/v2/mix/account/accounts', FUTURES]],
    Bybit: [['GET /v5/account/wallet-balance', { accountType: 'UNIFIED', coin: 'USDT' }]],
  },
  'all that an order in a token needs to know': {
    call: (exchange, of) => exchange.readTradeAccount(of, { token: 'BTC', leverage: 10 }),
    Bitget: [
      ['GET /api/v2/mix/position/single-position', { ...BTC_FUTURES, marginCoin: 'USDT' }],
      ['GET /api/v2/mix/account/account', { ...BTC_FUTURES, marginCoin: 'USDT' }],
    ],
    Bybit: [
      ['GET /v5/position/list', BTC_LINEAR],
      ['GET /v5/account/wallet-balance', { accountType: 'UNIFIED', coin: 'USDT' }],
      ['GET /v5/account/info', {}],
    ],
  },
  'a key': {
    call: (exchange, of) => exchange.inspectKey(of),
    Bitget: [['GET /api/v2/spot/account/info', {}]],
    Bybit: [['GET /v5/user/query-api', {}]],
  },
  'an entry': {
    call: (exchange, of) => exchange.placeOrder(of, ENTRY, inTime()),
    Bitget: [
      [
        'POST /api/v2/mix/order/place-order',
        {
          ...BTC_ORDER,
          marginMode: 'isolated',
          side: 'buy',
          orderType: 'limit',
          price: '65000.5',
          clientOid: 'trade-a1',
          presetStopLossPrice: '63000',
          presetStopSurplusPrice: '69000.1',
        },
      ],
    ],
    Bybit: [
      [
        'POST /v5/order/create',
        {
          ...BTC_LINEAR,
          ...WHOLE_POSITION,
          ...STOP_BY_MARK,
          ...TARGET_BY_MARK,
          side: 'Buy',
          orderType: 'Limit',
          timeInForce: 'GTC',
          price: '65000.5',
          qty: '0.012',
          orderLinkId: 'trade-a1',
          stopLoss: '63000',
          takeProfit: '69000.1',
        },
      ],
    ],
  },
  'a look-up': {
    call: (exchange, of) => exchange.findOrder(of, REFERENCE),
    Bitget: [['GET /api/v2/mix/order/detail', { ...BTC_FUTURES, clientOid: 'trade-a1' }]],
    Bybit: [['GET /v5/order/realtime', { ...BTC_LINEAR, orderLinkId: 'trade-a1' }]],
  },
  'a cancel': {
    call: (exchange, of) => exchange.cancelOrder(of, REFERENCE),
    Bitget: [['POST /api/v2/mix/order/cancel-order', { ...BTC_FUTURES, clientOid: 'trade-a1' }]],
    Bybit: [['POST /v5/order/cancel', { ...BTC_LINEAR, orderLinkId: 'trade-a1' }]],
  },
  'open orders': {
    call: (exchange, of) => exchange.fetchOpenOrders(of, 'BTC'),
    Bitget: [['GET /api/v2/mix/order/orders-pending', BTC_FUTURES]],
    Bybit: [['GET /v5/order/realtime', { ...BTC_LINEAR, openOnly: '0', orderFilter: 'Order', limit: '50' }]],
  },
  'a position with its stop and target': {
    call: (exchange, of) => exchange.fetchHolding(of, 'BTC'),
    Bitget: [['GET /api/v2/mix/position/single-position', { ...BTC_FUTURES, marginCoin: 'USDT' }]],
    Bybit: [['GET /v5/position/list', BTC_LINEAR]],
  },
  'the holdings': {
    call: (exchange, of) => exchange.fetchHoldings(of),
    Bitget: [
      ['GET /api/v2/mix/position/all-position', { ...FUTURES, marginCoin: 'USDT' }],
      ['GET /api/v2/mix/order/orders-plan-pending', { ...FUTURES, planType: 'profit_loss' }],
    ],
    Bybit: [['GET /v5/position/list', { ...LINEAR, settleCoin: 'USDT', limit: '200' }]],
  },
  'a missing stop': {
    call: (exchange, of) =>
      exchange.placeProtection(of, { ...PROTECTION, stopLoss: '63000', takeProfit: null }, inTime()),
    Bitget: [
      [
        'POST /api/v2/mix/order/place-tpsl-order',
        {
          ...BTC_ORDER,
          orderType: 'market',
          clientOid: 'trade-p',
          planType: 'pos_loss',
          holdSide: 'buy',
          triggerPrice: '63000',
          triggerType: 'mark_price',
        },
      ],
    ],
    Bybit: [
      [
        'POST /v5/position/trading-stop',
        { ...BTC_LINEAR, ...WHOLE_POSITION, ...STOP_BY_MARK, stopLoss: '63000' },
      ],
    ],
  },
  'a missing stop and target: stop first, in its own request': {
    call: (exchange, of) =>
      exchange.placeProtection(of, { ...PROTECTION, stopLoss: '63000', takeProfit: '69000' }, inTime()),
    Bitget: [
      ['POST /api/v2/mix/order/place-tpsl-order', expect.objectContaining({ planType: 'pos_loss' })],
      ['POST /api/v2/mix/order/place-tpsl-order', expect.objectContaining({ planType: 'pos_profit' })],
    ],
    Bybit: [
      [
        'POST /v5/position/trading-stop',
        { ...BTC_LINEAR, ...WHOLE_POSITION, ...STOP_BY_MARK, stopLoss: '63000' },
      ],
      [
        'POST /v5/position/trading-stop',
        { ...BTC_LINEAR, ...WHOLE_POSITION, ...TARGET_BY_MARK, takeProfit: '69000' },
      ],
    ],
  },
  'a moved stop that is not seen afterwards: the old one is not touched': {
    call: (exchange, of) =>
      exchange
        .moveProtection(of, { ...PROTECTION, stopLoss: '62000', takeProfit: null }, inTime())
        .catch(asExchangeError),
    Bitget: [
      ['GET /api/v2/mix/order/orders-plan-pending', { ...BTC_FUTURES, planType: 'profit_loss' }],
      [
        'POST /api/v2/mix/order/place-tpsl-order',
        {
          ...BTC_ORDER,
          orderType: 'market',
          clientOid: 'trade-p',
          planType: 'loss_plan',
          holdSide: 'buy',
          triggerPrice: '62000',
          triggerType: 'mark_price',
        },
      ],
      ['GET /api/v2/mix/order/orders-plan-pending', { ...BTC_FUTURES, planType: 'profit_loss' }],
    ],
    Bybit: [
      [
        'POST /v5/position/trading-stop',
        { ...BTC_LINEAR, ...WHOLE_POSITION, ...STOP_BY_MARK, stopLoss: '62000' },
      ],
      ['GET /v5/position/list', BTC_LINEAR],
    ],
  },
  'a close': {
    call: (exchange, of) => exchange.closePosition(of, { ...PROTECTION, clientOrderId: 'trade-c' }, inTime()),
    Bitget: [
      [
        'POST /api/v2/mix/order/place-order',
        {
          ...BTC_ORDER,
          marginMode: 'isolated',
          side: 'sell',
          orderType: 'market',
          clientOid: 'trade-c',
          reduceOnly: 'YES',
        },
      ],
    ],
    Bybit: [
      [
        'POST /v5/order/create',
        {
          ...BTC_LINEAR,
          side: 'Sell',
          orderType: 'Market',
          qty: '0.012',
          orderLinkId: 'trade-c',
          reduceOnly: true,
          positionIdx: 0,
        },
      ],
    ],
  },
  'the order that ended a position': {
    call: (exchange, of) => exchange.findClosingOrder(of, CLOSED),
    Bitget: [['GET /api/v2/mix/order/orders-history', { ...BTC_FUTURES, ...AROUND, limit: '100' }]],
    Bybit: [['GET /v5/order/history', { ...BTC_LINEAR, ...AROUND, limit: '50' }]],
  },
};

/** Requests that cancel a stop and a target: each by its own type at Bitget, and listed again. */
const CANCELS: Record<ExchangePlatform, Sent[]> = {
  Bitget: [
    ['GET /api/v2/mix/order/orders-plan-pending', { ...BTC_FUTURES, planType: 'profit_loss' }],
    ...[
      { planType: 'pos_loss', orderIdList: [{ orderId: '21' }] },
      { planType: 'pos_profit', orderIdList: [{ orderId: '22' }] },
    ].map(
      (plan): Sent => [
        'POST /api/v2/mix/order/cancel-plan-order',
        { ...BTC_FUTURES, marginCoin: 'USDT', ...plan },
      ],
    ),
    ['GET /api/v2/mix/order/orders-plan-pending', { ...BTC_FUTURES, planType: 'profit_loss' }],
  ],
  Bybit: [
    ['GET /v5/order/realtime', STOPS],
    ['POST /v5/order/cancel', { ...BTC_LINEAR, orderId: 'stop-1' }],
    ['POST /v5/order/cancel', { ...BTC_LINEAR, orderId: 'target-1' }],
    ['GET /v5/order/realtime', STOPS],
  ],
};

/** Requests that prepare an account in hedge and cross mode with another leverage. */
const PREPARATION: Record<ExchangePlatform, Sent[]> = {
  Bitget: [
    ['GET /api/v2/mix/account/account', { ...BTC_FUTURES, marginCoin: 'USDT' }],
    ['POST /api/v2/mix/account/set-position-mode', { ...FUTURES, posMode: 'one_way_mode' }],
    [
      'POST /api/v2/mix/account/set-margin-mode',
      { ...BTC_FUTURES, marginCoin: 'USDT', marginMode: 'isolated' },
    ],
    ['POST /api/v2/mix/account/set-leverage', { ...BTC_FUTURES, marginCoin: 'USDT', leverage: '7' }],
    ['GET /api/v2/mix/account/account', expect.anything()],
  ],
  Bybit: [
    ['GET /v5/account/info', {}],
    ['GET /v5/position/list', BTC_LINEAR],
    ['POST /v5/position/switch-mode', { ...BTC_LINEAR, mode: 0 }],
    ['POST /v5/account/set-margin-mode', { setMarginMode: 'ISOLATED_MARGIN' }],
    ['POST /v5/position/set-leverage', { ...BTC_LINEAR, buyLeverage: '7', sellLeverage: '7' }],
    ['GET /v5/account/info', {}],
    ['GET /v5/position/list', expect.anything()],
  ],
};

/** Documented answers of an account whose settings can be changed. */
function becoming(platform: ExchangePlatform) {
  const state = { mode: 'hedged', margin: 'crossed', leverage: '20' };
  return (request: VenueRequest): unknown => {
    const answer = documentedAnswer(platform, request) as { data?: object; result?: { list?: object[] } };
    const given = parametersIn(request);
    const ends = (...names: string[]) => names.some((name) => request.path.endsWith(name));
    if (ends('set-position-mode', 'switch-mode')) state.mode = 'one-way';
    if (ends('set-margin-mode')) state.margin = 'isolated';
    if (ends('set-leverage')) state.leverage = String(given.leverage ?? given.buyLeverage);
    if (ends('/account/account')) {
      const levers = { isolatedLongLever: state.leverage, isolatedShortLever: state.leverage };
      const posMode = state.mode === 'one-way' ? 'one_way_mode' : 'hedge_mode';
      return { ...answer, data: { ...answer.data, ...levers, posMode, marginMode: state.margin } };
    }
    if (ends('/account/info') && platform === 'Bybit') {
      const marginMode = state.margin === 'isolated' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN';
      return { ...answer, result: { ...answer.result, marginMode } };
    }
    if (ends('/position/list')) {
      const { leverage } = state;
      const of = (positionIdx: number) => ({ ...answer.result?.list?.[0], positionIdx, leverage });
      return { ...answer, result: { list: state.mode === 'one-way' ? [of(0)] : [of(1), of(2)] } };
    }
    return answer;
  };
}

describe.each(['Bitget', 'Bybit'] as const)('requests to %s', (platform) => {
  const sent: VenueRequest[] = [];
  const account = accountOn(platform);
  let answering = (request: VenueRequest) => documentedAnswer(platform, request);
  let registry: ExchangeRegistry;
  let exchange: Exchange;

  beforeAll(async () => {
    registry = answeringRegistry((request) => {
      sent.push(request);
      return answering(request);
    });
    exchange = registry.get(platform);
    await exchange.fetchContract('BTC');
  });
  afterAll(() => registry?.close());

  const shown = () => sent.map((request) => [`${request.method} ${request.path}`, parametersIn(request)]);

  test.each(Object.entries(CASES))('%s', async (_, { call, ...expected }) => {
    sent.length = 0;
    await call(exchange, account);
    expect(shown()).toEqual(expected[platform]);
  });

  test('leftover stops and targets', async () => {
    sent.length = 0;
    let isCancelled = false;
    answering = (request) => {
      if (request.path.includes('cancel')) isCancelled = true;
      const answer = documentedAnswer(platform, request);
      if (!isCancelled || request.method === 'POST') return answer;
      const none = { entrustedList: [], list: [], nextPageCursor: '' };
      return { ...(answer as object), data: none, result: none };
    };
    await exchange.cancelProtection(account, 'BTC');
    expect(shown()).toEqual(CANCELS[platform]);
  });

  test('the preparation of an account', async () => {
    sent.length = 0;
    answering = becoming(platform);
    await exchange.prepareAccount(account, { token: 'BTC', leverage: 7 });
    expect(shown()).toEqual(PREPARATION[platform]);
  });

  test('signs private requests with the account’s key; public requests carry none', async () => {
    sent.length = 0;
    answering = (request) => documentedAnswer(platform, request);
    await exchange.placeOrder(account, ENTRY, inTime());
    await exchange.findOrder(account, REFERENCE);
    await exchange.fetchTicker('BTC');
    const [placed, found, ticker] = sent as [VenueRequest, VenueRequest, VenueRequest];
    for (const request of [placed, found])
      expect(signatureProblem(platform, request, 'secret of ann')).toBeNull();
    expect(Object.keys(ticker.headers).filter((name) => /key|sign|phrase|bapi/i.test(name))).toEqual([]);
  });

  test('sends no broker id of the library', () => {
    for (const { headers } of sent) {
      expect(headers).not.toHaveProperty('x-channel-api-code');
      expect(headers).not.toHaveProperty('referer');
      expect(headers['user-agent']).toMatch(/^SignalBoard\//);
    }
  });
});
