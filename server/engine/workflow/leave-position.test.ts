import { isDeepStrictEqual } from 'node:util';
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import type { SignalAction } from '#domain/exits/signal-action.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import { positionCloses, userSettings, users } from '#server/platform/db/schema.ts';
import { CLOSING_FAULTS, isLost } from '#test/app/closing-faults.ts';
import { countStatements } from '#test/app/count-statements.ts';
import { firstCases, oneOfEachKind, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { ALWAYS, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import type { SignalFields } from '#test/app/test-engine-rows.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import {
  flatten,
  ledgerOf,
  nextToken,
  openLongByHand,
  reasonFor,
  withLong,
} from '#test/app/token-holders.ts';
import { answering, dyingAt } from '#test/venues/dying-exchange.ts';
import { HELD_UP_LIMIT_MS } from './follow-trade.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeUser, tradeWave } from './trade-wave.ts';
import { triggerWorkflow } from './trigger-workflow.ts';
import { createUserIntake } from './user-intake.ts';

const requests: string[] = [];
const engine = sharedTestEngine({
  watch: {
    async before({ path }) {
      requests.push(path.split('/').at(-1) ?? '');
    },
  },
});
const paper = sharedTestEngine({ paperMode: true });

/** Sends a signal that leaves, and works until nothing is left to do. */
async function leave(token: string, action: SignalAction, more: SignalFields = {}, on = engine) {
  on.clock.advance(1_000);
  const parameters = { action, ...more.parameters };
  const stored = await on.storeSignal({ token, price: '100', action, ...more, parameters });
  await on.settle();
  return stored;
}

const closesOf = (userId: string) =>
  engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId)).orderBy(positionCloses.id);

const createTrader = () => engine.createUser({ positionSizingMethod: 'Risk Management' });

const sizeOf = async (userId: string, token: string) => {
  const { position } = await engine.holding(userId, token);
  return position === null ? null : toPlain(position.size);
};

const CLOSED = [
  ['buy', false, 'filled'],
  ['sell', true, 'filled'],
];

describe.each(EXCHANGE_PLATFORMS)('at %s', (exchangePlatform) => {
  const test = testInTurn(EXCHANGE_PLATFORMS, exchangePlatform);

  // Requirements: additions-exits-1
  test('a close closes the position of its strategy with one reduce-only order', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    const { workflowId, signalId } = await leave(token, 'close');
    expect(await engine.workflow(workflowId)).toMatchObject({
      status: 'completed',
      outcome: 'filled',
      eligibleUsersCount: 1,
      successfulUsersCount: 1,
    });
    expect(await engine.holding(userId, token)).toEqual({ position: null, stopLoss: null, takeProfit: null });
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
    expect(await closesOf(userId)).toMatchObject([
      { state: 'closed', tradeId: trade.id, workflowId, reason: `closed by signal ${signalId}` },
    ]);
  });

  // Requirements: additions-exits-2
  test('a reduction closes its part, and the rest keeps its stop', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    const { workflowId } = await leave(token, 'reduce', { parameters: { reduce_percent: '25' } });
    const holding = await engine.holding(userId, token);
    const left = D(trade.filledQuantity).minus(holding.position?.size ?? 0);
    expect(left.div(trade.filledQuantity).minus('0.25').abs().lt('0.01')).toBe(true);
    expect(holding.stopLoss).not.toBeNull();
    expect(await engine.workflow(workflowId)).toMatchObject({ outcome: 'filled' });
    const steps = await engine.steps(workflowId);
    expect(steps.find(({ stepType }) => stepType === 'order_submission')?.outputData).toMatchObject({
      side: 'long',
      closed: toPlain(left),
      left: toPlain(holding.position?.size ?? 0),
    });
  });

  test.each(oneOfEachKind(CLOSING_FAULTS, isLost))('closes a part once after %s', async (kind) => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    strike(engine, userId, [{ kind, on: { operation: 'close-position' } }]);
    await leave(token, 'reduce', { parameters: { reduce_percent: '50' } });
    const left = D((await sizeOf(userId, token)) ?? 0).div(trade.filledQuantity);
    expect(left.minus('0.5').abs().lt('0.01')).toBe(true);
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  });
});

