import { inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import type { PaperFault } from '#server/exchanges/paper/faults.ts';
import { users } from '#server/platform/database/schema.ts';
import { startTestEngine, type TestEngine } from '#test/test-engine.ts';

/**
 * A process that dies between any two things that it does to the outside (statements to the database, requests to
 * the exchange and their answers), and its successor. I1: the workflow ends. I2, I3, I6: no second order, nothing
 * beyond the plan. I4: what filled is protected.
 */
let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.close());

interface Scenario {
  name: string;
  faults: PaperFault[];
  expected: (run: Run) => void;
}

interface Run {
  diedAt: number | null;
  entries: { size: string; filledSize: string; state: string }[];
  trade: Awaited<ReturnType<TestEngine['trades']>>[number];
}

const scenarios: Scenario[] = [
  {
    name: 'an order that fills at once',
    faults: [],
    expected: ({ entries, trade }) => {
      expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
      expect(entries).toHaveLength(1);
    },
  },
  {
    name: 'a first attempt that is left half filled',
    faults: [{ kind: 'partialFill', fraction: '0.5' }],
    expected: ({ entries, trade }) => {
      expect(trade.success).toBe(true);
      expect(entries.length).toBeLessThanOrEqual(2);
    },
  },
];

async function runOnce(scenario: Scenario, diesAt: number): Promise<Run> {
  count += 1;
  const token = `C${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { signalId, workflowId } = await engine.storeSignal({ token, price: '100' });
  engine.paper.setFaults(scenario.faults);
  const mortal = engine.mortal(diesAt);
  await engine.settle({ deps: mortal.deps }).catch((error: unknown) => {
    if (!mortal.point.isDead()) throw error;
  });
  const died = mortal.point.isDead();
  await mortal.bury();
  if (died) {
    await engine.restart();
    await engine.settle();
  }
  engine.paper.setFaults([]);

  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', eligibleUsersCount: 1 });
  const trades = await engine.trades(signalId);
  expect(trades).toHaveLength(1);
  const [trade] = trades;
  if (trade === undefined) throw new Error('no trade');
  const entries = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => !reduceOnly);
  const filled = entries.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  expect(filled.lte(trade.plannedQuantity)).toBe(true);
  expect(D(trade.filledQuantity).eq(filled)).toBe(true);
  expect(entries.every(({ state }) => state === 'filled' || state === 'canceled')).toBe(true);
  if (filled.gt(0)) expect(['verified', 'repaired']).toContain(trade.protectionStatus);
  // The next run is another user's: this one must not be eligible for its signal.
  await engine.db
    .update(users)
    .set({ isActive: false })
    .where(inArray(users.id, [userId]));
  return { diedAt: died ? diesAt : null, entries, trade };
}

test.each(scenarios)(
  'with $name, a crash at any point and a restart leave one whole trade',
  async (scenario) => {
    let point = 0;
    let run: Run;
    do {
      point += 1;
      run = await runOnce(scenario, point);
      scenario.expected(run);
    } while (run.diedAt !== null);
    // The last run was not interrupted: the number of points is what one trade does to the outside.
    expect(point).toBeGreaterThan(60);
  },
  300_000,
);
