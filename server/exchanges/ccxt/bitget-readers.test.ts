import { describe, expect, test } from 'vitest';
import { type ClosedPosition, ExchangeError, type OpenPosition } from '../exchange.ts';
import {
  accountStateOf,
  balanceOf,
  closedPositionOf,
  closedPositionsIn,
  closingOrderOf,
  isEntry,
  keyInspectionOf,
  orderOf,
  positionOf,
  protectionOf,
} from './bitget-readers.ts';

const order = (changes: object = {}) => ({
  orderId: '1300000000000000000',
  clientOid: 'c1',
  symbol: 'BTCUSDT',
  side: 'buy',
  state: 'live',
  price: '65000',
  size: '0.0012',
  baseVolume: '0',
  priceAvg: '',
  fee: '',
  presetStopLossPrice: '63000.0',
  presetStopSurplusPrice: '',
  uTime: '1795273117323',
  ...changes,
});

describe('orders', () => {
  test('reads empty fields as null and strips trailing zeros', () => {
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
    [{ state: 'live', baseVolume: '0.0001' }, 'partially-filled'],
    [{ state: 'partially_filled', baseVolume: '0.0001' }, 'partially-filled'],
    [{ state: 'filled', baseVolume: '0.0012' }, 'filled'],
    [{ state: 'canceled', baseVolume: '0.0005' }, 'cancelled'],
    [{ state: 'something new' }, 'unknown'],
    [{ state: undefined, status: 'live' }, 'open'],
  ])('%j is %s', (changes, state) => {
    expect(orderOf(order(changes), 'BTC').state).toBe(state);
  });

  test('reports a paid fee as a positive number', () => {
    expect(orderOf(order({ fee: '-0.039' }), 'BTC').fee).toBe('0.039');
  });

  test.each([
    ['no id', { orderId: null }],
    ['no quantity', { size: null }],
    ['a non-numeric quantity', { baseVolume: 'many' }],
    ['no time', { uTime: '' }],
    ['no side', { side: 'both' }],
    ['a negative fill', { baseVolume: '-0.0001' }],
    ['a fill of NaN', { baseVolume: 'NaN' }],
    ['an average price of 65 digits', { priceAvg: '6'.repeat(65) }],
    ['a fee of 65 characters', { fee: `-0.${'1'.repeat(62)}` }],
    ['another symbol', { symbol: 'ETHUSDT' }],
    ['no symbol', { symbol: undefined }],
  ])('an answer with %s is not an order', (_, changes) => {
    expect(() => orderOf(order(changes), 'BTC')).toThrow(
      expect.objectContaining({ kind: 'unknown', code: 'unreadable' }),
    );
  });

  test.each([null, [], 'text', undefined])('%j is not an order', (answer) => {
    expect(() => orderOf(answer, 'BTC')).toThrow();
  });

  test('an order that reduces a position is not an entry', () => {
    expect(isEntry(order())).toBe(true);
    expect(isEntry(order({ reduceOnly: 'YES' }))).toBe(false);
    expect(isEntry(order({ tradeSide: 'close' }))).toBe(false);
  });
});

describe('the balance', () => {
  const balance = (changes: object = {}) => [
    {
      marginCoin: 'USDT',
      available: '90',
      locked: '10',
      accountEquity: '100',
      isolatedMaxAvailable: '80',
      ...changes,
    },
  ];

  test('counts what isolated positions can use', () => {
    expect(balanceOf(balance())).toEqual({
      futuresBalance: '100',
      futuresAvailable: '80',
      futuresLocked: '10',
    });
  });

  test.each([
    ['1e30 USDT available', { available: '1e30', isolatedMaxAvailable: '1e30' }],
    ['an equity of 1e30 USDT', { accountEquity: '1e30' }],
    ['1e30 USDT locked', { locked: '1e30' }],
    ['more than 1e12 USDT', { accountEquity: '1000000000000.1' }],
  ])('with %s is unreadable', (_, changes) => {
    expect(() => balanceOf(balance(changes))).toThrow(expect.objectContaining({ code: 'unreadable' }));
  });
});

