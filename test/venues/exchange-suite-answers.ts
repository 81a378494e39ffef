import type { VenueRequest } from '#test/venues/http.ts';
import { BITGET_UNIFIED } from './exchange-suite-answers-unified.ts';
import type { SuiteDialect } from './exchange-suite-words.ts';

/*
 * An exchange that gives the documented answer to every request and knows one order, one position and one stop. For
 * tests of outgoing requests and of reading answers; it has no books.
 */

const NOW = '1795273117323';
const EARLIER = '1795273017323';

/** The query of a GET, the body of a POST. */
export function parametersIn({ method, query, body }: VenueRequest): Record<string, unknown> {
  if (method === 'POST') return JSON.parse(body || '{}') as Record<string, unknown>;
  return Object.fromEntries(new URLSearchParams(query));
}

/** The body of the documented answer; null for an unknown path. */
export function documentedAnswer(dialect: SuiteDialect, request: VenueRequest): unknown {
  const end = request.path.replace(/^\/(api\/v[23]|v5)\//, '');
  const given = parametersIn(request);
  if (dialect !== 'Bybit') {
    const answers = request.path.startsWith('/api/v3/') ? BITGET_UNIFIED : BITGET;
    const data = answers[end]?.(given);
    return data === undefined ? null : { code: '00000', msg: 'success', requestTime: Number(NOW), data };
  }
  const result = BYBIT[end]?.(given);
  return result === undefined
    ? null
    : { retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: Number(NOW) };
}

type Answer = (given: Record<string, unknown>) => unknown;

const bitgetOrder = (clientOid: unknown) => ({
  symbol: 'BTCUSDT',
  size: '0.01',
  orderId: '1300000000000000007',
  clientOid: String(clientOid ?? 'c1'),
  baseVolume: '0.004',
  quoteVolume: '260',
  fee: '-0.156',
  price: '65000',
  priceAvg: '65000',
  state: 'partially_filled',
  status: 'partially_filled',
  side: 'buy',
  force: 'gtc',
  totalProfits: '0',
  posSide: 'net',
  marginCoin: 'USDT',
  presetStopSurplusPrice: '69000',
  presetStopLossPrice: '63000',
  orderType: 'limit',
  leverage: '10',
  marginMode: 'isolated',
  reduceOnly: 'NO',
  enterPointSource: 'API',
  tradeSide: 'buy_single',
  posMode: 'one_way_mode',
  orderSource: 'normal',
  cTime: EARLIER,
  uTime: NOW,
});

const bitgetPlan = (planType: string, triggerPrice: string, orderId: string) => ({
  planType,
  symbol: 'BTCUSDT',
  size: '',
  orderId,
  clientOid: `plan-${orderId}`,
  price: '',
  executePrice: '',
  triggerPrice,
  triggerType: 'mark_price',
  planStatus: 'live',
  side: 'sell',
  posSide: 'net',
  marginCoin: 'USDT',
  marginMode: 'isolated',
  enterPointSource: 'API',
  tradeSide: 'sell_single',
  posMode: 'one_way_mode',
  orderType: 'market',
  cTime: EARLIER,
  uTime: NOW,
});

const LEVERAGE = {
  symbol: 'BTCUSDT',
  marginCoin: 'USDT',
  longLeverage: '10',
  shortLeverage: '10',
  crossMarginLeverage: '10',
  marginMode: 'isolated',
};

const bitgetPosition = () => ({
  marginCoin: 'USDT',
  symbol: 'BTCUSDT',
  holdSide: 'long',
  openDelegateSize: '0',
  marginSize: '65',
  available: '0.01',
  locked: '0',
  total: '0.01',
  leverage: '10',
  achievedProfits: '0',
  openPriceAvg: '65000',
  marginMode: 'isolated',
  posMode: 'one_way_mode',
  unrealizedPL: '0.1',
  liquidationPrice: '58700',
  keepMarginRate: '0.004',
  markPrice: '65010',
  marginRatio: '0.02',
  takeProfit: '69000',
  stopLoss: '63000',
  takeProfitId: '22',
  stopLossId: '21',
  cTime: EARLIER,
});

const bitgetTickers = () => [
  { symbol: 'BTCUSDT', lastPr: '65000.1', markPrice: '65000.2', bidPr: '65000', askPr: '65000.2', ts: NOW },
];

const BITGET: Record<string, Answer> = {
  'public/time': () => ({ serverTime: NOW }),
  'mix/market/contracts': () => [
    {
      symbol: 'BTCUSDT',
      baseCoin: 'BTC',
      quoteCoin: 'USDT',
      supportMarginCoins: ['USDT'],
      symbolType: 'perpetual',
      symbolStatus: 'normal',
      pricePlace: '1',
      priceEndStep: '1',
      volumePlace: '4',
      sizeMultiplier: '0.0001',
      minTradeNum: '0.0001',
      minTradeUSDT: '5',
      minLever: '1',
      maxLever: '125',
      makerFeeRate: '0.0002',
      takerFeeRate: '0.0006',
      offTime: '-1',
    },
  ],
  'mix/market/ticker': bitgetTickers,
  'mix/market/tickers': bitgetTickers,
  'mix/account/accounts': () => [
    {
      marginCoin: 'USDT',
      locked: '12',
      available: '318.31',
      crossedMaxAvailable: '305.1',
      isolatedMaxAvailable: '305.1',
      maxTransferOut: '305.1',
      accountEquity: '330.5',
      usdtEquity: '330.5',
      unrealizedPL: '0',
    },
  ],
  'spot/account/assets': () => [{ coin: 'USDT', available: '50.25', frozen: '1', locked: '0.5', uTime: NOW }],
  'spot/account/info': () => ({
    userId: '714229403',
    inviterId: '',
    ips: '127.0.0.1',
    authorities: ['coow', 'cpow'],
    parentId: 1,
    traderType: 'not_trader',
    regisTime: NOW,
  }),
  'mix/account/account': () => ({
    marginCoin: 'USDT',
    available: '318.31',
    locked: '0',
    crossedMarginLeverage: '20',
    isolatedLongLever: '20',
    isolatedShortLever: '20',
    marginMode: 'crossed',
    posMode: 'hedge_mode',
    accountEquity: '330.5',
    maxTransferOut: '305.1',
  }),
  'mix/account/set-position-mode': ({ posMode }) => ({ posMode }),
  'mix/account/set-margin-mode': () => LEVERAGE,
  'mix/account/set-leverage': () => LEVERAGE,
  'mix/order/place-order': ({ clientOid }) => ({ orderId: '1300000000000000007', clientOid }),
  'mix/order/cancel-order': ({ clientOid }) => ({ orderId: '1300000000000000007', clientOid }),
  'mix/order/detail': ({ clientOid }) => bitgetOrder(clientOid),
  'mix/order/orders-pending': () => ({ entrustedList: [bitgetOrder('c1')], endId: '1' }),
  'mix/order/orders-history': () => ({
    entrustedList: [{ ...bitgetOrder('c9'), side: 'sell', state: 'filled', reduceOnly: 'YES' }],
    endId: '1',
  }),
  'mix/order/place-tpsl-order': ({ clientOid }) => ({ orderId: '1300000000000000008', clientOid }),
  'mix/order/orders-plan-pending': () => ({
    entrustedList: [bitgetPlan('pos_loss', '63000', '21'), bitgetPlan('pos_profit', '69000', '22')],
    endId: '21',
  }),
  'mix/order/cancel-plan-order': ({ orderIdList }) => ({
    successList: (orderIdList as { orderId: string }[]).map(({ orderId }) => ({
      orderId,
      clientOid: `plan-${orderId}`,
    })),
    failureList: [],
  }),
  'mix/account/bill': () => ({
    bills: [
      {
        billId: '12112',
        symbol: 'BTCUSDT',
        amount: '10',
        fee: '-0.396',
        feeByCoupon: '',
        businessType: 'sell',
        coin: 'USDT',
        balance: '1009.214',
        cTime: NOW,
      },
      {
        billId: '12111',
        symbol: '',
        amount: '100',
        fee: '0',
        feeByCoupon: '',
        businessType: 'trans_from_exchange',
        coin: 'USDT',
        balance: '999.604',
        cTime: EARLIER,
      },
    ],
    endId: '12111',
  }),
  'mix/position/all-position': () => [bitgetPosition()],
  'mix/position/single-position': () => [bitgetPosition()],
  'mix/position/history-position': () => ({
    list: [
      {
        positionId: '1211',
        marginCoin: 'USDT',
        symbol: 'BTCUSDT',
        holdSide: 'long',
        openAvgPrice: '65000',
        closeAvgPrice: '66000',
        marginMode: 'isolated',
        openTotalPos: '0.01',
        closeTotalPos: '0.01',
        pnl: '10',
        netProfit: '9.214',
        totalFunding: '0',
        openFee: '-0.39',
        closeFee: '-0.396',
        ctime: EARLIER,
        utime: NOW,
      },
    ],
    endId: '1211',
  }),
};

const bybitOrder = (orderLinkId: unknown, changes: object = {}) => ({
  symbol: 'BTCUSDT',
  orderType: 'Limit',
  orderLinkId: String(orderLinkId ?? 'c1'),
  orderId: 'c6f055d9-7f21-4079-913d-e6523a9cfffa',
  cancelType: 'UNKNOWN',
  avgPrice: '65000',
  stopOrderType: 'UNKNOWN',
  orderStatus: 'PartiallyFilled',
  createType: 'CreateByUser',
  takeProfit: '69000.00',
  stopLoss: '63000.00',
  tpslMode: 'Full',
  cumExecValue: '260',
  cumExecQty: '0.004',
  cumExecFee: '0.156',
  cumFeeDetail: { USDT: '0.156' },
  rejectReason: 'EC_NoError',
  price: '65000.00',
  qty: '0.010',
  leavesQty: '0.006',
  side: 'Buy',
  positionIdx: 0,
  timeInForce: 'GTC',
  triggerPrice: '0.00',
  triggerDirection: 0,
  tpTriggerBy: 'MarkPrice',
  slTriggerBy: 'MarkPrice',
  reduceOnly: false,
  closeOnTrigger: false,
  createdTime: EARLIER,
  updatedTime: NOW,
  ...changes,
});

const bybitStop = (stopOrderType: string, triggerPrice: string, orderId: string) =>
  bybitOrder('', {
    orderId,
    stopOrderType,
    triggerPrice,
    orderType: 'Market',
    orderStatus: 'Untriggered',
    createType: `CreateBy${stopOrderType}`,
    side: 'Sell',
    cumExecQty: '0',
    cumExecValue: '0',
    cumFeeDetail: {},
    avgPrice: '',
    reduceOnly: true,
    closeOnTrigger: true,
  });

const listed = (list: unknown[]) => ({ category: 'linear', list, nextPageCursor: '' });

const execution = (execId: string, side: string, changes: object) => ({
  symbol: 'BTCUSDT',
  orderType: 'Market',
  orderLinkId: '',
  orderId: `order of ${execId}`,
  stopOrderType: 'UNKNOWN',
  side,
  leavesQty: '0',
  feeCurrency: '',
  isMaker: false,
  execId,
  execType: 'Trade',
  orderQty: '0.01',
  seq: 4688002127,
  ...changes,
});

const BYBIT: Record<string, Answer> = {
  'market/time': () => ({ timeSecond: '1795273117', timeNano: '1795273117323000000' }),
  'market/instruments-info': () =>
    listed([
      {
        symbol: 'BTCUSDT',
        contractType: 'LinearPerpetual',
        status: 'Trading',
        baseCoin: 'BTC',
        quoteCoin: 'USDT',
        settleCoin: 'USDT',
        launchTime: '1585526400000',
        deliveryTime: '0',
        priceScale: '2',
        leverageFilter: { minLeverage: '1', maxLeverage: '100.00', leverageStep: '0.01' },
        priceFilter: { minPrice: '0.10', maxPrice: '1999999.80', tickSize: '0.10' },
        lotSizeFilter: {
          maxOrderQty: '1190.000',
          minOrderQty: '0.001',
          qtyStep: '0.001',
          maxMktOrderQty: '500.000',
          minNotionalValue: '5',
        },
        unifiedMarginTrade: true,
        fundingInterval: 480,
      },
    ]),
  'market/tickers': () => listed([{ symbol: 'BTCUSDT', lastPrice: '65000.10', markPrice: '65000.20' }]),
  'account/wallet-balance': () => ({
    list: [
      {
        accountType: 'UNIFIED',
        totalEquity: '330.5',
        totalAvailableBalance: '',
        totalWalletBalance: '',
        coin: [
          {
            coin: 'USDT',
            equity: '330.5',
            usdValue: '330.4',
            walletBalance: '330.4',
            locked: '1',
            bonus: '0.5',
            borrowAmount: '0.0',
            totalOrderIM: '12',
            totalPositionIM: '6.5',
            totalPositionMM: '0.3',
            unrealisedPnl: '0.1',
            cumRealisedPnl: '0',
          },
        ],
      },
    ],
  }),
  'account/info': () => ({
    marginMode: 'REGULAR_MARGIN',
    unifiedMarginStatus: 6,
    isMasterTrader: false,
    spotHedgingStatus: 'OFF',
    updatedTime: NOW,
  }),
  'account/set-margin-mode': () => ({ reasons: [] }),
  'position/switch-mode': () => ({}),
  'position/set-leverage': () => ({}),
  'position/trading-stop': () => ({}),
  'position/list': () =>
    listed([
      {
        positionIdx: 0,
        riskId: 1,
        symbol: 'BTCUSDT',
        side: 'Buy',
        size: '0.010',
        avgPrice: '65000',
        positionValue: '650',
        tradeMode: 0,
        positionStatus: 'Normal',
        leverage: '10',
        markPrice: '65010.00',
        liqPrice: '58700.00',
        positionIM: '65.3',
        positionMM: '3.2',
        takeProfit: '69000.00',
        stopLoss: '63000.00',
        trailingStop: '0.00',
        unrealisedPnl: '0.1',
        cumRealisedPnl: '-0.39',
        createdTime: '1676538056258',
        updatedTime: NOW,
        openTime: Number(EARLIER),
        seq: 5723621632,
      },
    ]),
  'order/create': ({ orderLinkId }) => ({ orderId: 'c6f055d9-7f21-4079-913d-e6523a9cfffa', orderLinkId }),
  'order/cancel': ({ orderLinkId }) => ({ orderId: 'c6f055d9-7f21-4079-913d-e6523a9cfffa', orderLinkId }),
  'order/realtime': ({ orderLinkId, orderFilter }) =>
    listed(
      orderFilter === 'StopOrder'
        ? [bybitStop('StopLoss', '63000', 'stop-1'), bybitStop('TakeProfit', '69000', 'target-1')]
        : [bybitOrder(orderLinkId)],
    ),
  'order/history': ({ orderLinkId }) =>
    listed([
      bybitOrder(orderLinkId ?? 'c9', {
        side: 'Sell',
        orderStatus: 'Filled',
        cumExecQty: '0.010',
        reduceOnly: true,
      }),
    ]),
  // Another position was opened and closed before the one that is open now.
  'execution/list': () =>
    listed([
      execution('e3', 'Buy', {
        execQty: '0.01',
        execPrice: '65000',
        execFee: '0.39',
        execTime: '1795273017323',
      }),
      execution('e2', 'Sell', {
        execQty: '0.01',
        execPrice: '66000',
        execFee: '0.396',
        execTime: '1795273007323',
        closedSize: '0.01',
      }),
      execution('e1', 'Buy', {
        execQty: '0.01',
        execPrice: '65000',
        execFee: '0.39',
        execTime: '1795272917323',
      }),
    ]),
  'account/transaction-log': () =>
    listed([
      {
        transSubType: '',
        id: '592324_BTCUSDT_161440249321',
        symbol: 'BTCUSDT',
        category: 'linear',
        side: 'Sell',
        funding: '',
        orderLinkId: 'c9',
        orderId: '592b7e41-78fd-42e2-9aa3-91e1835ef3e1',
        fee: '0.396',
        change: '9.604',
        cashFlow: '10',
        transactionTime: '1795273007323',
        type: 'TRADE',
        feeRate: '0.0006',
        bonusChange: '',
        size: '0',
        qty: '0.01',
        cashBalance: '1009.214',
        currency: 'USDT',
        tradePrice: '66000',
        tradeId: '5184f079-88ec-54c7-8774-5173cafd2b4e',
        extraFees: '',
      },
    ]),
  'position/closed-pnl': () =>
    listed([
      {
        symbol: 'BTCUSDT',
        orderType: 'Market',
        leverage: '10',
        side: 'Sell',
        orderId: 'order of e2',
        closedPnl: '9.214',
        avgEntryPrice: '65000',
        avgExitPrice: '66000',
        cumEntryValue: '650',
        cumExitValue: '660',
        qty: '0.01',
        closedSize: '0.01',
        execType: 'Trade',
        fillCount: '1',
        createdTime: '1795273007323',
        updatedTime: '1795273007323',
      },
    ]),
  'user/query-api': () => ({
    id: '2208369',
    note: 'signals',
    apiKey: 'XXXXXXXX',
    readOnly: 0,
    secret: '',
    permissions: {
      ContractTrade: ['Order', 'Position'],
      Spot: [],
      Wallet: ['AccountTransfer'],
      Options: [],
      Derivatives: ['DerivativesTrade'],
      Exchange: [],
    },
    ips: ['18.181.170.164'],
    type: 1,
    uta: 1,
    userID: 1448939,
    isMaster: true,
  }),
};
