import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { listSignals } from '#server/console/signals/signals.store.ts';
import { listWorkflows } from '#server/console/workflows/workflow-monitor.store.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { listUserOutcomes, storeMissingOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { retryWorkflow, triggerWorkflow } from '#server/engine/workflow/trigger-workflow.ts';
import { closedPositions, trades, workflows } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, sharedTestEngine, storeTradedSignal, strike } from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { nextToken } from '#test/app/token-holders.ts';

const engine = sharedTestEngine();

const byRisk = { positionSizingMethod: 'Risk Management' } as const;
/** Skipped: there is no candle with an ATR. */
const byAnalysis = { positionSizingMethod: 'Technical Analysis' } as const;
const ATR_MISSING = 'ATR is required for Technical Analysis';

/** What the workflow's row holds. */
async function stored(workflowId: string) {
  const { outcome, successfulUsersCount, failedUsersCount, skippedUsersCount, topReason } =
    await engine.workflow(workflowId);
  return [outcome, successfulUsersCount, failedUsersCount, skippedUsersCount, topReason];
}

const paged = () => ({ page: 1, limit: 100, now: engine.clock.now() });

/** What both lists show. */
async function shown({ signalId, workflowId }: { signalId: string; workflowId: string }) {
  const { signals } = await listSignals(engine.db, { ...paged(), filter: {} });
  const runs = await listWorkflows(engine.db, paged());
  const run = runs.workflows.find(({ id }) => id === workflowId)?.outcome;
  const signal = signals.find(({ id }) => id === signalId);
  if (signal?.workflowId === workflowId) expect(signal.outcome).toEqual(run);
  return { run, signal };
}

/** As versions left them that stored no outcome. */
const forget = (workflowId: string) =>
  engine.db
    .update(workflows)
    .set({ outcome: null, failedUsersCount: null, skippedUsersCount: null, topReason: null })
    .where(eq(workflows.id, workflowId));

/** Stored, shown, and computed for a workflow that stored none, it is the same. */
async function expectOutcome(
  about: { signalId: string; workflowId: string },
  outcome: { kind: string; filled: number; failed: number; skipped: number; topReason: unknown },
) {
  const { kind, filled, failed, skipped, topReason } = outcome;
  expect(await stored(about.workflowId)).toEqual([kind, filled, failed, skipped, topReason]);
  expect((await shown(about)).run).toEqual(outcome);
  await forget(about.workflowId);
  expect((await shown(about)).run).toEqual(outcome);
  expect(await storeMissingOutcomes(engine.db)).toBe(1);
  expect(await stored(about.workflowId)).toEqual([kind, filled, failed, skipped, topReason]);
}

// Requirements: additions-outcome-1
test('stores that every user traded', async () => {
  await engine.createUser(byRisk);
  await engine.createUser({ activeTrading: false });
  const about = await storeTradedSignal(engine);
  await engine.settle();
  await expectOutcome(about, { kind: 'filled', filled: 2, failed: 0, skipped: 0, topReason: null });
});

// Requirements: additions-outcome-1
testEveryCase(
  'tells what a closing signal realised for each user after fees, and not for a reduction',
  async () => {
    const token = nextToken();
    const userId = await engine.createUser(byRisk);
    await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    const leave = async (parameters: { action: 'close' | 'reduce'; reduce_percent?: string }) => {
      engine.clock.advance(2_000);
      const { workflowId } = await engine.storeSignal({
        token,
        price: '100',
        action: parameters.action,
        parameters,
      });
      await engine.settle();
      return await engine.workflow(workflowId);
    };
    const netOf = async (workflow: Awaited<ReturnType<typeof leave>>) =>
      (await listUserOutcomes(engine.db, workflow)).get(userId);
    const reduction = await leave({ action: 'reduce', reduce_percent: '50' });
    const close = await leave({ action: 'close' });
    expect(await netOf(close)).toMatchObject({ kind: 'filled', net: null });
    const reader = createAccountReader(engine.deps);
    const isRecorded = async () => {
      engine.clock.advance(2_000);
      await reader.read({ userId, exchangePlatform: 'Bitget' }, 0);
      return (await netOf(close))?.net;
    };
    await expect.poll(isRecorded).not.toBeNull();
    const [closed] = await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId));
    const net = D(closed?.realisedProfit ?? 'NaN').minus(closed?.fees ?? 'NaN');
    expect(D((await netOf(close))?.net ?? 'NaN').eq(net)).toBe(true);
    expect(await netOf(reduction)).toMatchObject({ kind: 'filled', net: null });
  },
);

test('stores why all users were skipped', async () => {
  await engine.createUser(byAnalysis);
  await engine.createUser(byAnalysis);
  const about = await engine.storeSignal({ token: nextToken(), price: '100' });
  await engine.settle();
  await expectOutcome(about, { kind: 'skipped', filled: 0, failed: 0, skipped: 2, topReason: ATR_MISSING });
});

