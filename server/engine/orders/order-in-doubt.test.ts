import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { users } from '#server/platform/db/schema.ts';
import { doubtOf, follow, stepUntil, writeOff } from '#test/app/followed-trades.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, entriesOf, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import type { VenueFault } from '#test/venues/faults.ts';

/** I3, I6: an order has ended only when the exchange proves it, not when the exchange has forgotten it. */
const engine = sharedTestEngine();
let planned: string[] = [];

// Runs before the shared clean-up, which waits for every order to settle.
afterEach(async () => {
  for (const id of planned) {
    if ((await doubtOf(engine, id)) !== undefined) await writeOff(engine, id);
  }
  planned = [];
});

const HOUR_MS = 3_600_000;
const rests: VenueFault = { kind: 'restFirst', on: { times: ALWAYS } };
const arrivesSilently: VenueFault = { kind: 'cutAfterAccept', on: { path: 'place-order' } };
const neverArrives: VenueFault = { kind: 'cutBeforeAccept', on: { path: 'place-order' } };
const isForgotten: VenueFault = {
  kind: 'refuse',
  code: '40109',
  on: { path: 'order/detail', times: ALWAYS },
};
const positionsAway: VenueFault = {
  kind: 'badGatewayBefore',
  on: { operation: 'positions', times: ALWAYS },
};

async function plan(faults: VenueFault[] = []) {
  const trade = await planTrade(engine, { faults });
  planned.push(trade.trade.id);
  return trade;
}

async function expectWrittenOff(tradeId: string, problem: string): Promise<void> {
  expect(await doubtOf(engine, tradeId)).toBe(problem);
  expect(await writeOff(engine, tradeId)).toMatchObject({
    state: 'done',
    success: false,
    fillStatus: 'unknown',
    error: `Outcome unknown, written off by an administrator: ${problem}`,
  });
  expect(await doubtOf(engine, tradeId)).toBeUndefined();
}

/** The engine with an exchange that reports every order in an unknown state while `lies`. */
function withNewState() {
  const liar = { lies: true };
  const deps = answering(engine.deps, ({ findOrder }) => ({
    async findOrder(...call) {
      const report = await findOrder(...call);
      return report === null || !liar.lies ? report : { ...report, state: 'unknown' };
    },
  }));
  return { liar, deps };
}

describe('an order that the exchange reports in an unknown state', () => {
  const UNCLEAR = 'Bitget names the order in a state that is not known here';

  // Requirements: order-execution-7
  test('exists: no look-up counts as a miss, no other order is sent, and a known state settles it', async () => {
    const { userId, trade } = await plan([rests, arrivesSilently]);
    const { liar, deps } = withNewState();
    await follow(engine, trade.id, 80_000, deps);
    const [order] = await engine.exchangeOrders(userId);
    expect(await engine.attempts(trade.id)).toMatchObject([
      { state: 'unknown', lookupMisses: 0, orderId: String(order?.id), doubt: null },
    ]);
    expect(await doubtOf(engine, trade.id)).toBeUndefined();
    liar.lies = false;
    engine.venue.setFaults([]);
    await engine.settle({ deps });
    expect(engine.doubleEntries).toEqual([]);
    expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled', doubt: null });
  });

  // Requirements: order-execution-7
  testEveryCase(
    'is shown as in doubt after ninety seconds, looked up every thirty, and may be written off',
    async () => {
      const { userId, trade } = await plan([rests, arrivesSilently]);
      const { deps } = withNewState();
      await follow(engine, trade.id, 95_000, deps);
      const asked = (await engine.events(trade.id)).calls.length;
      await follow(engine, trade.id, 3 * 60_000, deps);
      const looks = (await engine.events(trade.id)).calls.slice(asked);
      expect(looks.filter((call) => call === 'find-order').length).toBeLessThanOrEqual(7);
      expect(await entriesOf(engine, userId)).toHaveLength(1);
      await expectWrittenOff(trade.id, UNCLEAR);
    },
  );

  // Requirements: order-execution-7
  testEveryCase('is cancelled when its time is over if it was accepted, and nothing follows it', async () => {
    const { userId, trade } = await plan([rests]);
    const { liar, deps } = withNewState();
    await follow(engine, trade.id, 3 * 60_000, deps);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling', lookupMisses: 0 }]);
    expect(await doubtOf(engine, trade.id)).toBe(UNCLEAR);
    liar.lies = false;
    await engine.settle({ deps });
    expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled', doubt: null });
  });
});

