import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { userSettings } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { dyingAt } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';

const engine = sharedTestEngine();

async function threeUsers() {
  const settings = { positionSizingMethod: 'Risk Management' } as const;
  const last = await engine.createUser({ ...settings, tradeOrderSet: 'Z' });
  const first = await engine.createUser({ ...settings, tradeOrderSet: 'A' });
  const middle = await engine.createUser({ ...settings, tradeOrderSet: 'K' });
  return [first, middle, last] as const;
}

async function userSteps(workflowId: string) {
  const steps = (await engine.steps(workflowId)).filter(({ stepNumber }) => stepNumber > 7);
  return steps.map(({ stepNumber, userId, stepType }) => [stepNumber, userId, stepType]);
}

test.each(firstCases(['readTradeAccount', 'placeOrder', 'fetchHolding']))(
  "users' steps are numbered by the order of trading, the same before and after a process dies at %s",
  async (call) => {
    const [first, middle, last] = await threeUsers();
    const { workflowId } = await engine.storeSignal({ token: `N${call.toUpperCase()}`, price: '100' });
    await expect(engine.settle({ deps: dyingAt(engine.deps, call, 'after') })).rejects.toThrow();
    const before = await userSteps(workflowId);
    await engine.restart();
    await engine.settle();
    const after = await userSteps(workflowId);
    expect(after).toEqual(
      [first, middle, last].flatMap((userId, index) => [
        [8 + index * 3, userId, 'user_settings'],
        [9 + index * 3, userId, 'position_generation'],
        [10 + index * 3, userId, 'order_submission'],
      ]),
    );
    expect(after).toEqual(expect.arrayContaining(before));
    expect(before.length).toBeGreaterThan(0);
  },
);

testEveryCase('records the duration of each step', async () => {
  const [userId] = await threeUsers();
  engine.venue.setFaults([{ kind: 'restFirst', on: { userId } }]);
  const { workflowId } = await engine.storeSignal({ token: 'LONG', price: '100' });
  await engine.settle();
  const steps = await engine.steps(workflowId);
  expect(steps).toHaveLength(7 + 3 * 3);
  for (const { startedAt, completedAt, executionTimeMs } of steps) {
    expect(executionTimeMs).toBe(
      (completedAt?.getTime() ?? Number.NaN) - (startedAt?.getTime() ?? Number.NaN),
    );
  }
  const submission = steps.find((step) => step.userId === userId && step.stepType === 'order_submission');
  expect(submission?.executionTimeMs).toBeGreaterThanOrEqual(5_000);
});

// Requirements: workflows-9
test('ends skips, missing settings and failed orders with the texts that the monitor knows', async () => {
  const [skipped, missing, failed] = await threeUsers();
  engine.venue.setFaults([
    { kind: 'refuse', code: '40014', on: { path: 'account/account', userId: skipped } },
    { kind: 'refuse', code: '40762', message: 'no', on: { path: 'place-order', userId: failed } },
  ]);
  const { workflowId } = await engine.storeSignal({ token: 'WORDS', price: '100' });
  await runWorkflow(engine.deps, workflowId);
  await engine.db.delete(userSettings).where(eq(userSettings.userId, missing));
  await engine.settle();
  const steps = (await engine.steps(workflowId)).filter(({ errorMessage }) => errorMessage !== null);
  expect(steps.map(({ userId, stepType, errorMessage }) => [userId, stepType, errorMessage])).toEqual([
    [
      skipped,
      'position_generation',
      expect.stringMatching(/^Bitget could not be asked: .* \(40014\); user will be skipped$/),
    ],
    [missing, 'user_settings', 'User settings not found'],
    [failed, 'order_submission', 'Bitget: no (40762)'],
  ]);
  const outcomes = await engine.outcomes(workflowId);
  const ends = [skipped, missing, failed].map((id) => outcomes.get(id)?.outcome);
  expect(ends).toEqual(['skipped', 'skipped', 'failed']);
  expect((await engine.steps(workflowId))[6]).toMatchObject({
    status: 'completed',
    outputData: { successful: 0, skipped: 2, failed: 1 },
  });
});

test('gives up a user whose part fails unexpectedly three times, while the others trade', async () => {
  const [broken, ...others] = await threeUsers();
  const { workflowId } = await engine.storeSignal({ token: 'BROKEN', price: '100' });
  const deps = {
    ...engine.deps,
    findAccount: async (...parameters: Parameters<typeof engine.deps.findAccount>) => {
      if (parameters[0] === broken) throw new TypeError('a bug');
      return await engine.deps.findAccount(...parameters);
    },
  };
  for (let tries = 1; tries <= 2; tries += 1) {
    await expect(engine.settle({ deps })).rejects.toThrow('a bug');
  }
  await engine.settle({ deps });
  const outcomes = await engine.outcomes(workflowId);
  const ends = [broken, ...others].map((id) => outcomes.get(id)?.outcome);
  expect(ends).toEqual(['failed', 'success', 'success']);
  const step = (await engine.steps(workflowId)).find(
    ({ userId, status }) => userId === broken && status === 'failed',
  );
  expect(step).toMatchObject({
    stepType: 'position_generation',
    errorMessage: 'Processing failed unexpectedly, see the server log',
  });
});
