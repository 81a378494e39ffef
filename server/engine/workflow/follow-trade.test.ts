import { eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { EngineDeps } from '#server/deps.ts';
import { workflowUsers } from '#server/platform/db/schema.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, withTransaction } from '#test/app/shared-test-engine.ts';
import { type TestJobs, testJobs } from '#test/app/test-jobs.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { UNSETTLED_LIMIT_MS } from './follow-trade.ts';

const engine = sharedTestEngine();

/** A workflow with an order per user, and a queue whose jobs nobody takes. */
async function ordered(users: number) {
  for (let number = 0; number < users; number += 1) {
    await engine.createUser({ positionSizingMethod: 'Risk Management' });
  }
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
  const trades = await engine.plan(workflowId);
  expect(trades).toHaveLength(users);
  const queue: TestJobs = testJobs(engine.clock);
  const deps: EngineDeps = engine.depsWith({ jobs: queue.jobs });
  const calls = () => queue.waiting().filter(({ name }) => name === 'trade-user');
  async function bringToItsEnd(tradeId: string, by = deps): Promise<void> {
    while ((await engine.trade(tradeId)).state !== 'done') await engine.advance(tradeId, by);
  }
  const outcomeOf = async (userId: string) => (await engine.outcomes(workflowId)).get(userId)?.outcome;
  const drain = () => queue.drain(deps);
  return { workflowId, trades, deps, calls, drain, bringToItsEnd, outcomeOf };
}

async function orderedOne() {
  const { trades, ...rest } = await ordered(1);
  const [trade] = trades;
  if (trade === undefined) throw new Error('nothing was ordered');
  return { trade, ...rest };
}

test('ends the user’s part with its trade, and the workflow with the last one, without a job', async () => {
  const { workflowId, trades, calls, bringToItsEnd, outcomeOf } = await ordered(2);
  for (const { id, userId } of trades) {
    expect((await engine.workflow(workflowId)).status).toBe('processing');
    await bringToItsEnd(id);
    expect(await outcomeOf(userId)).toBe('success');
  }
  expect(await engine.workflow(workflowId)).toMatchObject({
    status: 'completed',
    successfulUsersCount: trades.length,
  });
  expect(calls()).toEqual([]);
});

test('ends a trade whose workflow fails to record it, and sends a job for its user', async () => {
  const { trade, calls, bringToItsEnd, outcomeOf } = await orderedOne();
  await engine.db.execute(sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not as it should be'; end $$;
    create trigger refuse before update on workflow_users for each row execute function refuse()`);
  await bringToItsEnd(trade.id).finally(() => engine.db.execute(sql`drop function refuse cascade`));
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
  expect(await outcomeOf(trade.userId)).toBe('waiting');
  const { timeline } = await engine.events(trade.id);
  expect(timeline.filter((line) => line.startsWith('Done'))).toHaveLength(1);
  expect(calls()).toMatchObject([{ data: { workflowId: trade.workflowId, userId: trade.userId } }]);
});

test('sends a job at the end of a trade whose user was given up, which corrects the outcome', async () => {
  const { workflowId, trade, calls, bringToItsEnd, outcomeOf } = await orderedOne();
  await engine.db
    .update(workflowUsers)
    .set({ outcome: 'failed' })
    .where(eq(workflowUsers.workflowId, workflowId));
  await bringToItsEnd(trade.id);
  expect(await outcomeOf(trade.userId)).toBe('failed');
  expect(calls()).toHaveLength(1);
});

test('sends a job at the end of a trade while its user is being given up, which corrects the outcome', async () => {
  const { workflowId, trade, deps, calls, drain, bringToItsEnd, outcomeOf } = await orderedOne();
  const { id, userId } = trade;
  await engine.advance(id, deps);
  engine.clock.set(new Date(trade.createdAt.getTime() + UNSETTLED_LIMIT_MS + 1));
  const slow = slowToCommit(deps.db);
  const givingUp = planUser({ ...deps, db: slow.db }, { workflowId, userId });
  await slow.written;
  const ending = bringToItsEnd(id);
  await expect.poll(() => countWaitingForLocks(engine.db)).toBe(1);
  slow.commit();
  await Promise.all([givingUp, ending]);

  expect(await engine.trade(id)).toMatchObject({ state: 'done', success: true });
  expect(await outcomeOf(userId)).toBe('failed');
  expect(calls()).toMatchObject([{ data: { workflowId, userId } }]);
  await drain();
  expect(await outcomeOf(userId)).toBe('success');
  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 1 });
  const step = (await engine.steps(workflowId)).findLast((one) => one.userId === userId);
  expect(step).toMatchObject({
    status: 'completed',
    outputData: { fillStatus: 'filled' },
    errorMessage: null,
  });
});

/** The same database, with transactions that commit only on demand after they have written everything. */
function slowToCommit(db: EngineDeps['db']) {
  const [written, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = withTransaction(db, (work, config) =>
    db.transaction(async (tx) => {
      const result = await work(tx);
      written.resolve();
      await committed.promise;
      return result;
    }, config),
  );
  return { db: slow, written: written.promise, commit: committed.resolve };
}
