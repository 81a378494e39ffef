import { and, eq, inArray } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { followTrade } from '#server/engine/workflow/follow-trade.ts';
import { wakeUnfinished } from '#server/engine/workflow/sweep.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { trades } from '#server/platform/db/schema.ts';
import { auditOnce } from '#test/app/followed-trades.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { ALWAYS, planTrade, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { withLong } from '#test/app/token-holders.ts';
import { advanceTrade } from './advance-trade.ts';

/** The machine's clock steps back ten minutes, as after a correction by its time service. */
const engine = sharedTestEngine();
const STEP_MS = 10 * 60_000;
let audit: ReturnType<typeof createProtectionAudit>;

beforeEach(() => {
  audit = createProtectionAudit(engine.deps);
});

const lose = (userId: string, ...plans: ('pos_loss' | 'pos_profit')[]) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), inArray(paperTriggerOrders.planType, plans)));

describe.each(firstCases(EXCHANGE_PLATFORMS))('after a step back of the clock, on %s', (exchangePlatform) => {
  // Requirements: order-execution-9
  test('a stop that was dropped is placed again at the next audit', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    await auditOnce(engine, audit);
    engine.clock.advance(-STEP_MS);
    await lose(userId, 'pos_loss', 'pos_profit');
    await auditOnce(engine, audit);
    const { state, dueAt } = await engine.trade(trade.id);
    expect(state).toBe('protecting');
    expect(dueAt).toEqual(engine.clock.now());
    await advanceTrade(engine.deps, trade.id);
    expect(await engine.holding(userId, token, exchangePlatform)).toMatchObject({
      stopLoss: '98',
      takeProfit: '104',
    });
  });

  test('a position whose stop was lost before the step and is refused is closed at once', async () => {
    const { userId, token, trade } = await withLong(engine, { exchangePlatform });
    await lose(userId, 'pos_loss', 'pos_profit');
    strike(engine, userId, [{ kind: 'stopRefused', on: { times: ALWAYS } }]);
    await auditOnce(engine, audit);
    await advanceTrade(engine.deps, trade.id);
    expect((await engine.trade(trade.id)).unprotectedSince).not.toBeNull();
    engine.clock.advance(-STEP_MS);
    await advanceTrade(engine.deps, trade.id);
    expect((await engine.holding(userId, token, exchangePlatform)).position).toBeNull();
  });

  test('an order that rests is verified, cancelled and settled', async () => {
    const { trade } = await planTrade(engine, {
      settings: { exchangePlatform },
      faults: [{ kind: 'partialFill', fraction: 'one step', on: { times: ALWAYS } }],
    });
    await advanceTrade(engine.deps, trade.id);
    expect((await engine.attempts(trade.id)).at(-1)?.state).toBe('open');
    engine.clock.advance(-STEP_MS);
    await advanceTrade(engine.deps, trade.id);
    expect((await engine.attempts(trade.id)).at(-1)?.state).toBe('cancelling');
    engine.clock.advance(-STEP_MS);
    await advanceTrade(engine.deps, trade.id);
    expect((await engine.attempts(trade.id))[0]?.state).toMatch(/^(unfilled|filled|partial)$/);
  });
});

test('an order whose next step lies ten minutes ahead is woken by the sweep and by its user’s step', async () => {
  const { trade, workflowId, userId } = await planTrade(engine);
  const dueAt = new Date(engine.clock.now().getTime() + STEP_MS);
  await engine.db.update(trades).set({ dueAt }).where(eq(trades.id, trade.id));
  const queue = testJobs(engine.clock);
  const deps = engine.depsWith({ jobs: queue.jobs });
  const calls = () => queue.waiting().filter(({ name }) => name === 'advance-trade').length;
  await wakeUnfinished(deps, { all: false });
  expect(calls()).toBe(1);
  await followTrade(deps, {
    task: { workflowId, userId, position: 0 },
    trade: await engine.trade(trade.id),
  });
  expect(calls()).toBe(2);
});
