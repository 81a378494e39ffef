import { afterAll, beforeAll, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { riskLimits, trades, workflows } from '#server/platform/db/schema.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';

/* 50 signals at once on two instances, and limits that all of them together would exceed. */

const TOKENS = Array.from({ length: 50 }, (_, index) => `L${index}`);
let board: ExchangeWorld;
beforeAll(async () => {
  board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: ALL_WORKERS,
    instances: 2,
    tokens: TOKENS,
  });
}, 120_000);
afterAll(() => board.close());

async function waitForAll(count: number): Promise<void> {
  const ended = async () =>
    (await board.db.select().from(workflows)).filter((row) => row.completedAt !== null);
  await expect.poll(async () => (await ended()).length, { timeout: 150_000 }).toBeGreaterThanOrEqual(count);
}

// Requirements: additions-limits-3
test('50 signals on two instances stay within the limits, and use at least 90 % of them', async () => {
  const traders: Awaited<ReturnType<ExchangeWorld['createTrader']>>[] = [];
  for (let count = 0; count < 4; count += 1) traders.push(await board.createTrader());
  const saved = await board.admin.put('/api/risk-limits', {
    maxExposure: '50000',
    maxOpenPositions: 40,
    shrink: true,
  });
  expect(saved.statusCode, saved.body).toBe(200);
  expect((await board.admin.put('/api/risk-limits/strategies/Tesla', { maxRisk: '100%' })).statusCode).toBe(
    200,
  );
  const own = `/api/risk-limits/users/${traders[0]?.id}`;
  expect((await board.admin.put(own, { maxOpenPositions: 2 })).statusCode).toBe(200);
  await Promise.all(TOKENS.map((token) => board.signal({ token, price: '100' })));
  await waitForAll(TOKENS.length);

  // At every commit of an intent: what was at work or filled then.
  const planned = await board.db.select().from(trades);
  const isFilled = ({ fillStatus }: (typeof planned)[number]) =>
    fillStatus === 'filled' || fillStatus === 'partial';
  // Positions count at their mark, which is 100 throughout.
  const sum = (of: typeof planned) =>
    of.reduce((total, one) => total.plus(D(one.plannedQuantity).times('100')), D(0)).toNumber();
  let [most, mostEntries] = [0, 0];
  for (const { createdAt } of planned) {
    const then = planned.filter(
      (one) =>
        one.createdAt <= createdAt &&
        (isFilled(one) || (one.completedAt !== null && one.completedAt > createdAt)),
    );
    most = Math.max(most, sum(then));
    mostEntries = Math.max(mostEntries, then.length);
    expect(sum(then)).toBeLessThanOrEqual(50_000);
    expect(then.length).toBeLessThanOrEqual(40);
    expect(then.filter(({ userId }) => userId === traders[0]?.id).length).toBeLessThanOrEqual(2);
  }
  // An order that ends without a fill gives its room back, for later signals.
  expect(Math.max(most / 50_000, mostEntries / 40)).toBeGreaterThanOrEqual(0.9);

  // What the exchange has filled.
  let held = D(0);
  for (const { id } of traders) {
    for (const order of await board.site.exchangeOrders(id)) {
      if (order.reduceOnly) continue;
      held = held.plus(D(order.filledSize).times('100'));
    }
  }
  expect(held.toNumber()).toBeLessThanOrEqual(50_000);
  expect(await board.db.select().from(riskLimits)).toHaveLength(3);
}, 240_000);