// Requirements: additions-outcome-1, additions-outcome-3
test('stores who failed, and the reason of the failure before that of a skip', async () => {
  await engine.createUser({ ...byRisk, tradeOrderSet: 'A' });
  const struck = await engine.createUser({ ...byRisk, tradeOrderSet: 'B' });
  await engine.createUser({ ...byAnalysis, tradeOrderSet: 'A' });
  const about = await engine.storeSignal({ token: nextToken(), price: '100' });
  strike(engine, struck, [
    { kind: 'refuse', code: '43012', on: { operation: 'place-order', times: ALWAYS } },
  ]);
  await engine.settle();
  const [trade] = await engine.db.select().from(trades).where(eq(trades.userId, struck));
  expect(trade?.error).toEqual(expect.any(String));
  await expectOutcome(about, {
    kind: 'partial',
    filled: 1,
    failed: 1,
    skipped: 1,
    topReason: trade?.error,
  });
  const outcomes = await listUserOutcomes(engine.db, await engine.workflow(about.workflowId));
  expect([...outcomes.values()].map(({ kind }) => kind).sort()).toEqual(['filled', 'not_filled', 'skipped']);
  expect(outcomes.get(struck)).toMatchObject({ kind: 'not_filled', reason: trade?.error });
});

test('is not filled when every order failed', async () => {
  const about = await storeTradedSignal(engine);
  strike(engine, about.userId, [
    { kind: 'refuse', code: '43012', on: { operation: 'place-order', times: ALWAYS } },
  ]);
  await engine.settle();
  await expectOutcome(about, {
    kind: 'not_filled',
    filled: 0,
    failed: 1,
    skipped: 0,
    topReason: expect.any(String),
  });
});

test('stores why nobody was eligible', async () => {
  await engine.createUser({ activeTrading: false });
  await engine.createUser({ activeTrading: false });
  const about = await engine.storeSignal({ token: nextToken(), price: '100' });
  await engine.settle();
  const { topReason } = await engine.workflow(about.workflowId);
  // Users of the other tests are inactive.
  expect(topReason).toMatch(/^(Active trading is off|User is inactive)$/);
  await expectOutcome(about, { kind: 'skipped', filled: 0, failed: 0, skipped: 0, topReason });
});

test('stores why a workflow failed before it selected users', async () => {
  const about = await storeTradedSignal(engine);
  engine.clock.advance(31 * 60_000);
  await engine.settle();
  const { errorMessage: topReason } = await engine.workflow(about.workflowId);
  expect(topReason).toMatch(/^Signal expired: /);
  await expectOutcome(about, { kind: 'failed', filled: 0, failed: 0, skipped: 0, topReason });
});

testEveryCase('is running until the last user has ended, and counts the others meanwhile', async () => {
  const first = await engine.createUser({ ...byRisk, tradeOrderSet: 'A' });
  const refused = await engine.createUser({ ...byRisk, tradeOrderSet: 'B' });
  await engine.createUser({ ...byAnalysis, tradeOrderSet: 'B' });
  const last = await engine.createUser({ ...byRisk, tradeOrderSet: 'C' });
  const about = await engine.storeSignal({ token: nextToken(), price: '100' });
  const running = { kind: 'running', filled: 0, failed: 0, skipped: 0, topReason: null };
  expect((await shown(about)).run).toEqual(running);
  engine.venue.setFaults([
    { kind: 'refuse', code: '43012', on: { operation: 'place-order', userId: refused, times: ALWAYS } },
    { kind: 'cutBeforeAccept', on: { operation: 'place-order', userId: last, times: ALWAYS } },
  ]);
  const seen: unknown[] = [];
  await engine.settle({
    agenda: {
      nextAt: () => null,
      async run() {},
      async onRound() {
        seen.push((await shown(about)).run);
      },
    },
  });
  expect(seen).toContainEqual({ ...running, filled: 1, failed: 1, skipped: 1 });
  expect((await engine.outcomes(about.workflowId)).get(first)?.outcome).toBe('success');
  expect((await stored(about.workflowId)).slice(0, 4)).toEqual(['partial', 1, 2, 1]);
});

// Requirements: additions-outcome-4
testEveryCase('shows the run that traded, before a later one that skipped everybody', async () => {
  const about = await storeTradedSignal(engine);
  await engine.settle();
  const again = await triggerWorkflow(engine.deps, {
    signalId: about.signalId,
    username: 'op',
    actor: OPERATOR,
  });
  expect((await shown(about)).signal).toMatchObject({
    workflowId: about.workflowId,
    outcome: { kind: 'filled' },
  });
  await engine.settle();
  expect(await stored(again)).toEqual([
    'skipped',
    0,
    0,
    1,
    'This calculation or signal was already traded for the user',
  ]);
  expect((await shown(about)).signal).toMatchObject({
    workflowId: about.workflowId,
    workflowTrigger: 'automatic',
    automaticCount: 1,
    manualCount: 1,
    eligibleUsersCount: 1,
    successfulUsersCount: 1,
    outcome: { kind: 'filled', filled: 1 },
  });
});

testEveryCase('shows the retry of a workflow that failed', async () => {
  const about = await storeTradedSignal(engine);
  engine.clock.advance(31 * 60_000);
  await engine.settle();
  const signalId = about.signalId;
  expect((await shown(about)).signal?.outcome?.kind).toBe('failed');
  const retried = await retryWorkflow(engine.deps, { signalId, username: 'op', actor: OPERATOR });
  expect((await shown({ signalId, workflowId: retried })).signal).toMatchObject({
    workflowId: retried,
    outcome: { kind: 'running' },
  });
  await engine.settle();
  await expectOutcome(
    { signalId, workflowId: retried },
    { kind: 'filled', filled: 1, failed: 0, skipped: 0, topReason: null },
  );
  expect(await stored(about.workflowId)).toEqual([
    'failed',
    0,
    0,
    0,
    expect.stringMatching(/^Signal expired/),
  ]);
});
