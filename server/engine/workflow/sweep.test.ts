import { and, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { EngineDeps } from '#server/deps.ts';
import { listUnfinishedTrades } from '#server/engine/records/trades.store.ts';
import { trades, workflowSteps, workflows } from '#server/platform/db/schema.ts';
import { Crash } from '#test/app/crashing-database.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { planUser } from '#test/app/plan-user.ts';
import {
  ALWAYS,
  entriesOf,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
} from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { type DyingCall, dyingAt } from '#test/venues/dying-exchange.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { UNSETTLED_LIMIT_MS } from './follow-trade.ts';
import { runWorkflow } from './run-workflow.ts';
import { wakeUnfinished } from './sweep.ts';

/** A process finishes the work that its predecessor left, by the jobs that it sends itself. */
const engine = sharedTestEngine();
const signal = () => storeTradedSignal(engine);

function withQueue() {
  const queue = testJobs(engine.clock);
  const deps: EngineDeps = engine.depsWith({ jobs: queue.jobs });
  return { queue, deps, drain: () => queue.drain(deps) };
}

async function startAnew(): Promise<void> {
  const { deps, drain } = withQueue();
  await engine.restart();
  await wakeUnfinished(deps, { all: true });
  await drain();
}

const rests: VenueFault = { kind: 'restFirst' };
const noStop: VenueFault = { kind: 'stopDropped' };
const noNewStop: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };
const naked = [noStop, noNewStop];
const lost: VenueFault = { kind: 'cutAfterAccept', on: { path: 'place-order' } };

/** Faults, the call at which the process ends, the states of trade and attempt that it leaves, entries at the end. */
type Left = [VenueFault[], DyingCall, 'before' | 'after', string, number, protection?: string];

const LEFT: Record<string, Left> = {
  'that was planned': [[], 'prepareAccount', 'before', 'working planned', 1],
  'whose request had not left': [[], 'placeOrder', 'before', 'working submitting', 1],
  'whose answer was not recorded': [[], 'placeOrder', 'after', 'working submitting', 1],
  'in doubt': [[lost], 'findOrder', 'before', 'working unknown', 1],
  'that was open': [[], 'fetchHolding', 'after', 'working open', 1],
  'whose cancel had not left': [[rests], 'cancelOrder', 'before', 'working cancelling', 2],
  'whose cancel was not confirmed': [[rests], 'cancelOrder', 'after', 'working cancelling', 2],
  'whose second attempt was not planned': [[rests], 'fetchTicker', 'after', 'working unfilled', 2],
  'whose stop was not read back': [[], 'fetchHolding', 'before', 'working open', 1, 'verified'],
  'whose lost stop was not placed': [[noStop], 'placeProtection', 'before', 'working open', 1, 'repaired'],
  'whose new stop was not read': [[noStop], 'placeProtection', 'after', 'working open', 1, 'verified'],
  'whose close had not left': [naked, 'closePosition', 'before', 'closing filled', 1, 'closed'],
  'whose close was not confirmed': [naked, 'closePosition', 'after', 'closing filled', 1, 'closed'],
};

/** What is left before and after a call, and of another order of the trade. */
const NEIGHBOURS = [
  'whose answer was not recorded',
  'whose cancel had not left',
  'whose second attempt was not planned',
  'whose lost stop was not placed',
  'whose new stop was not read',
  'whose close was not confirmed',
];
test.each(oneOfEachKind(Object.entries(LEFT), ([left]) => !NEIGHBOURS.includes(left)))(
  'the next process finishes an order %s',
  async (_name, left) => {
    const [faults, call, when, states, entries, protectionStatus] = left;
    const { trade, userId, token, workflowId, signalId } = await planTrade(engine, { faults });
    const dying = dyingAt(engine.deps, call, when);
    let died = false;
    while (!died) {
      died = await engine.advance(trade.id, dying).then(
        () => false,
        () => true,
      );
    }
    const { state } = await engine.trade(trade.id);
    expect(`${state} ${(await engine.attempts(trade.id)).at(-1)?.state}`).toBe(states);

    await startAnew();
    const success = protectionStatus !== 'closed';
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed' });
    expect(await engine.trades(signalId)).toMatchObject([
      { state: 'done', success, ...(protectionStatus === undefined ? {} : { protectionStatus }) },
    ]);
    expect(await entriesOf(engine, userId)).toHaveLength(entries);
    expect(engine.doubleEntries).toEqual([]);
    const { position, stopLoss } = await engine.holding(userId, token);
    expect(position === null).toBe(!success);
    expect(stopLoss).toBe(success ? '98' : null);
  },
);

