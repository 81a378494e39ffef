import { describe, expect, test } from 'vitest';
import type { EngineDeps } from '#server/deps.ts';
import { testClock } from '#test/app/fake-clock.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { startWorld } from '#test/world.ts';
import { advanceTrade } from './advance-trade.ts';

/** Clocks of instances and database differ; a job lost for that reason would be made up fifteen seconds late. */
describe('a call that comes before its trade is due', () => {
  const engine = sharedTestEngine();

  /** An order that waits at the exchange; this instance's clock is `restMs` behind the due time. */
  async function waiting(restMs: number) {
    const tradeId = (await planTrade(engine)).trade.id;
    const { dueAt } = await engine.advance(tradeId);
    if (dueAt === null) throw new Error('nothing is due');
    engine.clock.set(new Date(dueAt.getTime() - restMs));
    const queue = testJobs(engine.clock);
    const deps: EngineDeps = engine.depsWith({ jobs: queue.jobs });
    const sent = () => queue.waiting().map(({ name, data, after }) => ({ name, data, after }));
    const call = { name: 'advance-trade', data: { tradeId }, after: dueAt.getTime() };
    return { tradeId, deps, queue, sent, call };
  }

  // Requirements: order-execution-9
  test.each(firstCases([300, 5_000]))(
    'is sent again for the remaining %d ms, and otherwise does nothing',
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
  testEveryCase('is not sent again while another call waits', async () => {
    const { tradeId, deps, sent, call } = await waiting(3_000);
    for (let time = 0; time < 3; time += 1) await advanceTrade(deps, tradeId);
    expect(sent()).toEqual([call]);
  });

  // Requirements: order-execution-9
  testEveryCase('waits out a rest of a fraction of a second, and continues', async () => {
    const { tradeId, deps, sent } = await waiting(100);
    const clock = testClock(engine.clock.now());
    const advanced = advanceTrade({ ...deps, clock }, tradeId);
    await expect.poll(clock.waits).toContain(101);
    await clock.advance(101);
    await advanced;
    const { calls } = await engine.events(tradeId);
    expect(calls.at(-1)).not.toBe('place-order');
    expect(sent()).toEqual([]);
    expect(await engine.trade(tradeId)).toMatchObject({ state: 'done', success: true });
  });
});

// Requirements: order-execution-9
testEveryCase.each([
  ['a program whose clock is behind the database’s', [1_000]],
  ['a program whose clock is ahead of the database’s', [-20_000]],
  ['two instances whose clocks differ', [0, 2_000]],
])(
  'the calls of a trade bring it to its end without the sweep, in %s',
  { timeout: 60_000 },
  async (_name, behindMs) => {
    const board = await startWorld({ exchange: 'paper', engine: true, instances: behindMs.length, behindMs });
    try {
      await board.site.push('BTC', '65000');
      const trader = await board.createTrader();
      board.site.setFaults([{ kind: 'restFirst', on: { userId: trader.id, times: 2 } }]);
      const signalId = await board.signal({ token: 'BTC', price: '65000' });
      // By then the sweep would have advanced the trade by one step.
      const [trade] = await board.traded(signalId, { withinMs: 12_000 });
      expect(trade).toMatchObject({ state: 'done', fillStatus: 'unfilled' });
    } finally {
      await board.close();
    }
  },
);