describe('a run that is interrupted reports what its orders have closed', () => {
  /** The process dies after each of its closing orders that is listed here, and something else happens meanwhile. */
  async function interrupted(
    held: { userId: string; token: string; exchangePlatform?: ExchangePlatform },
    {
      action,
      meanwhile,
      dies = (deps) => dyingAt(deps, 'closePosition', 'after'),
      by = engine.deps,
    }: {
      action: 'close' | 'reduce';
      meanwhile: (() => Promise<unknown>)[];
      dies?: (deps: EngineDeps) => EngineDeps;
      by?: EngineDeps;
    },
  ) {
    const { userId, token } = held;
    strike(engine, userId, [{ kind: 'partialFill', fraction: '0.4', on: { operation: 'close-position' } }]);
    engine.clock.advance(1_000);
    const more = action === 'reduce' ? { reduce_percent: '50' } : {};
    const parameters = { action, ...more };
    const { workflowId } = await engine.storeSignal({ token, price: '100', action, parameters });
    for (const happen of meanwhile) {
      await expect(engine.settle({ deps: dies(engine.deps) })).rejects.toThrow();
      await engine.restart();
      engine.clock.advance(20_000);
      await happen();
    }
    await engine.settle({ deps: by });
    const steps = await engine.steps(workflowId);
    const outputOf = steps.find(({ stepType }) => stepType === 'order_submission')?.outputData;
    const orders = (await engine.exchangeOrders(userId)).filter((order) => isClose(order));
    const filled = orders.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
    return { output: outputOf, orders: orders.length, filled: toPlain(filled) };
  }

  const isClose = (order: { reduceOnly: boolean; source: string }) =>
    order.reduceOnly && order.source === 'normal';

  /** What the first closing order has not filled is gone. */
  async function cancelRest({ userId, token }: { userId: string; token: string }) {
    const [close] = await closesOf(userId);
    const platform = close?.exchangePlatform as ExchangePlatform;
    const account = await engine.deps.findAccount(userId, platform);
    if (close === undefined || account === null) throw new Error('nothing to cancel');
    await engine.deps.exchanges.get(platform).cancelOrder(account, { ...close, token });
  }

  const nothing = async () => {};

  test.each(
    firstCases([
      ['Bitget', 'reduce'],
      ['Bybit', 'close'],
    ]),
  )('at %s, of a %s in two orders', async (exchangePlatform, action) => {
    const held = await withLong(engine, { exchangePlatform });
    const told = await interrupted(held, { action, meanwhile: [() => cancelRest(held), nothing] });
    const left = (await sizeOf(held.userId, held.token)) ?? '0';
    expect(D(left).div(held.trade.filledQuantity).toFixed(1)).toBe(action === 'reduce' ? '0.5' : '0.0');
    const closed = toPlain(D(held.trade.filledQuantity).minus(left));
    expect(told).toMatchObject({ orders: 2, filled: closed, output: { closed, left } });
  });

  testEveryCase.each(['close', 'reduce'] as const)(
    'of a %s, also when the stop closes the rest',
    async (action) => {
      const held = await withLong(engine);
      const told = await interrupted(held, {
        action,
        meanwhile: [
          async () => {
            await cancelRest(held);
            await engine.storeCandle({ token: held.token, price: '90' });
          },
        ],
      });
      expect(told).toMatchObject({ orders: 1, output: { closed: told.filled, left: '0' } });
    },
  );

  testEveryCase('of nothing, when the stop closes all of it first', async () => {
    const held = await withLong(engine);
    const { token } = held;
    engine.clock.advance(1_000);
    const signal = { token, price: '100', action: 'close', parameters: { action: 'close' } } as const;
    const { workflowId } = await engine.storeSignal(signal);
    const dying = dyingAt(engine.deps, 'closePosition', 'before');
    await expect(engine.settle({ deps: dying })).rejects.toThrow();
    await engine.restart();
    await engine.storeCandle({ token, price: '90' });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId: held.userId })).toContain('was closed before');
  });

  testEveryCase('as the position shows, where the exchange knows the first order no longer', async () => {
    const held = await withLong(engine);
    const told = await interrupted(held, {
      action: 'reduce',
      meanwhile: [() => cancelRest(held)],
      dies: (deps) => dyingAt(deps, 'findOrder', 'before'),
      by: answering(engine.deps, () => ({ findOrder: async () => null })),
    });
    expect(told).toMatchObject({ orders: 2, output: { closed: told.filled } });
  });

  testEveryCase('and says that it is not known where the exchange knows the order no longer', async () => {
    const held = await withLong(engine);
    const forgetful = answering(engine.deps, () => ({ findOrder: async () => null }));
    const told = await interrupted(held, {
      action: 'close',
      meanwhile: [() => flatten(engine, held)],
      // The exchange has accepted it, and said so.
      dies: (deps) => dyingAt(deps, 'findOrder', 'before'),
      by: forgetful,
    });
    expect(told.output).toMatchObject({
      closed: null,
      left: '0',
      text: expect.stringContaining('how much of it this signal has closed is not known'),
    });
  });
});

