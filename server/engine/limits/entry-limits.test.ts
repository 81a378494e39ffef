import { and, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import type { RiskLimits } from '#domain/limits/risk-limits.ts';
import { WEEKDAYS } from '#domain/limits/trading-hours.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { stopEntries } from '#server/admin/stops/stop-entries.ts';
import { verifyDecisions } from '#server/console/signals/verify-decisions.ts';
import { submitOrder } from '#server/engine/orders/submit-order.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { tradeWave } from '#server/engine/workflow/trade-wave.ts';
import { decisions, riskBreaches, tradingStops, workflows } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { releaseLeases } from '#server/platform/jobs/leases.ts';
import { countStatements } from '#test/app/count-statements.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { calculateByHand } from '#test/app/plan-by-hand.ts';
import { forgetLimits, ofUser, PROGRAM, setLimits, TESLA, watchAll } from '#test/app/risk-limits.ts';
import { entriesOf, sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { ledgerOf, nextToken, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';

const engine = sharedTestEngine();

beforeEach(() => forgetLimits(engine));

/** A user who sizes 250 of a token at 100 with a stop at 98: 25,000 USDT at the price, 500 at the stop, of 10,000. */
const newUser = () => engine.createUser({ positionSizingMethod: 'Risk Management' });

/** A signal for all active users. */
async function signal(token = nextToken()) {
  const stored = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  return { ...stored, token };
}

const reasonOf = async (workflowId: string, userId: string) =>
  (await reasonFor(engine, { workflowId, userId }))?.replace('; user will be skipped', '') ?? null;

async function expectDecisionsHold(signalId: string) {
  const verified = await verifyDecisions(engine.deps, signalId);
  expect(verified).toMatchObject({ identical: verified.decisions, differing: [] });
  expect(verified.decisions).toBeGreaterThan(0);
}

// Requirements: additions-limits-2
describe('an entry beyond a limit', () => {
  test.each<[Partial<RiskLimits>, RegExp]>(
    firstCases(
      [
        [
          { maxOpenPositions: 0 },
          /^With this entry the number of open positions and working entries of this user would be 1, the limit is 0; allowed: none$/,
        ],
        [
          { maxExposure: '100' },
          /^With this entry the exposure of this user would be [\d.]+ USDT, the limit is 100 USDT; allowed: 100 USDT more$/,
        ],
        [{ maxExposure: '0.1x' }, /the limit is 0.1x of 10000 USDT; allowed: 1000 USDT more$/],
        [
          { maxRisk: '0.1%' },
          /^With this entry the loss at all stops of this user would be [\d.]+ USDT, the limit is 0.1% of 10000 USDT; allowed: 10 USDT more$/,
        ],
        [
          { maxEntriesPerMinute: 0 },
          /^With this entry the number of entries in the last minute of this user would be 1, the limit is 0/,
        ],
        [{ allowedTokens: ['BTC'] }, /^The limits of this user do not allow H\d+: allowed are BTC$/],
      ],
      2,
    ),
  )('%j is denied, the reason is recorded, and nothing is ordered', async (limits, reason) => {
    const [userId, other] = [await newUser(), await newUser()];
    await setLimits(engine, ofUser(userId), limits);
    const { workflowId, signalId } = await signal();
    expect(await reasonOf(workflowId, userId)).toMatch(reason);
    expect(await entriesOf(engine, userId)).toEqual([]);
    expect(await entriesOf(engine, other)).toHaveLength(1);
    await expectDecisionsHold(signalId);
  });

  test('of the program or a strategy counts all users, and the tightest limit applies', async () => {
    await setLimits(engine, PROGRAM, { maxOpenPositions: 3 });
    await setLimits(engine, TESLA, { maxOpenPositions: 2 });
    const users = [await newUser(), await newUser(), await newUser()];
    const { workflowId } = await signal();
    const reasons = await Promise.all(users.map((userId) => reasonOf(workflowId, userId)));
    expect(reasons.filter((one) => one === null)).toHaveLength(2);
    expect(reasons.find((one) => one !== null)).toBe(
      'With this entry the number of open positions and working entries of strategy Tesla would be 3, the limit is 2; allowed: none',
    );
  });

  testEveryCase('is allowed again when a position has ended', async () => {
    const userId = await newUser();
    await setLimits(engine, ofUser(userId), { maxOpenPositions: 1 });
    await signal();
    const second = await signal();
    expect(await reasonOf(second.workflowId, userId)).toMatch(/would be 2, the limit is 1/);
    await forgetLimits(engine);
    await setLimits(engine, ofUser(userId), { maxOpenPositions: 1 });
    await signal();
    expect(await entriesOf(engine, userId)).toHaveLength(2);
  });
});

// Requirements: additions-limits-11
describe('trading hours', () => {
  /** A window of one minute, which begins in so many minutes. */
  function opensIn(minutes: number): RiskLimits['schedule'] {
    const at = (later: number) =>
      new Date(engine.clock.now().getTime() + later * 60_000).toISOString().slice(11, 16);
    return { zone: 'UTC', windows: [{ days: WEEKDAYS, from: at(minutes), to: at(minutes + 1) }] };
  }
  const nextOf = (minutes: number) =>
    `${new Date(engine.clock.now().getTime() + minutes * 60_000).toISOString().slice(0, 16)}:00.000Z`;

  test.each(
    firstCases([
      ['a strategy', () => TESLA, 'strategy Tesla'],
      ['a user', ofUser, 'this user'],
    ]),
  )(
    'of %s deny entries outside of them, say when they open, and deny nobody else',
    async (_n, scope, name) => {
      const [userId, other] = [await newUser(), await newUser()];
      await setLimits(engine, scope(userId), { schedule: opensIn(5) });
      const opens = nextOf(5);
      const { workflowId, signalId } = await signal();
      expect(await reasonOf(workflowId, userId)).toBe(
        `Outside the trading hours of ${name}: new entries are allowed again from ${opens}`,
      );
      expect(await entriesOf(engine, userId)).toEqual([]);
      expect(await entriesOf(engine, other)).toHaveLength(name === 'this user' ? 1 : 0);
      await expectDecisionsHold(signalId);
      await setLimits(engine, scope(userId), { schedule: opensIn(0) });
      expect(await reasonOf((await signal()).workflowId, userId)).toBeNull();
    },
  );

  testEveryCase('keep a position whose opposite signal comes outside of them, with its stop', async () => {
    const { userId, token } = await withLong(engine);
    await setLimits(engine, ofUser(userId), { schedule: opensIn(5) });
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    await engine.settle();
    expect(await reasonOf(workflowId, userId)).toMatch(/^Outside the trading hours of this user/);
    expect(await engine.holding(userId, token)).toMatchObject({ position: { side: 'long' }, stopLoss: '98' });
  });
});

// Requirements: additions-limits-3
describe('an entry that may be made smaller', () => {
  test.each<[Partial<RiskLimits>, (quantity: string) => boolean]>([
    [{ maxExposure: '5000' }, (quantity) => D(quantity).times('100.06').lte(5_000)],
    [{ maxRisk: '1%' }, (quantity) => D(quantity).times('2.06').lte(100)],
  ])('for %j is sized down to fit, in order, calculation and decision alike', async (limits, fits) => {
    const userId = await newUser();
    await setLimits(engine, ofUser(userId), { ...limits, shrink: true });
    const { signalId, workflowId } = await signal();
    expect(await reasonOf(workflowId, userId)).toBeNull();
    const [trade] = await engine.trades(signalId);
    const quantity = trade?.plannedQuantity ?? '0';
    expect(fits(quantity)).toBe(true);
    expect(D(quantity).gt(0)).toBe(true);
    expect(fits(D(quantity).times('1.05').toFixed())).toBe(false);
    const [order] = await entriesOf(engine, userId);
    expect(order?.filledSize).toBe(quantity);
    await expectDecisionsHold(signalId);
    const [decision] = await engine.db
      .select()
      .from(decisions)
      .where(and(eq(decisions.workflowId, workflowId), eq(decisions.userId, userId)));
    expect(decision?.record).toMatchObject({ outcome: { ok: true, position: { assetQuantity: quantity } } });
    const step = (await engine.steps(workflowId)).find(({ stepType }) => stepType === 'position_generation');
    expect(JSON.stringify(step?.outputData)).toContain(`to ${quantity} `);
  });

  test('by hand is sized down too, and its timeline says so; without room it is denied', async () => {
    const userId = await newUser();
    await setLimits(engine, ofUser(userId), { maxExposure: '5000', shrink: true });
    const byHand = async () => {
      const { signalId, workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
      await engine.db.delete(workflows).where(eq(workflows.id, workflowId));
      return await calculateByHand(engine, { userId, signalId });
    };
    const log = await byHand();
    const actor = OPERATOR;
    const submitted = await submitOrder(engine.deps, { positionGeneratorLogId: log.id, actor });
    expect(submitted).toMatchObject({ ok: true });
    const [trade] = await engine.trades(log.signalId ?? '');
    const quantity = trade?.plannedQuantity ?? '0';
    expect(
      D(quantity)
        .times(trade?.entryPrice ?? 0)
        .lte(5_000),
    ).toBe(true);
    expect(
      D(quantity)
        .times(trade?.entryPrice ?? 0)
        .gte(4_900),
    ).toBe(true);
    const { timeline } = await engine.events(trade?.id ?? '');
    expect(timeline[0]).toContain(
      `sized down from ${log.position?.assetQuantity} to ${quantity} ${log.token}: the exposure of this user`,
    );
    await engine.settle();
    expect((await entriesOf(engine, userId)).map(({ filledSize }) => filledSize)).toEqual([quantity]);
    await setLimits(engine, ofUser(userId), { maxExposure: '1', shrink: true });
    const next = await submitOrder(engine.deps, { positionGeneratorLogId: (await byHand()).id, actor });
    expect(next).toMatchObject({ ok: false, denial: { code: 'risk_limit_reached' } });
  });

  test('to less than the minimum order is denied', async () => {
    const userId = await newUser();
    await setLimits(engine, ofUser(userId), { maxExposure: '0.5', shrink: true });
    const { workflowId, signalId } = await signal();
    expect(await reasonOf(workflowId, userId)).toMatch(/the limit is 0.5 USDT; allowed: 0.5 USDT more$/);
    await expectDecisionsHold(signalId);
  });

  testEveryCase('leaves the users of one wave within the limit of the program together', async () => {
    await setLimits(engine, PROGRAM, { maxExposure: '60000', shrink: true });
    for (let count = 0; count < 12; count += 1) await newUser();
    const { signalId } = await signal();
    const trades = await engine.trades(signalId);
    const total = trades.reduce((sum, one) => sum.plus(D(one.plannedQuantity).times(one.entryPrice)), D(0));
    expect(total.lte(60_000)).toBe(true);
    expect(total.gte(54_000)).toBe(true);
  });
});

// Requirements: additions-limits-6
describe('what is not known of a user', () => {
  test('denies that user and nobody else', async () => {
    await setLimits(engine, PROGRAM, { maxExposure: '100x', maxDailyLoss: '1%' });
    const [unknown, other] = [await newUser(), await newUser()];
    await setLimits(engine, ofUser(unknown), { maxDailyLoss: '1%' });
    const { workflowId, signalId } = await signal();
    expect(await reasonOf(workflowId, unknown)).toBe(
      'The daily loss of this user cannot be checked: it was not compared yet',
    );
    expect(await reasonOf(workflowId, other)).toBeNull();
    await expectDecisionsHold(signalId);
  });
});

describe('a breach', () => {
  const stop = (userId: string) =>
    engine.db.insert(riskBreaches).values({
      id: timeOrderedId(),
      scopeKind: 'user',
      scopeValue: userId,
      limit: 'maxDrawdown',
      saw: '1000 USDT',
      maximum: '10%',
      at: engine.clock.now(),
      until: null,
      closes: false,
    });

  // Requirements: additions-limits-5
  test('holds back an order that is planned and not sent', async () => {
    const { userId, workflowId, signalId } = await storeTradedSignal(engine);
    await setLimits(engine, ofUser(userId), { maxDrawdown: '10%' });
    await watchAll(engine);
    const [trade] = await engine.plan(workflowId);
    expect(trade).toBeDefined();
    await stop(userId);
    await engine.settle();
    expect(await entriesOf(engine, userId)).toEqual([]);
    const [ended] = await engine.trades(signalId);
    expect(ended).toMatchObject({ success: false, fillStatus: 'unfilled' });
    expect(ended?.error).toMatch(/The drawdown of this user is 1000 USDT, the limit is 10%/);
  });

  // Requirements: additions-limits-5
  testEveryCase('closes nothing for an opposite signal whose entry it denies', async () => {
    const { userId, token } = await withLong(engine);
    await setLimits(engine, ofUser(userId), { maxDrawdown: '10%' });
    await stop(userId);
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonOf(workflowId, userId)).toMatch(/^The drawdown of this user is 1000 USDT/);
    expect(await ledgerOf(engine, userId)).toEqual([['buy', false, 'filled']]);
  });
});

testEveryCase('a reversal is not counted beside the position that it closes', async () => {
  const { userId, token } = await withLong(engine);
  await setLimits(engine, ofUser(userId), { maxOpenPositions: 1 });
  engine.clock.advance(60_000);
  const { workflowId } = await oppositeSignal(engine, token);
  await engine.settle();
  expect(await reasonOf(workflowId, userId)).toBeNull();
  expect((await ledgerOf(engine, userId)).map(([side]) => side)).toEqual(['buy', 'sell', 'sell']);
});

testEveryCase('limits take one statement for all orders that are committed together', async () => {
  await setLimits(engine, PROGRAM, { maxOpenPositions: 100 });
  for (let count = 0; count < 9; count += 1) await newUser();
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
  await runWorkflow(engine.deps, workflowId);
  const wave = () =>
    tradeWave(engine.deps, { workflowId }, async ({ db }, { lease }) => releaseLeases(db, [lease]));
  /** Those that read figures for limits, and those that write orders: one for each transaction. */
  const statements = async () => {
    let figures = 0;
    const orders = await countStatements(async () => {
      figures = await countStatements(wave, 'select risk_figures');
    }, 'insert into "trades"');
    return { figures, orders };
  };
  // Of one user, then of eight: on a slow machine some of them are ready too late for the transaction of the others.
  expect(await statements()).toEqual({ figures: 1, orders: 1 });
  const { figures, orders } = await statements();
  expect(figures).toBe(orders);
  expect(
    [...(await engine.outcomes(workflowId)).values()].filter(({ position }) => position !== null),
  ).toHaveLength(9);
});

// Requirements: additions-limits-2, additions-stops-1
testEveryCase('limits of every level and stops of others add at most one statement to a wave', async () => {
  const userId = await newUser();
  const firstWave = async () => {
    const { workflowId, signalId } = await engine.storeSignal({ token: nextToken(), price: '100' });
    await runWorkflow(engine.deps, workflowId);
    const sent = { all: 0, figures: 0 };
    sent.all = await countStatements(async () => {
      sent.figures = await countStatements(
        () => tradeWave(engine.deps, { workflowId }, async ({ db }, { lease }) => releaseLeases(db, [lease])),
        'risk_figures',
      );
    });
    expect(await engine.trades(signalId)).toHaveLength(1);
    return sent;
  };
  const unlimited = await firstWave();
  for (const scope of [PROGRAM, TESLA, ofUser(userId)]) {
    await setLimits(engine, scope, { maxOpenPositions: 1_000, maxExposure: '900000000', maxRisk: '100%' });
  }
  const scopes: StopScope[] = [
    { kind: 'strategy', value: 'UD Bot' },
    { kind: 'token', value: nextToken() },
  ];
  for (const scope of scopes) {
    await stopEntries(engine.deps, { scope, reason: null, until: null, by: OPERATOR, userId: null });
  }
  const limited = await firstWave();
  await engine.db.delete(tradingStops);
  expect(limited.figures).toBe(1);
  expect(limited.all).toBeLessThanOrEqual(unlimited.all - unlimited.figures + 1);
});
