import { expect, test } from 'vitest';
import { findSignal } from '#server/ingest/stored-signals.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { readExecution } from './execution-report.ts';

const engine = sharedTestEngine();

// Requirements: results-execution-2
test('reports each user from the recorded steps, attempts and calls', async () => {
  const settings = { positionSizingMethod: 'Risk Management' } as const;
  const first = await engine.createUser({ ...settings, tradeOrderSet: 'A' });
  const refused = await engine.createUser({ ...settings, tradeOrderSet: 'B' });
  const skipped = await engine.createUser({ ...settings, tradeOrderSet: 'C' });
  const other = await engine.createUser({ ...settings, signalProcessor: 'Nobody' });
  engine.venue.setFaults([
    { kind: 'refuse', code: '40762', message: 'no', on: { path: 'place-order', userId: refused } },
    { kind: 'refuse', code: '40014', on: { path: 'account/account', userId: skipped } },
  ]);
  const { signalId, workflowId } = await engine.storeSignal({ token: 'REPORTED', price: '100' });
  const signal = await findSignal(engine.db, signalId);
  if (signal === null) throw new Error('no signal');
  await engine.settle();
  const report = await readExecution(engine.db, signal);
  expect(report.signal).toMatchObject({
    id: signalId,
    workflowId,
    token: 'REPORTED',
    price: '100',
    late: [],
  });
  const of = (userId: string) => report.users.find((user) => user.userId === userId);
  const filled = of(first);
  const stages = ['stored', 'decided', 'sent', 'accepted', 'filled', 'protected'] as const;
  const times = stages.map((stage) => filled?.[stage] ?? Number.NaN);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const trade = (await engine.trades(signalId)).find(({ userId }) => userId === first);
  const [attempt] = await engine.attempts(trade?.id ?? '');
  const submitted = attempt?.submittedAt?.getTime() ?? Number.NaN;
  expect(filled).toMatchObject({ rank: 1, sent: submitted - signal.receivedAt.getTime() });
  expect(filled?.requests).toBe((await engine.events(trade?.id ?? '')).calls.length);
  expect(Number(filled?.slippageSignalBps)).toBeCloseTo(100 * (Number(trade?.averagePrice) - 100), 1);
  expect(of(refused)).toMatchObject({ accepted: null, filled: null, protected: null, spent: null });
  expect(of(refused)?.sent).not.toBeNull();
  expect(of(skipped)).toMatchObject({ sent: null, rank: null, slippageSignalBps: null });
  expect(of(skipped)?.decided).not.toBeNull();
  expect(of(other)).toBeUndefined();
});
