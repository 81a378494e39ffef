import { describe, expect, test } from 'vitest';
import { type ClosedPosition, ExchangeError } from '../exchange.ts';
import {
  balanceOf,
  closingOrderOf,
  isEntry,
  isProtection,
  keyInspectionOf,
  orderOf,
  positionOf,
  positionStateOf,
  protectionOf,
  tickerOf,
} from './bybit-readers.ts';

const answer = (result: object) => ({ retCode: 0, retMsg: 'OK', result, time: 1795273117323 });

const order = (changes: object = {}) => ({
  orderId: 'c6f055d9-7f21-4079-913d-e6523a9cfffa',
  orderLinkId: 'c1',
  symbol: 'BTCUSDT',
  side: 'Buy',
  orderType: 'Limit',
  orderStatus: 'New',
  stopOrderType: 'UNKNOWN',
  price: '65000.00',
  qty: '0.010',
  cumExecQty: '0.000',
  cumFeeDetail: {},
  avgPrice: '',
  stopLoss: '63000.00',
  takeProfit: '0.00',
  reduceOnly: false,
  closeOnTrigger: false,
  updatedTime: '1795273117323',
  ...changes,
});

describe('orders', () => {
  test('reads empty and zero prices as null and strips trailing zeros', () => {
    expect(orderOf(order(), 'BTC')).toMatchObject({
      state: 'open',
      quantity: '0.01',
      filledQuantity: '0',
      averagePrice: null,
      stopLoss: '63000',
      takeProfit: null,
      updatedAt: new Date(1795273117323),
    });
  });

  test.each([
    ['New', '0', 'open'],
    ['New', '0.004', 'partially-filled'],
    ['PartiallyFilled', '0.004', 'partially-filled'],
    ['Filled', '0.01', 'filled'],
    ['Cancelled', '0.004', 'cancelled'],
    ['PartiallyFilledCanceled', '0.004', 'cancelled'],
    ['Rejected', '0', 'cancelled'],
    ['Deactivated', '0', 'cancelled'],
    ['SomethingNew', '0', 'unknown'],
    ['constructor', '0', 'unknown'],
  ])('%s with %s filled is %s', (orderStatus, cumExecQty, state) => {
    expect(orderOf(order({ orderStatus, cumExecQty }), 'BTC').state).toBe(state);
  });

  test.each([
    [{ USDT: '0.39' }, '0', '0.39'],
    [{ USDT: '-0.1' }, '0', '-0.1'],
    [{ MNT: '0.002' }, '0.39', null],
    [{}, '0.39', '0.39'],
    [{}, '', null],
  ])('with fees %j and total %s, the fee in USDT is %s', (cumFeeDetail, cumExecFee, fee) => {
    expect(orderOf(order({ cumFeeDetail, cumExecFee }), 'BTC').fee).toBe(fee);
  });

  test('a market order has no price, even if the exchange derived a limit', () => {
    expect(orderOf(order({ orderType: 'Market', price: '68000' }), 'BTC').price).toBeNull();
  });

  test.each([['orderId'], ['side'], ['qty'], ['cumExecQty'], ['updatedTime']])(
    'an order without %s is unreadable',
    (name) => {
      expect(() => orderOf(order({ [name]: undefined }), 'BTC')).toThrow(ExchangeError);
    },
  );

  test.each([
    ['a negative fill', { cumExecQty: '-0.001' }],
    ['a fill of NaN', { cumExecQty: 'NaN' }],
    ['an average price of 65 digits', { avgPrice: '6'.repeat(65) }],
    ['another symbol', { symbol: 'ETHUSDT' }],
  ])('an order with %s is unreadable', (_, changes) => {
    expect(() => orderOf(order(changes), 'BTC')).toThrow(expect.objectContaining({ code: 'unreadable' }));
  });

  test('an entry is neither reduce-only nor waiting for a trigger', () => {
    expect(isEntry(order())).toBe(true);
    expect(isEntry(order({ stopOrderType: '' }))).toBe(true);
    expect(isEntry(order({ reduceOnly: true }))).toBe(false);
    expect(isEntry(order({ closeOnTrigger: true }))).toBe(false);
    expect(isEntry(order({ stopOrderType: 'Stop' }))).toBe(false);
  });

  test('a user’s own conditional order is not the stop of a position', () => {
    expect(
      [
        'StopLoss',
        'TakeProfit',
        'PartialStopLoss',
        'PartialTakeProfit',
        'Stop',
        'TrailingStop',
        'UNKNOWN',
      ].filter((stopOrderType) => isProtection(order({ stopOrderType }))),
    ).toEqual(['StopLoss', 'TakeProfit', 'PartialStopLoss', 'PartialTakeProfit']);
  });

  test.each([null, 7])('a row of %j may be a stop', (row) => {
    expect(isProtection(row)).toBe(true);
  });
});

