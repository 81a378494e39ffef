import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '#server/platform/db/database.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { runWorkflow } from './run-workflow.ts';
import { readMatchedPriceLog, readSignal } from './workflow-inputs.ts';

const engine = sharedTestEngine({ settles: false });
let elsewhere: TestDatabase;

beforeAll(async () => {
  elsewhere = await createTestDatabase();
});
afterAll(() => elsewhere.close());

/** The same database, which counts its statements and fails while `isAway`. */
function counting({ $client }: Db) {
  const state = { statements: 0, isAway: false };
  const query = (...parameters: unknown[]) => {
    if (state.isAway) throw new Error('away');
    state.statements += 1;
    return Reflect.apply($client.query, $client, parameters) as unknown;
  };
  const pool = new Proxy($client, {
    get: (target, property) => (property === 'query' ? query : Reflect.get(target, property)),
  });
  return { db: drizzleOver(pool), state };
}

test('reads signal and candle of a workflow once for all its users, even concurrently', async () => {
  await engine.storeCandle({ token: 'ONCE', price: '100' });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'ONCE', price: '100' });
  await runWorkflow(engine.deps, workflowId);
  const { db, state } = counting(engine.db);
  const ask = () => Promise.all([readSignal(db, workflowId), readMatchedPriceLog(db, workflowId)]);
  const [first, ...more] = await Promise.all([ask(), ask(), ask()]);
  const reads = state.statements;
  expect(first).toMatchObject([{ id: signalId, token: 'ONCE' }, { token: 'ONCE' }]);
  for (const answer of [...more, await ask()]) expect(answer).toEqual(first);
  // The signal, the step and the candle.
  expect([reads, state.statements]).toEqual([3, 3]);
  expect(await readSignal(elsewhere.database.engineDb, workflowId)).toBeNull();
});

test('keeps signal and candle in memory on the instance that ran the workflow', async () => {
  const { db, state } = counting(engine.db);
  await engine.storeCandle({ token: 'HERE', price: '100' });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'HERE', price: '100' });
  await runWorkflow({ ...engine.deps, db }, workflowId);
  const before = state.statements;
  expect(await readSignal(db, workflowId)).toMatchObject({ id: signalId });
  expect(await readMatchedPriceLog(db, workflowId)).toMatchObject({ token: 'HERE' });
  // The step that names the candle.
  expect(state.statements).toBe(before + 1);
});

test('remembers neither a failure nor an absence', async () => {
  const { db, state } = counting(engine.db);
  const { signalId, workflowId } = await engine.storeSignal({ token: 'LATER', price: '100' });
  state.isAway = true;
  await expect(readSignal(db, workflowId)).rejects.toMatchObject({ cause: new Error('away') });
  state.isAway = false;
  expect(await readSignal(db, workflowId)).toMatchObject({ id: signalId });
  const missing = workflowId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  for (const asked of [2, 3]) {
    expect(await readSignal(db, missing)).toBeNull();
    expect(state.statements).toBe(asked);
  }
});
