import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { deny } from '#domain/workflow/denials.ts';
import type { EngineDeps } from '#server/deps.ts';
import { trades } from '#server/platform/db/schema.ts';
import { planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';

const REJECTED = deny('exchange_key_rejected', {
  exchange: 'Bitget',
  since: '2026-05-04T10:00:00.000Z',
  reason: 'Bitget refused it: Invalid ACCESS_KEY (40006)',
});

const engine = sharedTestEngine();

/** The engine after the exchange has refused the key. */
const withRejectedKey = (): EngineDeps => ({
  ...engine.deps,
  findAccount: async (...parameters) => {
    const account = await engine.deps.findAccount(...parameters);
    return account && { ...account, denial: REJECTED };
  },
});

/** Advances the trade as far as it goes and returns how long it then waits, in milliseconds. */
async function waitAfter(tradeId: string, deps: EngineDeps): Promise<number> {
  const { dueAt } = await engine.advance(tradeId, deps);
  return (dueAt?.getTime() ?? 0) - engine.clock.now().getTime();
}

test('does not send a planned order with a key that was refused after the planning', async () => {
  const { userId, trade } = await planTrade(engine);
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

test('does not send a planned order of another mode', async () => {
  const { userId, trade } = await planTrade(engine);
  await engine.db.update(trades).set({ exchangeMode: 'live' }).where(eq(trades.id, trade.id));
  await engine.advance(trade.id);
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: false });
  expect(await engine.exchangeOrders(userId)).toEqual([]);
});

// Requirements: users-18
test('looks an order in doubt up every 30 seconds with a refused key, and its timeline says why once', async () => {
  const { userId, trade } = await planTrade(engine);
  engine.venue.setFaults([
    { kind: 'acceptThenTimeout', on: { path: 'place-order', userId } },
    { kind: 'refuse', code: '40725', on: { path: 'order/detail', userId } },
  ]);
  await engine.advance(trade.id);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown' }]);
  engine.venue.setFaults([{ kind: 'refuse', code: '40006', on: { userId, times: 1_000 } }]);
  const before = (await engine.events(trade.id)).calls.length;
  const deps = withRejectedKey();
  for (let look = 0; look < 4; look += 1)
    expect(await waitAfter(trade.id, deps)).toBeGreaterThanOrEqual(30_000);
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

test('slows no order down for a working key that is not used for new orders', async () => {
  const { userId, trade } = await planTrade(engine);
  engine.venue.setFaults([{ kind: 'restFirst', on: { userId } }]);
  await engine.advance(trade.id);
  const deps = withRejectedKey();
  for (let look = 0; look < 3; look += 1) expect(await waitAfter(trade.id, deps)).toBeLessThan(15_000);
});