testEveryCase('closes in paper mode, without the real client', async () => {
  const { userId, token } = await withLong(paper);
  await leave(token, 'close', {}, paper);
  expect((await paper.holding(userId, token)).position).toBeNull();
});

describe('who is meant', () => {
  testEveryCase.each([
    ['of another strategy', { processor: 'UD Bot' }, 'was opened by Tesla, the signal is of UD Bot'],
    ['on the other side', { parameters: { action: 'close_short' } }, 'is long, the signal closes short ones'],
  ])('not a position %s', async (_name, fields, reason) => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await leave(token, 'close', fields);
    expect(await sizeOf(userId, token)).not.toBeNull();
    expect(await engine.workflow(workflowId)).toMatchObject({ outcome: 'skipped', eligibleUsersCount: 0 });
    expect((await engine.outcomes(workflowId)).get(userId)?.reason).toContain(reason);
  });

  // Requirements: additions-exits-5
  test('at most what was opened here, of a position that the user has added to', async () => {
    const { userId, token } = await withLong(engine);
    await openLongByHand(engine, { userId, token });
    const { workflowId } = await leave(token, 'close');
    expect(await sizeOf(userId, token)).toBe('1');
    const steps = await engine.steps(workflowId);
    expect(steps.find(({ stepType }) => stepType === 'order_submission')?.outputData).toMatchObject({
      left: '1',
      text: expect.stringContaining('1 was not opened here and is not touched'),
    });
    // What stays is not ours: the next close leaves it alone.
    const again = await leave(token, 'close');
    expect(await sizeOf(userId, token)).toBe('1');
    expect((await engine.outcomes(again.workflowId)).get(userId)?.status).toBe('not eligible');
  });

  testEveryCase(
    'a part of what was opened here, twice, of a position that the user has added to',
    async () => {
      const { userId, token, trade } = await withLong(engine);
      await openLongByHand(engine, { userId, token });
      for (const left of ['0.5', '0.25']) {
        await leave(token, 'reduce', { parameters: { reduce_percent: '50' } });
        const own = D((await sizeOf(userId, token)) ?? 0).minus(1);
        expect(own.div(trade.filledQuantity).minus(left).abs().lt('0.01')).toBe(true);
      }
      await leave(token, 'close');
      expect(await sizeOf(userId, token)).toBe('1');
    },
  );

  // Requirements: additions-exits-3
  test('only its owner, when the signal is from the key of an ordinary user', async () => {
    const { userId, token } = await withLong(engine);
    const other = await withLong(engine);
    await leave(token, 'close', { ownerUserId: other.userId });
    expect(await sizeOf(userId, token)).not.toBeNull();
    await leave(token, 'close', { ownerUserId: userId });
    expect(await sizeOf(userId, token)).toBeNull();
  });

  testEveryCase('not a position that a newer signal opened', async () => {
    const { userId, token } = await withLong(engine);
    await leave(token, 'close', { receivedAt: new Date(engine.clock.now().getTime() - 3_600_000) });
    expect(await sizeOf(userId, token)).not.toBeNull();
  });

  testEveryCase('not a position that the user opened elsewhere', async () => {
    const { userId, token } = await withLong(engine);
    await flatten(engine, { userId, token });
    engine.clock.advance(600_000);
    await openLongByHand(engine, { userId, token });
    const { workflowId } = await leave(token, 'close');
    expect(await sizeOf(userId, token)).toBe('1');
    expect(await reasonFor(engine, { workflowId, userId })).toContain(
      'was not opened here and is not touched',
    );
  });
});