describe('an order whose exchange answers no look-up', () => {
  const noAnswer: VenueFault = { kind: 'cutBeforeAccept', on: { operation: 'find-order', times: ALWAYS } };
  const UNANSWERED = 'Bitget has answered no look-up of the order for 90 seconds';

  // Requirements: order-execution-7
  test('is in doubt after ninety seconds, is cancelled and may be written off, which ends the workflow', async () => {
    const { userId, trade, workflowId } = await plan([rests, arrivesSilently, noAnswer]);
    await follow(engine, trade.id, 80_000);
    expect(await doubtOf(engine, trade.id)).toBeUndefined();
    await follow(engine, trade.id, 20_000);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    const asked = (await engine.events(trade.id)).calls.length;
    await follow(engine, trade.id, 10 * 60_000);
    const looks = (await engine.events(trade.id)).calls.slice(asked);
    expect(looks.filter((call) => call === 'find-order').length).toBeLessThanOrEqual(21);
    await expectWrittenOff(trade.id, UNANSWERED);
    await engine.settle();
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed' });
  });

  // Requirements: order-execution-7
  testEveryCase('is in doubt too when it was accepted, and settled by the first answer', async () => {
    const { trade } = await plan([rests]);
    await engine.advance(trade.id);
    engine.venue.setFaults([noAnswer]);
    await follow(engine, trade.id, 100_000);
    expect(await doubtOf(engine, trade.id)).toBe(UNANSWERED);
    engine.venue.setFaults([]);
    await engine.settle();
    expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled', doubt: null });
  });

  testEveryCase('is not in doubt while some look-ups are answered', async () => {
    const { trade } = await plan([rests, arrivesSilently]);
    const { deps } = withNewState();
    await follow(engine, trade.id, 80_000, deps);
    engine.venue.setFaults([noAnswer]);
    await follow(engine, trade.id, 60_000);
    expect(await doubtOf(engine, trade.id)).toBeUndefined();
  });
});

describe('an order that no look-up finds is not declared never placed', () => {
  // Requirements: order-execution-5
  test('while the exchange holds a position that no other order explains', async () => {
    const { userId, token, trade } = await plan([arrivesSilently, isForgotten]);
    await follow(engine, trade.id, 2 * 60_000);
    const { position, stopLoss } = await engine.holding(userId, token);
    expect(position).toMatchObject({ size: trade.plannedQuantity });
    expect(stopLoss).toBe(trade.stopLoss);
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown' }]);
    await expectWrittenOff(
      trade.id,
      `Bitget does not know the order, but holds a position of ${trade.plannedQuantity} ${token}, and only 0 of it is known to be filled`,
    );
  });

  // Requirements: order-execution-5
  testEveryCase('when the stop closed that position before it was read', async () => {
    const { userId, token, trade } = await plan([arrivesSilently, isForgotten]);
    await follow(engine, trade.id, 20_000);
    await engine.storeCandle({ token, price: '97' });
    expect((await engine.holding(userId, token)).position).toBeNull();
    await follow(engine, trade.id, 2 * 60_000);
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect(await doubtOf(engine, trade.id)).toBe(
      `Bitget does not know the order, but has shown a position in ${token}, and only 0 of it is known to be filled`,
    );
  });

  // Requirements: order-execution-5
  test('when the second attempt may have added its fill to the first one’s', async () => {
    const { userId, token, trade } = await plan([{ kind: 'partialFill', fraction: '0.5' }]);
    await engine.advance(trade.id);
    await engine.storeCandle({ token, price: '100.2' });
    // The first attempt is found twice: before and after its cancel.
    const on = { path: 'order/detail', nth: 3, times: ALWAYS };
    engine.venue.setFaults([arrivesSilently, { kind: 'refuse', code: '40109', on }]);
    await follow(engine, trade.id, 3 * 60_000);
    const { position } = await engine.holding(userId, token);
    expect(D(position?.size ?? 0).gt('82.45')).toBe(true);
    expect((await engine.attempts(trade.id)).map(({ state }) => state)).toEqual(['unfilled', 'unknown']);
    expect(await doubtOf(engine, trade.id)).toBe(
      `Bitget does not know the order, but holds a position of ${position?.size} ${token}, and only 82.45 of it is known to be filled`,
    );
  });

  // Requirements: order-execution-5
  test('when it was not looked up for longer than the exchange remembers orders', async () => {
    const { userId, trade } = await plan([arrivesSilently, isForgotten, rests]);
    await engine.advance(trade.id);
    engine.clock.advance(25 * HOUR_MS);
    await engine.db.update(paperOrders).set({ state: 'canceled' }).where(eq(paperOrders.userId, userId));
    await follow(engine, trade.id, 2 * 60_000);
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    await expectWrittenOff(
      trade.id,
      'Bitget does not know the order, and remembers orders for 24 hours only',
    );
  });

  // Requirements: order-execution-5
  testEveryCase(
    'as long as the exchange does not report the position: it is in doubt after ninety seconds',
    async () => {
      const { trade } = await plan([neverArrives, positionsAway]);
      await follow(engine, trade.id, 80_000);
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown', doubt: null }]);
      await follow(engine, trade.id, 20_000);
      expect(await doubtOf(engine, trade.id)).toBe(
        'Bitget does not know the order, and its position cannot be read',
      );
      engine.venue.setFaults([]);
      await engine.settle();
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'never_placed' }, { state: 'filled' }]);
    },
  );
});

