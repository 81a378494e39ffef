import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { EngineDeps } from '#server/deps.ts';
import { parseConfig } from '#server/platform/config/config.ts';
import { workflows } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { calculateForWorkflow } from '#test/app/plan-by-hand.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { reasonFor } from '#test/app/token-holders.ts';
import { runWorkflow } from './run-workflow.ts';

/** The program restarts with automatic trading off: workflows in progress open nothing more. */
let requestsToExchange = 0;
const engine = sharedTestEngine({
  watch: {
    async before() {
      requestsToExchange += 1;
    },
  },
});

type Signal = { token: string; userId: string; signalId: string; workflowId: string };
const signal = (): Promise<Signal> => storeTradedSignal(engine);

/** The same signal, triggered by an operator. */
async function manualSignal(): Promise<Signal> {
  const stored = await signal();
  await engine.db
    .update(workflows)
    .set({ trigger: 'manual', triggerReason: 'Manual trigger by ops' })
    .where(eq(workflows.id, stored.workflowId));
  return stored;
}

const OFF = { APP_ENV: 'production', AUTO_TRADE: 'disabled' };

/** The engine after a start with these settings. */
function startedWith(environment: Record<string, string>): EngineDeps {
  const { appEnv, autoTrade, exchangeMode } = parseConfig({ SECRET_KEY: 'x'.repeat(32), ...environment });
  const config = { ...engine.deps.config, instanceId: 'second-instance', appEnv, autoTrade, exchangeMode };
  return engine.depsWith({ config });
}

async function startAnew(environment: Record<string, string> = OFF): Promise<void> {
  await engine.restart();
  await engine.settle({ deps: startedWith(environment) });
}

/** Runs a workflow until its calculation is recorded. */
async function calculate(stored: Signal): Promise<void> {
  await runWorkflow(engine.deps, stored.workflowId);
  await calculateForWorkflow(engine, stored);
}

/** Runs a workflow until its first attempt waits at the exchange. */
async function waitAtExchange({ workflowId }: Signal): Promise<void> {
  engine.venue.setFaults([{ kind: 'restFirst' }]);
  const [trade] = await engine.plan(workflowId);
  if (trade === undefined) throw new Error('nothing was planned');
  await engine.advance(trade.id);
}

