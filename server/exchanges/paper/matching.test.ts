import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import {
  type AccountBook,
  balancesOf,
  isPending,
  liveTrigger,
  type PaperOrder,
  type TokenBook,
} from './book.ts';
import { fillOrder, isMarketable, liquidationPrice, setTrigger, settleMark } from './matching.ts';

const AT = new Date('2026-01-02T03:04:05Z');

function books(): { account: AccountBook; book: TokenBook } {
  const book: TokenBook = {
    token: 'BTC',
    leverage: 10,
    marginMode: 'isolated',
    positionMode: null,
    markCursor: null,
    position: null,
    orders: [],
    triggers: [],
    fills: [],
  };
  const account: AccountBook = {
    userId: 'u',
    platform: 'Bitget',
    balance: D(1000),
    realisedProfit: D(0),
    feesPaid: D(0),
    positionMode: 'one_way_mode',
    marginMode: null,
    tokens: new Map([['BTC', book]]),
  };
  return { account, book };
}

function order(changes: Partial<PaperOrder> = {}): PaperOrder {
  return {
    id: null,
    clientOrderId: 'c',
    side: 'buy',
    type: 'limit',
    reduceOnly: false,
    price: D(100),
    size: D(10),
    filledSize: D(0),
    filledValue: D(0),
    fee: D(0),
    profit: D(0),
    leverage: 10,
    marginMode: 'isolated',
    positionMode: 'one_way_mode',
    presetStopLoss: null,
    presetTakeProfit: null,
    state: 'live',
    source: 'normal',
    createdAt: AT,
    updatedAt: AT,
    ...changes,
  };
}

type Books = ReturnType<typeof books>;

const settle = (own: Books, ...marks: (number | string)[]) => {
  for (const mark of marks) settleMark({ ...own, mark: D(mark), at: AT });
};
const fillAt = (own: Books, what: PaperOrder, price: number, liquidity: 'maker' | 'taker' = 'taker') => {
  own.book.orders.push(what);
  fillOrder({ ...own, order: what, price: D(price), size: what.size, liquidity, at: AT });
};

describe('limit orders', () => {
  test.each([
    ['buy', 99.9, true],
    ['buy', 100, true],
    ['buy', 100.1, false],
    ['sell', 100.1, true],
    ['sell', 100, true],
    ['sell', 99.9, false],
  ] as const)('a %s limit of 100 at a mark of %d: %s', (side, mark, fills) => {
    expect(isMarketable(order({ side }), D(mark))).toBe(fills);
  });

  test('a resting order fills at the mark that crosses its limit, for the maker fee', () => {
    const own = books();
    own.book.orders.push(order());
    settle(own, 101, 100.5, 97);
    expect(own.book.fills).toHaveLength(1);
    expect(own.book.fills[0]?.price.toNumber()).toBe(97);
    expect(own.account.feesPaid.toNumber()).toBe(0.194);
    expect(own.book.position).toMatchObject({ side: 'long' });
    expect(own.book.position?.margin.toNumber()).toBe(97);
  });

  test('a reduce-only order shrinks to the position and is cancelled without one', () => {
    const own = books();
    fillAt(own, order({ size: D(4) }), 100);
    const closing = order({ side: 'sell', reduceOnly: true, size: D(10), price: D(105) });
    own.book.orders.push(closing);
    settle(own, 106);
    expect(own.book.position).toBeNull();
    expect(closing.filledSize.toNumber()).toBe(4);
    settle(own, 107);
    expect(closing.state).toBe('canceled');
  });
});

describe('positions', () => {
  test('a second fill averages the entry price', () => {
    const own = books();
    fillAt(own, order({ size: D(1) }), 100);
    fillAt(own, order({ size: D(3) }), 104);
    expect(own.book.position?.entryPrice.toNumber()).toBe(103);
    expect(own.book.position?.margin.toNumber()).toBe(41.2);
  });

  test('closing half releases half of the margin and books the profit', () => {
    const own = books();
    fillAt(own, order({ size: D(4) }), 100);
    fillAt(own, order({ side: 'sell', size: D(2), reduceOnly: true }), 110);
    expect(own.book.position?.size.toNumber()).toBe(2);
    expect(own.book.position?.margin.toNumber()).toBe(20);
    expect(own.account.realisedProfit.toNumber()).toBe(20);
  });

  test('an order larger than the position reverses it', () => {
    const own = books();
    fillAt(own, order({ size: D(2), presetStopLoss: D(90) }), 100);
    fillAt(own, order({ side: 'sell', size: D(5), presetStopLoss: D(120) }), 110);
    expect(own.book.position).toMatchObject({ side: 'short' });
    expect(own.book.position?.size.toNumber()).toBe(3);
    expect(own.book.position?.entryPrice.toNumber()).toBe(110);
    expect(liveTrigger(own.book, 'pos_loss')?.triggerPrice.toNumber()).toBe(120);
    expect(own.account.realisedProfit.toNumber()).toBe(20);
  });
});

