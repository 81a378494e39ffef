import { eq } from 'drizzle-orm';
import { expect } from 'vitest';
import { D } from '#domain/decimal.ts';
import { PROTECTION_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { CrashAt } from './crashing-database.ts';
import { auditOnce } from './followed-trades.ts';
import { ALWAYS, storeTradedSignal, strike } from './shared-test-engine.ts';
import type { TestEngine } from './test-engine.ts';
import { ledgerOf, oppositeSignal, reasonFor, withLong } from './token-holders.ts';

/**
 * The work of a process that dies, and the invariants that must hold when its successor is done. I1: the workflow ends.
 * I2, I3, I6: no second order, nothing beyond the plan. I4: filled quantities are protected.
 */
interface CrashStory {
  /** The least number of statements, requests and answers, and of changes among them: fewer means broken counting. */
  leastPoints: number;
  leastChanges: number;
  begin(engine: TestEngine): Promise<{ userId: string; judge(): Promise<void> }>;
}

export const CRASH_STORIES: Record<string, CrashStory> = {
  'an order that fills at once': {
    leastPoints: 60,
    leastChanges: 20,
    async begin(engine) {
      const signal = await storeTradedSignal(engine);
      return {
        userId: signal.userId,
        async judge() {
          const { trade, entries } = await judgeTrade(engine, signal);
          expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
          expect(entries).toBe(1);
        },
      };
    },
  },

  'an order of a unified account whose stop is dropped': {
    leastPoints: 60,
    leastChanges: 20,
    async begin(engine) {
      engine.setAccountMode('unified');
      const signal = await storeTradedSignal(engine);
      engine.venue.setFaults([{ kind: 'stopDropped' }]);
      return {
        userId: signal.userId,
        async judge() {
          const { trade, entries } = await judgeTrade(engine, signal);
          // A process that dies between placing the stop and noting it leaves a stop that is found.
          const protectionStatus = expect.stringMatching(/^(repaired|verified)$/);
          expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus });
          expect(entries).toBe(1);
        },
      };
    },
  },

  'a first attempt that is left half filled': {
    leastPoints: 90,
    leastChanges: 30,
    async begin(engine) {
      const signal = await storeTradedSignal(engine);
      engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.5' }]);
      return {
        userId: signal.userId,
        async judge() {
          const { trade, entries } = await judgeTrade(engine, signal);
          expect(trade.success).toBe(true);
          expect(entries).toBeLessThanOrEqual(2);
        },
      };
    },
  },

  'a reversal': {
    leastPoints: 90,
    leastChanges: 25,
    async begin(engine) {
      const { userId, token } = await withLong(engine);
      const signal = { userId, token, ...(await oppositeSignal(engine, token)) };
      return {
        userId,
        async judge() {
          const { trade } = await judgeTrade(engine, signal);
          expect(trade).toMatchObject({ side: 'sell', success: true, fillStatus: 'filled' });
          const REVERSED = [...CLOSED, ['sell', false, 'filled']];
          expect(await ledgerOf(engine, userId)).toEqual(REVERSED);
        },
      };
    },
  },

  'a reversal that is refused after its close': {
    leastPoints: 60,
    leastChanges: 15,
    async begin(engine) {
      const { userId, token } = await withLong(engine);
      // Sizes below the minimum order. That depends on the balance, so it is found after the position was closed.
      await engine.db
        .update(userSettings)
        .set({ maximumRiskPerTrade: '0.0000001' })
        .where(eq(userSettings.userId, userId));
      const { workflowId } = await oppositeSignal(engine, token);
      return {
        userId,
        async judge() {
          expect(await reasonFor(engine, { workflowId, userId })).toMatch(
            new RegExp(`; the opposite position in ${token} was closed before; user will be skipped$`),
          );
          expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
        },
      };
    },
  },

  'a close by a signal': {
    leastPoints: 40,
    leastChanges: 8,
    async begin(engine) {
      const { userId, token } = await withLong(engine);
      const { workflowId } = await closingSignal(engine, { token, action: 'close' });
      return {
        userId,
        async judge() {
          expect(await engine.workflow(workflowId)).toMatchObject({ outcome: 'filled' });
          expect((await engine.holding(userId, token)).position).toBeNull();
          expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
        },
      };
    },
  },

  'a reduction by a signal that the exchange fills in parts': {
    leastPoints: 40,
    leastChanges: 8,
    async begin(engine) {
      const { userId, token, trade } = await withLong(engine);
      engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.4' }]);
      const { workflowId } = await closingSignal(engine, { token, action: 'reduce' });
      return {
        userId,
        async judge() {
          expect(await engine.workflow(workflowId)).toMatchObject({ outcome: 'filled' });
          const { position, stopLoss } = await engine.holding(userId, token);
          // Half of it, rounded up to the step: a repetition must not reduce twice.
          const left = D(position?.size ?? 0).div(trade.filledQuantity);
          expect(left.gte('0.5') && left.lt('0.51')).toBe(true);
          expect(stopLoss).not.toBeNull();
        },
      };
    },
  },

  'the repair of a lost stop': {
    leastPoints: 20,
    leastChanges: 5,
    begin: (engine) => loseProtection(engine, []),
  },

  'the closing of a position that gets no stop': {
    leastPoints: 60,
    leastChanges: 10,
    begin: (engine) => loseProtection(engine, [NO_STOP]),
  },

  'the closing in parts of a position that gets no stop': {
    leastPoints: 60,
    leastChanges: 12,
    begin: (engine) => loseProtection(engine, [NO_STOP], { maximumMarketQuantity: '60' }),
  },
};

