import { describe, expect, test } from 'vitest';
import type { ClosedPosition, OpenPosition } from '../exchange.ts';
import {
  accountStateOf,
  balanceOf,
  changeOf,
  closedPositionOf,
  isEntry,
  keyInspectionOf,
  legsIn,
  orderOf,
  pageIn,
  positionOf,
  protectionOf,
  triggeredBy,
} from './bitget-unified-readers.ts';

const unreadable = expect.objectContaining({ kind: 'unknown', code: 'unreadable' });

const order = (changes: object = {}) => ({
  orderId: '1300000000000000000',
  clientOid: 'c1',
  symbol: 'BTCUSDT',
  side: 'buy',
  orderStatus: 'live',
  price: '65000',
  qty: '0.0012',
  cumExecQty: '0',
  avgPrice: '0',
  reduceOnly: 'NO',
  feeDetail: [{ feeCoin: '', fee: '' }],
  stopLoss: '63000.0',
  takeProfit: null,
  updatedTime: '1795273117323',
  ...changes,
});

describe('orders', () => {
  test('reads empty fields and zeros as null and strips trailing zeros', () => {
    expect(orderOf(order(), 'BTC')).toMatchObject({
      state: 'open',
      averagePrice: null,
      fee: null,
      stopLoss: '63000',
      takeProfit: null,
      updatedAt: new Date(1795273117323),
    });
  });

  test.each([
    [{ orderStatus: 'live', cumExecQty: '0.0001' }, 'partially-filled'],
    [{ orderStatus: 'partially_filled', cumExecQty: '0.0001' }, 'partially-filled'],
    [{ orderStatus: 'filled', cumExecQty: '0.0012' }, 'filled'],
    [{ orderStatus: 'cancelled', cumExecQty: '0.0005' }, 'cancelled'],
    [{ orderStatus: 'something new' }, 'unknown'],
  ])('%j is %s', (changes, state) => {
    expect(orderOf(order(changes), 'BTC').state).toBe(state);
  });

  test.each([
    ['paid in USDT', [{ feeCoin: 'USDT', fee: '0.039' }], '0.039'],
    [
      'paid in two parts',
      [
        { feeCoin: 'USDT', fee: '0.03' },
        { feeCoin: 'USDT', fee: '0.01' },
      ],
      '0.04',
    ],
    ['received', [{ feeCoin: 'USDT', fee: '-0.01' }], '-0.01'],
    ['in another coin', [{ feeCoin: 'BGB', fee: '0.01' }], null],
    ['missing', undefined, null],
  ])('a fee that is %s', (_, feeDetail, fee) => {
    expect(orderOf(order({ feeDetail }), 'BTC').fee).toBe(fee);
  });

  test.each([
    ['no id', { orderId: null }],
    ['no quantity', { qty: null }],
    ['a fill of NaN', { cumExecQty: 'NaN' }],
    ['a negative fill', { cumExecQty: '-0.0001' }],
    ['no time', { updatedTime: '' }],
    ['no side', { side: 'both' }],
    ['an average price of 65 digits', { avgPrice: '6'.repeat(65) }],
    ['another symbol', { symbol: 'ETHUSDT' }],
  ])('an answer with %s is not an order', (_, changes) => {
    expect(() => orderOf(order(changes), 'BTC')).toThrow(unreadable);
  });

  test('an order that reduces a position is not an entry, however that is written', () => {
    expect(isEntry(order())).toBe(true);
    for (const reduceOnly of ['YES', 'yes']) expect(isEntry(order({ reduceOnly }))).toBe(false);
    expect(isEntry(order({ tradeSide: 'close' }))).toBe(false);
  });
});

