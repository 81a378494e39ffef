import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { users } from '#server/platform/db/schema.ts';
import type { CrashAt } from '#test/app/crashing-database.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import type { VenueFault } from '#test/venues/faults.ts';

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
afterEach(() => {
  engine.venue.setFaults([]);
  expect(engine.doubleEntries).toEqual([]);
});
afterAll(() => engine.close());

/**
 * Every n-th point of all; 1 tries each of them and takes some minutes. The first scenario is also interrupted after
 * every single change of the outside, which leaves out no state that a successor can find.
 */
const STRIDE = Number(process.env.CRASH_STRIDE ?? '17');

/** Of the first scenario: commits, statements outside of transactions, orders and settings at the exchange. */
const LEAST_CHANGES = 30;

interface Scenario {
  name: string;
  afterEveryChange: boolean;
  faults: VenueFault[];
  /** Whether the user holds a long position of ours, and the signal is to sell. */
  reverses: boolean;
  leastPoints: number;
  expected: (run: Run) => void;
}

interface Run {
  died: boolean;
  points: number;
  changes: number;
  entries: { size: string; filledSize: string; state: string }[];
  ledger: [side: string, reduceOnly: boolean][];
  trade: Awaited<ReturnType<TestEngine['trades']>>[number];
}

const scenarios: Scenario[] = [
  {
    name: 'an order that fills at once',
    afterEveryChange: true,
    faults: [],
    reverses: false,
    leastPoints: 60,
    expected: ({ entries, trade }) => {
      expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
      expect(entries).toHaveLength(1);
    },
  },
  {
    name: 'a first attempt that is left half filled',
    afterEveryChange: false,
    faults: [{ kind: 'partialFill', fraction: '0.5' }],
    reverses: false,
    leastPoints: 90,
    expected: ({ entries, trade }) => {
      expect(trade.success).toBe(true);
      expect(entries.length).toBeLessThanOrEqual(2);
    },
  },
  {
    name: 'a reversal',
    afterEveryChange: false,
    faults: [],
    reverses: true,
    leastPoints: 90,
    expected: ({ ledger, trade }) => {
      expect(trade).toMatchObject({ side: 'sell', success: true, fillStatus: 'filled' });
      expect(ledger).toEqual([
        ['buy', false],
        ['sell', true],
        ['sell', false],
      ]);
    },
  },
];

async function runOnce({ faults, reverses }: Scenario, diesAt: CrashAt): Promise<Run> {
  count += 1;
  const token = `C${count}`;
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  if (reverses) {
    await engine.storeSignal({ token, price: '100' });
    await engine.settle();
  }
  const action = reverses ? 'sell' : 'buy';
  const { signalId, workflowId } = await engine.storeSignal({ token, price: '100', action });
  engine.venue.setFaults(faults);
  const mortal = engine.mortal(diesAt);
  await mortal.live();
  const died = mortal.point.isDead();
  await mortal.bury();
  if (died) {
    await engine.restart();
    await engine.settle();
  }
  engine.venue.setFaults([]);

  expect(await engine.workflow(workflowId)).toMatchObject({ status: 'completed', eligibleUsersCount: 1 });
  const [trade, ...more] = await engine.trades(signalId);
  expect(more).toEqual([]);
  if (trade === undefined) throw new Error('no trade');
  const orders = await engine.exchangeOrders(userId);
  const own = new Set((await engine.attempts(trade.id)).map(({ clientOrderId }) => clientOrderId));
  const entries = orders.filter(({ clientOrderId }) => own.has(clientOrderId));
  const filled = entries.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  expect(filled.lte(trade.plannedQuantity)).toBe(true);
  expect(D(trade.filledQuantity).eq(filled)).toBe(true);
  expect(orders.every(({ state }) => state === 'filled' || state === 'canceled')).toBe(true);
  const { position, stopLoss } = await engine.holding(userId, token);
  if (filled.gt(0)) expect(['verified', 'repaired']).toContain(trade.protectionStatus);
  expect(D(position?.size ?? 0).eq(filled)).toBe(true);
  expect(position === null || stopLoss !== null).toBe(true);
  // The next run is another user's: this one must not be eligible for its signal.
  await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
  const ledger = orders.map(({ side, reduceOnly }): [string, boolean] => [side, reduceOnly]);
  const { point } = mortal;
  return { died, points: point.count(), changes: point.changes(), entries, ledger, trade };
}

// Requirements: workflows-12
test.each(scenarios)(
  'with $name, a crash at any point and a restart leave one whole trade',
  async (scenario) => {
    const interruptEach = async (pointAt: (n: number) => CrashAt) => {
      // The last run is not interrupted: it tells what one trade does to the outside.
      for (let n = 0; ; n += 1) {
        const run = await runOnce(scenario, pointAt(n));
        scenario.expected(run);
        if (!run.died) return run;
      }
    };
    const { points } = await interruptEach((n) => 1 + n * STRIDE);
    expect(points).toBeGreaterThan(scenario.leastPoints);
    if (!scenario.afterEveryChange) return;
    const { changes } = await interruptEach((n) => ({ afterChanges: n }));
    expect(changes).toBeGreaterThan(LEAST_CHANGES);
  },
  900_000,
);
