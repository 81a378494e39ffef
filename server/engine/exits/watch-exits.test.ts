import { asc, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { type CallPriority, ExchangeError } from '#server/exchanges/exchange.ts';
import { rankOf } from '#server/exchanges/limits/rate-limits.ts';
import { noticeEvents, positionCloses, tradeExits, userSettings, users } from '#server/platform/db/schema.ts';
import { createLog } from '#server/platform/log.ts';
import { CLOSING_FAULTS, isLost } from '#test/app/closing-faults.ts';
import { firstCases, oneOfEachKind, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { overtakenAt, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import type { TestEngine } from '#test/app/test-engine.ts';
import { flatten, ledgerOf, nextToken, openLongByHand } from '#test/app/token-holders.ts';
import { answering, dyingAt } from '#test/venues/dying-exchange.ts';
import { replaceExitPlan } from './exit-plans.store.ts';
import { createExitWatch } from './watch-exits.ts';

const asked: string[] = [];
const engine = sharedTestEngine({
  watch: {
    before: async ({ path }) => {
      asked.push(path);
    },
  },
});
const paper = sharedTestEngine({ paperMode: true });

const plan = (more: Partial<ExitPlan>): ExitPlan => ({ takeProfits: [], ...more });
const HALF_AT_1R = plan({ takeProfits: [{ atR: '1', percent: 50 }] });

/** A long position opened at 100 with its stop at 98 and its target at 104: R is 2. */
async function withPlan(
  of: ExitPlan,
  {
    on = engine,
    exchangePlatform = 'Bitget',
    atr,
  }: { on?: TestEngine; exchangePlatform?: ExchangePlatform; atr?: string } = {},
) {
  const token = nextToken();
  // The signal is for the new user alone: two positions of one user would begin one after the other.
  await on.db.update(users).set({ isActive: false });
  const userId = await on.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
  const now = on.clock.now();
  const scope = { kind: 'user', value: userId } as const;
  await on.db.transaction((tx) => replaceExitPlan(tx, { scope, plan: of, now }));
  if (atr !== undefined) await on.storeCandle({ token, price: '100', atr });
  const { signalId } = await on.storeSignal({ token, price: '100' });
  await on.settle();
  const [trade] = (await on.trades(signalId)).filter((one) => one.userId === userId);
  if (trade === undefined) throw new Error('no trade');
  expect(trade.fillStatus).toBe('filled');
  return { userId, token, trade, quantity: trade.filledQuantity };
}

/** What a look at the prices begins, carried out to its end. */
async function look(on = engine, deps: EngineDeps = on.deps): Promise<void> {
  const watch = createExitWatch(deps, createAccountReader(deps));
  on.clock.advance(1_000);
  await watch.run();
  await watch.idle();
}

async function priceOf(token: string, price: string, on = engine): Promise<void> {
  on.clock.advance(1_000);
  await on.storeCandle({ token, price });
  await look(on);
}

const sizeOf = async (userId: string, token: string, on = engine) => {
  const { position } = await on.holding(userId, token);
  return position === null ? null : toPlain(position.size);
};
const stopOf = async (userId: string, token: string, on = engine) => {
  const { stopLoss } = await on.holding(userId, token);
  return stopLoss === null ? null : toPlain(stopLoss);
};
const exitsOf = async (tradeId: string, on = engine) => {
  const [row] = await on.db.select().from(tradeExits).where(eq(tradeExits.tradeId, tradeId));
  return row;
};
const hasBegun = async (tradeId: string) => (await exitsOf(tradeId))?.planned != null;
const told = async (tradeId: string, on = engine) => {
  const rows = await on.db
    .select()
    .from(noticeEvents)
    .where(eq(noticeEvents.tradeId, tradeId))
    .orderBy(asc(noticeEvents.id));
  return rows.map(({ code }) => code).filter((code) => code?.startsWith('exit_'));
};
/** The data of the notices of a trade with this code. */
const dataOf = async (tradeId: string, code: string) => {
  const rows = await engine.db.select().from(noticeEvents).where(eq(noticeEvents.tradeId, tradeId));
  return rows.filter((row) => row.code === code).map(({ data }) => data);
};
const isHalf = (size: string | null, quantity: string) =>
  expect(
    D(size ?? 0)
      .div(quantity)
      .minus('0.5')
      .abs()
      .lt('0.01'),
    `${size} of ${quantity}`,
  ).toBe(true);

const ENTRY = ['buy', false, 'filled'];
const CLOSE = ['sell', true, 'filled'];

const PLACES = [
  ...EXCHANGE_PLATFORMS.map((exchangePlatform) => ({ exchangePlatform, where: 'at its venue', on: engine })),
  ...EXCHANGE_PLATFORMS.map((exchangePlatform) => ({ exchangePlatform, where: 'in paper mode', on: paper })),
];
describe.each(PLACES)('$exchangePlatform $where', (place) => {
  const { exchangePlatform, on } = place;
  const test = testInTurn(PLACES, place);

  // Requirements: additions-exits-9
  test('a part is closed at its price with one reduce-only order, and the rest keeps its stop', async () => {
    const { userId, token, trade, quantity } = await withPlan(HALF_AT_1R, { on, exchangePlatform });
    await priceOf(token, '101.9', on);
    expect(await sizeOf(userId, token, on)).toBe(toPlain(quantity));
    expect(await exitsOf(trade.id, on)).toMatchObject({
      partsDone: 0,
      planned: { risk: '2', parts: [{ atR: '1', price: '102', percent: 50 }] },
    });
    await priceOf(token, '102', on);
    isHalf(await sizeOf(userId, token, on), quantity);
    expect(await stopOf(userId, token, on)).toBe('98');
    await look(on);
    expect(await ledgerOf(on, userId)).toEqual([ENTRY, CLOSE]);
    expect(await exitsOf(trade.id, on)).toMatchObject({ partsDone: 1, problem: null });
    expect(await told(trade.id, on)).toEqual(['exit_part_closed']);
    const { timeline } = await on.events(trade.id);
    expect(timeline).toContainEqual(
      expect.stringMatching(/^Exit plan: part 1 closed at 102 \(1 R\): .* stays open$/),
    );
  });

  // Requirements: additions-exits-10
  test('the stop moves to the entry once, in place, and closes there', async () => {
    const { userId, token, trade } = await withPlan(plan({ breakEvenAtR: '1' }), { on, exchangePlatform });
    await priceOf(token, '101.9', on);
    expect(await stopOf(userId, token, on)).toBe('98');
    await priceOf(token, '102', on);
    expect(await stopOf(userId, token, on)).toBe('100');
    expect(await told(trade.id, on)).toEqual(['exit_stop_moved']);
    expect((await on.trade(trade.id)).movedStopLoss).toBe('100');
    on.clock.advance(20_000);
    await priceOf(token, '103', on);
    expect(await told(trade.id, on)).toEqual(['exit_stop_moved']);
    await priceOf(token, '99.9', on);
    expect(await sizeOf(userId, token, on)).toBeNull();
  });

  // Requirements: additions-exits-11
  test('the stop trails the best price by ATR, at most once in ten seconds, and never back', async () => {
    const trail = plan({ trail: { atrMultiple: '1' } });
    const { userId, token } = await withPlan(trail, { on, exchangePlatform, atr: '1' });
    await look(on);
    await priceOf(token, '101', on);
    expect(await stopOf(userId, token, on)).toBe('100');
    await priceOf(token, '101.5', on);
    expect(await stopOf(userId, token, on)).toBe('100');
    // The best price counts, not the present one.
    on.clock.advance(10_000);
    await priceOf(token, '101.2', on);
    expect(await stopOf(userId, token, on)).toBe('100.5');
    on.clock.advance(10_000);
    await priceOf(token, '101', on);
    expect(await stopOf(userId, token, on)).toBe('100.5');
  });

  // Requirements: additions-exits-12
  test('the rest is closed when it was held long enough', async () => {
    const { userId, token, trade } = await withPlan(plan({ maxHoldingMinutes: 60 }), {
      on,
      exchangePlatform,
    });
    await look(on);
    on.clock.advance(58 * 60_000);
    await priceOf(token, '101', on);
    expect(await sizeOf(userId, token, on)).not.toBeNull();
    on.clock.advance(2 * 60_000);
    await priceOf(token, '101', on);
    expect(await on.holding(userId, token)).toEqual({ position: null, stopLoss: null, takeProfit: null });
    expect(await ledgerOf(on, userId)).toEqual([ENTRY, CLOSE]);
    expect(await told(trade.id, on)).toEqual(['exit_time_closed']);
  });
});

describe('an order of a plan is sent once', () => {
  describe.each(EXCHANGE_PLATFORMS)('at %s', (exchangePlatform) => {
    const test = testInTurn(EXCHANGE_PLATFORMS, exchangePlatform);

    // Requirements: additions-exits-13
    test.each(oneOfEachKind(CLOSING_FAULTS, isLost))('after %s', async (kind) => {
      const { userId, token, trade, quantity } = await withPlan(HALF_AT_1R, { exchangePlatform });
      await look();
      strike(engine, userId, [
        { kind, on: { path: exchangePlatform === 'Bitget' ? 'place-order' : 'order/create' } },
      ]);
      await priceOf(token, '102');
      isHalf(await sizeOf(userId, token), quantity);
      await look();
      expect(await ledgerOf(engine, userId)).toEqual([ENTRY, CLOSE]);
      expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 1 });
    });

    testEveryCase.each(CLOSING_FAULTS)('also when a stop is moved, after %s', async (kind) => {
      const { userId, token } = await withPlan(plan({ breakEvenAtR: '1' }), { exchangePlatform });
      await look();
      const path = exchangePlatform === 'Bitget' ? 'tpsl-order' : 'trading-stop';
      strike(engine, userId, [{ kind, on: { path } }]);
      await priceOf(token, '102');
      await engine.settle();
      expect(await stopOf(userId, token)).toBe('100');
      expect(await sizeOf(userId, token)).not.toBeNull();
    });

    testEveryCase.each(CLOSING_FAULTS)('also at the end of the holding time, after %s', async (kind) => {
      const { userId, token } = await withPlan(plan({ maxHoldingMinutes: 5 }), { exchangePlatform });
      await look();
      const path = exchangePlatform === 'Bitget' ? 'place-order' : 'order/create';
      strike(engine, userId, [{ kind, on: { path } }]);
      engine.clock.advance(5 * 60_000);
      await priceOf(token, '101');
      expect(await sizeOf(userId, token)).toBeNull();
      expect(await ledgerOf(engine, userId)).toEqual([ENTRY, CLOSE]);
    });

    testEveryCase('and its end is reported once where the account cannot be read after it', async () => {
      const { userId, token, trade } = await withPlan(plan({ maxHoldingMinutes: 5 }), { exchangePlatform });
      await look();
      engine.clock.advance(5 * 60_000);
      await engine.storeCandle({ token, price: '101' });
      const away = answering(engine.deps, () => ({
        fetchHoldings: () => Promise.reject(new ExchangeError('unknown', 'no answer')),
      }));
      for (let count = 0; count < 2; count += 1) await look(engine, away);
      expect(await sizeOf(userId, token)).toBeNull();
      expect(await told(trade.id)).toEqual(['exit_time_closed']);
    });

    test.each(['before', 'after'] as const)('when the process dies %s it leaves', async (when) => {
      const { userId, token, trade, quantity } = await withPlan(HALF_AT_1R, { exchangePlatform });
      await look();
      engine.clock.advance(1_000);
      await engine.storeCandle({ token, price: '102' });
      await look(engine, dyingAt(engine.deps, 'closePosition', when)).catch(() => undefined);
      await engine.restart();
      engine.clock.advance(20_000);
      await look();
      isHalf(await sizeOf(userId, token), quantity);
      expect((await ledgerOf(engine, userId)).filter(([, , state]) => state === 'filled')).toEqual([
        ENTRY,
        CLOSE,
      ]);
      expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 1 });
      const left = await sizeOf(userId, token);
      const closed = toPlain(D(quantity).minus(left ?? 0));
      expect(await dataOf(trade.id, 'exit_part_closed')).toEqual([
        expect.objectContaining({ quantity: closed, left }),
      ]);
    });

    testEveryCase('and what it closed is reported when the process dies after all was closed', async () => {
      const whole = plan({ takeProfits: [{ atR: '1', percent: 100 }] });
      const { userId, token, trade, quantity } = await withPlan(whole, { exchangePlatform });
      await look();
      engine.clock.advance(1_000);
      await engine.storeCandle({ token, price: '102' });
      await look(engine, dyingAt(engine.deps, 'closePosition', 'after')).catch(() => undefined);
      await engine.restart();
      engine.clock.advance(20_000);
      await look();
      expect(await sizeOf(userId, token)).toBeNull();
      expect(await dataOf(trade.id, 'exit_part_closed')).toEqual([
        expect.objectContaining({ quantity: toPlain(quantity), left: '0' }),
      ]);
    });
  });

  testEveryCase(
    'and says that the quantity is not known where the exchange knows the order no longer',
    async () => {
      const { token, trade, userId } = await withPlan(plan({ takeProfits: [{ atR: '1', percent: 100 }] }));
      await look();
      strike(engine, userId, [{ kind: 'partialFill', fraction: '0.4', on: { operation: 'close-position' } }]);
      engine.clock.advance(1_000);
      await engine.storeCandle({ token, price: '102' });
      await look(engine, dyingAt(engine.deps, 'findOrder', 'before')).catch(() => undefined);
      await engine.restart();
      await flatten(engine, { userId, token });
      engine.clock.advance(20_000);
      await look(
        engine,
        answering(engine.deps, () => ({ findOrder: async () => null })),
      );
      expect(await dataOf(trade.id, 'exit_part_closed')).toEqual([
        expect.objectContaining({ quantity: 'an unknown quantity of', left: '0' }),
      ]);
    },
  );

  test('when another instance takes the user over', async () => {
    const { userId, token, trade, quantity } = await withPlan(HALF_AT_1R);
    await look();
    await engine.storeCandle({ token, price: '102' });
    const overtaken = overtakenAt(engine, { key: `user:${userId}`, call: 'closePosition' });
    await look(engine, overtaken);
    expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 0 });
    await engine.restart();
    engine.clock.advance(20_000);
    await look();
    isHalf(await sizeOf(userId, token), quantity);
    expect(await ledgerOf(engine, userId)).toEqual([ENTRY, CLOSE]);
    expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 1 });
  });
});

