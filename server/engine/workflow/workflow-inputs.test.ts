import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '#server/platform/db/database.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { runWorkflow } from './run-workflow.ts';
import { readMatchedPriceLog, readSignal } from './workflow-inputs.ts';

let engine: TestEngine;
let elsewhere: TestDatabase;

beforeAll(async () => {
  [engine, elsewhere] = await Promise.all([startTestEngine(), createTestDatabase()]);
});
afterAll(() => Promise.all([engine.close(), elsewhere.close()]));

/** The same database, which counts its statements and fails while it is told to. */
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

test('what a workflow starts from is read once for all of its users, also by those who ask at once', async () => {
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

test('where the workflow ran, its signal and its candle are at hand', async () => {
  const { db, state } = counting(engine.db);
  await engine.storeCandle({ token: 'HERE', price: '100' });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'HERE', price: '100' });
  await runWorkflow({ ...engine.deps, db }, workflowId);
  const before = state.statements;
  expect(await readSignal(db, workflowId)).toMatchObject({ id: signalId });
  expect(await readMatchedPriceLog(db, workflowId)).toMatchObject({ token: 'HERE' });
  // Which candle it was.
  expect(state.statements).toBe(before + 1);
});

test('neither a failure nor an absence is remembered', async () => {
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
