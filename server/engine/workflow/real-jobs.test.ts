import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listSteps } from '#server/engine/records/workflow-steps.store.ts';
import { listWorkflowUsers } from '#server/engine/records/workflow-users.store.ts';
import { findNewestWorkflow } from '#server/engine/records/workflows.store.ts';
import { paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { orderAttempts, trades, workflows } from '#server/platform/db/schema.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { untilQueueIsEmpty } from '#test/app/unfinished-jobs.ts';
import { type Instance, startWorld, TRADING, type World } from '#test/world.ts';

/** The whole program with its real job queue, real time, and a database that outlives it. */
let world: World;
let sender: TestSender;
/** Users by the letter of their place in the order of trading. */
const traders = new Map<string, string>();

async function restart(): Promise<Instance> {
  await world.stopProgram();
  return await world.startInstance({ config: { instanceId: world.config.instanceId } });
}

beforeAll(async () => {
  world = await startWorld({
    ...TRADING,
    config: { ...TRADING.config, verifyFirstMs: 200, verifySecondMs: 300, cancelDelayMs: 200 },
    mostWorkers: 4,
  });
  sender = await createSender({ app: world.app, client: world.admin });
  // Created in a different order than they trade in.
  for (const [letter, positionSizingMethod] of [
    ['Q', 'Portfolio Allocation'],
    ['Z', 'Technical Analysis'],
    ['B', 'Risk Management'],
  ] as const) {
    const trader = await world.createTrader({ positionSizingMethod, tradeOrderSet: letter });
    traders.set(letter, trader.id);
  }
});
afterAll(() => world.close());

async function poll<Result>(read: () => Promise<Result | null>, limitMs = 20_000): Promise<Result> {
  return await vi.waitFor(async () => (await read()) ?? expect.fail('nothing came'), limitMs);
}

const stampOf = (date: Date) => date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12);

/** Sends a signal through the webhook; returns its workflow when that has ended. */
async function send(fields: Record<string, unknown>) {
  const { db } = world;
  const answer = await sender.signal(fields);
  expect(answer.statusCode).toBe(200);
  const { id } = answer.json<{ id: string }>();
  const workflow = await poll(async () => {
    const newest = await findNewestWorkflow(db, id);
    return newest?.completedAt == null ? null : newest;
  });
  return { signalId: id, workflow };
}

/** In the order in which their orders were planned. */
async function tradesOf(signalId: string) {
  const rows = await world.db
    .select()
    .from(trades)
    .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .where(eq(trades.signalId, signalId))
    .orderBy(orderAttempts.id);
  return rows.map((row) => row.trades);
}

test('fills a signal from the webhook for three users in the order of trading', async () => {
  const candle = await sender.candle({ DateTime: stampOf(new Date()), ATR: '300', Mature_Trend: 'up' });
  expect(candle.statusCode).toBe(200);
  const { signalId, workflow } = await send({});
  expect(workflow).toMatchObject({ status: 'completed', eligibleUsersCount: 3, successfulUsersCount: 3 });
  const filled = await tradesOf(signalId);
  expect(filled.map(({ userId }) => userId)).toEqual(['B', 'Q', 'Z'].map((letter) => traders.get(letter)));
  for (const trade of filled) {
    expect(trade).toMatchObject({
      success: true,
      fillStatus: 'filled',
      protectionStatus: 'verified',
      dueAt: null,
    });
  }
  const steps = await listSteps(world.db, workflow.id);
  expect(steps.map(({ stepNumber, status }) => [stepNumber, status])).toEqual(
    Array.from({ length: 16 }, (_, index) => [index + 1, 'completed']),
  );
  expect(steps.every(({ executionTimeMs }) => executionTimeMs !== null)).toBe(true);
});

// Requirements: workflows-10
test('trades several tokens concurrently, each user once per token', async () => {
  const { db } = world;
  const tokens = ['ETH', 'SOL', 'XRP'];
  await Promise.all(
    tokens.map((token) =>
      sender.candle({ Symbol: `${token}USDT`, Close: '100', ATR: '1', DateTime: stampOf(new Date()) }),
    ),
  );
  const ended = await Promise.all(tokens.map((token) => send({ symbol: `${token}USDT`, price: '100' })));
  for (const { workflow } of ended) {
    expect(workflow).toMatchObject({ status: 'completed', eligibleUsersCount: 3, successfulUsersCount: 3 });
  }
  const orders = await db.select().from(paperOrders);
  const keys = orders.map(({ userId, token }) => `${userId} ${token}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toHaveLength(3 * 4);
});

// Requirements: workflows-12
test('leaves a signal to the next program when one ends in the middle of it, and trades nothing twice', async () => {
  const { db } = world;
  const before = { trades: await db.select().from(trades), orders: await db.select().from(paperOrders) };
  const answer = await sender.signal({ symbol: 'DOTUSDT', price: '7' });
  const { id } = answer.json<{ id: string }>();
  await poll(async () => ((await tradesOf(id)).length > 0 ? true : null));
  await restart();
  const workflow = await poll(async () => {
    const newest = await findNewestWorkflow(db, id);
    return newest?.completedAt == null ? null : newest;
  }, 55_000);
  expect(workflow).toMatchObject({ status: 'completed', eligibleUsersCount: 3, successfulUsersCount: 2 });
  // No candle, so no ATR: the user of Technical Analysis is skipped.
  const users = await listWorkflowUsers(db, workflow.id);
  expect(users.map(({ userId, outcome }) => [userId, outcome])).toEqual(
    expect.arrayContaining([
      [traders.get('B'), 'success'],
      [traders.get('Q'), 'success'],
      [traders.get('Z'), 'skipped'],
    ]),
  );
  expect(await db.select().from(trades)).toEqual(expect.arrayContaining(before.trades));
  const orders = await db.select().from(paperOrders);
  expect(orders).toEqual(expect.arrayContaining(before.orders));
  expect(orders).toHaveLength(before.orders.length + 2);
});

test('trades nothing after a restart with finished work, and shows all of it', async () => {
  const { db } = world;
  const before = {
    trades: await db.select().from(trades),
    orders: await db.select().from(paperOrders),
    workflows: await db.select().from(workflows),
  };
  const { admin } = await restart();
  await untilQueueIsEmpty(db);
  expect(await db.select().from(trades)).toEqual(before.trades);
  expect(await db.select().from(paperOrders)).toEqual(before.orders);
  expect(await db.select().from(workflows)).toEqual(before.workflows);
  const listed = (await admin.get('/api/automation-workflows')).json<{ total: number }>();
  expect(listed.total).toBe(before.workflows.length);
});
