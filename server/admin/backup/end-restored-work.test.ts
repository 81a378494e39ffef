import { and, eq } from 'drizzle-orm';
import { afterAll, afterEach, expect, test } from 'vitest';
import { replaceExitPlan } from '#server/engine/exits/exit-plans.store.ts';
import { createExitWatch } from '#server/engine/exits/watch-exits.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import {
  orderAttempts,
  positionCloses,
  processingSlots,
  tradeExits,
  users,
} from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startTestEngine } from '#test/app/test-engine.ts';
import { endRestoredWork } from './end-restored-work.ts';

/** Work that was unfinished when a backup was made, and orders that the exchange received afterwards. */
let count = 0;

const engine = await startTestEngine();
afterEach(async () => {
  engine.venue.setFaults([]);
  await engine.db.update(users).set({ isActive: false });
  await engine.settle();
});
afterAll(() => engine.close());

async function storeSignal() {
  count += 1;
  const token = `R${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  return { token, userId, ...(await engine.storeSignal({ token, price: '100' })) };
}

async function plan() {
  const stored = await storeSignal();
  const [trade] = await engine.plan(stored.workflowId);
  if (trade === undefined) throw new Error('nothing was planned');
  return { ...stored, trade };
}

const restore = () => endRestoredWork(engine.db, engine.clock.now());

test('ends a workflow that had not started, and its signal is not traded', async () => {
  const { workflowId, userId } = await storeSignal();
  expect(await restore()).toEqual({ endedWorkflows: 1, ordersInDoubt: 0 });
  await engine.settle();
  expect(await engine.workflow(workflowId)).toMatchObject({
    status: 'aborted',
    outcome: 'aborted',
    topReason: expect.stringMatching(/restored from a backup/),
    errorMessage:
      'Workflow failed: the database was restored from a backup; what was under way then is not traded again',
  });
  expect(await engine.exchangeOrders(userId)).toEqual([]);
  expect(await engine.db.select().from(processingSlots)).toEqual([]);
});

test('looks up an order that was planned but not sent, and never sends it', async () => {
  const { trade, userId, workflowId } = await plan();
  expect(await restore()).toEqual({ endedWorkflows: 0, ordersInDoubt: 1 });
  await engine.settle();
  expect(await engine.exchangeOrders(userId)).toEqual([]);
  expect(await engine.trade(trade.id)).toMatchObject({
    state: 'done',
    success: false,
    fillStatus: 'unfilled',
  });
  const { calls } = await engine.events(trade.id);
  expect(calls).not.toContain('place-order');
  expect(calls).toContain('find-order');
  expect((await engine.attempts(trade.id)).map(({ state }) => state)).toEqual([
    'never_placed',
    'never_placed',
  ]);
  expect((await engine.workflow(workflowId)).status).toBe('completed');
});

test('finds an order sent after the backup and takes over its state', async () => {
  const { trade, userId, token } = await plan();
  await engine.advance(trade.id);
  // In the backup the order was not sent yet.
  await engine.db
    .update(orderAttempts)
    .set({ state: 'planned', submittedAt: null, orderId: null, verifyAt: null })
    .where(eq(orderAttempts.tradeId, trade.id));
  await restore();
  await engine.settle();
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true, fillStatus: 'filled' });
  expect((await engine.holding(userId, token)).stopLoss).not.toBeNull();
});

testEveryCase('finds a second attempt sent after the backup, and sends no third order', async () => {
  const { trade, userId } = await plan();
  engine.venue.setFaults([{ kind: 'restFirst', on: { times: Number.POSITIVE_INFINITY } }]);
  await engine.advance(trade.id);
  const [first] = await engine.attempts(trade.id);
  while ((await engine.exchangeOrders(userId)).length < 2) await engine.advance(trade.id);
  await engine.db
    .delete(orderAttempts)
    .where(and(eq(orderAttempts.tradeId, trade.id), eq(orderAttempts.attempt, 2)));
  await engine.db
    .update(orderAttempts)
    .set({ state: 'open', finishedAt: null, cancelRequestedAt: null, verifyAt: first?.verifyAt ?? null })
    .where(eq(orderAttempts.tradeId, trade.id));
  await restore();
  await engine.settle();
  expect(await engine.exchangeOrders(userId)).toHaveLength(2);
  const attempts = await engine.attempts(trade.id);
  expect(attempts).toHaveLength(2);
  expect(attempts[1]?.orderId).not.toBeNull();
  const { timeline } = await engine.events(trade.id);
  expect(timeline.join('\n')).toContain('looking for a second attempt that may have been sent');
});

// Requirements: additions-exits-27
test('ends the exit plans of open positions, so that no part is closed a second time', async () => {
  count += 1;
  const token = `R${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const scope = { kind: 'user', value: userId } as const;
  const plan = { takeProfits: [{ atR: '1', percent: 50 }] };
  await engine.db.transaction((tx) => replaceExitPlan(tx, { scope, plan, now: engine.clock.now() }));
  const { signalId } = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  const [trade] = await engine.trades(signalId);
  const tradeId = trade?.id ?? '';
  const look = async () => {
    engine.clock.advance(1_000);
    await engine.storeCandle({ token, price: '102' });
    const watch = createExitWatch(engine.deps, createAccountReader(engine.deps));
    await watch.run();
    await watch.idle();
  };
  const size = async () => Number((await engine.holding(userId, token)).position?.size ?? 0);
  // The plan begins, then its part is closed.
  await look();
  await look();
  const left = await size();
  expect(left / Number(trade?.filledQuantity)).toBeCloseTo(0.5, 1);
  // In the backup the part was not closed yet.
  await engine.db.delete(positionCloses).where(eq(positionCloses.tradeId, tradeId));
  await engine.db.update(tradeExits).set({ partsDone: 0 }).where(eq(tradeExits.tradeId, tradeId));
  await restore();
  await look();
  await look();
  expect(await size()).toBe(left);
  const ended =
    'the database was restored from a backup: parts may have been closed since, apply a plan again';
  const [exits] = await engine.db.select().from(tradeExits).where(eq(tradeExits.tradeId, tradeId));
  expect(exits).toMatchObject({ plan: { takeProfits: [] }, revision: 2, planned: null, ended });
  expect((await engine.events(tradeId)).timeline).toContain(`Exit plan ended: ${ended}`);
});

testEveryCase('does not trade users who were still waiting, and completes those with an order', async () => {
  const { workflowId, userId, trade } = await plan();
  const waiting = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  await engine.db.execute(
    `insert into workflow_users (workflow_id, user_id, username, position, status, reason, rule, saw, wanted, outcome)
     values ('${workflowId}', '${waiting}', 'waiting', 1, 'eligible', '', '', '', '', 'waiting')`,
  );
  await restore();
  await engine.settle();
  const outcomes = await engine.outcomes(workflowId);
  expect(outcomes.get(waiting)?.outcome).toBe('failed');
  expect(outcomes.get(userId)?.outcome).toBe('failed');
  expect(await engine.exchangeOrders(waiting)).toEqual([]);
  expect((await engine.trade(trade.id)).state).toBe('done');
  expect((await engine.workflow(workflowId)).status).toBe('completed');
});