// Requirements: workflows-12
test('the next process finishes workflows that wait, run, or have users in progress, each in its turn', async () => {
  const waiting = await signal();
  const behind = await engine.storeSignal({ token: waiting.token, price: '100' });
  const selected = await signal();
  await runWorkflow(engine.deps, selected.workflowId);
  await startAnew();
  for (const { workflowId } of [waiting, behind, selected]) {
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed' });
    const steps = await engine.steps(workflowId);
    expect(steps.slice(0, 7).map(({ status }) => status)).toEqual(Array(7).fill('completed'));
  }
  expect((await engine.outcomes(selected.workflowId)).get(selected.userId)?.outcome).toBe('success');
});

test('wakes the workflow that holds its token, even if an older one was committed after it', async () => {
  const older = await signal();
  // As before the commit of the transaction that stores the older workflow.
  const late = await engine.db.delete(workflows).where(eq(workflows.id, older.workflowId)).returning();
  const holder = await engine.storeSignal({ token: older.token, price: '100' });
  const dying = dyingAt(engine.deps, 'fetchTicker', 'before');
  await expect(runWorkflow(dying, holder.workflowId)).rejects.toThrow(Crash);
  await engine.db.insert(workflows).values(late);
  await runWorkflow(engine.deps, older.workflowId);
  expect((await engine.steps(older.workflowId)).at(-1)).toMatchObject({
    stepName: 'Acquire Processing Slot',
    metadata: { waitingFor: holder.workflowId },
  });
  await startAnew();
  for (const { workflowId } of [holder, older]) {
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed' });
  }
});

test('calls a trade with a lost wake-up job again fifteen seconds after it was due, not before', async () => {
  const { trade } = await planTrade(engine);
  const { dueAt } = await engine.advance(trade.id);
  const { queue, deps, drain } = withQueue();
  const sweepAt = async (ms: number) => {
    engine.clock.set(new Date((dueAt?.getTime() ?? 0) + ms));
    await wakeUnfinished(deps, { all: false });
    return queue.waiting().filter(({ name }) => name === 'advance-trade').length;
  };
  expect(await sweepAt(15_000)).toBe(0);
  expect(await sweepAt(15_001)).toBe(1);
  await drain();
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
});

testEveryCase('takes the longest overdue orders first', async () => {
  const planned = async (dueAt: Date | null) => {
    const { trade } = await planTrade(engine);
    await engine.db.update(trades).set({ dueAt }).where(eq(trades.id, trade.id));
    return trade.id;
  };
  const now = engine.clock.now().getTime();
  const late = await planned(new Date(now - 60_000));
  const later = await planned(new Date(now - 90_000));
  const unknown = await planned(null);
  const look = (limit: number) => listUnfinishedTrades(engine.db, new Date(now), { limit });
  expect(await look(2)).toEqual([unknown, later]);
  expect(await look(3)).toEqual([unknown, later, late]);
});

testEveryCase(
  'does not trade users before step 7 has begun, so that the last of them can end it',
  async () => {
    const { userId, workflowId, signalId, token } = await signal();
    await runWorkflow(engine.deps, workflowId);
    // As after a crash between step 6 and step 7.
    await engine.db
      .delete(workflowSteps)
      .where(and(eq(workflowSteps.workflowId, workflowId), eq(workflowSteps.stepNumber, 7)));
    await planUser(engine.deps, { workflowId, userId });
    expect(await engine.trades(signalId)).toEqual([]);
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('waiting');
    await startAnew();
    expect((await engine.steps(workflowId))[6]).toMatchObject({
      stepName: 'Process All Users',
      status: 'completed',
    });
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
  },
);

test('does not wake a user whose order is in progress until the order is overdue', async () => {
  const { workflowId, userId, trade } = await planTrade(engine);
  const { queue, deps, drain } = withQueue();
  const callsAt = async (ms: number) => {
    engine.clock.set(new Date(trade.createdAt.getTime() + ms));
    await wakeUnfinished(deps, { all: false });
    return queue.waiting().map(({ name }) => name);
  };
  expect(await callsAt(1_000)).toEqual([]);
  expect(await callsAt(UNSETTLED_LIMIT_MS - 1)).not.toContain('trade-user');
  expect(await callsAt(UNSETTLED_LIMIT_MS)).toContain('trade-user');
  await drain();
  expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
});
