import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { signatureProblem } from '#test/venues/exchange-suite-signatures.ts';
import { platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
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
const UNIFIED = { category: 'USDT-FUTURES' };
const BTC_UNIFIED = { ...UNIFIED, symbol: 'BTCUSDT' };
const STRATEGIES = { ...UNIFIED, type: 'tpsl' };
const LINEAR = { category: 'linear' };
const BTC_LINEAR = { ...LINEAR, symbol: 'BTCUSDT' };
const AROUND = { startTime: '1795272957323', endTime: '1795273177323' };
const STOPS = { ...BTC_LINEAR, openOnly: '0', orderFilter: 'StopOrder', limit: '50' };
const WHOLE_POSITION = { tpslMode: 'Full', positionIdx: 0 };
const STOP_BY_MARK = { slTriggerBy: 'MarkPrice', slOrderType: 'Market' };
const TARGET_BY_MARK = { tpTriggerBy: 'MarkPrice', tpOrderType: 'Market' };

const CURSORS = { classic: '12', unified: '1:12', Bybit: '12%3A1' };

const CASES: Record<
  string,
  { call: (exchange: Exchange, of: ExchangeAccount) => Promise<unknown> } & Record<SuiteDialect, Sent[]>
> = {
  'a page of the ledger': {
    call: (exchange, of) =>
      exchange.fetchLedger(of, {
        from: new Date(1795272957323),
        to: new Date(1795273177323),
        cursor: CURSORS[exchange.platform === 'Bybit' ? 'Bybit' : of.credentials.accountMode],
      }),
    Bitget: [['GET /api/v2/mix/account/bill', { ...FUTURES, ...AROUND, limit: '100', idLessThan: '12' }]],
    'Bitget unified': [
      [
        'GET /api/v3/account/financial-records',
        { category: 'SPOT', coin: 'USDT', ...AROUND, limit: '100', cursor: '12' },
      ],
    ],
    Bybit: [
      [
        'GET /v5/account/transaction-log',
        { accountType: 'UNIFIED', currency: 'USDT', ...AROUND, limit: '50', cursor: '12:1' },
      ],
    ],
  },
  'a price': {
    call: (exchange) => exchange.fetchTicker('BTC'),
    Bitget: [['GET /api/v2/mix/market/ticker', BTC_FUTURES]],
    'Bitget unified': [['GET /api/v2/mix/market/ticker', BTC_FUTURES]],
    Bybit: [['GET /v5/market/tickers', BTC_LINEAR]],
  },
  'the mark prices of all tokens': {
    call: (exchange) => exchange.fetchMarkPrices(['BTC']),
    Bitget: [['GET /api/v2/mix/market/tickers', FUTURES]],
    'Bitget unified': [['GET /api/v2/mix/market/tickers', FUTURES]],
    Bybit: [['GET /v5/market/tickers', LINEAR]],
  },
  'a balance': {
    call: (exchange, of) => exchange.fetchBalance(of),
    Bitget: [['GET /api/v2/mix/account/accounts', FUTURES]],
    'Bitget unified': [['GET /api/v3/account/assets', {}]],
    Bybit: [['GET /v5/account/wallet-balance', { accountType: 'UNIFIED', coin: 'USDT' }]],
  },
  'all that an order in a token needs to know': {
    call: (exchange, of) => exchange.readTradeAccount(of, { token: 'BTC', leverage: 10 }),
    Bitget: [
      ['GET /api/v2/mix/position/single-position', { ...BTC_FUTURES, marginCoin: 'USDT' }],
      ['GET /api/v2/mix/account/account', { ...BTC_FUTURES, marginCoin: 'USDT' }],
    ],
    'Bitget unified': [
      ['GET /api/v3/position/current-position', BTC_UNIFIED],
      ['GET /api/v3/account/assets', {}],
      ['GET /api/v3/account/settings', {}],
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
    'Bitget unified': [
      ['GET /api/v3/account/settings', {}],
      ['GET /api/v3/account/info', {}],
    ],
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
    'Bitget unified': [
      [
        'POST /api/v3/trade/place-order',
        {
          ...BTC_UNIFIED,
          marginMode: 'isolated',
          side: 'buy',
          orderType: 'limit',
          timeInForce: 'gtc',
          price: '65000.5',
          qty: '0.012',
          clientOid: 'trade-a1',
          stopLoss: '63000',
          slTriggerBy: 'mark',
          slOrderType: 'market',
          takeProfit: '69000.1',
          tpTriggerBy: 'mark',
          tpOrderType: 'market',
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
    'Bitget unified': [['GET /api/v3/trade/order-info', { clientOid: 'trade-a1' }]],
    Bybit: [['GET /v5/order/realtime', { ...BTC_LINEAR, orderLinkId: 'trade-a1' }]],
  },
  'a cancel': {
    call: (exchange, of) => exchange.cancelOrder(of, REFERENCE),
    Bitget: [['POST /api/v2/mix/order/cancel-order', { ...BTC_FUTURES, clientOid: 'trade-a1' }]],
    'Bitget unified': [['POST /api/v3/trade/cancel-order', { ...BTC_UNIFIED, clientOid: 'trade-a1' }]],
    Bybit: [['POST /v5/order/cancel', { ...BTC_LINEAR, orderLinkId: 'trade-a1' }]],
  },
  'open orders': {
    call: (exchange, of) => exchange.fetchOpenOrders(of, 'BTC'),
    Bitget: [['GET /api/v2/mix/order/orders-pending', BTC_FUTURES]],
    'Bitget unified': [['GET /api/v3/trade/unfilled-orders', { ...BTC_UNIFIED, limit: '100' }]],
    Bybit: [['GET /v5/order/realtime', { ...BTC_LINEAR, openOnly: '0', orderFilter: 'Order', limit: '50' }]],
  },
  'the fill of an order that is still open': {
    call: (exchange, of) => exchange.fetchFill(of, REFERENCE),
    Bitget: [],
    'Bitget unified': [['GET /api/v3/trade/order-info', { clientOid: 'trade-a1' }]],
    Bybit: [],
  },
  'a position with its stop and target': {
    call: (exchange, of) => exchange.fetchHolding(of, 'BTC'),
    Bitget: [['GET /api/v2/mix/position/single-position', { ...BTC_FUTURES, marginCoin: 'USDT' }]],
    'Bitget unified': [
      ['GET /api/v3/position/current-position', BTC_UNIFIED],
      ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
    ],
    Bybit: [['GET /v5/position/list', BTC_LINEAR]],
  },
  'the holdings': {
    call: (exchange, of) => exchange.fetchHoldings(of),
    Bitget: [
      ['GET /api/v2/mix/position/all-position', { ...FUTURES, marginCoin: 'USDT' }],
      ['GET /api/v2/mix/order/orders-plan-pending', { ...FUTURES, planType: 'profit_loss' }],
    ],
    'Bitget unified': [
      ['GET /api/v3/position/current-position', UNIFIED],
      ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
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
    'Bitget unified': [
      [
        'POST /api/v3/trade/place-strategy-order',
        {
          ...BTC_UNIFIED,
          type: 'tpsl',
          tpslMode: 'full',
          side: 'sell',
          posSide: 'long',
          qty: '0.012',
          clientOid: 'trade-p',
          stopLoss: '63000',
          slTriggerBy: 'mark',
          slOrderType: 'market',
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
    'Bitget unified': [
      ['POST /api/v3/trade/place-strategy-order', expect.objectContaining({ stopLoss: '63000' })],
      [
        'POST /api/v3/trade/place-strategy-order',
        expect.objectContaining({ takeProfit: '69000', tpTriggerBy: 'mark' }),
      ],
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
    'Bitget unified': [
      ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
      [
        'POST /api/v3/trade/modify-strategy-order',
        { orderId: '21', qty: '0.012', stopLoss: '62000', slTriggerBy: 'mark', slOrderType: 'market' },
      ],
      ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
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
    'Bitget unified': [
      [
        'POST /api/v3/trade/place-order',
        {
          ...BTC_UNIFIED,
          marginMode: 'isolated',
          side: 'sell',
          orderType: 'market',
          timeInForce: 'gtc',
          qty: '0.012',
          clientOid: 'trade-c',
          reduceOnly: 'yes',
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
    'Bitget unified': [
      ['GET /api/v3/trade/history-orders', { ...BTC_UNIFIED, ...AROUND, limit: '100' }],
      ['GET /api/v3/trade/history-strategy-orders', { ...STRATEGIES, ...AROUND, limit: '100' }],
    ],
    Bybit: [['GET /v5/order/history', { ...BTC_LINEAR, ...AROUND, limit: '50' }]],
  },
};

/** Requests that cancel a stop and a target: each by its own type at Bitget, and listed again. */
const CANCELS: Record<SuiteDialect, Sent[]> = {
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
  'Bitget unified': [
    ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
    ['POST /api/v3/trade/cancel-strategy-order', { orderId: '21' }],
    ['POST /api/v3/trade/cancel-strategy-order', { orderId: '22' }],
    ['GET /api/v3/trade/unfilled-strategy-orders', STRATEGIES],
  ],
  Bybit: [
    ['GET /v5/order/realtime', STOPS],
    ['POST /v5/order/cancel', { ...BTC_LINEAR, orderId: 'stop-1' }],
    ['POST /v5/order/cancel', { ...BTC_LINEAR, orderId: 'target-1' }],
    ['GET /v5/order/realtime', STOPS],
  ],
};

/** Requests that prepare an account in hedge and cross mode with another leverage. */
const PREPARATION: Record<SuiteDialect, Sent[]> = {
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
  'Bitget unified': [
    ['GET /api/v3/account/settings', {}],
    ['POST /api/v3/account/set-hold-mode', { holdMode: 'one_way_mode' }],
    [
      'POST /api/v3/account/set-leverage',
      { ...BTC_UNIFIED, coin: 'USDT', marginMode: 'isolated', leverage: '7' },
    ],
    ['GET /api/v3/account/settings', {}],
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
function becoming(dialect: SuiteDialect) {
  const state = { mode: 'hedged', margin: 'crossed', leverage: '20' };
  return (request: VenueRequest): unknown => {
    const answer = documentedAnswer(dialect, request) as { data?: object; result?: { list?: object[] } };
    const given = parametersIn(request);
    const ends = (...names: string[]) => names.some((name) => request.path.endsWith(name));
    if (ends('set-position-mode', 'set-hold-mode', 'switch-mode')) state.mode = 'one-way';
    if (ends('set-margin-mode')) state.margin = 'isolated';
    if (ends('set-leverage')) state.leverage = String(given.leverage ?? given.buyLeverage);
    if (ends('/account/account')) {
      const levers = { isolatedLongLever: state.leverage, isolatedShortLever: state.leverage };
      const posMode = state.mode === 'one-way' ? 'one_way_mode' : 'hedge_mode';
      return { ...answer, data: { ...answer.data, ...levers, posMode, marginMode: state.margin } };
    }
    if (ends('/v3/account/settings')) {
      const holdMode = state.mode === 'one-way' ? 'one_way_mode' : 'hedge_mode';
      const configured = { ...UNIFIED, symbol: 'BTCUSDT', marginMode: 'isolated', leverage: state.leverage };
      return { ...answer, data: { ...answer.data, holdMode, symbolConfigList: [configured] } };
    }
    if (ends('/account/info') && dialect === 'Bybit') {
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

describe.each(['Bitget', 'Bitget unified', 'Bybit'] as const)('requests to %s', (dialect) => {
  const sent: VenueRequest[] = [];
  const account = accountOn(dialect);
  let answering = (request: VenueRequest) => documentedAnswer(dialect, request);
  let registry: ExchangeRegistry;
  let exchange: Exchange;

  beforeAll(async () => {
    registry = answeringRegistry((request) => {
      sent.push(request);
      return answering(request);
    });
    exchange = registry.get(platformOf(dialect));
    // Each kind of account has a client that reads the contracts once.
    await exchange.fetchContract('BTC');
    await exchange.fetchOpenOrders(account, 'BTC');
  });
  afterAll(() => registry?.close());

  const shown = () => sent.map((request) => [`${request.method} ${request.path}`, parametersIn(request)]);

  test.each(Object.entries(CASES))('%s', async (_, { call, ...expected }) => {
    sent.length = 0;
    await call(exchange, account);
    expect(shown()).toEqual(expected[dialect]);
  });

  test('leftover stops and targets', async () => {
    sent.length = 0;
    let isCancelled = false;
    answering = (request) => {
      if (request.path.includes('cancel')) isCancelled = true;
      const answer = documentedAnswer(dialect, request);
      if (!isCancelled || request.method === 'POST') return answer;
      const none = { entrustedList: [], list: [], nextPageCursor: '' };
      return { ...(answer as object), data: dialect === 'Bitget unified' ? [] : none, result: none };
    };
    await exchange.cancelProtection(account, 'BTC');
    expect(shown()).toEqual(CANCELS[dialect]);
  });

  test('the preparation of an account', async () => {
    sent.length = 0;
    answering = becoming(dialect);
    await exchange.prepareAccount(account, { token: 'BTC', leverage: 7 });
    expect(shown()).toEqual(PREPARATION[dialect]);
  });

  test('signs private requests with the account’s key; public requests carry none', async () => {
    sent.length = 0;
    answering = (request) => documentedAnswer(dialect, request);
    await exchange.placeOrder(account, ENTRY, inTime());
    await exchange.findOrder(account, REFERENCE);
    await exchange.fetchTicker('BTC');
    const [placed, found, ticker] = sent as [VenueRequest, VenueRequest, VenueRequest];
    for (const request of [placed, found])
      expect(signatureProblem(dialect, request, 'secret of ann')).toBeNull();
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
