import { expect, test } from 'vitest';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { answering, dyingAt } from '#test/venues/dying-exchange.ts';
import type { VenueFault } from '#test/venues/faults.ts';

/** I6: an order in doubt is looked up, never sent again, until the exchange knows it or cannot have received it. */
const engine = sharedTestEngine();

const neverArrives: VenueFault = { kind: 'cutBeforeAccept', on: { path: 'place-order' } };
const arrivesSilently: VenueFault = { kind: 'cutAfterAccept', on: { path: 'place-order' } };
const isNotFound = (times: number): VenueFault => ({
  kind: 'refuse',
  code: '40109',
  on: { path: 'order/detail', times },
});

const plan = (faults: VenueFault[] = []) => planTrade(engine, { faults });

async function sentCalls(tradeId: string): Promise<string[]> {
  const { calls } = await engine.events(tradeId);
  return calls.filter((type) => type === 'place-order' || type === 'find-order');
}

// Requirements: order-execution-4
test('declares an order that the exchange never gets never placed after three misses and sixty seconds, within ninety', async () => {
  const { trade, plannedAt } = await plan([neverArrives]);
  let misses = 0;
  for (;;) {
    await engine.advance(trade.id);
    const [first, second] = await engine.attempts(trade.id);
    const elapsedMs = engine.clock.now().getTime() - plannedAt.getTime();
    if (first?.state !== 'unknown') {
      expect(first).toMatchObject({ state: 'never_placed', filledQuantity: '0' });
      expect(first?.lookupMisses).toBeGreaterThan(3);
      expect(elapsedMs).toBeGreaterThanOrEqual(60_000);
      expect(elapsedMs).toBeLessThanOrEqual(90_000);
      expect(second?.state).toBe('open');
      break;
    }
    expect(second).toBeUndefined();
    expect(first.lookupMisses).toBeGreaterThan(misses);
    misses = first.lookupMisses;
  }
  const calls = await sentCalls(trade.id);
  expect(calls.filter((type) => type === 'place-order')).toHaveLength(2);
  expect(calls.slice(1, -1).every((type) => type === 'find-order')).toBe(true);
});

testEveryCase('requires three missed look-ups even after sixty seconds', async () => {
  const { trade } = await plan([neverArrives]);
  await engine.advance(trade.id);
  engine.clock.advance(80_000);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown', lookupMisses: 1 }]);
  await engine.advance(trade.id);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown', lookupMisses: 2 }]);
  await engine.advance(trade.id);
  expect(await engine.attempts(trade.id)).toMatchObject([
    { state: 'never_placed', lookupMisses: 3 },
    { state: 'open' },
  ]);
});

test('does not count unanswered look-ups as misses, however long it takes', async () => {
  const { trade, userId } = await plan([
    neverArrives,
    { kind: 'badGatewayBefore', status: 500, on: { path: 'order/detail', times: ALWAYS } },
  ]);
  for (let tries = 0; tries < 50; tries += 1) await engine.advance(trade.id);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown', lookupMisses: 0 }]);
  expect(await engine.exchangeOrders(userId)).toEqual([]);
});

// Requirements: order-execution-4
test.each(firstCases([1, 3, 5]))('adopts an order that turns up after %d misses', async (misses) => {
  const { trade, userId } = await plan([arrivesSilently, isNotFound(misses)]);
  await engine.settle();
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'filled', lookupMisses: misses }]);
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
  expect(await engine.trade(trade.id)).toMatchObject({ success: true, protectionStatus: 'verified' });
});

test('verifies an order in doubt that is found open when its wait since submission is over', async () => {
  const { trade, plannedAt } = await plan([{ kind: 'restFirst' }, arrivesSilently, isNotFound(3)]);
  await engine.advance(trade.id);
  for (let tries = 0; tries < 3; tries += 1) await engine.advance(trade.id);
  const [attempt] = await engine.attempts(trade.id);
  expect(attempt?.state).toBe('open');
  expect(attempt?.verifyAt?.getTime()).toBe(plannedAt.getTime() + 5_000);
});

