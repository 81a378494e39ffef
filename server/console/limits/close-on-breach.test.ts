import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RiskScope } from '#domain/limits/risk-limits.ts';
import { createFlattener } from '#server/console/positions/flatten.ts';
import { createScopeFlattener } from '#server/console/positions/flatten-scope.ts';
import type { EngineDeps } from '#server/deps.ts';
import { createLimitWatch } from '#server/engine/limits/watch-limits.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import {
  auditLog,
  flattenPositions,
  flattens,
  riskBreaches,
  tradingStops,
} from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { forgetLimits, ofUser, PROGRAM, setLimits, TESLA, watchAll } from '#test/app/risk-limits.ts';
import { planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { openLongByHand, withLong } from '#test/app/token-holders.ts';

/** Limits that close all positions, with the ledger of the exchange as the witness. */
const engine = sharedTestEngine();

/** Each test has a day of its own. */
beforeEach(async () => {
  engine.clock.advance(48 * 60 * 60_000);
  await forgetLimits(engine);
});
afterEach(async () => {
  await engine.db.delete(flattenPositions);
  await engine.db.delete(flattens);
  await engine.db.delete(tradingStops);
});

const watch = (deps: EngineDeps = engine.deps) =>
  createLimitWatch({ ...deps, flattener: createScopeFlattener(deps) }).run();
const flatten = (deps: EngineDeps = engine.deps) => createFlattener(deps, createAccountReader(deps)).run();
const sizeOf = async (userId: string, token: string) =>
  (await engine.holding(userId, token)).position?.size ?? '0';

/** A user with a long position that has lost 1 %: about 250 USDT. */
async function loser() {
  const held = await withLong(engine);
  await watchAll(engine);
  await engine.storeCandle({ token: held.token, price: '99' });
  engine.clock.advance(30_000);
  await watchAll(engine);
  return held;
}

const limits = { maxDailyLoss: '100', onBreach: 'close' as const };

// Requirements: additions-limits-13
describe('a limit that closes all positions', () => {
  const SCOPES: [string, (userId: string) => RiskScope, number][] = [
    ['of the user closes those of the user', ofUser, 1],
    ['of the strategy closes those of its signals', () => TESLA, 2],
    ['of the program closes all', () => PROGRAM, 2],
  ];

  test.each(firstCases(SCOPES))('%s, once', async (_name, scopeOf, closed) => {
    const other = await withLong(engine);
    const { userId, token } = await loser();
    await setLimits(engine, scopeOf(userId), limits);
    await watch();
    await watch();
    const [run, ...more] = await engine.db.select().from(flattens);
    expect(more).toEqual([]);
    await flatten();
    await flatten();
    expect(await sizeOf(userId, token)).toBe('0');
    expect((await sizeOf(other.userId, other.token)) === '0').toBe(closed === 2);
    const [done] = await engine.db.select().from(flattens);
    expect(done).toMatchObject({ id: run?.id, endedAt: expect.any(Date) });
    // The stop ends with the closing; the limit stops entries on.
    const [stop] = await engine.db.select().from(tradingStops);
    expect(stop?.liftedAt).not.toBeNull();
    const [breach] = await engine.db.select().from(riskBreaches);
    expect(breach).toMatchObject({ limit: 'maxDailyLoss', closes: true, endedAt: null });
    const requested = await engine.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.action, 'closing of all positions requested'));
    expect(requested.filter(({ after }) => after?.id === run?.id)).toHaveLength(1);
  });

  testEveryCase('leaves alone what was not opened here, and cancels entries that rest', async () => {
    const { userId, token } = await loser();
    await engine.storeCandle({ token: 'BYHAND', price: '100' });
    await openLongByHand(engine, { userId, token: 'BYHAND' });
    const resting = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    await advanceTrade(engine.deps, resting.trade.id);
    expect((await engine.exchangeOrders(resting.userId)).map(({ state }) => state)).toEqual(['live']);
    await setLimits(engine, PROGRAM, limits);
    await watch();
    await engine.settle();
    await flatten();
    expect(await sizeOf(userId, token)).toBe('0');
    expect(await sizeOf(userId, 'BYHAND')).toBe('1');
    const orders = await engine.exchangeOrders(resting.userId);
    expect(orders.filter(({ state }) => state === 'live')).toEqual([]);
    expect(await sizeOf(resting.userId, resting.token)).toBe('0');
  });

  test('closes nothing on figures that are not known, and closes when they are', async () => {
    const { userId, token } = await loser();
    const other = await withLong(engine);
    await setLimits(engine, PROGRAM, limits);
    // Accounts are not read any more: the last figures still say that the limit is reached.
    engine.clock.advance(3 * 60_000);
    await watch();
    const [breach] = await engine.db.select().from(riskBreaches);
    expect(breach).toMatchObject({ limit: 'maxDailyLoss', closes: false });
    expect(await engine.db.select().from(flattens)).toEqual([]);
    await watchAll(engine);
    await flatten();
    expect([await sizeOf(userId, token), await sizeOf(other.userId, other.token)]).toEqual(['0', '0']);
  });

  testEveryCase('closes nothing while it only stops entries', async () => {
    const { userId, token, trade } = await loser();
    await setLimits(engine, ofUser(userId), { maxDailyLoss: '100' });
    await watch();
    expect(await engine.db.select().from(riskBreaches)).toMatchObject([{ closes: false }]);
    expect(await engine.db.select().from(flattens)).toEqual([]);
    expect(await sizeOf(userId, token)).toBe(trade.filledQuantity);
  });

  test.each(firstCases([3, 1, 5, 7]))(
    'a process killed at its change %i: all positions are closed, once',
    async (afterChanges) => {
      const { userId, token, trade } = await loser();
      await setLimits(engine, ofUser(userId), limits);
      const { deps, point, bury } = engine.mortal({ afterChanges });
      const life = watch(deps)
        .then(() => flatten(deps))
        .catch((error: unknown) => {
          if (!point.isDead()) throw error;
        });
      await Promise.race([life, point.death]);
      await bury();
      await engine.restart();
      await watch();
      await flatten();
      expect(await engine.db.select().from(flattens)).toHaveLength(1);
      expect(await sizeOf(userId, token)).toBe('0');
      const closings = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);
      const sum = closings.reduce((total, { filledSize }) => total + Number(filledSize), 0);
      expect(sum).toBeCloseTo(Number(trade.filledQuantity));
    },
  );
});