const position = (changes: object = {}) => ({
  positionIdx: 0,
  symbol: 'BTCUSDT',
  side: 'Buy',
  size: '0.010',
  avgPrice: '65000',
  leverage: '10',
  markPrice: '65010.00',
  liqPrice: '',
  positionIM: '65.3',
  stopLoss: '63000.00',
  takeProfit: '',
  unrealisedPnl: '0.1',
  createdTime: '1676538056258',
  openTime: 1795273017323,
  ...changes,
});

describe('positions', () => {
  test('ignores flat positions', () => {
    expect(positionOf(position({ side: '', size: '0' }))).toBeNull();
    expect(positionOf(position({ symbol: 'BTCX', size: '0' }))).toBeNull();
  });

  test.each(['BTCX', 'BTCPERP', 'BTCUSDT-1', ''])('one in a contract named "%s" cannot be read', (symbol) => {
    expect(() => positionOf(position({ symbol }))).toThrow(expect.objectContaining({ code: 'unreadable' }));
  });

  test('one in a dated contract is not the token’s', () => {
    expect(positionOf(position({ symbol: 'BTCUSDT-26DEC26' }))).toMatchObject({ token: 'BTCUSDT-26DEC26' });
  });

  test('reports when the position was opened, not when its contract was first traded', () => {
    expect(positionOf(position())?.openedAt).toEqual(new Date(1795273017323));
    expect(positionOf(position({ openTime: 0 }))?.openedAt).toBeNull();
    expect(positionOf(position({ openTime: undefined }))?.openedAt).toBeNull();
  });

  test('reads a position without its display-only figures', () => {
    const bare = position({ unrealisedPnl: '', positionIM: '', liqPrice: undefined, markPrice: '' });
    expect(positionOf(bare)).toMatchObject({ quantity: '0.01', margin: '0', unrealisedProfit: '0' });
  });

  test('reads stop and target from the position itself', () => {
    expect(protectionOf(position())).toEqual({ stopLoss: '63000', takeProfit: null });
    expect(protectionOf(position({ stopLoss: '0.00' }))).toEqual({ stopLoss: null, takeProfit: null });
  });

  test.each([[undefined], [null], ['none'], [{}]])(
    'a stop of %j is unreadable, not a missing stop',
    (stopLoss) => {
      expect(() => protectionOf(position({ stopLoss }))).toThrow(ExchangeError);
    },
  );
});

describe('the settings that a position shows', () => {
  const state = (positions: object[]) => positionStateOf(answer({ list: positions }));

  test('a single position with index 0 is one-way mode, flat or not', () => {
    const flat = position({ size: '0', side: '' });
    expect(state([flat])).toEqual({ positions: [flat], leverage: 10, positionMode: 'one-way' });
  });

  test.each([
    ['two', [position({ positionIdx: 1 }), position({ positionIdx: 2 })]],
    ['one of another index', [position({ positionIdx: 1 })]],
    ['none', []],
  ])('%s is not one-way mode', (_, positions) => {
    expect(state(positions).positionMode).toBe('hedged');
  });

  test('returns a leverage that equals no request for two leverages or none', () => {
    const two = [position({ positionIdx: 1 }), position({ positionIdx: 2, leverage: '5' })];
    expect(state(two).leverage).toBeNaN();
    expect(state([position({ leverage: '' })]).leverage).toBeNaN();
    expect(state([]).leverage).toBeNaN();
  });
});

describe('balances', () => {
  const wallet = (coin: object | null, account: object = {}) =>
    answer({
      list: [
        {
          accountType: 'UNIFIED',
          totalAvailableBalance: '',
          ...account,
          coin: coin === null ? [] : [{ coin: 'USDT', walletBalance: '100', equity: '101', ...coin }],
        },
      ],
    });
  const margins = { totalPositionIM: '20', totalOrderIM: '10', locked: '3', bonus: '2' };

  test('reports as available the wallet minus margins, locks and bonus', () => {
    expect(balanceOf(wallet(margins))).toEqual({
      futuresBalance: '101',
      futuresAvailable: '65',
      futuresLocked: '13',
    });
  });

  test.each([['walletBalance'], ['equity'], ['totalPositionIM'], ['locked']])(
    'a balance with 1e30 USDT as %s is unreadable',
    (name) => {
      expect(() => balanceOf(wallet({ ...margins, [name]: '1e30' }))).toThrow(
        expect.objectContaining({ code: 'unreadable' }),
      );
    },
  );

  test('reports a negative amount as zero', () => {
    expect(balanceOf(wallet({ ...margins, walletBalance: '30' }))?.futuresAvailable).toBe('0');
  });

  test('uses the account’s figure only in portfolio margin', () => {
    const portfolio = { ...margins, totalPositionIM: '', totalOrderIM: '' };
    expect(balanceOf(wallet(portfolio, { totalAvailableBalance: '40' }))?.futuresAvailable).toBe('40');
    expect(balanceOf(wallet(margins, { totalAvailableBalance: '0' }))?.futuresAvailable).toBe('65');
    expect(() => balanceOf(wallet(portfolio))).toThrow(ExchangeError);
  });

  test('rejects other coins and missing figures', () => {
    expect(balanceOf(wallet(null))).toBeNull();
    expect(balanceOf(wallet({ ...margins, coin: 'USDC' }))).toBeNull();
    expect(() => balanceOf(wallet({ ...margins, walletBalance: 'NaN' }))).toThrow(ExchangeError);
    expect(() => balanceOf(wallet({ ...margins, totalPositionIM: undefined }))).toThrow(ExchangeError);
  });
});

