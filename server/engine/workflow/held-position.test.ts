import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { positionCloses, trades, userSettings } from '#server/platform/db/schema.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { planUser } from '#test/app/plan-user.ts';
import { ALWAYS, overtakenAt, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import {
  flatten,
  ledgerOf,
  nextToken,
  openLongByHand,
  oppositeSignal,
  reasonFor,
  withLong,
} from '#test/app/token-holders.ts';
import { atExchangeCall, dyingAt } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';

/** A signal for a user who holds a position in its token. */
const engine = sharedTestEngine();

const OPENED = [['buy', false, 'filled']];
const REVERSED = [
  ['buy', false, 'filled'],
  ['sell', true, 'filled'],
  ['sell', false, 'filled'],
];

const closesOf = (userId: string) =>
  engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));

describe('an interrupted reversal', () => {
  const points = [
    ['before its close is sent', 'closePosition', 'before'],
    ['after its close was sent', 'closePosition', 'after'],
    ['while it checks whether the position is flat', 'fetchPosition', 'after'],
    ['before it is known whether the signal can be traded', 'readTradeAccount', 'before'],
    ['before the new position is sized', 'readTradeAccount', 'before', 2],
    ['before the new order is sent', 'placeOrder', 'before'],
    ['after the new order was sent', 'placeOrder', 'after'],
  ] as const;
  test.each(oneOfEachKind(points, ([, call, when]) => call !== 'fetchPosition' && when === 'after'))(
    '%s closes once and opens once',
    async (_name, call, when, nth: number = 1) => {
      const { userId, token } = await withLong(engine);
      const { workflowId } = await oppositeSignal(engine, token);
      await expect(engine.settle({ deps: dyingAt(engine.deps, call, when, nth) })).rejects.toThrow();
      await engine.restart();
      await engine.settle();
      expect(await ledgerOf(engine, userId)).toEqual(REVERSED);
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
      expect(await engine.holding(userId, token)).toMatchObject({
        position: { side: 'short' },
        stopLoss: '102',
      });
      expect((await closesOf(userId)).every(({ state }) => state !== 'submitting' && state !== 'sent')).toBe(
        true,
      );
    },
  );

  const faults = ['cutAfterAccept', 'cutBeforeAccept', 'empty200', 'badGatewayAfter'] as const;
  test.each(oneOfEachKind(faults, (kind) => kind === 'cutAfterAccept'))(
    'by %s on its close closes once and opens once',
    async (kind) => {
      const { userId, token } = await withLong(engine);
      engine.venue.setFaults([{ kind, on: { path: 'place-order' } }]);
      const { workflowId } = await oppositeSignal(engine, token);
      await engine.settle();
      expect(await ledgerOf(engine, userId)).toEqual(REVERSED);
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    },
  );

  test('whose instance lost the user’s lease closes nothing more', async () => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    const overtaken = overtakenAt(engine, { key: `user:${userId}`, call: 'readTradeAccount' });
    await planUser(overtaken, { workflowId, userId });
    expect(await ledgerOf(engine, userId)).toEqual(OPENED);
    expect(await closesOf(userId)).toEqual([]);
    await engine.restart();
    await engine.settle();
    expect(await ledgerOf(engine, userId)).toEqual(REVERSED);
  });
});

testEveryCase(
  'cancels the stop and target that the exchange left of a closed position in a reversal',
  async () => {
    const { userId, token } = await withLong(engine);
    engine.venue.setFaults([{ kind: 'protectionKept' }]);
    const left: unknown[] = [];
    const deps = atExchangeCall(engine.deps, {
      call: 'placeOrder',
      when: 'before',
      happens: async () => void left.push(await engine.holding(userId, token)),
    });
    await oppositeSignal(engine, token);
    await engine.settle({ deps });
    expect(left).toEqual([{ position: null, stopLoss: null, takeProfit: null }]);
    expect(await ledgerOf(engine, userId)).toEqual(REVERSED);
  },
);