describe('the account', () => {
  const assets = (...coins: object[]) => ({ code: '00000', data: { accountEquity: '1', assets: coins } });
  const usdt = { coin: 'USDT', equity: '330.5', balance: '330', available: '305.1', locked: '12' };

  test('has the balance of USDT, not of all coins', () => {
    expect(balanceOf(assets({ ...usdt, coin: 'BTC' }, usdt))).toEqual({
      futuresBalance: '330.5',
      futuresAvailable: '305.1',
      futuresLocked: '12',
    });
  });

  test('without USDT has no balance, and one that cannot be is unreadable', () => {
    expect(balanceOf(assets())).toBeNull();
    expect(() => balanceOf(assets({ ...usdt, equity: '1e30' }))).toThrow(unreadable);
    expect(() => balanceOf({ code: '00000', data: {} })).toThrow(unreadable);
  });

  const settings = (changes: object = {}) => ({
    data: {
      accountLevel: 'isolated',
      holdMode: 'one_way_mode',
      symbolConfigList: [
        { category: 'USDT-FUTURES', symbol: 'BTCUSDT', marginMode: 'crossed', leverage: '20' },
        { category: 'USDT-FUTURES', symbol: 'BTCUSDT', marginMode: 'isolated', leverage: '10' },
      ],
      ...changes,
    },
  });

  test('has the leverage of isolated margin', () => {
    expect(accountStateOf(settings(), 'BTCUSDT')).toEqual({
      leverage: 10,
      marginMode: 'isolated',
      positionMode: 'one_way_mode',
    });
    expect(accountStateOf(settings({ symbolConfigList: [] }), 'BTCUSDT').leverage).toBeNaN();
    expect(accountStateOf(settings({ accountLevel: 'advanced' }), 'BTCUSDT').marginMode).toBe('advanced');
  });

  test.each([
    ['everything that is needed', {}, { mayTrade: true, mayWithdraw: false }],
    ['reading only', { permType: 'read-only' }, { mayTrade: false }],
    ['no management, which sets the leverage', { permissions: ['uta_trade'] }, { mayTrade: false }],
    ['withdrawals', { permissions: ['uta_mgt', 'uta_trade', 'withdraw'] }, { mayWithdraw: true }],
    ['withdrawals by another name', { permissions: ['wallet_withdrawal'] }, { mayWithdraw: true }],
  ])('a key that permits %s', (_, changes, inspected) => {
    const data = {
      userId: '7',
      permType: 'read-and-write',
      permissions: ['uta_mgt', 'uta_trade'],
      ...changes,
    };
    expect(keyInspectionOf({ data })).toMatchObject({ accountMode: 'unified', accountId: '7', ...inspected });
  });

  test('a key whose permissions are not told is no key', () => {
    expect(() => keyInspectionOf({ data: { permType: 'read-and-write' } })).toThrow();
  });
});

describe('positions', () => {
  const position = (changes: object = {}) => ({
    symbol: 'BTCUSDT',
    posSide: 'long',
    marginMode: 'isolated',
    positionBalance: '65',
    total: '0.01',
    leverage: '10',
    avgPrice: '65000',
    unrealisedPnl: '0.1',
    liquidationPrice: '0',
    markPrice: '65010',
    createdTime: '1795273017323',
    ...changes,
  });

  test('are read with their margin and margin mode', () => {
    expect(positionOf(position())).toMatchObject({
      token: 'BTC',
      side: 'long',
      quantity: '0.01',
      leverage: 10,
      margin: '65',
      marginMode: 'isolated',
      liquidationPrice: null,
    });
    expect(positionOf(position({ marginMode: 'crossed' }))?.marginMode).toBe('crossed');
    expect(positionOf(position({ total: '0' }))).toBeNull();
    expect(positionOf(position({ symbol: 'BTCX', total: '0' }))).toBeNull();
    expect(positionOf(position({ symbol: 'BTCUSDT-26DEC26' }))?.token).toBe('BTCUSDT-26DEC26');
  });

  test.each([{ posSide: '' }, { total: null }, { symbol: '' }, { symbol: 'BTCX' }, { avgPrice: 'x' }])(
    'with %j cannot be read, and are not flat',
    (changes) => {
      expect(() => positionOf(position(changes))).toThrow(unreadable);
    },
  );

  test.each([{}, { list: null }, null])('an answer of %j is not a flat account', (data) => {
    expect(() => pageIn({ data })).toThrow(unreadable);
  });

  test('that are closed have their profit before fees', () => {
    const closed = {
      symbol: 'BTCUSDT',
      posSide: 'short',
      openPriceAvg: '65000',
      closePriceAvg: '64000',
      openTotalPos: '0.01',
      netProfit: '9.1',
      totalFunding: '-0.114',
      openFeeTotal: '-0.39',
      closeFeeTotal: '-0.396',
      createdTime: '1795273017323',
      updatedTime: '1795273117323',
    };
    expect(closedPositionOf(closed)).toMatchObject({
      positionId: 'BTCUSDT-short-1795273017323',
      side: 'short',
      realisedProfit: '9.886',
      fees: '0.786',
      funding: '-0.114',
    });
  });
});

