import { and, eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangePlatform, TradingSettings } from '#domain/user-settings.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { positionCloses, trades, userSettings, users, workflows } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { atExchangeCall, dyingAt } from '#test/dying-exchange.ts';
import { calculateByHand, commitByHand } from '#test/plan-by-hand.ts';
import { startTestEngine, type TestEngine } from '#test/test-engine.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeUser } from './trade-user.ts';

/** A signal for a user who holds something in its token (decisions §10). */
let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterEach(async () => {
  engine.paper.setFaults([]);
  await engine.db.update(users).set({ isActive: false });
  await engine.settle();
});
afterAll(() => engine.close());

/** A user with a long position that this product opened. */
async function withLong(settings: Partial<TradingSettings> = {}) {
  count += 1;
  const token = `H${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', ...settings });
  await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
  return { userId, token };
}

async function oppositeSignal(token: string, price = '100') {
  return await engine.storeSignal({ token, price, action: 'sell' });
}

/** What the user does at the exchange without us. */
async function byTheUser(userId: string, order: { token: string; side: 'long' | 'short'; quantity: string }) {
  const account = await engine.deps.findAccount(userId, 'Bitget');
  if (account === null) throw new Error('no account');
  const exchange = engine.deps.exchanges.get('Bitget');
  const notAfter = new Date(engine.clock.now().getTime() + 60_000);
  const isLong = order.side === 'long';
  await exchange.prepareAccount(account, { token: order.token, leverage: 5 });
  const placement = await exchange.placeOrder(
    account,
    {
      token: order.token,
      side: isLong ? 'buy' : 'sell',
      clientOrderId: timeOrderedId().replaceAll('-', ''),
      price: isLong ? '110' : '90',
      quantity: order.quantity,
      leverage: 5,
      stopLoss: isLong ? '50' : '150',
      takeProfit: isLong ? '150' : '50',
    },
    { notAfter },
  );
  expect(placement.outcome).toBe('placed');
}

async function flatten(userId: string, token: string, platform: ExchangePlatform = 'Bitget'): Promise<void> {
  const account = await engine.deps.findAccount(userId, platform);
  const { position } = await engine.holding(userId, token, platform);
  if (account === null || position === null) throw new Error('nothing to close');
  await engine.deps.exchanges.get(platform).closePosition(
    account,
    {
      token,
      side: position.side === 'long' ? 'long' : 'short',
      quantity: position.size,
      clientOrderId: timeOrderedId().replaceAll('-', ''),
    },
    { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
  );
}

const ledgerOf = async (userId: string) =>
  (await engine.exchangeOrders(userId)).map(({ side, reduceOnly, state }) => [side, reduceOnly, state]);

const REVERSED = [
  ['buy', false, 'filled'],
  ['sell', true, 'filled'],
  ['sell', false, 'filled'],
];

/** Notes which exchanges are taken up. */
const notingExchanges = (asked: string[]): AutomationDeps => ({
  ...engine.deps,
  exchanges: {
    ...engine.deps.exchanges,
    get(platform) {
      asked.push(platform);
      return engine.deps.exchanges.get(platform);
    },
  },
});

const withoutBitget: AutomationDeps['findAccount'] = async (userId, platform) =>
  platform === 'Bitget' ? null : engine.deps.findAccount(userId, platform);

async function reasonFor(workflowId: string, userId: string): Promise<string | null> {
  const steps = await engine.steps(workflowId);
  return steps.find((step) => step.userId === userId && step.errorMessage !== null)?.errorMessage ?? null;
}

describe('a reversal that is interrupted', () => {
  test.each([
    ['before its close is sent', 'closePosition', 'before'],
    ['after its close was sent', 'closePosition', 'after'],
    ['while it asks whether it is flat', 'fetchPosition', 'after'],
    ['before the new position is sized', 'fetchBalance', 'before'],
    ['before the new order is sent', 'placeOrder', 'before'],
    ['after the new order was sent', 'placeOrder', 'after'],
  ] as const)('%s closes once and opens once', async (_name, call, when) => {
    const { userId, token } = await withLong();
    const { workflowId } = await oppositeSignal(token);
    await expect(engine.settle({ deps: dyingAt(engine.deps, call, when) })).rejects.toThrow();
    await engine.restart();
    await engine.settle();
    expect(await ledgerOf(userId)).toEqual(REVERSED);
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    expect(await engine.holding(userId, token)).toMatchObject({
      position: { side: 'short' },
      stopLoss: '102',
    });
    const closes = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));
    expect(closes.map(({ state }) => state)).not.toContain('submitting');
    expect(closes.map(({ state }) => state)).not.toContain('sent');
  });

  test.each(['cutAfterAccept', 'cutBeforeAccept', 'empty200', 'badGatewayAfter'] as const)(
    'by %s on its close closes once and opens once',
    async (kind) => {
      const { userId, token } = await withLong();
      engine.paper.setFaults([{ kind, on: { path: 'place-order' } }]);
      const { workflowId } = await oppositeSignal(token);
      await engine.settle();
      expect(await ledgerOf(userId)).toEqual(REVERSED);
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    },
  );

  test('by another instance that took its user over closes nothing more', async () => {
    const { userId, token } = await withLong();
    const { workflowId } = await oppositeSignal(token);
    await runWorkflow(engine.deps, workflowId);
    const key = `user:${userId}`;
    const overtaken = atExchangeCall(engine.deps, {
      call: 'fetchPosition',
      when: 'after',
      happens: async () => {
        await engine.db.execute(
          sql`update leases set holder = 'successor', version = version + 1, lease_until = now() + interval '1 minute' where key = ${key}`,
        );
      },
    });
    await tradeUser(overtaken, { workflowId, userId });
    expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
    expect(await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId))).toEqual(
      [],
    );
    await engine.restart();
    await engine.settle();
    expect(await ledgerOf(userId)).toEqual(REVERSED);
  });
});

test('a reversal cancels the stop and target that the exchange left of the closed position', async () => {
  const { userId, token } = await withLong();
  engine.paper.setFaults([{ kind: 'protectionKept' }]);
  const left: unknown[] = [];
  const deps = atExchangeCall(engine.deps, {
    call: 'placeOrder',
    when: 'before',
    happens: async () => void left.push(await engine.holding(userId, token)),
  });
  await oppositeSignal(token);
  await engine.settle({ deps });
  expect(left).toEqual([{ position: null, stopLoss: null, takeProfit: null }]);
  expect(await ledgerOf(userId)).toEqual(REVERSED);
});

describe('what is left alone', () => {
  test.each(['buy', 'sell'] as const)('a position of the user: a signal to %s is skipped', async (action) => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const token = `H${++count}`;
    await engine.storeCandle({ token, price: '100' });
    await byTheUser(userId, { token, side: 'long', quantity: '1' });
    const { workflowId } = await engine.storeSignal({ token, price: '100', action });
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toBe(
      `A long position in ${token} is held that was not opened here and is never touched; user will be skipped`,
    );
    expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
  });

  test('a position that the user opened in the direction of ours, after ours was gone', async () => {
    const { userId, token } = await withLong();
    await flatten(userId, token);
    engine.clock.advance(3_600_000);
    await byTheUser(userId, { token, side: 'long', quantity: '1' });
    const { workflowId } = await oppositeSignal(token);
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toMatch(/was not opened here and is never touched/);
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long', size: '1' });
  });

  test('a position that the user opened in the direction of ours, while ours was being closed', async () => {
    const { userId, token } = await withLong();
    let isOpened = false;
    const deps = atExchangeCall(engine.deps, {
      call: 'closePosition',
      when: 'after',
      async happens() {
        if (isOpened) return;
        isOpened = true;
        engine.clock.advance(1_000);
        await byTheUser(userId, { token, side: 'long', quantity: '1' });
      },
    });
    const { workflowId } = await oppositeSignal(token);
    await engine.settle({ deps });
    expect(await reasonFor(workflowId, userId)).toBe(
      `The opposite position in ${token} could not be closed: ` +
        'the long position that is open now is another one and is not touched; user will be skipped',
    );
    expect(await engine.holding(userId, token)).toMatchObject({
      position: { side: 'long', size: '1' },
      stopLoss: '50',
    });
  });

  test('a position of the user who keeps it on an opposite signal', async () => {
    const { userId, token } = await withLong({ oppositeSignal: 'skip' });
    const { workflowId } = await oppositeSignal(token);
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toMatch(
      /settings keep it on an opposite signal; user will be skipped$/,
    );
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
  });

  test('a position of the user who switched trading off after the selection', async () => {
    const { userId, token } = await withLong();
    const { workflowId } = await oppositeSignal(token);
    await runWorkflow(engine.deps, workflowId);
    await engine.db.update(userSettings).set({ activeTrading: false }).where(eq(userSettings.userId, userId));
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toBe('Active trading is off; user will be skipped');
    expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
  });

  test('an entry of ours that is still open: a second signal of the token is skipped', async () => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const token = `H${++count}`;
    engine.paper.setFaults([{ kind: 'restFirst' }]);
    const first = await engine.storeSignal({ token, price: '100' });
    const [trade] = await engine.plan(first.workflowId);
    await engine.advance(trade?.id ?? '');
    // The token is free again while the order still rests, as after an order that stayed in doubt.
    engine.clock.advance(5 * 60_000 + 1);
    await tradeUser(engine.deps, { workflowId: first.workflowId, userId });
    const second = await engine.storeSignal({ token, price: '100.5', action: 'sell' });
    await engine.plan(second.workflowId);
    expect(await reasonFor(second.workflowId, userId)).toBe(
      `An entry order in ${token} is already open; user will be skipped`,
    );
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  });
});

describe('after a change of the exchange', () => {
  const moveTo = (userId: string, exchangePlatform: ExchangePlatform) =>
    engine.db.update(userSettings).set({ exchangePlatform }).where(eq(userSettings.userId, userId));
  const ofUser = (userId: string) => eq(trades.userId, userId);

  /** A user with a long position at Bitget who trades at Bybit now. */
  async function withLongAtBitget() {
    const held = await withLong();
    await moveTo(held.userId, 'Bybit');
    return held;
  }

  /** An order by hand at the exchange of the settings. */
  async function shortByHand(userId: string, token: string): Promise<void> {
    const { signalId, workflowId } = await oppositeSignal(token);
    await engine.db.delete(workflows).where(eq(workflows.id, workflowId));
    const intent = await commitByHand(engine, await calculateByHand(engine, { userId, signalId }));
    expect(intent.ok).toBe(true);
    await engine.settle();
  }

  test.each(['buy', 'sell'] as const)(
    'a signal to %s opens nothing beside a position at the exchange before, and closes nothing there',
    async (action) => {
      const { userId, token } = await withLongAtBitget();
      const { workflowId } = await engine.storeSignal({ token, price: '100', action });
      await engine.settle();
      expect(await reasonFor(workflowId, userId)).toBe(
        `A long position in ${token} is held on Bitget; user will be skipped`,
      );
      expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
    },
  );

  test('a signal is traded when the exchange before says that nothing is held there, and it is asked no more when that is known', async () => {
    const { userId, token } = await withLongAtBitget();
    await flatten(userId, token);
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');

    await engine.db
      .update(trades)
      .set({ positionClosedAt: engine.clock.now() })
      .where(and(ofUser(userId), eq(trades.exchangePlatform, 'Bitget')));
    const next = await oppositeSignal(token);
    await runWorkflow(engine.deps, next.workflowId);
    const asked: string[] = [];
    await tradeUser(notingExchanges(asked), { workflowId: next.workflowId, userId });
    expect(new Set(asked)).toEqual(new Set(['Bybit']));
    await engine.settle();
    expect((await engine.outcomes(next.workflowId)).get(userId)?.outcome).toBe('success');
  });

  test('a user who has not changed it is traded without a question to another exchange', async () => {
    const { userId, token } = await withLong();
    const { workflowId } = await oppositeSignal(token);
    await runWorkflow(engine.deps, workflowId);
    const asked: string[] = [];
    await tradeUser(notingExchanges(asked), { workflowId, userId });
    expect(new Set(asked)).toEqual(new Set(['Bitget']));
  });

  test.each([
    [
      'whose credentials are gone',
      () => ({ ...engine.deps, findAccount: withoutBitget }),
      'No Bitget credentials are connected',
    ],
    [
      'that does not answer',
      () =>
        atExchangeCall(engine.deps, {
          call: 'fetchPosition',
          when: 'before',
          happens() {
            throw new ExchangeError('unknown', 'Bitget: no answer within 1 s');
          },
          platform: 'Bitget',
        }),
      'Bitget: no answer within 1 s',
    ],
  ] as const)('nothing is opened on a guess beside an exchange %s', async (_name, depsOf, problem) => {
    const { userId, token } = await withLongAtBitget();
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await runWorkflow(engine.deps, workflowId);
    await tradeUser(depsOf(), { workflowId, userId });
    expect(await reasonFor(workflowId, userId)).toBe(
      `A position in ${token} that was opened here may still be open on Bitget, which could not be asked: ${problem}; user will be skipped`,
    );
    expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
  });

  test('nothing is concluded from another account than the position’s', async () => {
    const { userId, token } = await withLongAtBitget();
    await flatten(userId, token);
    await engine.db.update(trades).set({ exchangeAccountId: 'A-1' }).where(ofUser(userId));
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toMatch(
      /may still be open on Bitget, which could not be asked: The order is in account A-1, and the connected/,
    );
  });

  test('a trade of another mode keeps nobody from trading', async () => {
    const { userId, token } = await withLongAtBitget();
    await engine.db.update(trades).set({ exchangeMode: 'demo' }).where(ofUser(userId));
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
  });

  test('a position of ours stays ours after a trade at the other exchange', async () => {
    const { userId, token } = await withLongAtBitget();
    await shortByHand(userId, token);
    await flatten(userId, token, 'Bybit');
    await moveTo(userId, 'Bitget');
    const { workflowId } = await oppositeSignal(token);
    await engine.settle();
    expect(await reasonFor(workflowId, userId)).toBeNull();
    expect(await engine.holding(userId, token, 'Bitget')).toMatchObject({ position: { side: 'short' } });
  });

  test.each([
    ['demo', 'short'],
    [null, 'long'],
  ] as const)(
    'after a trade in the mode %s the position that a sell leaves is a %s',
    async (exchangeMode, left) => {
      const { userId, token } = await withLongAtBitget();
      await shortByHand(userId, token);
      await flatten(userId, token, 'Bybit');
      // As if it had been traded at Bitget, but in the other mode; an old row does not tell its mode.
      await engine.db
        .update(trades)
        .set({ exchangePlatform: 'Bitget', exchangeMode })
        .where(and(ofUser(userId), eq(trades.side, 'sell')));
      await moveTo(userId, 'Bitget');
      await oppositeSignal(token);
      await engine.settle();
      expect(await engine.holding(userId, token, 'Bitget')).toMatchObject({ position: { side: left } });
    },
  );
});

test('a position that cannot be closed stays, and nothing is opened', async () => {
  const { userId, token } = await withLong();
  engine.paper.setFaults([
    { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-order', times: 1_000 } },
  ]);
  const { workflowId } = await oppositeSignal(token);
  await engine.settle();
  expect(await reasonFor(workflowId, userId)).toBe(
    `The opposite position in ${token} could not be closed: Bitget: no (40020); user will be skipped`,
  );
  expect(await ledgerOf(userId)).toEqual([['buy', false, 'filled']]);
});
