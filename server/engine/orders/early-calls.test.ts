import { describe, expect, test } from 'vitest';
import type { AutomationDeps } from '#server/engine/workflow/automation-deps.ts';
import { planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { startTradingBoard } from '#test/app/test-trading-board.ts';
import { advanceTrade } from './advance-trade.ts';

/** Clocks of instances and of the database differ; a call lost for that would be made up fifteen seconds late. */
describe('a call that comes before its trade is due', () => {
  const engine = sharedTestEngine();

  /** An order that waits at the exchange, by the clock of an instance this far behind the one that sent it. */
  async function waiting(restMs: number) {
    const tradeId = (await planTrade(engine)).trade.id;
    const { dueAt } = await engine.advance(tradeId);
    if (dueAt === null) throw new Error('nothing is due');
    engine.clock.set(new Date(dueAt.getTime() - restMs));
    const queue = testJobs(engine.clock);
    const deps: AutomationDeps = { ...engine.deps, jobs: queue.jobs };
    const sent = () => queue.waiting().map(({ name, data, after }) => ({ name, data, after }));
    const call = { name: 'advance-trade', data: { tradeId }, after: dueAt.getTime() };
    return { tradeId, deps, queue, sent, call };
  }

  // Requirements: order-execution-9
  test.each([300, 5_000])(
    'is sent again for the %d ms that are left, and does nothing else',
    async (restMs) => {
      const { tradeId, deps, queue, sent, call } = await waiting(restMs);
      const before = await engine.events(tradeId);
      await advanceTrade(deps, tradeId);
      expect(sent()).toEqual([call]);
      expect(await engine.events(tradeId)).toEqual(before);
      await queue.drain(deps);
      expect(await engine.trade(tradeId)).toMatchObject({ state: 'done', success: true });
    },
  );

  // Requirements: order-execution-9
  test('is not sent again while another one waits', async () => {
    const { tradeId, deps, sent, call } = await waiting(3_000);
    for (let time = 0; time < 3; time += 1) await advanceTrade(deps, tradeId);
    expect(sent()).toEqual([call]);
  });

  // Requirements: order-execution-9
  test('by a fraction of a second waits for the rest, and goes on', async () => {
    const { tradeId, deps, sent } = await waiting(100);
    const from = engine.clock.now().getTime();
    const startedAt = performance.now();
    const clock = { now: () => new Date(from + performance.now() - startedAt) };
    await advanceTrade({ ...deps, clock }, tradeId);
    const { calls } = await engine.events(tradeId);
    expect(calls.at(-1)).not.toBe('place-order');
    expect(sent()).toHaveLength(1);
    expect(sent()[0]?.after).toBeGreaterThan(from + 1_000);
  });
});

describe('the calls of a trade bring it to its end without the sweep', () => {
  // Requirements: order-execution-9
  test.each([
    ['a program whose clock is behind the database’s', [1_000]],
    ['a program whose clock is ahead of the database’s', [-20_000]],
    ['two instances whose clocks differ', [0, 2_000]],
  ])('in %s', { timeout: 60_000 }, async (_name, behindMs) => {
    const board = await startTradingBoard({ instances: behindMs.length, behindMs });
    try {
      await board.push('BTC', '65000');
      const trader = await board.createTrader();
      board.setFaults([{ kind: 'restFirst', on: { userId: trader.id, times: 2 } }]);
      const signalId = await board.signal({ token: 'BTC', price: '65000' });
      // The sweep would have brought it one step further by then.
      const [trade] = await board.traded(signalId, { withinMs: 12_000 });
      expect(trade).toMatchObject({ state: 'done', fillStatus: 'unfilled' });
    } finally {
      await board.close();
    }
  });
});