describe('stops and targets', () => {
  const position = { token: 'BTC', side: 'long', quantity: '0.01' } as OpenPosition;
  const strategy = (changes: object) => ({
    orderId: '21',
    symbol: 'BTCUSDT',
    posSide: 'long',
    qty: '0.01',
    stopLoss: '',
    takeProfit: '',
    ...changes,
  });
  const heldBy = (...data: object[]) =>
    protectionOf(legsIn({ data }), position, { stopLoss: null, takeProfit: null });

  test('may be one order or two', () => {
    const both = { stopLoss: '63000', takeProfit: '69000' };
    expect(heldBy(strategy(both))).toEqual(both);
    expect(heldBy(strategy({ stopLoss: '63000' }), strategy({ takeProfit: '69000' }))).toEqual(both);
  });

  test('count only together where one does not cover the position', () => {
    const half = { qty: '0.005' };
    expect(heldBy(strategy({ ...half, stopLoss: '63000' })).stopLoss).toBeNull();
    expect(
      heldBy(strategy({ ...half, stopLoss: '63000' }), strategy({ ...half, stopLoss: '60000' })).stopLoss,
    ).toBe('60000');
  });

  test('without a size cover the whole position', () => {
    expect(heldBy(strategy({ qty: '', stopLoss: '63000' })).stopLoss).toBe('63000');
  });

  test('of the other side, of another contract or that are plain triggers protect nothing', () => {
    expect(
      heldBy(
        strategy({ posSide: 'short', stopLoss: '63000' }),
        strategy({ symbol: 'ETHUSDT', stopLoss: '63000' }),
        strategy({ triggerPrice: '63000' }),
      ),
    ).toEqual({ stopLoss: null, takeProfit: null });
  });

  test.each([
    ['no price of either', {}, 'its stop loss'],
    ['a stop that is no price', { stopLoss: 'x', takeProfit: '69000' }, 'its stop loss'],
  ])('an order with %s leaves the stop unknown, not missing', (_, changes, what) => {
    expect(() => heldBy(strategy(changes))).toThrow(
      expect.objectContaining({ kind: 'unknown', message: expect.stringContaining(what) }),
    );
    // Another one shows it.
    expect(heldBy(strategy(changes), strategy({ stopLoss: '62000' })).stopLoss).toBe('62000');
  });

  test('a target that cannot be read is unknown, and the stop is not', () => {
    expect(heldBy(strategy({ stopLoss: '63000', takeProfit: 'x' }))).toEqual({
      stopLoss: '63000',
      takeProfit: null,
      targetProblem: 'its take profit cannot be read: The exchange answered no price as takeProfit',
    });
  });

  test('an order without a price of another contract or side changes nothing', () => {
    expect(heldBy(strategy({ symbol: 'ETHUSDT' }), strategy({ posSide: 'short' }))).toEqual({
      stopLoss: null,
      takeProfit: null,
    });
  });

  test('a change of one names the other as it is', () => {
    const [stop] = legsIn({
      data: [
        strategy({
          stopLoss: '63000',
          slTriggerBy: 'market',
          takeProfit: '69000',
          tpTriggerBy: 'market',
          tpOrderType: 'limit',
          tpLimitPrice: '68990',
        }),
      ],
    });
    expect(changeOf(stop, { side: 'stopLoss', triggerPrice: '64000' })).toEqual({
      orderId: '21',
      qty: '0.01',
      stopLoss: '64000',
      slTriggerBy: 'mark',
      slOrderType: 'market',
      takeProfit: '69000',
      tpTriggerBy: 'market',
      tpOrderType: 'limit',
      tpLimitPrice: '68990',
    });
  });

  const closed = {
    token: 'BTC',
    side: 'long',
    closePrice: '62990',
    closedAt: new Date(1795273117323),
  } as ClosedPosition;
  const executed = (changes: object) =>
    strategy({ status: 'success', updatedTime: '1795273117000', ...changes });

  test.each([
    ['the stop', [executed({ stopLoss: '63000' })], 'stop loss'],
    ['the target', [executed({ takeProfit: '62000' })], 'take profit'],
    ['the nearer of both', [executed({ stopLoss: '63000', takeProfit: '69000' })], 'stop loss'],
    ['none: it was cancelled', [executed({ status: 'cancelled', stopLoss: '63000' })], null],
    ['none: it was executed earlier', [executed({ updatedTime: '1795273017000', stopLoss: '63000' })], null],
    ['none: it is of the other side', [executed({ posSide: 'short', stopLoss: '63000' })], null],
    ['none', [], null],
  ] as const)('%s ended a position', (_, infos, by) => {
    expect(triggeredBy([...infos], closed)).toBe(by);
  });
});