// Requirements: additions-exits-14
test('works for a user who is stopped, paused, switched off and inactive', async () => {
  const { userId, token, quantity } = await withPlan(HALF_AT_1R);
  const pausedUntil = new Date(engine.clock.now().getTime() + 3_600_000);
  await engine.db
    .update(userSettings)
    .set({ activeTrading: false, tradingPausedUntil: pausedUntil })
    .where(eq(userSettings.userId, userId));
  await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
  await look();
  await priceOf(token, '102');
  isHalf(await sizeOf(userId, token), quantity);
});

test('parts come one after the other, the last one closes the rest, and a part once closed stays closed', async () => {
  const { userId, token, trade } = await withPlan(
    plan({
      takeProfits: [
        { atR: '0.5', percent: 30 },
        { atR: '1', percent: 70 },
      ],
    }),
  );
  await look();
  await priceOf(token, '102.5');
  expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 1 });
  await priceOf(token, '100.5');
  await look();
  expect(await ledgerOf(engine, userId)).toEqual([ENTRY, CLOSE]);
  await priceOf(token, '102');
  expect(await sizeOf(userId, token)).toBeNull();
  expect(await ledgerOf(engine, userId)).toEqual([ENTRY, CLOSE, CLOSE]);
});

// Requirements: additions-exits-15
test('what the user has added to the position is never closed', async () => {
  const { userId, token } = await withPlan(plan({ takeProfits: [{ atR: '1', percent: 100 }] }));
  await openLongByHand(engine, { userId, token });
  await look();
  await priceOf(token, '102');
  expect(await sizeOf(userId, token)).toBe('1');
});

