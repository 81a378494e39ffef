import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '#server/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '#test/test-database.ts';
import { startTestEngine, type TestEngine } from '#test/test-engine.ts';
import { runWorkflow } from './run-workflow.ts';
import { readMatchedPriceLog, readSignal } from './workflow-inputs.ts';

let engine: TestEngine;
let elsewhere: TestDatabase;

beforeAll(async () => {
  [engine, elsewhere] = await Promise.all([startTestEngine(), createTestDatabase()]);
});
afterAll(() => Promise.all([engine.close(), elsewhere.close()]));

/** The same database, which counts what is selected from it and fails while it is told to. */
function counting(db: Db) {
  const state = { selects: 0, isAway: false };
  const counted = new Proxy(db, {
    get(target, property) {
      if (property !== 'select') return Reflect.get(target, property);
      if (state.isAway) throw new Error('away');
      state.selects += 1;
      return target.select.bind(target);
    },
  });
  return { db: counted, state };
}

test('what a workflow starts from is read once for all of its users, also by those who ask at once', async () => {
  await engine.storeCandle({ token: 'ONCE', price: '100' });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'ONCE', price: '100' });
  await runWorkflow(engine.deps, workflowId);
  const { db, state } = counting(engine.db);
  const ask = () => Promise.all([readSignal(db, signalId), readMatchedPriceLog(db, workflowId)]);
  const [first, ...more] = await Promise.all([ask(), ask(), ask()]);
  const reads = state.selects;
  expect(first).toMatchObject([{ id: signalId, token: 'ONCE' }, { token: 'ONCE' }]);
  for (const answer of [...more, await ask()]) expect(answer).toEqual(first);
  // The signal, the step and the candle.
  expect([reads, state.selects]).toEqual([3, 3]);
  expect(await readSignal(elsewhere.database.engineDb, signalId)).toBeNull();
});

test('neither a failure nor an absence is remembered', async () => {
  const { db, state } = counting(engine.db);
  const { signalId } = await engine.storeSignal({ token: 'LATER', price: '100' });
  state.isAway = true;
  await expect(readSignal(db, signalId)).rejects.toThrow('away');
  state.isAway = false;
  expect(await readSignal(db, signalId)).toMatchObject({ id: signalId });
  const missing = signalId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  for (const asked of [2, 3]) {
    expect(await readSignal(db, missing)).toBeNull();
    expect(state.selects).toBe(asked);
  }
});