// Requirements: additions-exits-4
test.each(
  firstCases([
    ['inactive', 'the user is inactive', (id: string) => set(users, id, { isActive: false })],
    [
      'switched off',
      'active trading is off',
      (id: string) => set(userSettings, id, { activeTrading: false }),
    ],
    ['paused', '', (id: string) => set(userSettings, id, { tradingPausedUntil: new Date('2099-01-01') })],
  ]),
)('closes for a user who is %s', async (_state, reason, change) => {
  const { userId, token } = await withLong(engine);
  await change(userId);
  const { workflowId } = await leave(token, 'close');
  expect(await sizeOf(userId, token)).toBeNull();
  const row = (await engine.outcomes(workflowId)).get(userId);
  expect(row?.outcome).toBe('success');
  expect(row?.reason).toContain(reason);
});

async function set(table: typeof users | typeof userSettings, id: string, values: object) {
  const key = table === users ? users.id : userSettings.userId;
  await engine.db.update(table).set(values).where(eq(key, id));
}

testEveryCase('closes however late the signal is processed', async () => {
  const { userId, token } = await withLong(engine);
  engine.clock.advance(1_000);
  await engine.storeSignal({ token, price: '100', action: 'close', parameters: { action: 'close' } });
  engine.clock.advance(5 * 3_600_000);
  await engine.settle();
  expect(await sizeOf(userId, token)).toBeNull();
});

testEveryCase('a reduction that does not say by how much trades nothing and says so', async () => {
  const { userId, token } = await withLong(engine);
  const before = await sizeOf(userId, token);
  const { workflowId } = await leave(token, 'reduce', {
    parameters: { action: 'sell', prev_market_position: 'long', market_position: 'long' },
  });
  expect(await sizeOf(userId, token)).toBe(before);
  const workflow = await engine.workflow(workflowId);
  expect(workflow).toMatchObject({ status: 'failed' });
  expect(workflow.errorMessage).toContain('neither reduce_percent nor the sizes');
});

test('closing twice closes once', async () => {
  const { userId, token } = await withLong(engine);
  engine.clock.advance(1_000);
  const action = { token, price: '100', action: 'close', parameters: { action: 'close' } } as const;
  const [first, second] = [await engine.storeSignal(action), await engine.storeSignal(action)];
  await engine.settle();
  expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  expect((await engine.workflow(first.workflowId)).outcome).toBe('filled');
  expect((await engine.workflow(second.workflowId)).outcome).toBe('skipped');
});

testEveryCase('a position that its stop closed is not closed again', async () => {
  const { userId, token } = await withLong(engine);
  await engine.storeCandle({ token, price: '90' });
  const { workflowId } = await leave(token, 'close');
  expect(await reasonFor(engine, { workflowId, userId })).toContain('was closed before');
});

