import { expect, test } from 'vitest';
import { forgetLimits, PROGRAM, setLimits } from '#test/app/risk-limits.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { readEntryBook } from './entry-book.ts';

const engine = sharedTestEngine();

// Requirements: additions-limits-3
test('entries of one scope are checked one after the other', async () => {
  await forgetLimits(engine);
  const order = await storeTradedSignal(engine);
  await setLimits(engine, PROGRAM, { maxOpenPositions: 1 });
  const ask = { orders: [order], now: engine.clock.now(), exchangeMode: 'paper' as const };
  const { promise: asked, resolve: hasAsked } = Promise.withResolvers<void>();
  let hasCommitted = false;
  const first = engine.db.transaction(async (tx) => {
    await readEntryBook(tx, ask);
    hasAsked();
    await expect.poll(() => countWaitingForLocks(engine.db)).toBe(1);
    hasCommitted = true;
  });
  await asked;
  const second = engine.db.transaction((tx) => readEntryBook(tx, ask)).then(() => hasCommitted);
  await first;
  expect(await second).toBe(true);
});
