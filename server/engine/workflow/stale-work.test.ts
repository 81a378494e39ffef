import { describe, expect, test } from 'vitest';
import type { EngineDeps } from '#server/deps.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { calculateForWorkflow } from '#test/app/plan-by-hand.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, storeTradedSignal, withTransaction } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { reasonFor } from '#test/app/token-holders.ts';
import { runWorkflow } from './run-workflow.ts';
import { wakeUnfinished } from './sweep.ts';

/** Every instance or the database was down for so long that work in progress must not continue. */
const engine = sharedTestEngine();

const minutes = (n: number) => n * 60_000;
const days = (n: number) => minutes(n * 24 * 60);
const signal = () => storeTradedSignal(engine);

/** Nothing runs for this long; then an instance starts and finishes all work. */
async function outage(ms: number): Promise<void> {
  engine.clock.advance(ms);
  const queue = testJobs(engine.clock);
  const deps: EngineDeps = engine.depsWith({ jobs: queue.jobs });
  await engine.restart();
  await wakeUnfinished(deps, { all: true });
  await queue.drain(deps);
}

type Signal = Awaited<ReturnType<typeof signal>>;

async function expectNothingOrdered({ userId, token, signalId }: Signal): Promise<void> {
  expect(await engine.exchangeOrders(userId)).toEqual([]);
  expect((await engine.holding(userId, token)).position).toBeNull();
  for (const trade of await engine.trades(signalId))
    expect(trade).toMatchObject({ state: 'done', success: false });
}

/** Runs a workflow until its users are selected. */
const select = ({ workflowId }: Signal) => runWorkflow(engine.deps, workflowId);
const planOrders = ({ workflowId }: Signal) => engine.plan(workflowId);

/** Runs a workflow until its calculation is recorded. */
async function calculate(stored: Signal): Promise<void> {
  await select(stored);
  await calculateForWorkflow(engine, stored);
}

/** A process that ends in the transaction of the order intent. */
async function endBeforeIntent(stored: Signal): Promise<void> {
  await select(stored);
  let transactions = 0;
  const db = withTransaction(engine.db, (work, config) =>
    engine.db.transaction(async (tx) => {
      const result = await work(tx);
      transactions += 1;
      // The first one writes the beginning of the user's part.
      if (transactions > 1) throw new Error('the process ends');
      return result;
    }, config),
  );
  await expect(planUser(engine.depsWith({ db }), stored)).rejects.toThrow('the process ends');
  expect(await engine.trades(stored.signalId)).toEqual([]);
}

describe('after an outage longer than the age limit of signals', () => {
  test('a signal stored before the outage expires, and so does the next one', async () => {
    const stored = await signal();
    const behind = await engine.storeSignal({ token: stored.token, price: '100' });
    await outage(minutes(31));
    for (const { workflowId } of [stored, behind]) {
      const workflow = await engine.workflow(workflowId);
      expect(workflow).toMatchObject({ status: 'failed', errorDetails: { failureType: 'SIGNAL_EXPIRED' } });
    }
    await expectNothingOrdered(stored);
  });

  test.each([
    ['users who were selected', select, /^Signal expired: .*the limit is 30 minutes; user will be skipped$/],
    ['a position that was calculated', calculate, /^The calculation is 31\.0 minutes old/],
    ['a calculation whose order was not planned', endBeforeIntent, /^Signal expired: /],
  ])('%s before it: nothing is ordered, and the reason says so', async (_name, begin, reason) => {
    const begun = await signal();
    await begin(begun);
    await outage(minutes(31));
    await expectNothingOrdered(begun);
    expect(await reasonFor(engine, begun)).toMatch(reason);
    expect(await engine.workflow(begun.workflowId)).toMatchObject({ status: 'completed' });
  });

  test('an order planned before the outage is not sent', async () => {
    const planned = await signal();
    await planOrders(planned);
    await outage(minutes(31));
    await expectNothingOrdered(planned);
    expect(await engine.trades(planned.signalId)).toMatchObject([{ success: false }]);
  });
});

/** An integer column cannot hold this many milliseconds. */
test.each(
  firstCases([
    ['users who were selected', select],
    ['an order that was planned', planOrders],
  ]),
)(
  'after an outage of a month, %s: the workflow ends, nothing is ordered, and the token is free',
  async (_name, begin) => {
    const begun = await signal();
    await begin(begun);
    await outage(days(30));
    expect(await engine.workflow(begun.workflowId)).toMatchObject({ status: 'completed' });
    await expectNothingOrdered(begun);
    const next = await storeTradedSignal(engine, { signal: { token: begun.token } });
    await engine.settle();
    expect((await engine.outcomes(next.workflowId)).get(next.userId)?.outcome).toBe('success');
  },
);

describe('after a shorter outage', () => {
  test('a signal stored before the outage is traded, and so are selected users', async () => {
    const [stored, selected] = [await signal(), await signal()];
    await select(selected);
    await outage(minutes(4));
    for (const { workflowId, userId } of [stored, selected]) {
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    }
  });

  test('a position calculated more than five minutes ago is not ordered at its old price', async () => {
    const calculated = await signal();
    await calculate(calculated);
    await outage(minutes(6));
    await expectNothingOrdered(calculated);
    expect(await reasonFor(engine, calculated)).toMatch(/6\.0 minutes/);
  });

  test.each(
    firstCases([
      ['a calculation whose order was not planned is repeated', endBeforeIntent, 6],
      ['a recent calculation is used', calculate, 1],
    ]),
  )('%s, and ordered once', async (_name, begin, afterMinutes) => {
    const calculated = await signal();
    await begin(calculated);
    await outage(minutes(afterMinutes));
    expect(await engine.exchangeOrders(calculated.userId)).toHaveLength(1);
    expect(await engine.trades(calculated.signalId)).toMatchObject([{ success: true }]);
  });
});
