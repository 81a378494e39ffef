import { expect, test } from 'vitest';
import { ALWAYS, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import type { Agenda } from '#test/app/test-engine.ts';

/** I7: the outcome of an order in doubt is corrected when the order is settled after its workflow. */
const engine = sharedTestEngine();

/** The exchange does not answer about orders for this long, by the engine's clock. */
function silentFor(ms: number): Agenda {
  const until = new Date(engine.clock.now().getTime() + ms);
  let isOver = false;
  return {
    nextAt: () => (isOver ? null : until),
    async run() {
      if (isOver || engine.clock.now() < until) return;
      isOver = true;
      engine.venue.setFaults([]);
    },
  };
}

test.each([
  ['filled', { kind: 'cutAfterAccept' }, 'success', 'completed', null],
  ['was never placed', { kind: 'cutBeforeAccept' }, 'failed', 'failed', /calculation/i],
] as const)(
  'shows an order that is settled after its workflow as one that %s',
  async (what, fault, outcome, status, error) => {
    const token = what === 'filled' ? 'LATEFILL' : 'LATENONE';
    const late = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'A' });
    const other = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'B' });
    const { signalId, workflowId } = await engine.storeSignal({ token, price: '100' });
    engine.venue.setFaults([
      { ...fault, on: { operation: 'place-order', userId: late } },
      { kind: 'badGatewayBefore', on: { operation: 'find-order', userId: late, times: ALWAYS } },
    ]);
    const seen: (string | undefined)[] = [];
    const silence = silentFor(7 * 60_000);
    const agenda: Agenda = {
      ...silence,
      async onRound() {
        if (silence.nextAt() === null) return;
        seen.push((await engine.workflow(workflowId)).status);
        engine.clock.advance(60_000);
      },
    };
    await engine.settle({ agenda });

    expect(seen.at(-1)).toBe('completed');
    const trade = (await engine.trades(signalId)).find(({ userId }) => userId === late);
    const outcomes = await engine.outcomes(workflowId);
    expect(outcomes.get(late)?.outcome).toBe(outcome);
    expect(outcomes.get(other)?.outcome).toBe('success');
    const successful = outcome === 'success' ? 2 : 1;
    expect(await engine.workflow(workflowId)).toMatchObject({
      outcome: what === 'filled' ? 'filled' : 'partial',
      successfulUsersCount: successful,
      failedUsersCount: 2 - successful,
      topReason: error === null ? null : expect.stringMatching(error),
    });
    const steps = await engine.steps(workflowId);
    const step = steps.findLast(({ userId }) => userId === late);
    expect(step).toMatchObject({ status, outputData: { fillStatus: trade?.fillStatus } });
    if (error === null) expect(step?.errorMessage).toBeNull();
    else expect(step?.errorMessage).toMatch(error);
    expect(steps.find(({ stepNumber }) => stepNumber === 7)?.outputData).toEqual({
      successful,
      skipped: 0,
      failed: 2 - successful,
    });
  },
);