describe('protection', () => {
  const NONE = { stopLoss: null, takeProfit: null };
  const position = { token: 'BTC', side: 'long', quantity: '0.01' } as OpenPosition;
  const plan = (planType: string, triggerPrice: string, size = '0.01') => ({
    symbol: 'BTCUSDT',
    planType,
    triggerPrice,
    size,
  });

  test('a plan for the whole position covers it', () => {
    const plans = [plan('pos_loss', '63000', '0'), plan('pos_profit', '69000', '0')];
    expect(protectionOf(plans, position, NONE)).toEqual({ stopLoss: '63000', takeProfit: '69000' });
  });

  test('partial stops cover the position only together', () => {
    const half = plan('loss_plan', '63000', '0.005');
    expect(protectionOf([half], position, NONE).stopLoss).toBeNull();
    expect(protectionOf([half, half], position, NONE).stopLoss).toBe('63000');
  });

  test('partial stops count at the price that the last part needs', () => {
    const [near, far] = [plan('loss_plan', '63000', '0.005'), plan('loss_plan', '0.1', '0.005')];
    expect(protectionOf([near, far], position, NONE).stopLoss).toBe('0.1');
    expect(protectionOf([far, near, near], position, NONE).stopLoss).toBe('63000');
    const short = { ...position, side: 'short' } as OpenPosition;
    expect(protectionOf([far, near], short, NONE).stopLoss).toBe('63000');
    const [first, last] = [plan('profit_plan', '69000', '0.005'), plan('profit_plan', '70000', '0.005')];
    expect(protectionOf([last, first], position, NONE).takeProfit).toBe('70000');
  });

  test('a stop of a position of the other side does not count', () => {
    const ofShort = { ...plan('pos_loss', '63000'), posSide: 'short' };
    expect(protectionOf([ofShort], position, NONE).stopLoss).toBeNull();
    expect(protectionOf([{ ...ofShort, posSide: 'net' }], position, NONE).stopLoss).toBe('63000');
  });

  test("another token's stop does not count", () => {
    const foreign = { ...plan('pos_loss', '63000'), symbol: 'ETHUSDT' };
    expect(protectionOf([foreign], position, NONE)).toEqual({ stopLoss: null, takeProfit: null });
  });

  const stop = plan('pos_loss', '63000');
  const UNREADABLE: [string, unknown][] = [
    ['no row', null],
    ['a row of no contract', { ...stop, symbol: '' }],
    ['a row of no type', { ...stop, planType: undefined }],
    ['a stop without a price', plan('pos_loss', '')],
    ['a stop at zero', plan('pos_loss', '0')],
    ['a stop at a price of 65 digits', plan('pos_loss', '6'.repeat(65))],
    ['a stop of no size', plan('loss_plan', '63000', '')],
  ];

  test.each(UNREADABLE)('%s is not taken for no stop', (_, row) => {
    expect(() => protectionOf([row], position, NONE)).toThrow(
      expect.objectContaining({ kind: 'unknown', message: expect.stringContaining('its stop loss') }),
    );
  });

  test.each(UNREADABLE)('%s hides no stop that is read or that the position shows', (_, row) => {
    expect(protectionOf([row, stop], position, NONE).stopLoss).toBe('63000');
    expect(protectionOf([row], position, { ...NONE, stopLoss: '62000' }).stopLoss).toBe('62000');
  });

  test('a target that cannot be read is unknown, and the stop is not', () => {
    expect(protectionOf([plan('pos_profit', ''), stop], position, NONE)).toEqual({
      stopLoss: '63000',
      takeProfit: null,
      targetProblem: 'its take profit cannot be read: The exchange answered no price as triggerPrice',
    });
  });

  test("another token's row that cannot be read changes nothing", () => {
    expect(protectionOf([{ ...plan('pos_loss', ''), symbol: 'ETHUSDT' }], position, NONE)).toEqual(NONE);
  });
});

