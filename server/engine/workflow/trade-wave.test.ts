import { describe, expect, test } from 'vitest';
import type { Queryable } from '#server/platform/db/database.ts';
import { acquireLease, handOverLeases } from '#server/platform/jobs/leases.ts';
import { Crash } from '#test/app/crashing-database.ts';
import { testClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { answering, dyingAt } from '#test/venues/dying-exchange.ts';
import { claimWave } from './claim-wave.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeWave } from './trade-wave.ts';
import { createUserIntake } from './user-intake.ts';

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
  const queue = testJobs(engine.clock);
  const deps = engine.depsWith({ jobs: queue.jobs });
  await tradeWave(deps, { workflowId });
  expect(await planUser(deps, { workflowId, userId })).toBeNull();
  expect(await tradesOf({ userId, signalId })).toEqual([]);
  expect((await engine.steps(workflowId)).filter((step) => step.userId === userId)).toEqual([]);
  expect(queue.waiting()).toMatchObject([
    { name: 'trade-wave', data: { workflowId } },
    { name: 'trade-user', data: { workflowId, userId } },
  ]);
  await handOverLeases(engine.db, 'another');
  await queue.drain(deps);
  expect(await tradesOf({ userId, signalId })).toMatchObject([{ state: 'done', success: true }]);
});

