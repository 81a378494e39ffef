import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CalendarAnswer, EquityAnswer, PerformanceAnswer } from '#contract/performance.ts';
import { D } from '#domain/decimal.ts';
import { createEquitySnapshots } from '#server/engine/protection/equity-snapshots.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { ADMIN_PASSWORD as password, startWorld, type World } from '#test/world.ts';
import { simulateHistory } from './history.ts';
import { ensureHookKey, signIn } from './program-client.ts';
import { ensureUsers } from './users.ts';
import { storeHistory } from './write-history.ts';

const now = new Date();
const signals = simulateHistory({ seed: '1', now });
let board: World;

beforeAll(async () => {
  board = await startWorld();
  const url = await board.app.listen({ host: '127.0.0.1', port: 0 });
  const client = await signIn({ url, username: 'admin@example.com', password });
  await ensureUsers({ client, password });
  await ensureHookKey({ client, password });
});
afterAll(() => board?.close());

testEveryCase(
  'the same seed makes up the same trades, each closed after it was opened, at its stop, its target or the opposite signal',
  () => {
    const [first, again] = [signals, simulateHistory({ seed: '1', now })];
    const trades = first.flatMap((signal) => signal.trades);
    const facts = (of: typeof first) =>
      of.flatMap((signal) =>
        signal.trades.map(({ username, realisedProfit, closedAt }) => [username, realisedProfit, closedAt]),
      );
    expect(facts(again)).toEqual(facts(first));
    expect(trades.length).toBeGreaterThan(100);
    for (const { openedAt, closedAt, closedBy, realisedProfit } of trades) {
      expect(closedAt > openedAt && closedAt < now).toBe(true);
      if (closedBy !== 'reversal') expect(D(realisedProfit).gt(0)).toBe(closedBy === 'take profit');
    }
  },
);

test('Performance has weeks of results at the first start, and a second one adds nothing', async () => {
  const client = await board.database.pool.connect();
  try {
    const written = await storeHistory(client, signals, { now, timeZone: board.config.displayTimezone });
    expect(written).toBe(signals.flatMap(({ trades }) => trades).length);
    await createEquitySnapshots(board.deps).run();
    const from = new Date(now.getTime() - 7 * 86_400_000).toISOString();
    const equity = (await board.admin.get(`/api/performance/equity?from=${from}`)).json<EquityAnswer>();
    expect(equity.points.length).toBeGreaterThan(160);
    expect(equity.points.filter(({ accounts, complete }) => !complete || accounts !== 7)).toEqual([]);
    expect(equity.points.at(-1)?.equity).toBe('70000');
    const results = (await board.admin.get('/api/performance?groupBy=processor')).json<PerformanceAnswer>();
    expect(results.totals).toMatchObject({ trades: written, unknown: { net: 0, funding: 0, r: 0 } });
    expect(results.groups.map(({ key }) => key).sort()).toEqual(['Tesla', 'UD Bot']);
    const { days } = (await board.admin.get('/api/performance/calendar')).json<CalendarAnswer>();
    expect(days.length).toBeGreaterThan(20);
    expect(await storeHistory(client, signals, { now, timeZone: board.config.displayTimezone })).toBe(0);
    const { total } = (await board.admin.get('/api/signals?limit=1')).json<{ total: number }>();
    expect(total).toBe(signals.length);
  } finally {
    client.release();
  }
});
