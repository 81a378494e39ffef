import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acquireLease, handOverLeases } from '#server/platform/jobs/leases.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeUser } from './trade-user.ts';

let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.close());

/** A signal whose only user's turn it is. */
async function turn() {
  count += 1;
  const token = `TURN${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const stored = await engine.storeSignal({ token, price: '100' });
  await runWorkflow(engine.deps, stored.workflowId);
  return { userId, ...stored };
}

const tradesOf = async ({ userId, signalId }: { userId: string; signalId: string }) =>
  (await engine.trades(signalId)).filter((trade) => trade.userId === userId);

const hold = (userId: string) => acquireLease({ db: engine.db, key: `user:${userId}`, holder: 'another' });

test('a user is sized for one signal at a time: the next one waits until the lease is free', async () => {
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

test('a user who has an order, or whose part is over, waits for nobody', async () => {
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
  // Not even after it had run out.
  expect(await hold(userId)).toBeNull();
});