describe('tickers', () => {
  test('returns the requested one, with the time of the answer', () => {
    const list = [
      { symbol: 'BTCUSD', lastPrice: '1' },
      { symbol: 'BTCUSDT', lastPrice: '65000.10', markPrice: '65000.20' },
    ];
    expect(tickerOf(answer({ list }), 'BTC')).toEqual({
      token: 'BTC',
      lastPrice: '65000.1',
      markPrice: '65000.2',
      at: new Date(1795273117323),
    });
    expect(tickerOf(answer({ list: [] }), 'BTC')).toBeNull();
    expect(tickerOf(answer({ list: [{ symbol: 'BTCUSDT', lastPrice: '0' }] }), 'BTC')).toBeNull();
  });
});

describe('the order that ended a position', () => {
  const at = (ms: number) => new Date(1795273000000 + ms);
  const closed: ClosedPosition = {
    positionId: 'p',
    token: 'BTC',
    side: 'long',
    quantity: '0.01',
    entryPrice: '65000',
    closePrice: '66000',
    realisedProfit: '10',
    fees: '0.786',
    funding: '0',
    openedAt: at(0),
    closedAt: at(60_000),
  };
  const sold = (changes: object) =>
    order({ side: 'Sell', cumExecQty: '0.01', updatedTime: String(at(60_000).getTime()), ...changes });

  test.each([
    [{ createType: 'CreateByStopLoss', stopOrderType: 'StopLoss' }, 'stop loss'],
    [{ createType: 'CreateByPartialStopLoss' }, 'stop loss'],
    [{ createType: 'CreateByTrailingStop' }, 'stop loss'],
    [{ createType: 'CreateByTakeProfit', stopOrderType: 'TakeProfit' }, 'take profit'],
    [{ createType: 'CreateByLiq' }, 'liquidation'],
    [{ createType: 'CreateByAdl_PassThrough' }, 'liquidation'],
    [{ createType: 'CreateByUser', reduceOnly: true }, 'order'],
  ])('%j: %s', (changes, source) => {
    expect(closingOrderOf([sold(changes)], closed)).toMatchObject({ source });
  });

  test('is neither on the position’s own side nor unfilled', () => {
    expect(closingOrderOf([sold({ side: 'Buy' }), sold({ cumExecQty: '0' })], closed)).toBeNull();
  });
});

describe('keys', () => {
  const key = (permissions: object, changes: object = {}) =>
    answer({
      readOnly: 0,
      uta: 1,
      userID: 1448939,
      permissions: { ContractTrade: ['Order', 'Position'], Wallet: [], ...permissions },
      ...changes,
    });

  test('one that trades contracts and moves no funds', () => {
    expect(keyInspectionOf(key({ Wallet: ['AccountTransfer'] }))).toEqual({
      accountMode: 'unified',
      mayTrade: true,
      mayWithdraw: false,
      accountId: '1448939',
    });
  });

  test('a read-only one has the same permissions but may not trade', () => {
    expect(keyInspectionOf(key({}, { readOnly: 1 })).mayTrade).toBe(false);
  });

  test.each([[['Order']], [['Position']], [[]]])('with contracts %j it may not trade', (ContractTrade) => {
    expect(keyInspectionOf(key({ ContractTrade })).mayTrade).toBe(false);
  });

  test('detects withdrawal permission in any group', () => {
    expect(keyInspectionOf(key({ Wallet: ['Withdraw'] })).mayWithdraw).toBe(true);
    expect(keyInspectionOf(key({ Elsewhere: ['WithdrawNew'] })).mayWithdraw).toBe(true);
  });

  test('an account that was never upgraded to unified', () => {
    expect(keyInspectionOf(key({}, { uta: 0 })).accountMode).toBe('classic');
  });

  test.each([
    ['the kind of account', {}, { uta: undefined }],
    ['of permissions', {}, { permissions: null }],
    ['the wallet permissions', { Wallet: undefined }, {}],
    ['a list for a group', { Spot: 'all' }, {}],
  ])('rejects an answer without %s', (_, permissions, changes) => {
    expect(() => keyInspectionOf(key(permissions, changes))).toThrow(ExchangeError);
  });
});
