import { and, eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listUnfinishedTrades } from '#server/engine/orders/trades.store.ts';
import { trades, users, workflowSteps, workflows } from '#server/platform/db/schema.ts';
import { Crash } from '#test/app/crashing-database.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { type DyingCall, dyingAt } from '#test/venues/dying-exchange.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { UNSETTLED_LIMIT_MS } from './follow-trade.ts';
import { runWorkflow } from './run-workflow.ts';
import { wakeUnfinished } from './sweep.ts';
import { tradeUser } from './trade-user.ts';

/** What a process that ended left behind is finished by its successor, by nothing but the calls that it sends itself. */
let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterEach(async () => {
  engine.venue.setFaults([]);
  await engine.db.update(users).set({ isActive: false });
  await engine.settle();
});
afterAll(() => engine.close());

async function signal() {
  count += 1;
  const token = `W${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  return { token, userId, ...(await engine.storeSignal({ token, price: '100' })) };
}

async function startAnew(): Promise<void> {
  const queue = testJobs(engine.clock);
  const deps: AutomationDeps = { ...engine.deps, jobs: queue.jobs };
  await engine.restart();
  await wakeUnfinished(deps, { all: true });
  await queue.drain(deps);
}

const rests: VenueFault = { kind: 'restFirst' };
const noStop: VenueFault = { kind: 'stopDropped' };
const noNewStop: VenueFault = {
  kind: 'refuse',
  code: '40917',
  on: { path: 'place-tpsl-order', times: Number.POSITIVE_INFINITY },
};
const lost: VenueFault = { kind: 'cutAfterAccept', on: { path: 'place-order' } };

interface Left {
  name: string;
  faults: VenueFault[];
  call: DyingCall;
  when: 'before' | 'after';
  /** State of the trade and of its last attempt when the process ended. */
  state: [string, string];
  ends: { success: boolean; protectionStatus?: string };
  entries: number;
}

test.each<Left>([
  {
    name: 'that was planned',
    faults: [],
    call: 'prepareAccount',
    when: 'before',
    state: ['working', 'planned'],
    ends: { success: true },
    entries: 1,
  },
  {
    name: 'whose request had not left',
    faults: [],
    call: 'placeOrder',
    when: 'before',
    state: ['working', 'submitting'],
    ends: { success: true },
    entries: 1,
  },
  {
    name: 'whose answer was not recorded',
    faults: [],
    call: 'placeOrder',
    when: 'after',
    state: ['working', 'submitting'],
    ends: { success: true },
    entries: 1,
  },
  {
    name: 'in doubt',
    faults: [lost],
    call: 'findOrder',
    when: 'before',
    state: ['working', 'unknown'],
    ends: { success: true },
    entries: 1,
  },
  {
    name: 'that was open',
    faults: [],
    call: 'findOrder',
    when: 'after',
    state: ['working', 'open'],
    ends: { success: true },
    entries: 1,
  },
  {
    name: 'whose cancel had not left',
    faults: [rests],
    call: 'cancelOrder',
    when: 'before',
    state: ['working', 'cancelling'],
    ends: { success: true },
    entries: 2,
  },
  {
    name: 'whose cancel was not confirmed',
    faults: [rests],
    call: 'cancelOrder',
    when: 'after',
    state: ['working', 'cancelling'],
    ends: { success: true },
    entries: 2,
  },
  {
    name: 'whose second attempt was not planned',
    faults: [rests],
    call: 'fetchTicker',
    when: 'after',
    state: ['working', 'unfilled'],
    ends: { success: true },
    entries: 2,
  },
  {
    name: 'whose fill was not known to be protected',
    faults: [],
    call: 'fetchHolding',
    when: 'before',
    state: ['working', 'open'],
    ends: { success: true, protectionStatus: 'verified' },
    entries: 1,
  },
  {
    name: 'whose lost stop was not placed',
    faults: [noStop],
    call: 'placeProtection',
    when: 'before',
    state: ['working', 'open'],
    ends: { success: true, protectionStatus: 'repaired' },
    entries: 1,
  },
  {
    name: 'whose lost stop was placed and not read',
    faults: [noStop],
    call: 'placeProtection',
    when: 'after',
    state: ['working', 'open'],
    ends: { success: true, protectionStatus: 'verified' },
    entries: 1,
  },
  {
    name: 'whose close had not left',
    faults: [noStop, noNewStop],
    call: 'closePosition',
    when: 'before',
    state: ['closing', 'filled'],
    ends: { success: false, protectionStatus: 'closed' },
    entries: 1,
  },
  {
    name: 'whose close was not confirmed',
    faults: [noStop, noNewStop],
    call: 'closePosition',
    when: 'after',
    state: ['closing', 'filled'],
    ends: { success: false, protectionStatus: 'closed' },
    entries: 1,
  },
])('an order $name is finished by the next process', async ({ faults, call, when, state, ends, entries }) => {
  const { userId, token, workflowId, signalId } = await signal();
  const [planned] = await engine.plan(workflowId);
  if (planned === undefined) throw new Error('nothing was planned');
  engine.venue.setFaults(faults);
  const dying = dyingAt(engine.deps, call, when);
  let died = false;
  while (!died) {
    died = await engine.advance(planned.id, dying).then(
      () => false,
      () => true,
    );
  }
  const left = await engine.trade(planned.id);
  expect([left.state, (await engine.attempts(planned.id)).at(-1)?.state]).toEqual(state);

  await startAnew();
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed' });
  expect(await engine.trades(signalId)).toMatchObject([{ state: 'done', ...ends }]);
  const orders = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => !reduceOnly);
  expect(orders).toHaveLength(entries);
  expect(engine.doubleEntries).toEqual([]);
  const { position, stopLoss } = await engine.holding(userId, token);
  expect(position === null).toBe(!ends.success);
  expect(stopLoss).toBe(ends.success ? '98' : null);
});

// Requirements: workflows-12
test('workflows that wait, run, or have users under way are finished by the next process, each in its turn', async () => {
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

test('the workflow that has its token is called, also when an older one came into the tables behind it', async () => {
  const older = await signal();
  // As it is while the transaction that stores it is not committed yet.
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

test('a trade whose wake-up call was lost is called again fifteen seconds after it was due, not before', async () => {
  const { workflowId } = await signal();
  const [planned] = await engine.plan(workflowId);
  if (planned === undefined) throw new Error('nothing was planned');
  await engine.advance(planned.id);
  const { dueAt } = await engine.trade(planned.id);
  const queue = testJobs(engine.clock);
  const deps: AutomationDeps = { ...engine.deps, jobs: queue.jobs };
  const sweepAt = async (ms: number) => {
    engine.clock.set(new Date((dueAt?.getTime() ?? 0) + ms));
    await wakeUnfinished(deps, { all: false });
    return queue.waiting().filter(({ name }) => name === 'advance-trade').length;
  };
  expect(await sweepAt(15_000)).toBe(0);
  expect(await sweepAt(15_001)).toBe(1);
  await queue.drain(deps);
  const [row] = await engine.db.select().from(trades).where(eq(trades.id, planned.id));
  expect(row).toMatchObject({ state: 'done', success: true });
});

test('of more orders than one look takes, those that are due the longest are taken first', async () => {
  const planned = async (dueAt: Date | null) => {
    const [trade] = await engine.plan((await signal()).workflowId);
    if (trade === undefined) throw new Error('nothing was planned');
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

test('users are not traded before their step has begun, so that the last of them can end it', async () => {
  const { userId, workflowId, signalId, token } = await signal();
  await runWorkflow(engine.deps, workflowId);
  // As a process leaves it that ends between step 6 and step 7: the users are written, their turn has not come.
  await engine.db
    .delete(workflowSteps)
    .where(and(eq(workflowSteps.workflowId, workflowId), eq(workflowSteps.stepNumber, 7)));
  await tradeUser(engine.deps, { workflowId, userId });
  expect(await engine.trades(signalId)).toEqual([]);
  expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('waiting');
  await startAnew();
  expect((await engine.steps(workflowId))[6]).toMatchObject({
    stepName: 'Process All Users',
    status: 'completed',
  });
  expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
});

test('a user whose order is under way is left to its end, until it is under way for too long', async () => {
  const { workflowId, userId } = await signal();
  const [planned] = await engine.plan(workflowId);
  if (planned === undefined) throw new Error('nothing was planned');
  const queue = testJobs(engine.clock);
  const deps: AutomationDeps = { ...engine.deps, jobs: queue.jobs };
  const callsAt = async (ms: number) => {
    engine.clock.set(new Date(planned.createdAt.getTime() + ms));
    await wakeUnfinished(deps, { all: false });
    return queue.waiting().map(({ name }) => name);
  };
  expect(await callsAt(1_000)).toEqual([]);
  expect(await callsAt(UNSETTLED_LIMIT_MS - 1)).not.toContain('trade-user');
  expect(await callsAt(UNSETTLED_LIMIT_MS)).toContain('trade-user');
  await queue.drain(deps);
  expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
});
