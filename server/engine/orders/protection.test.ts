import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { findHalt, startHalt } from '#server/admin/halts/trading-halts.store.ts';
import { readTradingPermissions } from '#server/engine/records/trading-permission.ts';
import { paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { positionCloses, tradingHalts } from '#server/platform/db/schema.ts';
import { stepTrade, stepUntil } from '#test/app/followed-trades.ts';
import { firstCases, oneOfEachKind, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { calculateByHand, commitByHand, planByHand } from '#test/app/plan-by-hand.ts';
import {
  ALWAYS,
  entriesOf,
  planTrade,
  sharedTestEngine,
  strike,
  tradingOn,
} from '#test/app/shared-test-engine.ts';
import { nextToken, withLong } from '#test/app/token-holders.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import type { VenueFault } from '#test/venues/faults.ts';

/** I4 from the moment of a fill, and what a position blocks that can be neither protected nor closed. */
const engine = sharedTestEngine();

const stopLost: VenueFault = { kind: 'stopDropped' };
const halfFilled: VenueFault = { kind: 'partialFill', fraction: '0.5' };
const noStop: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };
const noClose: VenueFault = { kind: 'closeRefused', message: 'no close', on: { times: ALWAYS } };
const leftBehind: VenueFault = { kind: 'protectionKept', on: { times: ALWAYS } };

/** An order by hand, which waits at the exchange for ten seconds before it is verified. */
async function plan(faults: VenueFault[]) {
  const planned = await planByHand(engine, { token: nextToken(), price: '100' });
  strike(engine, planned.userId, faults);
  const startedAt = engine.clock.now().getTime();
  return { ...planned, sinceMs: () => engine.clock.now().getTime() - startedAt };
}

/** A halt of the user for a position other than this test's. */
const haltOf = (trade: { id: string; userId: string }, token = 'ELSE') => ({
  userId: trade.userId,
  exchangePlatform: 'Bitget',
  token,
  tradeId: trade.id,
  kind: 'unprotected' as const,
  reason: 'A test',
  now: engine.clock.now(),
});

const closingsOf = async (userId: string) =>
  (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);

const haltsOf = (userId: string) =>
  engine.db.select().from(tradingHalts).where(eq(tradingHalts.userId, userId));

describe('an order that waits at the exchange', () => {
  test('gets its fill protected a second after it was sent, and is otherwise left alone', async () => {
    const { trade, userId, token, sinceMs } = await plan([stopLost, halfFilled]);
    await stepTrade(engine, trade.id);
    const looked = await stepTrade(engine, trade.id);
    expect(sinceMs()).toBe(1_000);
    expect(looked).toMatchObject({ state: 'working', protectionStatus: 'repaired', unprotectedSince: null });
    expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'open' }]);
    const held = await engine.holding(userId, token);
    expect(held).toMatchObject({ stopLoss: '98', position: { size: looked.protectedQuantity } });
  });

  test('gets the stop of a later fill read back within two seconds', async () => {
    const { trade, userId, token } = await plan([{ kind: 'restFirst' }, stopLost]);
    await stepTrade(engine, trade.id);
    await stepTrade(engine, trade.id);
    engine.clock.advance(100);
    const filledAt = engine.clock.now().getTime();
    await engine.storeCandle({ token, price: '100' });
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: null });
    await stepUntil(engine, trade.id, ({ protectionStatus }) => protectionStatus === 'repaired');
    expect(engine.clock.now().getTime() - filledAt).toBeLessThanOrEqual(2_000);
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });

  test('is not read again once its whole fill was seen with its stop', async () => {
    const { trade } = await plan([]);
    await engine.settle();
    const { calls } = await engine.events(trade.id);
    const afterOrder = calls.slice(calls.indexOf('place-order'));
    expect(afterOrder.filter((type) => type === 'positions')).toHaveLength(1);
    expect(calls.length).toBeLessThanOrEqual(12);
  });

  test('is cancelled early when its fill cannot get a stop, and the fill is closed within ten seconds', async () => {
    const { trade, userId, token, sinceMs } = await plan([stopLost, halfFilled, noStop]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(sinceMs()).toBeLessThan(10_000);
    expect(done).toMatchObject({ success: false, fillStatus: 'partial', protectionStatus: 'closed' });
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect(await haltsOf(userId)).toEqual([]);
  });

  test('gets its fill closed immediately when the price has passed the stop', async () => {
    const { trade, userId, token, sinceMs } = await plan([stopLost]);
    await stepTrade(engine, trade.id);
    await engine.storeCandle({ token, price: '97' });
    await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(sinceMs()).toBeLessThanOrEqual(2_000);
    expect((await engine.holding(userId, token)).position).toBeNull();
    const { timeline } = await engine.events(trade.id);
    expect(timeline.join('\n')).toContain('the price 97 has passed it (98)');
  });
});

