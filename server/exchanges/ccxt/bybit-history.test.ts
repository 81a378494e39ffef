import { describe, expect, test } from 'vitest';
import { closedPositionsOf as closedPositionsIn } from './bybit-history.ts';

let sequence = 0;
let at = 1795273000000;

const fill = (side: 'Buy' | 'Sell', execQty: string, execPrice: string, changes: object = {}) => {
  sequence += 1;
  at += 1_000;
  return {
    symbol: 'BTCUSDT',
    side,
    execId: `e${sequence}`,
    orderId: `o${sequence}`,
    execType: 'Trade',
    execQty,
    execPrice,
    execFee: '0.1',
    feeCurrency: '',
    execTime: String(at),
    seq: sequence,
    ...changes,
  };
};

const open = (side: 'Buy' | 'Sell', size: string) => ({
  symbol: 'BTCUSDT',
  side,
  size,
  avgPrice: '1',
  leverage: '10',
});

/** Derives the closed orders from the fills: each fill has its closed size as `closes`. */
const closedOrdersOf = (fills: { orderId?: string; closes?: string }[]) =>
  fills
    .filter(({ closes }) => closes !== undefined)
    .map(({ orderId, closes }) => ({ orderId, closedSize: closes, updatedTime: '1' }));

const closedPositionsOf = (executions: object[], openNow: object[]) =>
  closedPositionsIn({ executions, openNow, closedOrders: closedOrdersOf(executions) });

const newestFirst = (fills: object[]) => fills.toReversed();