testEveryCase('a part is at most what is left of a position that was reduced before', async () => {
  const { userId, token, trade } = await withPlan(HALF_AT_1R);
  await look();
  engine.clock.advance(1_000);
  const parameters = { action: 'reduce', reduce_percent: '80' };
  await engine.storeSignal({ token, price: '100', action: 'reduce', parameters });
  await engine.settle();
  await priceOf(token, '102');
  expect(await sizeOf(userId, token)).toBeNull();
  expect(await exitsOf(trade.id)).toMatchObject({ partsDone: 1 });
});

// Requirements: additions-exits-16
test('a stop that cannot be moved stays, and the failure is reported', async () => {
  const { userId, token, trade } = await withPlan(plan({ breakEvenAtR: '1' }));
  await look();
  strike(engine, userId, [
    { kind: 'refuse', code: '40020', message: 'no', on: { path: 'modify-tpsl-order', times: 1_000 } },
    { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-tpsl-order', times: 1_000 } },
  ]);
  await priceOf(token, '102');
  await engine.settle();
  expect(await stopOf(userId, token)).toBe('98');
  expect(await told(trade.id)).toEqual(['exit_not_done']);
  engine.clock.advance(10_000);
  await look();
  expect(await told(trade.id)).toEqual(['exit_not_done']);
  engine.venue.setFaults([]);
  engine.clock.advance(10_000);
  await look();
  expect(await stopOf(userId, token)).toBe('100');
});

testEveryCase('a failure that lasts is logged and reported once, and so is its end', async () => {
  const { userId, token, trade } = await withPlan(HALF_AT_1R);
  await look();
  const lines: { msg: string; problem?: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const deps = { ...engine.deps, log: createLog({ level: 'info', destination: { write } }) };
  const watch = createExitWatch(deps, createAccountReader(deps));
  const lookAgain = async () => {
    engine.clock.advance(10_000);
    await watch.run();
    await watch.idle();
  };
  const refuse = (message: string) =>
    strike(engine, userId, [{ kind: 'closeRefused', message, on: { times: 1_000 } }]);
  refuse('no');
  await engine.storeCandle({ token, price: '102' });
  await lookAgain();
  await lookAgain();
  refuse('not now');
  await lookAgain();
  await lookAgain();
  engine.venue.setFaults([]);
  await lookAgain();
  expect(lines.map(({ msg, problem }) => [msg, problem?.split(': ')[1]])).toEqual([
    ['a step of an exit plan failed, it is tried again', 'no (40020)'],
    ['a step of an exit plan failed, it is tried again', 'not now (40020)'],
    ['a step of an exit plan fails no longer', 'not now (40020)'],
  ]);
  expect(await told(trade.id)).toEqual(['exit_not_done', 'exit_not_done', 'exit_part_closed']);
});

testEveryCase('a stop that was moved nearer by hand is not moved back', async () => {
  const { userId, token } = await withPlan(plan({ breakEvenAtR: '1' }));
  await look();
  const account = await engine.deps.findAccount(userId, 'Bitget');
  if (account === null) throw new Error('no account');
  await engine.storeCandle({ token, price: '101.9' });
  const quantity = (await sizeOf(userId, token)) ?? '';
  await engine.deps.exchanges
    .get('Bitget')
    .moveProtection(
      account,
      { token, side: 'long', quantity, stopLoss: '101', takeProfit: null, clientOrderId: 'by-hand' },
      { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
    );
  await priceOf(token, '102');
  expect(await stopOf(userId, token)).toBe('101');
});

// Requirements: additions-exits-17
test('the plan is that of the entry: the user’s before the strategy’s, whatever is written later', async () => {
  const now = engine.clock.now();
  const strategy = { kind: 'strategy', value: 'tesla' } as const;
  const later = plan({ maxHoldingMinutes: 5 });
  await engine.db.transaction((tx) => replaceExitPlan(tx, { scope: strategy, plan: later, now }));
  const own = await withPlan(HALF_AT_1R);
  const none = await withPlan(plan({}));
  const token = nextToken();
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { signalId } = await engine.storeSignal({ token, price: '100', processor: ' TESLA ' });
  await engine.settle();
  await engine.db.transaction((tx) => replaceExitPlan(tx, { scope: strategy, plan: null, now }));
  const followed = (await engine.trades(signalId)).find((one) => one.userId === userId);
  expect(await exitsOf(own.trade.id)).toMatchObject({ plan: HALF_AT_1R, scopeKind: 'user' });
  expect(await exitsOf(none.trade.id)).toBeUndefined();
  expect(await exitsOf(followed?.id ?? '')).toMatchObject({
    plan: later,
    scopeKind: 'strategy',
    scopeValue: 'tesla',
  });
});

// Requirements: additions-exits-18
test('one request reads the prices for all users of an exchange, and none leaves without a plan', async () => {
  await engine.db.delete(tradeExits);
  asked.length = 0;
  await look();
  expect(asked).toEqual([]);
  await withPlan(plan({ breakEvenAtR: '1.5' }));
  await withPlan(plan({ breakEvenAtR: '1.5' }));
  await look();
  asked.length = 0;
  await look();
  expect(asked).toEqual(['/api/v2/mix/market/tickers']);
});

test('the prices of a look leave before what the moves of the last one read', async () => {
  const { userId, token } = await withPlan(plan({ breakEvenAtR: '1' }));
  await look();
  const asked: [string, CallPriority | undefined][] = [];
  const deps = answering(engine.deps, (exchange) => ({
    fetchMarkPrices(tokens, context) {
      asked.push(['prices', context?.priority]);
      return exchange.fetchMarkPrices(tokens, context);
    },
    fetchHolding(account, of, context) {
      asked.push(['holding', context?.priority]);
      return exchange.fetchHolding(account, of, context);
    },
  }));
  engine.clock.advance(1_000);
  await engine.storeCandle({ token, price: '102' });
  await look(engine, deps);
  expect(await stopOf(userId, token)).toBe('100');
  const rankedFirst = (what: string) => rankOf(asked.find(([one]) => one === what)?.[1] ?? 'background');
  expect(rankedFirst('prices')).toBeLessThan(rankedFirst('holding'));
});

testEveryCase('a new position that takes long to read keeps no other from its turn', async () => {
  const first = await withPlan(HALF_AT_1R);
  await look();
  const second = await withPlan(HALF_AT_1R);
  await engine.storeCandle({ token: first.token, price: '102' });
  const answer = Promise.withResolvers<void>();
  const deps = answering(engine.deps, ({ fetchPosition }) => ({
    async fetchPosition(account, ...more) {
      if (account.userId === second.userId) await answer.promise;
      return await fetchPosition(account, ...more);
    },
  }));
  const watch = createExitWatch(deps, createAccountReader(deps));
  const looking = watch.run();
  await expect.poll(async () => (await exitsOf(first.trade.id))?.partsDone).toBe(1);
  answer.resolve();
  await looking;
  await watch.idle();
  expect(await hasBegun(second.trade.id)).toBe(true);
});

describe('a plan that cannot be read', () => {
  const broken: [string, Partial<typeof tradeExits.$inferInsert>][] = [
    ['before it has prices', { plan: plan({ takeProfits: [{ atR: 'x', percent: 50 }] }), planned: null }],
    [
      'with its prices',
      { planned: { parts: [{ atR: '1', percent: 50, price: 'x', quantity: '1' }] } as never },
    ],
  ];
  // Requirements: additions-exits-25
  test.each(firstCases(broken))(
    '%s is reported at its position, and keeps no other from its turn',
    async (_when, set) => {
      const first = await withPlan(HALF_AT_1R);
      const second = await withPlan(HALF_AT_1R);
      await look();
      await engine.db.update(tradeExits).set(set).where(eq(tradeExits.tradeId, first.trade.id));
      await priceOf(second.token, '102');
      isHalf(await sizeOf(second.userId, second.token), second.quantity);
      await priceOf(first.token, '102');
      expect(await sizeOf(first.userId, first.token)).toBe(toPlain(first.quantity));
      expect(await exitsOf(first.trade.id)).toMatchObject({
        problem: 'an unexpected error, which the log tells',
      });
      expect(await told(first.trade.id)).toEqual(['exit_not_done']);
      await engine.db.delete(tradeExits).where(eq(tradeExits.tradeId, first.trade.id));
    },
  );
});

testEveryCase('a position that is gone takes nothing with it', async () => {
  const { userId, token } = await withPlan(HALF_AT_1R);
  await look();
  await engine.storeCandle({ token, price: '97' });
  expect(await sizeOf(userId, token)).toBeNull();
  await priceOf(token, '102');
  const closes = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));
  expect(closes).toEqual([]);
});
