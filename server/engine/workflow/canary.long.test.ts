/** Every case. */
import './canary.test.ts';
import { and, eq, isNotNull } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflows, workflowUsers } from '#server/platform/db/schema.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';

/** Two instances with their queues in real time, and an exchange whose ledger says who got an order. */
const USERS = 24;
const ALWAYS = Number.POSITIVE_INFINITY;
let board: ExchangeWorld;
const traders: { id: string }[] = [];
beforeAll(async () => {
  board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: ALL_WORKERS,
    instances: 2,
    tokens: ['CANA', 'CANB', 'CANC', 'CAND'],
  });
  for (let user = 0; user < USERS; user += 1) {
    const tradeOrderSet = String.fromCharCode('A'.charCodeAt(0) + Math.min(user, 25));
    const exchangePlatform = user % 2 === 0 ? 'Bitget' : 'Bybit';
    traders.push(await board.createTrader({ tradeOrderSet, exchangePlatform }));
  }
}, 120_000);
afterAll(() => board.close());

async function setCanary(withinSeconds: number): Promise<void> {
  const canary = { users: 2, withinSeconds, maxSlippageBps: 50 };
  const saved = await board.admin.put('/api/strategies/Tesla', { canary });
  expect(saved.statusCode, saved.body).toBe(200);
}

const entriesIn = async (token: string) => {
  const orders = await Promise.all(traders.map(({ id }) => board.site.exchangeOrders(id)));
  return orders.map((own) => own.filter((order) => !order.reduceOnly && order.token === token).length);
};

async function canaryOf(signalId: string) {
  const [workflow] = await board.db.select().from(workflows).where(eq(workflows.signalId, signalId));
  return workflow;
}

/** Each user behind the first two was skipped with the reason, and the exchange has no order of them. */
async function expectNobodyElse(token: string, signalId: string, what: RegExp) {
  await board.traded(signalId, { withinMs: 90_000 });
  const workflow = await canaryOf(signalId);
  expect(workflow).toMatchObject({ canaryState: 'failed' });
  expect(workflow?.canaryReason).toMatch(what);
  expect((await entriesIn(token)).slice(2)).toEqual(traders.slice(2).map(() => 0));
  const parts = await board.db
    .select()
    .from(workflowUsers)
    .where(and(eq(workflowUsers.workflowId, workflow?.id ?? ''), isNotNull(workflowUsers.position)));
  expect(parts.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(USERS - 2);
  const why = await board.admin.get(`/api/signals/${signalId}/why/${traders[5]?.id}`);
  expect(why.json<{ conclusion: { text: string } }>().conclusion.text).toMatch(
    /^The canary of the strategy failed, so nobody else is traded: canary \d of 2 /,
  );
}

// Requirements: additions-limits-12
test('all users follow a canary at once when it is filled and protected', async () => {
  await setCanary(300);
  await board.traded(await board.signal({ token: 'CANA', price: '100' }), { withinMs: 90_000 });
  await setCanary(10);
  expect(await entriesIn('CANA')).toEqual(traders.map(() => 1));
}, 120_000);

// Requirements: additions-limits-12
test('nobody else gets an order when the stop of a canary is dropped', async () => {
  board.site.setFaults([{ kind: 'stopDropped', on: { userId: traders[0]?.id ?? '', times: ALWAYS } }]);
  const signalId = await board.signal({ token: 'CANB', price: '100' });
  await expectNobodyElse('CANB', signalId, /the exchange did not keep the stop of its order$/);
}, 120_000);

// Requirements: additions-limits-12
test('nobody else gets an order when a canary does not fill in time, whichever instance is left', async () => {
  board.site.setFaults([{ kind: 'lateArrival', afterMs: 40_000, on: { userId: traders[1]?.id ?? '' } }]);
  const signalId = await board.signal({ token: 'CANC', price: '100' });
  await expect.poll(async () => (await canaryOf(signalId))?.canaryDueAt, { timeout: 30_000 }).toBeTruthy();
  await board.deps.jobs.stop();
  await expect.poll(async () => (await canaryOf(signalId))?.canaryState, { timeout: 60_000 }).toBe('failed');
  const workflow = await canaryOf(signalId);
  expect(workflow?.canaryReason).toMatch(/within 10 s/);
  await expect
    .poll(async () => (await canaryOf(signalId))?.completedAt, { timeout: 90_000, interval: 500 })
    .toBeTruthy();
  expect((await entriesIn('CANC')).slice(2)).toEqual(traders.slice(2).map(() => 0));
}, 240_000);
