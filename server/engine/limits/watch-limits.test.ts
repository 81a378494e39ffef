import { and, eq, isNull, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RiskLimits, RiskScope } from '#domain/limits/risk-limits.ts';
import { createScopeFlattener } from '#server/console/positions/flatten-scope.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import { auditLog, riskBreaches, riskLimits } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { forgetLimits, ofUser, PROGRAM, setLimits, TESLA, watchAll } from '#test/app/risk-limits.ts';
import { entriesOf, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { flatten, nextToken, reasonFor, withLong } from '#test/app/token-holders.ts';
import { resetRiskLimits } from './risk-limits.store.ts';
import { createLimitWatch } from './watch-limits.ts';

const engine = sharedTestEngine({ config: { displayTimezone: 'Europe/Berlin' } });

/** Each test has days of its own, and time never goes back. */
const FIRST = new Date('2027-01-10T09:00:00Z');
beforeEach(async () => {
  const next = new Date(engine.clock.now().getTime() + 48 * 60 * 60_000);
  next.setUTCHours(9, 0, 0, 0);
  engine.clock.set(next < FIRST ? FIRST : next);
  await forgetLimits(engine);
});

const at = (instant: string) => engine.clock.set(new Date(instant));
const later = async (minutes: number) => {
  engine.clock.advance(minutes * 60_000);
  await watchAll(engine);
};

const openOf = (scope: RiskScope) =>
  engine.db
    .select()
    .from(riskBreaches)
    .where(
      and(
        eq(riskBreaches.scopeKind, scope.kind),
        eq(riskBreaches.scopeValue, scope.value),
        isNull(riskBreaches.endedAt),
      ),
    );
async function watchedOf(scope: RiskScope) {
  const [row] = await engine.db
    .select()
    .from(riskLimits)
    .where(and(eq(riskLimits.scopeKind, scope.kind), eq(riskLimits.scopeValue, scope.value)));
  return row?.watched ?? null;
}

/** A user with a long position of about 250 at 100, whose limits are set. */
async function trader(limits: Partial<RiskLimits>, scope?: RiskScope) {
  const held = await withLong(engine);
  const own = scope ?? ofUser(held.userId);
  await setLimits(engine, own, limits);
  await watchAll(engine);
  return { ...held, scope: own, quantity: Number(held.trade.filledQuantity) };
}

const price = (token: string, mark: string) => engine.storeCandle({ token, price: mark });

/** The reason why the user does not trade the next signal; null when the order was filled. */
async function nextReason(userId: string) {
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
  await engine.settle();
  const reason = await reasonFor(engine, { workflowId, userId });
  return reason?.replace('; user will be skipped', '') ?? null;
}

// Requirements: additions-limits-5
describe('the loss of a day', () => {
  test('stops entries when open and realised losses reach the limit, until the next day of the display zone', async () => {
    const { userId, token, scope, quantity } = await trader({ maxDailyLoss: '150' });
    await price(token, '99.5');
    await later(1);
    expect(await openOf(scope)).toEqual([]);
    expect(Number((await watchedOf(scope))?.dayProfit)).toBeCloseTo(-0.5 * quantity, 0);
    await price(token, '99');
    await later(1);
    const [breach] = await openOf(scope);
    expect(breach).toMatchObject({ limit: 'maxDailyLoss', maximum: '150 USDT', closes: false });
    // Berlin's midnight.
    const midnight = new Date('2027-01-10T23:00:00.000Z');
    expect(breach?.until).toEqual(midnight);
    expect(await nextReason(userId)).toBe(
      `The daily loss of this user is ${breach?.saw}, the limit is 150 USDT: new entries are stopped until ${midnight.toISOString()}`,
    );
    // A recovery does not end it, nor a restart: everything is a row.
    await price(token, '101');
    await later(1);
    expect(await nextReason(userId)).toMatch(/^The daily loss/);
    at('2027-01-10T23:00:30Z');
    await watchAll(engine);
    expect(await openOf(scope)).toEqual([]);
    expect(await nextReason(userId)).toBeNull();
    // What the position has won before counts for the day before: from here it is a loss.
    await price(token, '100.2');
    await later(1);
    expect(Number((await watchedOf(scope))?.dayProfit)).toBeLessThan(-0.7 * quantity);
    const entry = await engine.db.select().from(auditLog).where(eq(auditLog.subjectId, userId));
    expect(entry.map(({ action }) => action)).toContain('risk limit reached');
  });

  testEveryCase('is not changed by deposits and withdrawals', async () => {
    const { userId, token, scope } = await trader({ maxDailyLoss: '2%' });
    const move = (amount: number) =>
      engine.db
        .update(paperAccounts)
        .set({ balance: sql`${paperAccounts.balance} + ${amount}` })
        .where(eq(paperAccounts.userId, userId));
    await move(-5_000);
    await later(61);
    expect(await openOf(scope)).toEqual([]);
    const before = await watchedOf(scope);
    expect(Number(before?.uses.maxDailyLoss?.used)).toBeLessThan(50);
    // 2 % of the equity at the day's start, which the withdrawal did not change.
    expect(Number(before?.uses.maxDailyLoss?.maximum)).toBeCloseTo(200, -1);
    await move(100_000);
    await price(token, '98.6');
    await later(61);
    expect(await openOf(scope)).toMatchObject([{ limit: 'maxDailyLoss' }]);
  });

  testEveryCase.each(
    firstCases([
      ['2027-03-27T23:30:00Z', '2027-03-28T22:00:00.000Z', '23 hours'],
      ['2027-10-30T22:30:00Z', '2027-10-31T23:00:00.000Z', '25 hours'],
    ]),
  )('that begins at %s ends at %s, after %s', async (begin, end, _hours) => {
    at(begin);
    const { token, scope } = await trader({ maxDailyLoss: '50' });
    await price(token, '99');
    await later(1);
    expect((await openOf(scope))[0]?.until?.toISOString()).toBe(end);
  });

  testEveryCase('counts a position that was closed with a loss', async () => {
    const { userId, token, scope } = await trader({ maxDailyLoss: '100' });
    await price(token, '99.4');
    await flatten(engine, { userId, token });
    await later(1);
    await later(1);
    expect(await openOf(scope)).toMatchObject([{ limit: 'maxDailyLoss' }]);
  });

  testEveryCase('of the program stops everybody, and of a strategy those who follow it', async () => {
    for (const scope of [PROGRAM, TESLA]) {
      await forgetLimits(engine);
      const { token } = await trader({ maxDailyLoss: '100' }, scope);
      const other = await engine.createUser({ positionSizingMethod: 'Risk Management' });
      await price(token, '99');
      await later(1);
      expect(await nextReason(other)).toMatch(
        scope === PROGRAM ? /^The daily loss of the program is/ : /^The daily loss of strategy Tesla is/,
      );
      expect(await entriesOf(engine, other)).toEqual([]);
    }
  });

  testEveryCase('counts from a reset', async () => {
    const { userId, token, scope } = await trader({ maxDailyLoss: '100' });
    await price(token, '99');
    await later(1);
    expect(await openOf(scope)).toHaveLength(1);
    await engine.db.transaction((tx) => resetRiskLimits(tx, { scope, by: userId, now: engine.clock.now() }));
    await later(1);
    expect(await openOf(scope)).toEqual([]);
    expect(await nextReason(userId)).toBeNull();
    await price(token, '98.2');
    await later(1);
    expect(await openOf(scope)).toHaveLength(1);
  });
});

// Requirements: additions-limits-5
describe('a drawdown', () => {
  test('is measured from the highest profit since the limit was set, and stops until it is reset', async () => {
    const { userId, token, scope, quantity } = await trader({ maxDrawdown: '4%' });
    await price(token, '102');
    await later(1);
    await price(token, '101');
    await later(1);
    const use = (await watchedOf(scope))?.uses.maxDrawdown;
    expect(Number(use?.used)).toBeCloseTo(quantity, 0);
    expect(await openOf(scope)).toEqual([]);
    // Days later, and with a deposit in between.
    await engine.db
      .update(paperAccounts)
      .set({ balance: sql`${paperAccounts.balance} + 50000` })
      .where(eq(paperAccounts.userId, userId));
    engine.clock.advance(3 * 24 * 60 * 60_000);
    await price(token, '99');
    await later(1);
    const [breach] = await openOf(scope);
    expect(breach).toMatchObject({ limit: 'maxDrawdown', maximum: '4%', until: null });
    await price(token, '103');
    await later(1);
    expect(await nextReason(userId)).toMatch(/until an administrator resets it$/);
    await engine.db.transaction((tx) => resetRiskLimits(tx, { scope, by: userId, now: engine.clock.now() }));
    await later(1);
    expect(await nextReason(userId)).toBeNull();
  });
});

// Requirements: additions-limits-5
describe('losses in a row', () => {
  test('stop entries for the cool-down, and count anew after it', async () => {
    const first = await trader({ maxLossesInARow: 1, cooldownMinutes: 30 });
    const { userId, scope } = first;
    await price(first.token, '99');
    await later(1);
    await flatten(engine, { userId, token: first.token });
    await later(1);
    await later(1);
    const [breach] = await openOf(scope);
    expect(breach).toMatchObject({ limit: 'maxLossesInARow', saw: '1', maximum: '1' });
    expect(await nextReason(userId)).toMatch(
      /^The number of losses in a row of this user is 1, the limit is 1/,
    );
    await later(31);
    expect(await openOf(scope)).toEqual([]);
    expect(await nextReason(userId)).toBeNull();
  });
});

// Requirements: additions-limits-6
describe('what is not known', () => {
  test('stops the entries of that user while the account does not answer, and no longer', async () => {
    const { userId, scope } = await trader({ maxDailyLoss: '5000' });
    const other = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    await setLimits(engine, PROGRAM, { maxDailyLoss: '5000' });
    // Only the limits are compared: the account is not read.
    engine.clock.advance(3 * 60_000);
    await createLimitWatch({ ...engine.deps, flattener: createScopeFlattener(engine.deps) }).run();
    expect(Object.keys((await watchedOf(scope))?.unknown ?? {})).toEqual([userId]);
    const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      /^The daily loss of .* cannot be checked: the position in H\d+ was last read \d+ s ago/,
    );
    expect(await reasonFor(engine, { workflowId, userId: other })).toBeNull();
    expect(await openOf(scope)).toEqual([]);
    await later(1);
    expect(await nextReason(userId)).toBeNull();
  });
});

testEveryCase('limits that cannot be compared keep no others from being compared', async () => {
  const { token, scope } = await trader({ maxDailyLoss: '150' });
  await setLimits(engine, PROGRAM, { maxDailyLoss: '1000' });
  await engine.db
    .update(riskLimits)
    .set({ limits: sql`jsonb_set(${riskLimits.limits}, '{maxDailyLoss}', '"no number"')` })
    .where(eq(riskLimits.scopeKind, PROGRAM.kind));
  await price(token, '98.5');
  await later(1);
  expect(await openOf(scope)).toMatchObject([{ limit: 'maxDailyLoss' }]);
});