describe('an exchange that does not answer about the stop', () => {
  const unreadable = (times: number): VenueFault => ({
    kind: 'badGatewayBefore',
    on: { operation: 'protection', times },
  });

  test('closes nothing: the user is halted after ten seconds, until it answers', async () => {
    const { trade, userId, token } = await plan([unreadable(ALWAYS)]);
    const halted = await stepUntil(
      engine,
      trade.id,
      ({ unprotectedSince }) =>
        unprotectedSince !== null && engine.clock.now().getTime() - unprotectedSince.getTime() >= 10_000,
    );
    expect(halted).toMatchObject({ state: 'working', protectionStatus: null });
    expect(await haltsOf(userId)).toMatchObject([{ kind: 'unverified', token, endedAt: null }]);
    for (let tries = 0; tries < 5; tries += 1) await stepTrade(engine, trade.id);
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);

    engine.venue.setFaults([]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ success: true, protectionStatus: 'verified', unprotectedSince: null });
    const [halt] = await haltsOf(userId);
    expect(halt).toMatchObject({ clearedHow: 'Protection read back: stop 98, target 104', endedBy: null });
    expect(halt?.endedAt).not.toBeNull();
    expect(await findHalt(engine.db, userId)).toBeNull();
  });

  testEveryCase('does not count as an exchange without the stop', async () => {
    const { trade, userId, token } = await plan([unreadable(40)]);
    await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, protectionStatus: 'verified' });
    expect((await engine.exchangeOrders(userId)).every(({ reduceOnly }) => !reduceOnly)).toBe(true);
    expect((await engine.holding(userId, token)).position).not.toBeNull();
  });
});