test.each(
  firstCases([
    ['after', 1],
    ['before', 0],
  ]),
)('looks an order in doubt up first when the process died %s its request left', async (when, placed) => {
  const { trade, userId } = await plan();
  await expect(engine.advance(trade.id, dyingAt(engine.deps, 'placeOrder', when))).rejects.toThrow('');
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'submitting' }]);
  expect(await engine.exchangeOrders(userId)).toHaveLength(placed);
  await engine.restart();
  await engine.settle();
  const calls = await sentCalls(trade.id);
  expect(calls[placed]).toBe('find-order');
  expect(calls.filter((type) => type === 'place-order')).toHaveLength(1);
  const orders = await engine.exchangeOrders(userId);
  expect(orders).toMatchObject([{ state: 'filled' }]);
  const attempts = await engine.attempts(trade.id);
  expect(attempts.map(({ state }) => state)).toEqual(placed === 1 ? ['filled'] : ['never_placed', 'filled']);
});

test('looks up an order answered 429 before it sends it again under the same id', async () => {
  const { trade, userId } = await plan([{ kind: 'tooManyRequests', on: { path: 'place-order', times: 2 } }]);
  await engine.settle();
  expect(await sentCalls(trade.id)).toEqual([
    ...Array(2).fill(['place-order', 'find-order']).flat(),
    'place-order',
  ]);
  const [attempt, ...more] = await engine.attempts(trade.id);
  expect(more).toEqual([]);
  expect(await engine.exchangeOrders(userId)).toMatchObject([{ clientOrderId: attempt?.clientOrderId }]);
});

testEveryCase(
  'adopts an order that was taken despite the answer 429, and does not send it again',
  async () => {
    const { trade, userId } = await plan([
      { kind: 'badGatewayAfter', status: 429, on: { path: 'place-order' } },
    ]);
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toHaveLength(1);
    expect((await sentCalls(trade.id)).filter((type) => type === 'place-order')).toHaveLength(1);
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, fillStatus: 'filled' });
  },
);

test('fails the workflow of an order in doubt for five minutes, and settles the order when the exchange answers', async () => {
  const { trade, userId, workflowId } = await plan([
    arrivesSilently,
    { kind: 'badGatewayBefore', on: { path: 'order/detail', times: ALWAYS } },
  ]);
  await engine.advance(trade.id);
  engine.clock.advance(5 * 60_000);
  await engine.plan(workflowId);
  expect((await engine.workflow(workflowId)).status).toBe('processing');
  engine.clock.advance(1);
  await engine.plan(workflowId);
  expect((await engine.workflow(workflowId)).status).toBe('completed');
  const step = (await engine.steps(workflowId)).find(
    ({ userId: of, status }) => of === userId && status === 'failed',
  );
  expect(step).toMatchObject({
    errorMessage: 'The order is not settled after 5 minutes and is still being followed up',
    outputData: { fillStatus: 'unknown' },
  });
  engine.venue.setFaults([]);
  await engine.settle();
  expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', success: true, fillStatus: 'filled' });
  expect(await engine.exchangeOrders(userId)).toHaveLength(1);
});

test('does not mistake an order of the other side under the same id, such as the triggered stop, for the entry', async () => {
  const { trade } = await plan([arrivesSilently]);
  let answers = 0;
  const deps = answering(engine.deps, ({ findOrder }) => ({
    async findOrder(...call) {
      const report = await findOrder(...call);
      answers += 1;
      return report === null || answers > 2 ? report : { ...report, side: 'sell', averagePrice: '98' };
    },
  }));
  await engine.advance(trade.id, deps);
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'unknown', filledQuantity: '0' }]);
  await engine.settle({ deps });
  expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'filled', averagePrice: '100' }]);
});
