import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { acquireLease, handOverLeases } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeUser } from './trade-user.ts';

const engine = sharedTestEngine();

/** A signal whose only user is next to trade. */
async function turn() {
  const stored = await storeTradedSignal(engine);
  await runWorkflow(engine.deps, stored.workflowId);
  return stored;
}

const tradesOf = async ({ userId, signalId }: { userId: string; signalId: string }) =>
  (await engine.trades(signalId)).filter((trade) => trade.userId === userId);

const hold = (userId: string) => acquireLease({ db: engine.db, key: `user:${userId}`, holder: 'another' });

test('sizes a user for one signal at a time: the next signal waits until the lease is free', async () => {
  const { userId, workflowId, signalId } = await turn();
  expect(await hold(userId)).not.toBeNull();
  const trading = tradeUser(engine.deps, { workflowId, userId });
  await sleep(250);
  expect(await tradesOf({ userId, signalId })).toEqual([]);
  expect((await engine.steps(workflowId)).filter((step) => step.userId === userId)).toEqual([]);
  await handOverLeases(engine.db, 'another');
  const tradeId = await trading;
  expect(await tradesOf({ userId, signalId })).toMatchObject([{ id: tradeId, state: 'working' }]);
  await engine.settle();
});

test('does not wait for the lease for a user who has an order, or whose part is over', async () => {
  const { userId, workflowId, signalId } = await turn();
  await tradeUser(engine.deps, { workflowId, userId });
  expect(await hold(userId)).not.toBeNull();
  const { jobs, waiting } = testJobs(engine.clock);
  const again = () => tradeUser({ ...engine.deps, jobs }, { workflowId, userId });
  expect(await again()).toBeNull();
  expect(waiting()).toMatchObject([{ name: 'advance-trade' }]);
  await engine.settle();
  expect(await tradesOf({ userId, signalId })).toMatchObject([{ state: 'done', success: true }]);
  expect(await again()).toBeNull();
  expect(waiting()).toHaveLength(1);
  expect(await tradesOf({ userId, signalId })).toHaveLength(1);
  // The lease is still held: the calls did not wait for it to run out.
  expect(await hold(userId)).toBeNull();
});