describe('a position that can be neither protected nor closed', () => {
  async function halted() {
    const planned = await plan([stopLost, noStop, noClose]);
    const trade = await stepUntil(engine, planned.trade.id, () => planned.sinceMs() >= 11_000);
    expect(trade).toMatchObject({ state: 'closing', protectionStatus: 'missing' });
    return planned;
  }

  test('halts its user ten seconds after it was seen: no order of the user is planned, by a workflow or by hand', async () => {
    const { trade, userId, token } = await halted();
    const [halt, ...more] = await haltsOf(userId);
    expect(more).toEqual([]);
    const { unprotectedSince } = await engine.trade(trade.id);
    expect(halt).toMatchObject({
      kind: 'unprotected',
      token,
      exchangePlatform: 'Bitget',
      tradeId: trade.id,
      clearedAt: null,
      endedAt: null,
    });
    expect(halt?.reason).toMatch(
      new RegExp(
        `^The ${token} position on Bitget has no stop loss and is not closed yet \\(Bitget: no close .*\\)$`,
      ),
    );
    const afterMs = (halt?.since.getTime() ?? 0) - (unprotectedSince?.getTime() ?? 0);
    expect(afterMs).toBeGreaterThanOrEqual(10_000);
    expect(afterMs).toBeLessThan(11_000);

    const { signalId, workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
    expect(await engine.plan(workflowId)).toEqual([]);
    expect((await engine.outcomes(workflowId)).get(userId)).toMatchObject({ rule: 'Trading halt' });
    const log = await calculateByHand(engine, { userId, signalId });
    expect(await commitByHand(engine, log)).toMatchObject({
      ok: false,
      reason: 'denied',
      denial: { code: 'trading_halted' },
    });
  });

  testEveryCase('stops an order that was planned before', async () => {
    const planned = await plan([stopLost, noStop, noClose]);
    const signal = await engine.storeSignal({ token: nextToken(), price: '100' });
    const log = await calculateByHand(engine, { userId: planned.userId, signalId: signal.signalId });
    const intent = await commitByHand(engine, log);
    if (!intent.ok) throw new Error('not committed');
    await stepUntil(engine, planned.trade.id, () => planned.sinceMs() >= 11_000);
    const other = await stepUntil(engine, intent.tradeId, ({ state }) => state === 'done');
    expect(other.error).toMatch(/^Trading of this user is halted since /);
    expect((await entriesOf(engine, planned.userId)).map(({ token }) => token)).toEqual([planned.token]);
  });

  testEveryCase('stops the second attempt of another order of its user', async () => {
    const { trade } = await plan([{ kind: 'restFirst', on: { times: ALWAYS } }]);
    await stepTrade(engine, trade.id);
    await engine.db.transaction((tx) => startHalt(tx, { ...haltOf(trade), audit: engine.deps.audit }));
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done.error).toMatch(/after one attempt; no second attempt: Trading of this user is halted since /);
    expect(await engine.attempts(trade.id)).toHaveLength(1);
  });

  test('is retried, and kept when it gets its stop; the halt is cleared but stays in force', async () => {
    const { trade, userId, token } = await halted();
    engine.venue.setFaults([]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ success: true, protectionStatus: 'repaired', unprotectedSince: null });
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    expect(await haltsOf(userId)).toMatchObject([
      { clearedHow: 'Protection was missing and is placed: stop 98, target 104', endedAt: null },
    ]);
    expect(await findHalt(engine.db, userId)).not.toBeNull();
  });

  testEveryCase('is retried, and closed when the close works first', async () => {
    const { trade, userId, token } = await halted();
    strike(engine, userId, [noStop]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ success: false, protectionStatus: 'closed', unprotectedSince: null });
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect(await haltsOf(userId)).toMatchObject([{ clearedHow: 'The position is closed', endedAt: null }]);
  });
});

describe('the closing of a position without a stop', () => {
  /** The owner opens a position by hand at the exchange. */
  async function openByHand(userId: string, { token, side }: { token: string; side: 'buy' | 'sell' }) {
    const account = await engine.deps.findAccount(userId, 'Bitget');
    if (account === null) throw new Error('no account');
    const [price, stopLoss, takeProfit] = side === 'buy' ? ['101', '50', '150'] : ['99', '150', '50'];
    const order = { token, side, clientOrderId: 'by-hand', price, quantity: '7', leverage: 5 };
    const placement = await engine.deps.exchanges
      .get('Bitget')
      .placeOrder(
        account,
        { ...order, stopLoss, takeProfit },
        { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
      );
    expect(placement.outcome).toBe('placed');
  }

  test.each(
    firstCases([
      ['the other way', 'sell', 'short'],
      ['the same way', 'buy', 'long'],
    ]),
  )(
    'whose end the process missed touches no position that its owner then opened %s',
    async (_name, side, held) => {
      const { trade, userId, token } = await plan([stopLost, noStop]);
      const closing = await stepUntil(engine, trade.id, async () => (await closingsOf(userId)).length > 0);
      expect(closing).toMatchObject({ state: 'closing' });
      engine.clock.advance(3_600_000);
      engine.venue.setFaults([]);
      await openByHand(userId, { token, side });
      const before = await engine.exchangeOrders(userId);
      await engine.restart();
      await engine.settle();
      expect(await engine.exchangeOrders(userId)).toEqual(before);
      expect((await engine.holding(userId, token)).position).toMatchObject({ side: held, size: '7' });
      expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: side === 'buy' ? '50' : '150' });
      expect(await engine.trade(trade.id)).toMatchObject({
        state: 'done',
        success: false,
        protectionStatus: 'closed',
      });
      const closes = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));
      expect(closes).toMatchObject([{ state: 'closed' }]);
      expect(await haltsOf(userId)).toEqual([]);
    },
  );

  test('keeps a rest after half a close when the rest gets its stop, instead of closing it unseen', async () => {
    const half: VenueFault = { kind: 'partialFill', fraction: '0.5', on: { operation: 'close-position' } };
    const { trade, userId, token } = await plan([stopLost, noStop, half]);
    await stepUntil(engine, trade.id, async () => (await closingsOf(userId)).length > 0);
    await engine.db
      .update(paperOrders)
      .set({ state: 'canceled' })
      .where(and(eq(paperOrders.userId, userId), eq(paperOrders.reduceOnly, true)));
    engine.venue.setFaults([]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ success: true, protectionStatus: 'repaired' });
    expect(await closingsOf(userId)).toHaveLength(1);
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });
});

