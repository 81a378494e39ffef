import { and, eq } from 'drizzle-orm';
import { afterAll, expect, test } from 'vitest';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startTestEngine } from '#test/app/test-engine.ts';
import { createEndedWork } from './ended-work.ts';

const engine = await startTestEngine();
afterAll(() => engine.close());

/** A position that is already counted, and one that ended too recently for that. */
test.each([
  ['long ago', 3_600_000],
  ['just now', 0],
])(
  'an order that ended %s keeps its outcome when its position loses the stop, and the closing is counted separately',
  async (when, agoMs) => {
    engine.clock.set(new Date(Date.now() - agoMs));
    const token = when === 'just now' ? 'NOW' : 'AGO';
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const { signalId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    const trade = (await engine.trades(signalId)).find((one) => one.userId === userId);

    const read = createEndedWork(engine.db);
    const before = await read();
    expect(countOf(before.orders, { outcome: 'filled' })).toBeGreaterThan(0);

    await engine.db
      .update(paperTriggerOrders)
      .set({ state: 'cancelled' })
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));
    await engine.storeCandle({ token, price: '97.5' });
    const audit = createProtectionAudit(engine.deps);
    await withLease({ db: engine.db, key: 'protection:audit', holder: 'test' }, (lease) => audit.run(lease));
    expect((await engine.trade(trade?.id ?? '')).state).toBe('protecting');
    expect(await read(), 'while its stop is being placed again').toEqual(before);

    await engine.settle();
    expect(await engine.trade(trade?.id ?? '')).toMatchObject({ state: 'done', protectionStatus: 'closed' });
    const after = await read();
    expect(after.orders).toEqual(before.orders);
    expect(after.signalToOrder).toEqual(before.signalToOrder);
    expect(countOf(after.unprotectedCloses)).toBe(countOf(before.unprotectedCloses) + 1);
    expect(sorted(await createEndedWork(engine.db)()), 'an instance that starts now').toEqual(sorted(after));
  },
);

testEveryCase('counts an order whose position was never protected as closed unprotected', async () => {
  const read = createEndedWork(engine.db);
  const before = await read();
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const always = { times: Number.POSITIVE_INFINITY, userId };
  engine.venue.setFaults([
    { kind: 'stopDropped', on: always },
    { kind: 'stopRefused', on: always },
  ]);
  const { signalId } = await engine.storeSignal({ token: 'BARE', price: '100' });
  await engine.settle();
  const own = (await engine.trades(signalId)).find((one) => one.userId === userId);
  expect(own).toMatchObject({ success: false, protectionStatus: 'closed' });
  const after = await read();
  const outcome = { outcome: 'closed-unprotected' };
  expect(countOf(after.orders, outcome)).toBe(countOf(before.orders, outcome) + 1);
  expect(countOf(after.unprotectedCloses)).toBe(countOf(before.unprotectedCloses) + 1);
});

function countOf<Row extends { count: number }>(rows: readonly Row[], wanted: Partial<Row> = {}): number {
  const matches = (row: Row) =>
    Object.entries(wanted).every(([name, value]) => row[name as keyof Row] === value);
  return rows.filter(matches).reduce((sum, { count }) => sum + count, 0);
}

const sorted = <Row extends object>(work: Record<string, Row[]> | object) =>
  Object.fromEntries(
    Object.entries(work as Record<string, Row[]>).map(([name, rows]) => [
      name,
      rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    ]),
  );