const NO_STOP: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };

const CLOSED = [
  ['buy', false, 'filled'],
  ['sell', true, 'filled'],
];

async function closingSignal(engine: TestEngine, fields: { token: string; action: 'close' | 'reduce' }) {
  engine.clock.advance(1_000);
  const parameters = { action: fields.action, reduce_percent: '50' };
  return await engine.storeSignal({ ...fields, price: '100', parameters });
}

/** Runs a story with a process that dies at the given point, then with its successor; returns how far the first got. */
export async function interrupt(engine: TestEngine, { begin }: CrashStory, diesAt: CrashAt) {
  const { userId, judge } = await begin(engine);
  const { point, live, bury } = engine.mortal(diesAt);
  await live();
  const died = point.isDead();
  await bury();
  if (died) {
    await engine.restart();
    await engine.settle();
  }
  engine.venue.setFaults([]);
  await judge();
  expect(engine.doubleEntries).toEqual([]);
  // Users of earlier runs must not trade the next run's signal.
  await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
  return { died, points: point.count(), changes: point.changes() };
}

async function judgeTrade(
  engine: TestEngine,
  signal: { userId: string; token: string; signalId: string; workflowId: string },
) {
  const { userId, token, signalId, workflowId } = signal;
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', eligibleUsersCount: 1 });
  const [trade, ...more] = await engine.trades(signalId);
  expect(more).toEqual([]);
  if (trade === undefined) throw new Error('no trade');
  const orders = await engine.exchangeOrders(userId);
  const own = new Set((await engine.attempts(trade.id)).map(({ clientOrderId }) => clientOrderId));
  const entries = orders.filter(({ clientOrderId }) => own.has(clientOrderId));
  const filled = entries.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  expect(filled.lte(trade.plannedQuantity)).toBe(true);
  expect(D(trade.filledQuantity).eq(filled)).toBe(true);
  expect(orders.every(({ state }) => state === 'filled' || state === 'canceled')).toBe(true);
  const { position, stopLoss } = await engine.holding(userId, token);
  if (filled.gt(0)) expect(['verified', 'repaired']).toContain(trade.protectionStatus);
  expect(D(position?.size ?? 0).eq(filled)).toBe(true);
  expect(position === null || stopLoss !== null).toBe(true);
  return { trade, entries: entries.length };
}

/** A position whose stop and target the exchange lost, which the audit finds. */
async function loseProtection(
  engine: TestEngine,
  faults: VenueFault[],
  { maximumMarketQuantity }: { maximumMarketQuantity?: string } = {},
) {
  const { userId, token, trade } = await withLong(engine);
  if (maximumMarketQuantity !== undefined) {
    engine.venue.setContracts([{ platform: 'Bitget', token, maximumMarketQuantity }]);
  }
  await engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(eq(paperTriggerOrders.userId, userId));
  strike(engine, userId, faults);
  await auditOnce(engine);
  // Most of the time until the close is over: each further try for the stop is alike.
  if (faults.length > 0) engine.clock.advance(PROTECTION_DEADLINE_MS - 1_000);
  return {
    userId,
    async judge() {
      const isClosed = faults.length > 0;
      const { position, stopLoss } = await engine.holding(userId, token);
      expect(position === null).toBe(isClosed);
      if (!isClosed) expect(stopLoss).toBe('98');
      const reduced = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);
      const parts = D(trade.filledQuantity).div(maximumMarketQuantity ?? trade.filledQuantity);
      expect(reduced).toHaveLength(isClosed ? parts.ceil().toNumber() : 0);
      const closed = reduced.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
      expect(closed.eq(isClosed ? trade.filledQuantity : 0)).toBe(true);
      expect(await engine.trade(trade.id)).toMatchObject({
        state: 'done',
        success: true,
        protectionStatus: isClosed ? 'closed' : 'repaired',
      });
    },
  };
}