const BITGETS = ['Bitget', 'Bitget unified'] as const;
describe.each(BITGETS)('the closing of a position at %s', (dialect) => {
  const test = testInTurn(BITGETS, dialect);
  tradingOn(engine, dialect);

  test('cancels the stop and target that the exchange leaves behind', async () => {
    const { trade, userId, token } = await plan([stopLost, noStop, leftBehind]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ protectionStatus: 'closed' });
    expect(await engine.holding(userId, token)).toEqual({ position: null, stopLoss: null, takeProfit: null });
  });

  test('cancels a target that is left behind again when the exchange fails to', async () => {
    const { trade, userId, token } = await plan([
      stopLost,
      noStop,
      leftBehind,
      { kind: 'badGatewayBefore', on: { operation: 'cancel-protection', times: 3 } },
    ]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ protectionStatus: 'closed' });
    expect(await engine.holding(userId, token)).toEqual({ position: null, stopLoss: null, takeProfit: null });
    expect(await haltsOf(userId)).toEqual([]);
  });

  testEveryCase('cancels a target that is left behind again, however long the close took', async () => {
    const { trade, userId, token, sinceMs } = await plan([stopLost, noStop, noClose]);
    await stepUntil(engine, trade.id, () => sinceMs() >= 45_000);
    const cancelFails: VenueFault = {
      kind: 'badGatewayBefore',
      on: { operation: 'cancel-protection', times: 3 },
    };
    strike(engine, userId, [noStop, leftBehind, cancelFails]);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ protectionStatus: 'closed' });
    expect(await engine.holding(userId, token)).toEqual({ position: null, stopLoss: null, takeProfit: null });
  });

  testEveryCase(
    'ends although its target cannot be cancelled, and the next order in the token waits for the cancel',
    async () => {
      const { trade, userId, token } = await plan([
        stopLost,
        noStop,
        leftBehind,
        {
          kind: 'refuse',
          code: '40020',
          message: 'no',
          on: { operation: 'cancel-protection', times: ALWAYS },
        },
      ]);
      const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
      expect(done).toMatchObject({ protectionStatus: 'closed' });
      expect((await engine.holding(userId, token)).takeProfit).toBe('104');
      const { timeline } = await engine.events(trade.id);
      expect(timeline).toContain(
        'Nothing is open any more, but what is left of its stop and target could not be cancelled: Bitget: no (40020)',
      );
      const next = await engine.storeSignal({ token, price: '100', action: 'sell' });
      expect(await engine.plan(next.workflowId)).toEqual([]);
      const steps = await engine.steps(next.workflowId);
      expect(steps.map(({ errorMessage }) => errorMessage)).toContain(
        `A position in ${token} was closed, but what is left of its stop and target could not be cancelled: Bitget: no (40020); user will be skipped`,
      );
      engine.venue.setFaults([]);
      const then = await engine.storeSignal({ token, price: '100', action: 'sell' });
      await engine.settle();
      expect((await engine.outcomes(then.workflowId)).get(userId)?.outcome).toBe('success');
      expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '102', takeProfit: '96' });
    },
  );
});