describe('positions reconstructed from fills', () => {
  test('merges two opening and two closing fills into one, with averages and all fees', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Buy', '0.01', '65200'),
      fill('Sell', '0.005', '66000', { closes: '0.005' }),
      fill('Sell', '0.015', '67000', { closes: '0.015', closedSize: '0.015' }),
    ];
    const [position, ...more] = closedPositionsOf(newestFirst(fills), []);
    expect(more).toEqual([]);
    expect(position).toMatchObject({
      positionId: `BTCUSDT-${fills[0]?.execId}`,
      side: 'long',
      quantity: '0.02',
      entryPrice: '65100',
      closePrice: '66750',
      realisedProfit: '33',
      fees: '0.4',
      openedAt: new Date(Number(fills[0]?.execTime)),
      closedAt: new Date(Number(fills[3]?.execTime)),
    });
  });

  test('leaves out an open position and its fills', () => {
    const fills = [
      fill('Sell', '0.01', '65000'),
      fill('Buy', '0.01', '64000', { closes: '0.01' }),
      fill('Buy', '0.03', '64100'),
    ];
    const found = closedPositionsOf(newestFirst(fills), [open('Buy', '0.03')]);
    expect(found).toMatchObject([{ side: 'short', quantity: '0.01', realisedProfit: '10', fees: '0.2' }]);
  });

  test('splits a fill larger than the position, and its fee, between the old and the new position', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.04', '66000', { execFee: '0.4', closes: '0.01', closedSize: '0.01' }),
      fill('Buy', '0.03', '65000', { closes: '0.03' }),
    ];
    const found = closedPositionsOf(newestFirst(fills), []).toSorted((a, b) => +a.openedAt - +b.openedAt);
    expect(found).toMatchObject([
      { side: 'long', quantity: '0.01', realisedProfit: '10', fees: '0.2' },
      { side: 'short', quantity: '0.03', realisedProfit: '30', fees: '0.4' },
    ]);
    expect(new Set(found.map(({ positionId }) => positionId)).size).toBe(2);
  });

  test('counts funding as profit, not as a fill', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.01', '65000', { execType: 'Funding', execFee: '0.5' }),
      fill('Sell', '0.01', '65000', { execType: 'Funding', execFee: '-0.2' }),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
    ];
    expect(closedPositionsOf(newestFirst(fills), [])).toMatchObject([
      { realisedProfit: '9.7', fees: '0.2', funding: '-0.3' },
    ]);
  });

  test('leaves out a position that was opened before the first fill in the list', () => {
    const fills = [fill('Sell', '0.01', '65000', { closedSize: '0.01' })];
    expect(closedPositionsOf(fills, [])).toEqual([]);
  });

  test('counts a page that was answered twice only once', () => {
    const fills = newestFirst([
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
    ]);
    expect(closedPositionsOf([...fills, ...fills], [])).toHaveLength(1);
  });

  test('leaves a fee in another coin out of the fees in USDT', () => {
    const fills = [
      fill('Buy', '0.01', '65000', { feeCurrency: 'MNT' }),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
    ];
    expect(closedPositionsOf(newestFirst(fills), [])).toMatchObject([{ fees: '0.1' }]);
  });

  test('requires that the size closed by its orders matches the exchange’s own figures', () => {
    const fills = [fill('Buy', '0.01', '65000'), fill('Sell', '0.01', '66000')];
    const [, close] = fills;
    const inAll = (closedSize: string) =>
      closedPositionsIn({
        executions: newestFirst(fills),
        openNow: [],
        closedOrders: [{ orderId: close?.orderId, closedSize, updatedTime: '1' }],
      });
    expect(inAll('0.01')).toHaveLength(1);
    expect(() => inAll('0.004')).toThrow('do not add up');
    expect(() => closedPositionsOf(newestFirst(fills), [])).toThrow('do not add up');
  });

  test('reconstructs nothing from a list of fills that lags behind', () => {
    // The last close is missing: walked back from no open position, each fill would look like its opposite.
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
      fill('Buy', '0.01', '65500'),
    ];
    expect(() => closedPositionsOf(newestFirst(fills), [])).toThrow('do not add up');
    expect(closedPositionsOf(newestFirst(fills), [open('Buy', '0.01')])).toHaveLength(1);
  });

  test('also compares the walk with the `closedSize` of a fill', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.01', '66000', { closes: '0.01', closedSize: '0.005' }),
    ];
    expect(() => closedPositionsOf(newestFirst(fills), [])).toThrow('do not add up');
  });

  test('leaves out a token with an execution of an unknown kind, and tells the others', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '1', '3000', { symbol: 'ETHUSDT' }),
      fill('Buy', '0.01', '0', { execType: 'CorporateAction' }),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
      fill('Buy', '1', '2900', { symbol: 'ETHUSDT', closes: '1' }),
    ];
    expect(closedPositionsOf(newestFirst(fills), [])).toMatchObject([{ token: 'ETH' }]);
    const alone = fills.filter(({ symbol }) => symbol === 'BTCUSDT');
    expect(() => closedPositionsOf(newestFirst(alone), [])).toThrow('unknown kind: CorporateAction');
  });

  test.each([
    ['fills do not add up', () => [fill('Sell', '1', '1', { symbol: 'SOLUSDT', closedSize: '0.3' })]],
    ['fill cannot be read', () => [fill('Sell', 'many', '1', { symbol: 'SOLUSDT' })]],
  ])('leaves out a token whose %s, and tells the others', (_, rows) => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
      ...rows(),
    ];
    expect(closedPositionsOf(newestFirst(fills), [])).toMatchObject([{ token: 'BTC' }]);
  });

  test('a fill of no contract may be any token’s', () => {
    const fills = [fill('Buy', '0.01', '65000'), fill('Sell', '0.01', '66000', { symbol: '' })];
    expect(() => closedPositionsOf(newestFirst(fills), [])).toThrow('names its contract');
  });

  test('walks each token separately', () => {
    const fills = [
      fill('Buy', '0.01', '65000'),
      fill('Sell', '1', '3000', { symbol: 'ETHUSDT' }),
      fill('Sell', '0.01', '66000', { closes: '0.01' }),
      fill('Buy', '1', '2900', { symbol: 'ETHUSDT', closes: '1' }),
      fill('Buy', '1', '2900', { symbol: 'ETHPERP' }),
    ];
    const found = closedPositionsOf(newestFirst(fills), []);
    expect(found.map(({ token, side, realisedProfit }) => [token, side, realisedProfit]).sort()).toEqual([
      ['BTC', 'long', '10'],
      ['ETH', 'short', '100'],
    ]);
  });
});