describe('an accepted order that the exchange has forgotten', () => {
  async function acceptedAndForgotten(orders: { state: 'canceled' | 'live' }, awayMs: number) {
    const one = await plan([rests]);
    await engine.advance(one.trade.id);
    await engine.db.update(paperOrders).set(orders).where(eq(paperOrders.userId, one.userId));
    engine.venue.setFaults([isForgotten]);
    engine.clock.advance(awayMs);
    return one;
  }

  // Requirements: order-execution-6
  test('has ended when it is not among the open orders and the position shows no trace of it', async () => {
    const { userId, token, trade } = await acceptedAndForgotten({ state: 'canceled' }, 25 * HOUR_MS);
    await follow(engine, trade.id, 3 * 60_000);
    expect(await engine.trade(trade.id)).toMatchObject({
      state: 'done',
      fillStatus: 'unfilled',
      error: 'The order was not filled after one attempt; the order is too old for a second attempt',
    });
    const { calls, timeline } = await engine.events(trade.id);
    expect(calls.filter((call) => call === 'find-order').length).toBeGreaterThan(5);
    expect(calls.filter((call) => call === 'open-orders')).toHaveLength(1);
    expect(timeline).toContain(
      'Attempt 1: ended with 0 filled, Bitget neither knows it any more nor has it open',
    );
    engine.venue.setFaults([]);
    // The user trades the token again.
    const next = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    expect((await engine.outcomes(next.workflowId)).get(userId)?.outcome).toBe('success');
  });

  // Requirements: order-execution-6
  testEveryCase('gets a second attempt only after a minute without being found', async () => {
    const { userId, trade } = await acceptedAndForgotten({ state: 'canceled' }, 0);
    const from = engine.clock.now().getTime();
    let sent = 0;
    await stepUntil(engine, trade.id, async () => {
      if ((await engine.attempts(trade.id)).length === 2) return true;
      sent = (await engine.exchangeOrders(userId)).length;
      return false;
    });
    expect(sent).toBe(1);
    expect(engine.clock.now().getTime() - from).toBeGreaterThanOrEqual(60_000);
  });

  // Requirements: order-execution-6
  testEveryCase('is cancelled again while it is among the open orders, and nothing follows it', async () => {
    const { userId, trade } = await acceptedAndForgotten({ state: 'live' }, 0);
    // Cancels by its client order id do not find it either.
    engine.venue.setFaults([isForgotten, { kind: 'cancelUnknown', on: { times: ALWAYS } }]);
    await follow(engine, trade.id, 5 * 60_000);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'live' }]);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling' }]);
    const { calls } = await engine.events(trade.id);
    expect(calls.filter((call) => call === 'cancel-order').length).toBeGreaterThan(2);
    engine.venue.setFaults([]);
    await engine.settle();
    expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled' });
  });

  // Requirements: order-execution-6
  testEveryCase('stays in doubt, and may be written off, when a position may be its fill', async () => {
    const { userId, token, trade } = await acceptedAndForgotten({ state: 'live' }, 0);
    engine.venue.setFaults([isForgotten, { kind: 'cancelUnknown', on: { times: ALWAYS } }]);
    await follow(engine, trade.id, 60_000);
    // It fills between two look-ups.
    await engine.storeCandle({ token, price: '100' });
    await follow(engine, trade.id, 2 * 60_000);
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling' }]);
    expect((await engine.holding(userId, token)).stopLoss).toBe(trade.stopLoss);
    await expectWrittenOff(
      trade.id,
      `Bitget does not know the order, but holds a position of ${trade.plannedQuantity} ${token}, and only 0 of it is known to be filled`,
    );
  });

  // Requirements: order-execution-6
  testEveryCase('stays in doubt when its fill may be forgotten', async () => {
    const { trade } = await acceptedAndForgotten({ state: 'canceled' }, 8 * 24 * HOUR_MS);
    await follow(engine, trade.id, 2 * 60_000);
    const asked = (await engine.events(trade.id)).calls.length;
    await follow(engine, trade.id, 2 * 60_000);
    const looks = (await engine.events(trade.id)).calls.slice(asked);
    expect(looks.filter((call) => call === 'find-order').length).toBeLessThanOrEqual(5);
    await expectWrittenOff(
      trade.id,
      'Bitget does not know the order, and remembers orders for 168 hours only',
    );
  });

  // Requirements: order-execution-6
  testEveryCase(
    'is in doubt, and may be written off, while the exchange does not list its open orders',
    async () => {
      const { trade } = await acceptedAndForgotten({ state: 'canceled' }, 0);
      engine.venue.setFaults([
        isForgotten,
        { kind: 'badGatewayBefore', on: { operation: 'open-orders', times: ALWAYS } },
      ]);
      await follow(engine, trade.id, 3 * 60_000);
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling' }]);
      await expectWrittenOff(trade.id, 'Bitget does not know the order, and its open orders cannot be read');
    },
  );
});