describe('positions', () => {
  test('a position of size zero is not a position', () => {
    expect(positionOf({ symbol: 'BTCUSDT', total: '0' })).toBeNull();
    expect(positionOf({ symbol: 'BTCX', total: '0' })).toBeNull();
  });

  test.each(['BTCX', 'BTCUSDT-1', 'BTC-25DEC26', ''])(
    'one in a contract named "%s" cannot be read',
    (symbol) => {
      expect(() => positionOf({ symbol, total: '1' })).toThrow(
        expect.objectContaining({ code: 'unreadable' }),
      );
    },
  );
});

test('returns NaN if the long and short leverages differ', () => {
  const state = accountStateOf({
    marginMode: 'isolated',
    isolatedLongLever: 10,
    isolatedShortLever: 20,
    posMode: 'one_way_mode',
  });
  expect(state.leverage).toBeNaN();
});

describe('closed positions', () => {
  const told = {
    positionId: '1322441328637100049',
    symbol: 'XRPUSDT',
    marginCoin: 'USDT',
    holdSide: 'long',
    openAvgPrice: '0.64967',
    closeAvgPrice: '0.58799',
    openTotalPos: '10',
    closeTotalPos: '10',
    pnl: '-0.62976205',
    netProfit: '-0.65356802',
    totalFunding: '-0.01638',
    openFee: '-0.00389802',
    closeFee: '-0.00352794',
    ctime: '1709590322199',
    utime: '1709667583395',
  };

  test('reports realised profit before fees and after funding: minus fees it is the net profit', () => {
    expect(closedPositionOf(told)).toEqual({
      positionId: '1322441328637100049',
      token: 'XRP',
      side: 'long',
      quantity: '10',
      entryPrice: '0.64967',
      closePrice: '0.58799',
      realisedProfit: '-0.64614206',
      fees: '0.00742596',
      funding: '-0.01638',
      openedAt: new Date(1709590322199),
      closedAt: new Date(1709667583395),
    });
  });

  test('gives a position without an id a stable one from its symbol, side and opening time', () => {
    const { positionId: _none, ...nameless } = told;
    expect(closedPositionOf(nameless)?.positionId).toBe('XRPUSDT-long-1709590322199');
  });

  test('skips other coins and rejects a position without its figures', () => {
    expect(closedPositionOf({ ...told, symbol: 'BTCPERP' })).toBeNull();
    expect(() => closedPositionOf({ ...told, netProfit: '' })).toThrow(ExchangeError);
    expect(() => closedPositionOf({ ...told, holdSide: 'net' })).toThrow(ExchangeError);
  });

  test('reads a null list as an empty history and rejects an answer without data', () => {
    expect(closedPositionsIn({ code: '00000', data: { list: null, endId: '' } })).toEqual([]);
    expect(() => closedPositionsIn({ code: '00000', data: null })).toThrow(ExchangeError);
    expect(() => closedPositionsIn('<html>')).toThrow(ExchangeError);
  });
});