testEveryCase('an exchange that refuses is tried three times, and the position keeps its stop', async () => {
  const { userId, token } = await withLong(engine);
  strike(engine, userId, [
    { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-order', times: ALWAYS } },
  ]);
  const { workflowId } = await leave(token, 'close');
  expect(await engine.workflow(workflowId)).toMatchObject({ outcome: 'not_filled' });
  expect(await reasonFor(engine, { workflowId, userId })).toMatch(/could not be closed: Bitget: no/);
  expect((await engine.holding(userId, token)).stopLoss).not.toBeNull();
});

test('a close and the opposite entry that follow each other leave one position, of the entry', async () => {
  const { userId, token } = await withLong(engine);
  engine.clock.advance(1_000);
  await engine.storeSignal({ token, price: '100', action: 'close', parameters: { action: 'close' } });
  engine.clock.advance(1);
  await engine.storeSignal({ token, price: '100', action: 'sell' });
  await engine.settle();
  const { position } = await engine.holding(userId, token);
  expect(position?.side).toBe('short');
  expect(await ledgerOf(engine, userId)).toEqual([...CLOSED, ['sell', false, 'filled']]);
});

describe('a close that overtakes its entry', () => {
  // Requirements: additions-exits-7
  test('cancels the entry that rests, and closes what it has filled', async () => {
    const token = nextToken();
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    // Filled by two fifths, then it rests.
    strike(engine, userId, [{ kind: 'partialFill', fraction: '0.4', on: { times: 1 } }]);
    const { signalId, workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.plan(workflowId);
    const [trade] = await engine.trades(signalId);
    if (trade === undefined) throw new Error('no trade');
    await engine.advance(trade.id);
    engine.venue.setFaults([]);
    engine.clock.advance(1);
    const before = engine.clock.now();
    // A price that does not fill the rest.
    const close = await engine.storeSignal({
      token,
      price: '101',
      action: 'close',
      parameters: { action: 'close' },
    });
    await runWorkflow(engine.deps, close.workflowId);
    await engine.settle();
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect(await ledgerOf(engine, userId)).toEqual([
      ['buy', false, 'canceled'],
      ['sell', true, 'filled'],
    ]);
    expect((await engine.workflow(close.workflowId)).outcome).toBe('filled');
    expect((await engine.events(trade.id)).timeline.join('\n')).toContain(
      `A newer signal of Tesla closes ${token}, so it is not opened any more (`,
    );
    expect(engine.clock.now().getTime() - before.getTime()).toBeLessThan(5_000);
  });

  // Requirements: additions-exits-7
  test('waits for the order in doubt of one user, but not with the closes of others', async () => {
    const token = nextToken();
    const [struck, other] = [await createTrader(), await createTrader()];
    strike(engine, struck, [
      { kind: 'cutAfterAccept', on: { path: 'place-order' } },
      { kind: 'badGatewayBefore', on: { path: 'order/detail', times: ALWAYS } },
    ]);
    const entry = await engine.storeSignal({ token, price: '100' });
    await engine.plan(entry.workflowId);
    for (const { id } of await engine.trades(entry.signalId)) await engine.advance(id);
    engine.clock.advance(1);
    const close = await engine.storeSignal({
      token,
      price: '100',
      action: 'close',
      parameters: { action: 'close' },
    });
    const at = engine.clock.now().getTime() + 40_000;
    let held: (string | null)[] = [];
    await engine.settle({
      agenda: {
        nextAt: () => (held.length === 0 ? new Date(at) : null),
        async run() {
          if (held.length > 0 || engine.clock.now().getTime() < at) return;
          held = [await sizeOf(struck, token), await sizeOf(other, token)];
          engine.venue.setFaults([]);
        },
      },
    });
    expect(held).toEqual([expect.any(String), null]);
    expect(await sizeOf(struck, token)).toBeNull();
    const outcomes = await engine.outcomes(close.workflowId);
    for (const userId of [struck, other]) expect(outcomes.get(userId)?.outcome).toBe('success');
    expect((await engine.outcomes(entry.workflowId)).get(struck)?.outcome).toBe('success');
  });

  // Requirements: additions-exits-7
  testEveryCase('passes an order in doubt as soon as it may, without the sweep', async () => {
    const token = nextToken();
    const userId = await createTrader();
    strike(engine, userId, [
      { kind: 'cutAfterAccept', on: { path: 'place-order' } },
      { kind: 'badGatewayBefore', on: { path: 'order/detail', times: ALWAYS } },
    ]);
    const entry = await engine.storeSignal({ token, price: '100' });
    await engine.plan(entry.workflowId);
    const [trade] = await engine.trades(entry.signalId);
    if (trade === undefined) throw new Error('no trade');
    await engine.advance(trade.id);
    engine.clock.advance(1);
    const exit = { token, price: '100', action: 'close', parameters: { action: 'close' } } as const;
    const { workflowId } = await engine.storeSignal(exit);
    const queue = testJobs(engine.clock);
    const deps = engine.depsWith({ jobs: queue.jobs });
    await runWorkflow(deps, workflowId);
    const again = queue
      .waiting()
      .find(({ name, data }) => name === 'run-workflow' && isDeepStrictEqual(data, { workflowId }));
    if (again === undefined) throw new Error('no call');
    expect(again.after - trade.createdAt.getTime()).toBe(HELD_UP_LIMIT_MS + 1);
    engine.clock.set(new Date(again.after));
    await runWorkflow(deps, workflowId);
    const part = { workflowId: entry.workflowId, userId };
    expect(queue.waiting()).toContainEqual(expect.objectContaining({ name: 'trade-user', data: part }));
    await tradeUser(deps, part);
    expect(await engine.workflow(entry.workflowId)).toMatchObject({ status: 'completed' });
    engine.venue.setFaults([]);
    await engine.settle();
    expect(await sizeOf(userId, token)).toBeNull();
  });

  testEveryCase('keeps users who wait for their turn out, and says why', async () => {
    const token = nextToken();
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await runWorkflow(engine.deps, workflowId);
    engine.clock.advance(1);
    await engine.storeSignal({ token, price: '100', action: 'close', parameters: { action: 'close' } });
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect(await reasonFor(engine, { workflowId, userId })).toContain(
      `A newer signal of Tesla closes ${token}`,
    );
  });

  testEveryCase.each([
    ['of another strategy', { processor: 'UD Bot' }],
    ['of the other side', { parameters: { action: 'close_short' } }],
    ['of another user', { ownerUserId: '00000000-0000-4000-8000-000000000000' }],
  ])('but not one %s', async (_name, fields) => {
    const token = nextToken();
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await runWorkflow(engine.deps, workflowId);
    engine.clock.advance(1);
    await engine.storeSignal({
      token,
      price: '100',
      action: 'close',
      parameters: { action: 'close' },
      ...fields,
    });
    await engine.settle();
    expect(await sizeOf(userId, token)).not.toBeNull();
  });

  testEveryCase('an operator can trigger the older signal again', async () => {
    const { userId, token, trade } = await withLong(engine);
    await leave(token, 'close');
    expect(await sizeOf(userId, token)).toBeNull();
    engine.clock.advance(1_000);
    const again = await triggerWorkflow(engine.deps, {
      signalId: trade.signalId,
      username: 'ops',
      actor: ENGINE,
    });
    await engine.settle();
    expect((await engine.workflow(again)).topReason ?? '').not.toContain('A newer signal');
  });
});

testEveryCase(
  'closes with four requests for each user, and reads and records what concerns many together',
  async () => {
    const USERS = 8;
    const token = nextToken();
    for (let count = 0; count < 1 + USERS; count += 1) {
      await engine.createUser({ positionSizingMethod: 'Risk Management' });
    }
    await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    engine.clock.advance(1_000);
    const { workflowId } = await engine.storeSignal({ token, price: '100', action: 'close' });
    await runWorkflow(engine.deps, workflowId);
    const wave = () => tradeWave(engine.deps, { workflowId });
    await wave();
    requests.length = 0;
    const statements = await countStatements(wave, 'position_closes');
    const CLOSE = ['single-position', 'place-order', 'single-position', 'orders-plan-pending'];
    expect(requests.toSorted()).toEqual(
      Array.from({ length: USERS }, () => CLOSE)
        .flat()
        .toSorted(),
    );
    // For each: what is unsettled, sent and closed, and at most one record of its own; and what is read for all.
    expect(statements).toBeLessThanOrEqual(USERS * 4 + 4);
    expect(await engine.workflow(workflowId)).toMatchObject({ successfulUsersCount: 1 + USERS });
  },
);

testEveryCase(
  'closes for a few users of an exchange at a time, and those that it does not answer keep no places',
  async () => {
    const token = nextToken();
    for (let count = 0; count < 7; count += 1)
      await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { signalId: opened } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    const holders = (await engine.trades(opened)).map(({ userId }) => userId);
    engine.clock.advance(1_000);
    const { workflowId } = await engine.storeSignal({ token, price: '100', action: 'close' });
    await runWorkflow(engine.deps, workflowId);
    const queue = testJobs(engine.clock);
    const answer = Promise.withResolvers<void>();
    const atWork = new Set<string>();
    let nowMs = 0;
    const clock = { monotonicMs: () => nowMs };
    const deps = answering(
      { ...engine.deps, jobs: queue.jobs, userIntake: createUserIntake({ clock, mostLeaving: 3 }) },
      ({ fetchPosition }) => ({
        async fetchPosition(account, ...more) {
          atWork.add(account.userId);
          await answer.promise;
          return await fetchPosition(account, ...more);
        },
      }),
    );
    const waves = [tradeWave(deps, { workflowId })];
    await expect.poll(() => atWork.size).toBe(1);
    waves.push(tradeWave(deps, { workflowId }));
    await expect.poll(() => atWork.size).toBe(3);
    await tradeWave(deps, { workflowId });
    expect(atWork.size).toBe(3);
    // Those that the exchange does not answer keep no places.
    nowMs = 2_000;
    waves.push(tradeWave(deps, { workflowId }));
    await expect.poll(() => atWork.size).toBe(6);
    await tradeWave(deps, { workflowId });
    expect(atWork.size).toBe(6);
    answer.resolve();
    await Promise.all(waves);
    await queue.drain(deps);
    for (const userId of holders) expect(await sizeOf(userId, token)).toBeNull();
    expect(await engine.workflow(workflowId)).toMatchObject({ successfulUsersCount: holders.length });
  },
);