describe('nothing is closed or opened beside', () => {
  // Requirements: workflows-6
  test.each(['buy', 'sell'] as const)('a position of the user: a signal to %s is skipped', async (action) => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const token = nextToken();
    await engine.storeCandle({ token, price: '100' });
    await openLongByHand(engine, { userId, token });
    const { workflowId } = await engine.storeSignal({ token, price: '100', action });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toBe(
      `A long position in ${token} is held that was not opened here and is never touched; user will be skipped`,
    );
    expect(await ledgerOf(engine, userId)).toEqual(OPENED);
  });

  test('a position that the user opened in the direction of ours, after ours was gone', async () => {
    const { userId, token } = await withLong(engine);
    await flatten(engine, { userId, token });
    engine.clock.advance(3_600_000);
    await openLongByHand(engine, { userId, token });
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      /was not opened here and is never touched/,
    );
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long', size: '1' });
  });

  testEveryCase(
    'a position that the user opened in the direction of ours, while ours was being closed',
    async () => {
      const { userId, token } = await withLong(engine);
      let isOpened = false;
      const deps = atExchangeCall(engine.deps, {
        call: 'closePosition',
        when: 'after',
        async happens() {
          if (isOpened) return;
          isOpened = true;
          engine.clock.advance(1_000);
          await openLongByHand(engine, { userId, token });
        },
      });
      const { workflowId } = await oppositeSignal(engine, token);
      await engine.settle({ deps });
      expect(await reasonFor(engine, { workflowId, userId })).toBe(
        `The opposite position in ${token} could not be closed: ` +
          'the long position that is open now is another one and is not touched; user will be skipped',
      );
      expect(await engine.holding(userId, token)).toMatchObject({
        position: { side: 'long', size: '1' },
        stopLoss: '50',
      });
    },
  );

  test.each(
    firstCases([
      ['in an account that is not the one in which ours was opened', { exchangeAccountId: '4711' }],
      ['when ours is known to be closed, or was written off', { positionClosedAt: new Date() }],
    ]),
  )('a position like ours %s', async (_name, known) => {
    const { userId, token } = await withLong(engine);
    await engine.db.update(trades).set(known).where(eq(trades.userId, userId));
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      /was not opened here and is never touched/,
    );
    expect(await ledgerOf(engine, userId)).toEqual(OPENED);
  });

  testEveryCase('a position of a user who keeps it on an opposite signal', async () => {
    const { userId, token } = await withLong(engine, { oppositeSignal: 'skip' });
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      /settings keep it on an opposite signal; user will be skipped$/,
    );
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
  });

  testEveryCase('a position of a user who switched trading off after the selection', async () => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    await engine.db.update(userSettings).set({ activeTrading: false }).where(eq(userSettings.userId, userId));
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toBe(
      'Active trading is off; user will be skipped',
    );
    expect(await ledgerOf(engine, userId)).toEqual(OPENED);
  });

  test('an entry of ours that is still open: a second signal of the token is skipped', async () => {
    const first = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    const { userId, token } = first;
    await engine.advance(first.trade.id);
    // The token is free again while the order still rests, as after an order that stayed in doubt.
    engine.clock.advance(5 * 60_000 + 1);
    await planUser(engine.deps, first);
    const second = await engine.storeSignal({ token, price: '100.5', action: 'sell' });
    await engine.plan(second.workflowId);
    expect(await reasonFor(engine, { workflowId: second.workflowId, userId })).toBe(
      `An entry order in ${token} is already open; user will be skipped`,
    );
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  });
});

test('keeps a position that cannot be closed, and opens nothing', async () => {
  const { userId, token } = await withLong(engine);
  engine.venue.setFaults([
    { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-order', times: ALWAYS } },
  ]);
  const { workflowId } = await oppositeSignal(engine, token);
  await engine.settle();
  expect(await reasonFor(engine, { workflowId, userId })).toBe(
    `The opposite position in ${token} could not be closed: Bitget: no (40020); user will be skipped`,
  );
  expect(await ledgerOf(engine, userId)).toEqual(OPENED);
});