describe('the order that closed a position', () => {
  const position = {
    token: 'BTC',
    side: 'long',
    openedAt: new Date(1795273100000),
    closedAt: new Date(1795273200000),
  } as ClosedPosition;
  const closing = (changes: object = {}) => ({
    symbol: 'BTCUSDT',
    orderId: '1',
    clientOid: 'c1',
    side: 'sell',
    baseVolume: '0.01',
    reduceOnly: 'YES',
    orderSource: 'market',
    uTime: '1795273200000',
    ...changes,
  });

  test.each([
    [{ orderSource: 'pos_loss_market' }, 'stop loss'],
    [{ orderSource: 'loss_limit' }, 'stop loss'],
    [{ orderSource: 'pos_profit_market' }, 'take profit'],
    [{ orderSource: 'profit_market' }, 'take profit'],
    [{ orderSource: 'liquidation' }, 'liquidation'],
    [{ orderSource: 'market', tradeSide: 'burst_close_long' }, 'liquidation'],
    [{ orderSource: 'market' }, 'order'],
  ] as const)('reads %o as a %s', (changes, source) => {
    expect(closingOrderOf([closing(changes)], position)).toEqual({ clientOrderId: 'c1', source });
  });

  test('is the one closest to the position’s end; reduce-only orders take precedence over openings of the opposite', () => {
    const orders = [
      closing({ clientOid: 'a part before', uTime: '1795273150000' }),
      closing({ clientOid: 'the rest', uTime: '1795273199990' }),
      closing({ clientOid: 'the next entry', uTime: '1795273200000', reduceOnly: 'NO' }),
    ];
    expect(closingOrderOf(orders, position)?.clientOrderId).toBe('the rest');
    expect(closingOrderOf(orders.slice(2), position)?.clientOrderId).toBe('the next entry');
  });

  test.each([
    ['went the same way', { side: 'buy' }],
    ['filled nothing', { baseVolume: '0' }],
    ['was of another token', { symbol: 'ETHUSDT' }],
    ['came long after', { uTime: '1795273300000' }],
    ['came before', { uTime: '1795273000000' }],
  ])('ignores an order that %s', (_name, changes) => {
    expect(closingOrderOf([closing(changes)], position)).toBeNull();
  });
});

describe('key permissions at Bitget', () => {
  const answer = (authorities: unknown, userId: unknown = '4711') => ({
    code: '00000',
    data: { userId, inviterId: '1', ips: '', authorities, parentId: 2, traderType: 'not_trader' },
  });

  test.each<[string, string[], { mayTrade: boolean; mayWithdraw: boolean }]>([
    ['orders and positions', ['coow', 'cpow'], { mayTrade: true, mayWithdraw: false }],
    ['read-only positions', ['coow', 'cpor', 'stor'], { mayTrade: true, mayWithdraw: false }],
    ['the older name', ['trade', 'readonly'], { mayTrade: true, mayWithdraw: false }],
    ['only reading', ['coor', 'cpor', 'stor', 'readonly'], { mayTrade: false, mayWithdraw: false }],
    ['only spot', ['stow', 'smow'], { mayTrade: false, mayWithdraw: false }],
    ['orders without positions', ['coow'], { mayTrade: false, mayWithdraw: false }],
    ['moving between own wallets', ['coow', 'cpow', 'wtow'], { mayTrade: true, mayWithdraw: false }],
    ['withdrawing', ['coow', 'cpow', 'wwow'], { mayTrade: true, mayWithdraw: true }],
    ['withdrawing under another name', ['coow', 'cpow', 'Withdraw'], { mayTrade: true, mayWithdraw: true }],
    ['nothing', [], { mayTrade: false, mayWithdraw: false }],
  ])('%s', (_name, authorities, rights) => {
    expect(keyInspectionOf(answer(authorities))).toEqual({
      accountMode: 'classic',
      accountId: '4711',
      ...rights,
    });
  });

  test.each([
    ['nothing at all', null],
    ['text', 'coow'],
    ['an object', { coow: true }],
  ])('rejects %s instead of a list of permissions', (_name, authorities) => {
    expect(() => keyInspectionOf(answer(authorities))).toThrow('no list of permissions');
  });

  test.each([[null], [''], [{}]])('treats an account id of %j as missing', (userId) => {
    expect(keyInspectionOf(answer(['coow'], userId)).accountId).toBeNull();
  });

  test.each([[null], [undefined], ['x'], [{ data: null }], [[]]])('rejects an answer of %j', (odd) => {
    expect(() => keyInspectionOf(odd)).toThrow('no list of permissions');
  });
});