test('does not wait for the lease for a user who has an order, or whose part is over', async () => {
  const { userId, workflowId, signalId } = await turn();
  await planUser(engine.deps, { workflowId, userId });
  expect(await hold(userId)).not.toBeNull();
  const { jobs, waiting } = testJobs(engine.clock);
  const again = () => planUser(engine.depsWith({ jobs }), { workflowId, userId });
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

describe('a signal for many users', () => {
  /** Users in the order of trading, a workflow that has selected them, and a queue whose jobs nobody takes. */
  async function selected(users: number) {
    const userIds: string[] = [];
    for (let number = 0; number < users; number += 1) {
      const tradeOrderSet = String.fromCharCode(65 + Math.floor(number / 10));
      userIds.push(await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet }));
    }
    const { signalId, workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
    await runWorkflow(engine.deps, workflowId);
    const parts = [...(await engine.outcomes(workflowId)).values()];
    const inOrder = parts.flatMap(({ position, userId }) => (position === null ? [] : [userId]));
    const queue = testJobs(engine.clock);
    const deps = engine.depsWith({ jobs: queue.jobs });
    const traded = async () => {
      const rows = await engine.trades(signalId);
      return inOrder.filter((userId) => rows.some((row) => row.userId === userId));
    };
    return { signalId, workflowId, inOrder, queue, deps, traded };
  }

  test('is traded in waves of 1, 8 and up to 64 users, each called by the last', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(12);
    for (const size of [1, 9, 12]) {
      await tradeWave(deps, { workflowId });
      expect(await traded()).toEqual(inOrder.slice(0, size));
      const calls = queue.waiting().filter(({ name }) => name === 'trade-wave');
      expect(calls).toMatchObject(size === 12 ? calls : [{ data: { workflowId } }]);
    }
    await queue.drain(deps);
    expect(await engine.workflow(workflowId)).toMatchObject({
      status: 'completed',
      successfulUsersCount: 12,
    });
  });

  testEveryCase('is shared by instances, and traded once for each user', async () => {
    const { workflowId, signalId, inOrder, queue } = await selected(12);
    const instances = ['one', 'another', 'a third'].map((instanceId) =>
      engine.depsWith({ jobs: queue.jobs, config: { ...engine.deps.config, instanceId } }),
    );
    for (let wave = 0; wave < 3; wave += 1) {
      await Promise.all(instances.map((deps) => tradeWave(deps, { workflowId })));
    }
    await queue.drain(engine.depsWith({ jobs: queue.jobs }));
    const rows = await engine.trades(signalId);
    expect(rows.map(({ userId }) => userId).toSorted()).toEqual(inOrder.toSorted());
    expect(rows.every(({ success }) => success)).toBe(true);
    expect(engine.doubleEntries).toEqual([]);
  });

  test('leaves a user whom another workflow is sizing to a later wave, and trades the others', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(4);
    const [first = '', ...others] = inOrder;
    expect(await hold(first)).not.toBeNull();
    await tradeWave(deps, { workflowId });
    expect(await traded()).toEqual(others);
    await handOverLeases(engine.db, 'another');
    await queue.drain(deps);
    expect(await traded()).toEqual(inOrder);
  });

  test('does not wait for a user whose exchange is slow, and commits the order when it answers', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(3);
    await tradeWave(deps, { workflowId });
    const [, slow = '', fast = ''] = inOrder;
    const answer = Promise.withResolvers<void>();
    const waiting = answering(deps, ({ readTradeAccount }) => ({
      async readTradeAccount(account, request, context) {
        if (account.userId === slow) await answer.promise;
        return await readTradeAccount(account, request, context);
      },
    }));
    const wave = tradeWave(waiting, { workflowId });
    await expect.poll(traded, { timeout: 10_000 }).toContain(fast);
    expect(await traded()).not.toContain(slow);
    answer.resolve();
    await wave;
    await queue.drain(deps);
    expect(await traded()).toEqual(inOrder);
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 3 });
  });

  testEveryCase('commits the orders of users who are late together', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(5);
    await tradeWave(deps, { workflowId });
    const [, fast = '', ...late] = inOrder;
    const read = late.map(() => Promise.withResolvers<void>());
    const committed: string[] = [];
    const { commit } = deps.transitions;
    const transitions = {
      commit: (...all: Parameters<typeof commit>) => {
        const [{ intent }] = all;
        if (intent !== undefined) committed.push(intent.trade.userId);
        return commit(...all);
      },
    };
    const gate = testClock();
    const clock = { ...deps.clock, after: gate.after };
    const waiting = answering({ ...deps, clock, transitions }, ({ readTradeAccount }) => ({
      async readTradeAccount(account, request, context) {
        const place = late.indexOf(account.userId);
        if (place < 0) return await readTradeAccount(account, request, context);
        await expect.poll(traded, { timeout: 10_000 }).toContain(fast);
        // The last in the order of trading comes first.
        await read[place + 1]?.promise;
        const answer = await readTradeAccount(account, request, context);
        read[place]?.resolve();
        return answer;
      },
    }));
    const wave = tradeWave(waiting, { workflowId });
    // The first one does not wait for the others any longer; the others are not separated by their time.
    await expect.poll(gate.waits).toHaveLength(1);
    await gate.advance(1_000);
    await wave;
    expect(committed).toEqual([fast, ...late]);
    await queue.drain(deps);
    expect(await traded()).toEqual(inOrder);
  });

  testEveryCase('calls the next wave although nobody of this one is ready yet', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(3);
    const [slow = '', ...others] = inOrder;
    const answer = Promise.withResolvers<void>();
    const waiting = answering(deps, ({ readTradeAccount }) => ({
      async readTradeAccount(account, request, context) {
        if (account.userId === slow) await answer.promise;
        return await readTradeAccount(account, request, context);
      },
    }));
    const wave = tradeWave(waiting, { workflowId });
    await expect.poll(queue.waiting, { timeout: 10_000 }).toMatchObject([{ name: 'trade-wave' }]);
    await tradeWave(waiting, { workflowId });
    expect(await traded()).toEqual(others);
    answer.resolve();
    await wave;
    await queue.drain(deps);
    expect(await traded()).toEqual(inOrder);
    expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', successfulUsersCount: 3 });
  });

  test('is taken up at an exchange whose turn comes later, while the first one has no room', async () => {
    const token = nextToken();
    const bitget = await engine.createUser({ tradeOrderSet: 'A' });
    const bybit = await engine.createUser({ tradeOrderSet: 'B', exchangePlatform: 'Bybit' });
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await runWorkflow(engine.deps, workflowId);
    const claim = async (room: number) => {
      const options = { workflowId, upTo: null, holder: 'one', rooms: new Map([['Bitget', room]]) };
      const { leases, ...rest } = await claimWave(engine.db, options);
      return { users: leases.map(({ userId }) => userId), ...rest };
    };
    expect(await claim(0)).toEqual({ users: [bybit], hasMore: true, isCut: true });
    expect(await claim(0)).toMatchObject({ users: [], isCut: true });
    expect(await claim(1)).toMatchObject({ users: [bitget], isCut: false });
    expect(await claim(0)).toMatchObject({ users: [], isCut: false });
    await handOverLeases(engine.db, 'one');
  });

  test('keeps no more users than it has room for from another instance that asks at once', async () => {
    const token = nextToken();
    const users: string[] = [];
    for (const tradeOrderSet of ['A', 'B', 'C', 'D']) users.push(await engine.createUser({ tradeOrderSet }));
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await runWorkflow(engine.deps, workflowId);
    const claim = async (db: Queryable, holder: string) => {
      const rooms = new Map([
        ['Bitget', 1],
        ['Bybit', 0],
      ]);
      const { leases } = await claimWave(db, { workflowId, upTo: null, holder, rooms });
      return leases.map(({ userId }) => userId);
    };
    await engine.db.transaction(async (tx) => {
      expect(await claim(tx, 'one')).toEqual(users.slice(0, 1));
      // The second one tells the first instance that some are left, and is locked while it asks.
      expect(await claim(engine.db, 'another')).toEqual(users.slice(2, 3));
    });
    expect(await claim(engine.db, 'a third')).toEqual(users.slice(1, 2));
    for (const holder of ['one', 'another', 'a third']) await handOverLeases(engine.db, holder);
  });

  testEveryCase(
    'is taken up by an instance as its address can start users, and the rest by another one',
    async () => {
      const { workflowId, inOrder, queue, deps, traded } = await selected(6);
      const answer = Promise.withResolvers<void>();
      const started: string[] = [];
      /** An instance whose address can start two users a second. */
      const instance = () =>
        answering({ ...deps, userIntake: createUserIntake(engine) }, ({ readTradeAccount }) => ({
          requestsPerSecond: 8,
          async readTradeAccount(account, request, context) {
            started.push(account.userId);
            if (account.userId !== inOrder[0]) await answer.promise;
            return await readTradeAccount(account, request, context);
          },
        }));
      const [one, another] = [instance(), instance()];
      await tradeWave(one, { workflowId });
      const calls = () => queue.waiting().filter(({ name }) => name === 'trade-wave');
      const waves = [tradeWave(one, { workflowId })];
      await expect.poll(() => started).toHaveLength(3);
      // The others are called before the orders of these are committed.
      expect(calls()).not.toEqual([]);
      await tradeWave(one, { workflowId });
      waves.push(tradeWave(another, { workflowId }));
      await expect.poll(() => started).toHaveLength(5);
      expect(started.toSorted()).toEqual(inOrder.slice(0, 5).toSorted());
      answer.resolve();
      await Promise.all(waves);
      await queue.drain(one);
      expect(await traded()).toEqual(inOrder);
    },
  );

  test('waits for room once in an instance, however many calls come', async () => {
    const { workflowId, inOrder, queue, deps, traded } = await selected(3);
    const answer = Promise.withResolvers<void>();
    const started: string[] = [];
    const gate = testClock();
    const clock = { ...deps.clock, sleep: gate.sleep };
    const instance = answering(
      { ...deps, clock, userIntake: createUserIntake(engine) },
      ({ readTradeAccount }) => ({
        // One user a second.
        requestsPerSecond: 4,
        async readTradeAccount(account, request, context) {
          started.push(account.userId);
          await answer.promise;
          return await readTradeAccount(account, request, context);
        },
      }),
    );
    const wave = tradeWave(instance, { workflowId });
    await expect.poll(() => started).toHaveLength(1);
    let ended = 0;
    const calls = [1, 2, 3].map(async () => {
      await tradeWave(instance, { workflowId });
      ended += 1;
    });
    await expect.poll(() => ended).toBe(2);
    expect(gate.waits().filter((ms) => ms === 200)).toHaveLength(1);
    await gate.advance(200);
    await Promise.all(calls);
    expect(queue.waiting()).toMatchObject([{ name: 'trade-wave', data: { workflowId } }]);
    answer.resolve();
    await wave;
    await queue.drain(deps);
    expect(await traded()).toEqual(inOrder);
  });

  test('takes an order up again whose execution failed unexpectedly', async () => {
    const { workflowId, signalId, queue, deps } = await selected(1);
    await expect(tradeWave(dyingAt(deps, 'placeOrder', 'after'), { workflowId })).rejects.toThrow(Crash);
    expect(await engine.trades(signalId)).toMatchObject([{ state: 'working' }]);
    expect(queue.waiting()).toMatchObject([{ name: 'advance-trade' }]);
    await queue.drain(deps);
    expect(await engine.trades(signalId)).toMatchObject([{ state: 'done', success: true }]);
  });
});
