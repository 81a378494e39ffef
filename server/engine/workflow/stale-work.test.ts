import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { users } from '#server/platform/db/schema.ts';
import { calculateForWorkflow } from '#test/app/plan-by-hand.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { runWorkflow } from './run-workflow.ts';
import { wakeUnfinished } from './sweep.ts';
import { tradeUser } from './trade-user.ts';

/** Every instance was down, or the database away, for so long that what was begun must not be gone on with. */
let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterEach(async () => {
  await engine.db.update(users).set({ isActive: false });
  await engine.settle();
});
afterAll(() => engine.close());

const minutes = (n: number) => n * 60_000;
const days = (n: number) => minutes(n * 24 * 60);

async function signal() {
  count += 1;
  const token = `S${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  return { token, userId, ...(await engine.storeSignal({ token, price: '100' })) };
}

/** Nothing runs for so long; then an instance starts and does all that is there to be done. */
async function outage(ms: number): Promise<void> {
  engine.clock.advance(ms);
  const queue = testJobs(engine.clock);
  const deps: AutomationDeps = { ...engine.deps, jobs: queue.jobs };
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

const skipReason = async ({ workflowId, userId }: Signal) =>
  (await engine.steps(workflowId)).find((step) => step.userId === userId && step.errorMessage !== null)
    ?.errorMessage;

/** As far as its calculation on record. */
async function calculate(stored: Signal): Promise<void> {
  await runWorkflow(engine.deps, stored.workflowId);
  await calculateForWorkflow(engine, stored);
}

/** A process that ends in the transaction of the order intent. */
async function endBeforeIntent({ workflowId, userId, signalId }: Signal): Promise<void> {
  await runWorkflow(engine.deps, workflowId);
  const dying: AutomationDeps = { ...engine.deps, db: dyingInTransaction(engine.db) };
  await expect(tradeUser(dying, { workflowId, userId })).rejects.toThrow('the process ends');
  expect(await engine.trades(signalId)).toEqual([]);
}

function dyingInTransaction(db: AutomationDeps['db']): AutomationDeps['db'] {
  const dying = Object.create(db) as AutomationDeps['db'];
  dying.transaction = (work, config) =>
    db.transaction(async (tx) => {
      await work(tx);
      throw new Error('the process ends');
    }, config);
  return dying;
}

describe('after an outage longer than the age limit of signals', () => {
  test('a signal that was stored before it ends as expired, and the one behind it as well', async () => {
    const stored = await signal();
    const behind = await engine.storeSignal({ token: stored.token, price: '100' });
    await outage(minutes(31));
    for (const { workflowId } of [stored, behind]) {
      const workflow = await engine.workflow(workflowId);
      expect(workflow).toMatchObject({ status: 'failed', errorDetails: { failureType: 'SIGNAL_EXPIRED' } });
    }
    await expectNothingOrdered(stored);
  });

  test('users who were selected before it are skipped, and the reason says so', async () => {
    const selected = await signal();
    await runWorkflow(engine.deps, selected.workflowId);
    await outage(minutes(31));
    await expectNothingOrdered(selected);
    expect(await skipReason(selected)).toMatch(
      /^Signal expired: .*the limit is 30 minutes; user will be skipped$/,
    );
    expect(await engine.workflow(selected.workflowId)).toMatchObject({ status: 'completed' });
  });

  test('a position that was calculated before it is not ordered', async () => {
    const calculated = await signal();
    await calculate(calculated);
    await outage(minutes(31));
    await expectNothingOrdered(calculated);
    expect(await skipReason(calculated)).toMatch(/^The calculation is 31\.0 minutes old/);
  });

  test('what was calculated for an order that was not planned is gone, and its user is skipped', async () => {
    const calculated = await signal();
    await endBeforeIntent(calculated);
    await outage(minutes(31));
    await expectNothingOrdered(calculated);
    expect(await skipReason(calculated)).toMatch(/^Signal expired: /);
  });

  test('an order that was planned before it is not sent', async () => {
    const planned = await signal();
    await engine.plan(planned.workflowId);
    await outage(minutes(31));
    await expectNothingOrdered(planned);
    expect(await engine.trades(planned.signalId)).toMatchObject([{ success: false }]);
  });
});

/** Longer than an integer can say in milliseconds. */
describe('after an outage of a month', () => {
  const next = async ({ token }: Signal) => {
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    return (await engine.outcomes(workflowId)).get(userId)?.outcome;
  };

  test('what was under way ends all the same, and its token is free for the next signal', async () => {
    const selected = await signal();
    await runWorkflow(engine.deps, selected.workflowId);
    await outage(days(30));
    expect(await engine.workflow(selected.workflowId)).toMatchObject({ status: 'completed' });
    await expectNothingOrdered(selected);
    expect(await next(selected)).toBe('success');
  });

  test('an order that was planned ends unsent, and its workflow with it', async () => {
    const planned = await signal();
    await engine.plan(planned.workflowId);
    await outage(days(30));
    expect(await engine.workflow(planned.workflowId)).toMatchObject({ status: 'completed' });
    await expectNothingOrdered(planned);
    expect(await next(planned)).toBe('success');
  });
});

describe('after a shorter outage', () => {
  test('a signal that was stored before it is traded, and so are users who were selected', async () => {
    const [stored, selected] = [await signal(), await signal()];
    await runWorkflow(engine.deps, selected.workflowId);
    await outage(minutes(4));
    for (const { workflowId, userId } of [stored, selected]) {
      expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
    }
  });

  test('a position that was calculated more than five minutes ago is not ordered at its old price', async () => {
    const calculated = await signal();
    await calculate(calculated);
    await outage(minutes(6));
    await expectNothingOrdered(calculated);
    expect(await skipReason(calculated)).toMatch(/6\.0 minutes/);
  });

  test('what was calculated for an order that was not planned is calculated anew, and ordered once', async () => {
    const calculated = await signal();
    await endBeforeIntent(calculated);
    await outage(minutes(6));
    expect(await engine.exchangeOrders(calculated.userId)).toHaveLength(1);
    expect(await engine.trades(calculated.signalId)).toMatchObject([{ success: true }]);
  });

  test('a position that was calculated a moment ago is ordered once', async () => {
    const calculated = await signal();
    await calculate(calculated);
    await outage(minutes(1));
    expect(await engine.exchangeOrders(calculated.userId)).toHaveLength(1);
    expect(await engine.trades(calculated.signalId)).toMatchObject([{ success: true }]);
  });
});