test.each(oneOfEachKind(EXCHANGE_PLATFORMS, (platform) => platform === 'Bybit'))(
  'on %s a stop on the wrong side, left by the position before, does not count: the right one is placed',
  async (exchangePlatform) => {
    const { token, userId } = await withLong(engine, { exchangePlatform });
    engine.venue.setFaults([{ kind: 'protectionKept' }]);
    const account = await engine.deps.findAccount(userId, exchangePlatform);
    const { position } = await engine.holding(userId, token);
    if (account === null || position === null) throw new Error('nothing was opened');
    const exchange = engine.deps.exchanges.get(exchangePlatform);
    await exchange.closePosition(
      account,
      { token, side: 'long', quantity: position.size, clientOrderId: 'by-hand' },
      { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
    );
    expect(await engine.holding(userId, token)).toMatchObject({ position: null, stopLoss: '98' });

    engine.venue.setFaults([{ kind: 'stopDropped' }]);
    const next = await engine.storeSignal({ token, price: '100', action: 'sell' });
    await engine.settle();
    const [trade] = await engine.trades(next.signalId);
    expect(trade).toMatchObject({ success: true, protectionStatus: 'repaired' });
    expect(await engine.holding(userId, token)).toMatchObject({
      position: { side: 'short' },
      stopLoss: '102',
      takeProfit: '96',
    });
    const { calls, timeline } = await engine.events(trade?.id ?? '');
    expect(calls).toContain('cancel-protection');
    expect(timeline).toContain('Protection was missing and is placed: stop 102, target 96');
  },
);

test.each(
  firstCases([
    ['is placed again while the order waits', [], { success: true, protectionStatus: 'repaired' }, 0],
    ['is lost for good has the position closed', [noStop], { success: false, protectionStatus: 'closed' }, 0],
    ['cannot be helped halts the user', [noStop, noClose], { state: 'closing' }, 1],
  ]),
)('on Bybit, where the position holds it, a lost stop that %s', async (_name, faults, end, halts) => {
  const { trade, userId, token, plannedAt } = await planTrade(engine, {
    settings: { exchangePlatform: 'Bybit' },
  });
  strike(engine, userId, [stopLost, halfFilled, ...faults]);
  const isOver = () => engine.clock.now().getTime() - plannedAt.getTime() >= 11_500;
  const last = await stepUntil(engine, trade.id, ({ state }) => state === 'done' || isOver());
  expect(last).toMatchObject({ exchangePlatform: 'Bybit', ...end });
  expect(await haltsOf(userId)).toHaveLength(halts);
  const { position, stopLoss } = await engine.holding(userId, token);
  if (last.protectionStatus === 'repaired') expect(stopLoss).toBe('98');
  if (last.protectionStatus === 'closed') expect(position).toBeNull();
});

describe('a halt and an order intent at the same moment', () => {
  test('do not overlook each other: the halt waits for the intent, and the next intent sees the halt', async () => {
    const { trade, userId, token } = await plan([]);
    await engine.settle();
    const ask = {
      orders: [{ userId, workflowId: null, triggerType: 'manual' as const, token, signalId: trade.signalId }],
      now: engine.clock.now(),
      config: engine.deps.config,
    };
    let hasCommitted = false;
    const { promise: asked, resolve: hasAsked } = Promise.withResolvers<void>();
    const intent = engine.db.transaction(async (tx) => {
      expect((await readTradingPermissions(tx, ask)).denials).toEqual([null]);
      hasAsked();
      await expect.poll(() => countWaitingForLocks(engine.db)).toBe(1);
      hasCommitted = true;
    });
    await asked;
    const halting = engine.db
      .transaction((tx) => startHalt(tx, { ...haltOf(trade, token), audit: engine.deps.audit }))
      .then(() => hasCommitted);
    await intent;
    expect(await halting).toBe(true);
    const { denials } = await engine.db.transaction((tx) => readTradingPermissions(tx, ask));
    expect(denials[0]?.code).toBe('trading_halted');
  });
});
