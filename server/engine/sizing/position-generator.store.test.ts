import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { triggerWorkflow } from '#server/engine/workflow/trigger-workflow.ts';
import { positionGeneratorLogs, userSettings } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { calculateByHand, commitByHand } from '#test/app/plan-by-hand.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';
import { listSignalCalculations } from './position-generator.store.ts';

const engine = sharedTestEngine();
const withSignal = () => storeTradedSignal(engine);
const shown = async (signalId: string) =>
  (await listSignalCalculations(engine.db, signalId)).map(({ id }) => id);
const setTrading = (userId: string, activeTrading: boolean) =>
  engine.db.update(userSettings).set({ activeTrading }).where(eq(userSettings.userId, userId));

/** Runs a workflow up to the user's calculation: trading is switched off before the order. */
async function calculateOnly({ workflowId, userId }: { workflowId: string; userId: string }) {
  const deps = atExchangeCall(engine.deps, {
    call: 'readTradeAccount',
    when: 'after',
    happens: async () => void (await setTrading(userId, false)),
  });
  await runWorkflow(engine.deps, workflowId);
  await planUser(deps, { workflowId, userId });
  await engine.settle();
  await setTrading(userId, true);
}

describe('the calculation shown for a user of a signal', () => {
  // Requirements: signals-the-dialogs-3
  test('is the traded one, even if later calculations exist', async () => {
    const { userId, signalId, workflowId } = await withSignal();
    await engine.settle();
    const [trade] = await engine.trades(signalId);
    engine.clock.advance(1_000);
    await calculateByHand(engine, { userId, signalId });
    expect(await shown(signalId)).toEqual([trade?.positionGeneratorLogId]);
    expect(trade?.workflowId).toBe(workflowId);
  });

  // Requirements: signals-the-dialogs-3
  testEveryCase('is that of the newest trade, even if a newer workflow has calculated', async () => {
    const { userId, signalId } = await withSignal();
    engine.venue.setFaults([{ kind: 'refuse', code: '40762', on: { path: 'place-order', times: 1 } }]);
    await engine.settle();
    engine.clock.advance(1_000);
    const byHand = await calculateByHand(engine, { userId, signalId });
    expect(await shown(signalId)).not.toContain(byHand.id);
    await commitByHand(engine, byHand);
    expect(await shown(signalId)).toEqual([byHand.id]);
    engine.venue.setFaults([{ kind: 'refuse', code: '40762', on: { path: 'place-order', times: 1 } }]);
    await engine.settle();

    const workflowId = await triggerWorkflow(engine.deps, { signalId, username: 'ops', actor: OPERATOR });
    await calculateOnly({ workflowId, userId });
    expect(await engine.trades(signalId)).toHaveLength(2);
    expect(await shown(signalId)).toEqual([byHand.id]);
  });

  // Requirements: signals-the-dialogs-3
  test('without a trade is that of the newest workflow, else the newest of the calculator', async () => {
    const { userId, signalId, workflowId } = await withSignal();
    await runWorkflow(engine.deps, workflowId);
    const byHand = await calculateByHand(engine, { userId, signalId });
    const newest = await calculateByHand(engine, { userId, signalId });
    expect(byHand.id < newest.id).toBe(true);
    expect(await shown(signalId)).toEqual([newest.id]);

    await calculateOnly({ workflowId, userId });
    const second = await triggerWorkflow(engine.deps, { signalId, username: 'ops', actor: OPERATOR });
    await calculateOnly({ workflowId: second, userId });
    await calculateByHand(engine, { userId, signalId });
    const [calculation] = await listSignalCalculations(engine.db, signalId);
    expect(calculation?.workflowId).toBe(second);
  });

  // Requirements: signals-the-dialogs-3
  test('is never an estimate or a refused calculation', async () => {
    const { userId, signalId } = await withSignal();
    await setTrading(userId, false);
    const { id } = await calculateByHand(engine, { userId, signalId });
    const mark = (fields: object) =>
      engine.db.update(positionGeneratorLogs).set(fields).where(eq(positionGeneratorLogs.id, id));
    await mark({ isEstimate: true });
    expect(await shown(signalId)).toEqual([]);
    await mark({ isEstimate: false, success: false });
    expect(await shown(signalId)).toEqual([]);
    await mark({ success: true });
    expect(await shown(signalId)).toEqual([id]);
  });
});