describe('stop loss and take profit', () => {
  const protectedLong = () => {
    const own = books();
    fillAt(own, order({ size: D(1), presetStopLoss: D(95), presetTakeProfit: D(110) }), 100);
    return own;
  };

  test('a stop closes the whole position at the mark that crossed it, including gaps', () => {
    const own = protectedLong();
    settle(own, 95.1);
    expect(own.book.position).not.toBeNull();
    settle(own, 93);
    expect(own.book.position).toBeNull();
    expect(own.account.realisedProfit.toNumber()).toBe(-7);
    expect(own.book.orders.at(-1)).toMatchObject({ source: 'pos_loss', state: 'filled', side: 'sell' });
    expect(own.book.orders.at(-1)?.clientOrderId).not.toBe(own.book.orders[0]?.clientOrderId);
    expect(own.book.triggers.map(({ state }) => state).sort()).toEqual(['cancelled', 'executed']);
  });

  test('a target closes the position at the mark that reached it', () => {
    const own = protectedLong();
    settle(own, 111);
    expect(own.account.realisedProfit.toNumber()).toBe(11);
  });

  test('the mark that fills an order does not trigger its stop, but the next one does', () => {
    const own = books();
    own.book.orders.push(order({ price: D(100), size: D(1), presetStopLoss: D(98) }));
    settle(own, 97);
    expect(own.book.position).not.toBeNull();
    settle(own, 97);
    expect(own.book.position).toBeNull();
  });

  test('a second entry moves the stop instead of adding one', () => {
    const own = protectedLong();
    fillAt(own, order({ size: D(1), presetStopLoss: D(97) }), 100);
    const live = own.book.triggers.filter(
      ({ state, planType }) => state === 'live' && planType === 'pos_loss',
    );
    expect(live.map(({ triggerPrice }) => triggerPrice.toNumber())).toEqual([97]);
  });

  test('a lost stop leaves the position without one', () => {
    const own = books();
    const entry = order({ size: D(1), presetStopLoss: D(95), presetTakeProfit: D(110) });
    own.book.orders.push(entry);
    settleMark({
      ...own,
      mark: D(100),
      at: AT,
      stopAtFill: () => null,
    });
    expect(liveTrigger(own.book, 'pos_loss')).toBeNull();
    expect(liveTrigger(own.book, 'pos_profit')).not.toBeNull();
  });
});

describe('liquidation', () => {
  test('happens when the loss has reduced the margin to the maintenance margin', () => {
    const own = books();
    fillAt(own, order({ size: D(1) }), 100);
    // (100 - 10) / (1 - 0.004)
    expect(own.book.position && liquidationPrice(own.book.position).toFixed(6)).toBe('90.361445');
    settle(own, 90.4);
    expect(own.book.position).not.toBeNull();
    settle(own, 90.3);
    expect(own.book.position).toBeNull();
    expect(own.account.realisedProfit.toNumber()).toBe(-10);
  });

  test('a gap beyond it costs only the margin', () => {
    const own = books();
    fillAt(own, order({ side: 'sell', size: D(2) }), 100);
    settle(own, 400);
    expect(own.account.realisedProfit.toNumber()).toBe(-20);
  });
});

describe('any sequence of orders and marks', () => {
  const step = fc.oneof(
    fc.record({ mark: fc.integer({ min: 50, max: 150 }) }),
    fc.record({
      side: fc.constantFrom('buy' as const, 'sell' as const),
      price: fc.integer({ min: 60, max: 140 }),
      size: fc.integer({ min: 1, max: 5 }),
      stop: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null }),
    }),
  );

  test('keeps the books balanced, the position positive and every loss within its margin', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const own = books();
        own.account.balance = D(1_000_000);
        for (const each of steps) {
          if ('mark' in each) {
            const marginBefore = own.book.position?.margin ?? D(0);
            const realisedBefore = own.account.realisedProfit;
            const wasShort = own.book.position?.side === 'short';
            own.book.orders = own.book.orders.filter(() => false);
            settle(own, each.mark);
            const lost = realisedBefore.minus(own.account.realisedProfit);
            expect(lost.lte(marginBefore), `${wasShort ? 'short' : 'long'} lost ${lost}`).toBe(true);
          } else {
            const { side, stop } = each;
            const presetStopLoss =
              stop === null ? null : D(side === 'buy' ? each.price - stop : each.price + stop);
            fillAt(
              own,
              order({ side, size: D(each.size), price: D(each.price), presetStopLoss }),
              each.price,
            );
          }
          const { account, book } = own;
          const expected = D(1_000_000).plus(account.realisedProfit).minus(account.feesPaid);
          expect(account.balance.toFixed()).toBe(expected.toFixed());
          expect(book.position === null || book.position.size.gt(0)).toBe(true);
          expect(book.position !== null || book.triggers.every(({ state }) => state !== 'live')).toBe(true);
          const fees = book.fills.reduce((total, { fee }) => total.plus(fee), D(0));
          expect(fees.toFixed()).toBe(account.feesPaid.toFixed());
        }
      }),
      { numRuns: 500 },
    );
  });
});

test('the available balance excludes margins and amounts locked by resting orders', () => {
  const own = books();
  fillAt(own, order({ size: D(1) }), 100);
  own.book.orders.push(order({ price: D(90), size: D(1) }));
  const balances = balancesOf(own.account, () => D(104));
  expect(own.book.orders.filter(isPending)).toHaveLength(1);
  expect(balances.margin.toNumber()).toBe(10);
  expect(balances.locked.toNumber()).toBe(9.054);
  expect(balances.unrealisedProfit.toNumber()).toBe(4);
  expect(balances.equity.toNumber()).toBe(1003.94);
  expect(balances.available.toNumber()).toBe(980.886);
});

test('a stop needs a position', () => {
  const own = books();
  expect(() => setTrigger(own.book, 'pos_loss', D(90), { clientOrderId: 'c' }, AT)).toThrow('position');
});
