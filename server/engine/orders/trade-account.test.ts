import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deny } from '#domain/workflow/denials.ts';
import type { AutomationDeps } from '#server/engine/workflow/automation-deps.ts';
import { trades } from '#server/platform/db/schema.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';

const REJECTED = deny('exchange_key_rejected', {
  exchange: 'Bitget',
  since: '2026-05-04T10:00:00.000Z',
  reason: 'Bitget refused it: Invalid ACCESS_KEY (40006)',
});

const tokens = ['ETH', 'SOL', 'XRP', 'ADA'];

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.close());

async function planned() {
  const userId = await engine.createUser();
  const token = tokens.shift() ?? '';
  await engine.storeCandle({ token, price: '100', atr: '1' });
  const { workflowId } = await engine.storeSignal({ token, price: '100' });
  const trade = (await engine.plan(workflowId)).find((one) => one.userId === userId);
  if (trade === undefined) throw new Error('nothing was planned');
  return { userId, trade };
}

/** The engine when the exchange has refused the key. */
const withRejectedKey = (): AutomationDeps => ({
  ...engine.deps,
  findAccount: async (...parameters) => {
    const account = await engine.deps.findAccount(...parameters);
    return account && { ...account, denial: REJECTED };
  },
});

test('a planned order is not sent with a key that was refused since it was planned', async () => {
  const { userId, trade } = await planned();
  const asked = (await engine.events(trade.id)).calls.length;
  await engine.advance(trade.id, withRejectedKey());
  expect(await engine.trade(trade.id)).toMatchObject({
    state: 'done',
    success: false,
    error: REJECTED.reason,
  });
  expect(await engine.exchangeOrders(userId)).toEqual([]);
  expect((await engine.events(trade.id)).calls).toHaveLength(asked);
});

test('a planned order of another mode is sent in none', async () => {
  const { userId, trade } = await planned();
  await engine.db.update(trades).set({ exchangeMode: 'live' }).where(eq(trades.id, trade.id));
  await engine.advance(trade.id);
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: false });
  expect(await engine.exchangeOrders(userId)).toEqual([]);
});

// Requirements: users-18
test('with a refused key an order in doubt is asked about every 30 seconds, and says why once', async () => {
  const { userId, trade } = await planned();
  engine.venue.setFaults([
    { kind: 'acceptThenTimeout', on: { path: 'place-order', userId } },
    { kind: 'refuse', code: '40725', on: { path: 'order/detail', userId } },
  ]);
  await engine.advance(trade.id);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown' }]);
  engine.venue.setFaults([{ kind: 'refuse', code: '40006', on: { userId, times: 1_000 } }]);
  const before = (await engine.events(trade.id)).calls.length;
  const deps = withRejectedKey();
  for (let look = 0; look < 4; look += 1) {
    const after = await engine.advance(trade.id, deps);
    const waitMs = (after.dueAt?.getTime() ?? 0) - engine.clock.now().getTime();
    expect(waitMs).toBeGreaterThanOrEqual(30_000);
  }
  const { calls, timeline } = await engine.events(trade.id);
  const looked = calls.slice(before);
  expect(looked.filter((call) => call === 'find-order')).toHaveLength(4);
  expect(new Set(looked)).toEqual(new Set(['find-order', 'positions']));
  expect(timeline.filter((line) => line.startsWith('The order cannot be followed'))).toEqual([
    `The order cannot be followed, it is tried every 30 s: ${REJECTED.reason}`,
  ]);
  engine.venue.setFaults([]);
  await engine.settle();
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true });
});

test('a key that is not used for new orders and still works slows no order down', async () => {
  const { userId, trade } = await planned();
  engine.venue.setFaults([{ kind: 'restFirst', on: { userId } }]);
  await engine.advance(trade.id);
  const deps = withRejectedKey();
  for (let look = 0; look < 3; look += 1) {
    const after = await engine.advance(trade.id, deps);
    const waitMs = (after.dueAt?.getTime() ?? 0) - engine.clock.now().getTime();
    expect(waitMs).toBeLessThan(15_000);
  }
  engine.venue.setFaults([]);
  await engine.settle();
});