describe('an order that the exchange took but answered with 429', () => {
  const taken = (nth: number): VenueFault => ({
    kind: 'badGatewayAfter',
    status: 429,
    on: { path: 'place-order', nth },
  });

  // Requirements: order-execution-8
  test('is looked up after its last try before it counts as not sent', async () => {
    const { userId, trade } = await plan([
      { kind: 'tooManyRequests', on: { path: 'place-order', times: 4 } },
      taken(5),
    ]);
    await engine.settle();
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, protectionStatus: 'verified' });
  });

  // Requirements: order-execution-8
  testEveryCase('is looked up when its user is switched off before the next try', async () => {
    const { userId, trade } = await plan([taken(1)]);
    await engine.advance(trade.id);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'planned' }]);
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    await engine.settle();
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, protectionStatus: 'verified' });
  });

  // Requirements: order-execution-8
  testEveryCase('stays in doubt while the exchange does not answer, and is not sent again', async () => {
    const { userId, trade } = await plan([
      taken(1),
      { kind: 'badGatewayBefore', on: { path: 'order/detail', times: 3 } },
    ]);
    await engine.advance(trade.id);
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    await engine.advance(trade.id);
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown' }]);
    await engine.settle();
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, fillStatus: 'filled' });
  });

  // Requirements: order-execution-8
  testEveryCase(
    'ends as not sent if it was not taken after all, after one look-up and without a second attempt',
    async () => {
      const { userId, trade } = await plan([
        { kind: 'tooManyRequests', on: { path: 'place-order', times: ALWAYS } },
      ]);
      await engine.settle();
      expect(await engine.exchangeOrders(userId)).toEqual([]);
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'never_placed', submittedAt: null }]);
      const { calls } = await engine.events(trade.id);
      expect(calls.filter((call) => call === 'place-order')).toHaveLength(5);
    },
  );
});