describe('automatic workflows', () => {
  // Requirements: workflows-2
  test.each(
    firstCases([
      ['by its switch', OFF],
      ['with an environment that is not production', { APP_ENV: 'development', AUTO_TRADE: 'enabled' }],
      ['by live mode, in which nobody switched it on', { APP_ENV: 'production', EXCHANGE_MODE: 'live' }],
    ]),
  )('that wait for their token are aborted like a new signal when it is off %s', async (_name, off) => {
    const ahead = await signal();
    const behind = await engine.storeSignal({ token: ahead.token, price: '100' });
    await runWorkflow(engine.deps, ahead.workflowId);
    await runWorkflow(engine.deps, behind.workflowId);
    await startAnew(off);

    const fresh = await engine.storeSignal({ token: ahead.token, price: '100' });
    await engine.settle({ deps: startedWith(off) });
    const { errorMessage, errorDetails } = await engine.workflow(fresh.workflowId);
    expect(errorMessage).toMatch(/^Auto-trading is disabled /);
    const aborted = { status: 'aborted', errorMessage };
    expect(await engine.workflow(behind.workflowId)).toMatchObject({ ...aborted, errorDetails });
    expect(await engine.steps(behind.workflowId)).toMatchObject([
      { status: 'completed' },
      { status: 'completed' },
      { stepName: 'Acquire Processing Slot', ...aborted },
    ]);
    expect(await engine.trades(behind.signalId)).toEqual([]);
  });

  // Requirements: workflows-2
  test('skip selected users without a request, and close no opposite position', async () => {
    const held = await signal();
    await engine.settle();
    const opposite = await engine.storeSignal({ token: held.token, price: '100', action: 'sell' });
    await runWorkflow(engine.deps, opposite.workflowId);
    const before = requestsToExchange;
    await startAnew();
    expect(requestsToExchange).toBe(before);
    expect(await reasonFor(engine, { ...held, ...opposite })).toMatch(
      /^Auto-trading is disabled .*; user will be skipped$/,
    );
    expect(await engine.workflow(opposite.workflowId)).toMatchObject({ status: 'completed' });
    expect(await engine.exchangeOrders(held.userId)).toHaveLength(1);
    expect(await engine.holding(held.userId, held.token)).toMatchObject({
      position: { side: 'long' },
      stopLoss: '98',
    });
  });

  test('do not plan orders for calculated positions', async () => {
    const calculated = await signal();
    await calculate(calculated);
    await startAnew();
    expect(await engine.trades(calculated.signalId)).toEqual([]);
    expect(await reasonFor(engine, calculated)).toMatch(
      /^Auto-trading is disabled .*; user will be skipped$/,
    );
  });

  // Requirements: workflows-2
  test('do not send planned orders', async () => {
    const planned = await signal();
    await engine.plan(planned.workflowId);
    await startAnew();
    expect(await engine.exchangeOrders(planned.userId)).toEqual([]);
    const [trade] = await engine.trades(planned.signalId);
    expect(trade).toMatchObject({ state: 'done', success: false });
    expect(trade?.error).toMatch(/^Auto-trading is disabled /);
  });

  // Requirements: workflows-2
  test('follow orders that wait at the exchange, but send no second attempt', async () => {
    const waiting = await signal();
    await waitAtExchange(waiting);
    await startAnew();
    expect(await engine.exchangeOrders(waiting.userId)).toMatchObject([{ state: 'canceled' }]);
    const [trade] = await engine.trades(waiting.signalId);
    expect(trade).toMatchObject({ state: 'done', success: false });
    expect(trade?.error).toMatch(/^Auto-trading is disabled /);
  });

  // Requirements: workflows-2
  test('still protect filled orders', async () => {
    const filled = await signal();
    const [trade] = await engine.plan(filled.workflowId);
    if (trade === undefined) throw new Error('nothing was planned');
    engine.venue.setFaults([{ kind: 'stopDropped' }]);
    await engine.advance(trade.id);
    expect((await engine.holding(filled.userId, filled.token)).stopLoss).toBeNull();
    await startAnew();
    expect(await engine.trade(trade.id)).toMatchObject({ success: true, protectionStatus: 'repaired' });
    expect((await engine.holding(filled.userId, filled.token)).stopLoss).toBe('98');
  });
});

describe('a workflow that an operator triggered continues', () => {
  // Requirements: workflows-2
  test.each<[string, (stored: Signal) => Promise<unknown>, number]>([
    ['from its first step', async () => {}, 1],
    ['with the selected users', ({ workflowId }) => runWorkflow(engine.deps, workflowId), 1],
    ['with a calculated position', calculate, 1],
    ['with a planned order', ({ workflowId }) => engine.plan(workflowId), 1],
    ['with the second attempt of an unfilled order', waitAtExchange, 2],
  ])('%s', async (_name, begin, entries) => {
    const stored = await manualSignal();
    await begin(stored);
    await startAnew();
    expect((await engine.outcomes(stored.workflowId)).get(stored.userId)?.outcome).toBe('success');
    expect(await engine.exchangeOrders(stored.userId)).toHaveLength(entries);
  });

  testEveryCase('when its turn comes in the queue of its token', async () => {
    const ahead = await signal();
    await runWorkflow(engine.deps, ahead.workflowId);
    const behind = await engine.storeSignal({ token: ahead.token, price: '100' });
    await engine.db.update(workflows).set({ trigger: 'manual' }).where(eq(workflows.id, behind.workflowId));
    await runWorkflow(engine.deps, behind.workflowId);
    await startAnew();
    expect((await engine.outcomes(behind.workflowId)).get(ahead.userId)?.outcome).toBe('success');
  });
});
