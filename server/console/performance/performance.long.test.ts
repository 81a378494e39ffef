import { afterAll, expect, test } from 'vitest';
import { type PerformanceAnswer, RESULT_GROUPS } from '#contract/performance.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import {
  type ReckonedOrder,
  type ReckonedTrade,
  reckon,
  reckonDistribution,
  reckonFall,
  reckonOrders,
} from '#test/app/reckon-results.ts';
import { startWorldWithResults } from '#test/world/results.ts';
// Every filter.
import './performance.test.ts';

const NOW = new Date('2028-11-20T12:34:56Z');
const DAY_MS = 86_400_000;

const board = await startWorldWithResults({
  trades: 10_000,
  seed: 23,
  since: new Date('2026-01-05T10:00:00Z'),
  clock: fakeClock(NOW),
  config: { displayTimezone: 'America/Los_Angeles' },
});
afterAll(() => board.close());

const read = async (query: string) => {
  const answer = await board.admin.get(`/api/performance?${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<PerformanceAnswer>();
};

// Requirements: results-performance-1
test('the figures of 10,000 trades of the paper ledger, Bitget and Bybit agree with a reckoning in integers', async () => {
  expect(board.known).toHaveLength(10_000);
  const { distributionOfR, distributionOfHolding, ...figures } = (await read('')).totals;
  expect(figures).toEqual({
    ...reckon(board.known),
    ...reckonOrders(board.orders),
    maxDrawdown: reckonFall(board.known, DAY_MS),
  });
  const bars = distributionOfR.filter(({ trades }) => trades > 0).map(({ r, trades }) => [r, trades]);
  expect(Object.fromEntries(bars)).toEqual(reckonDistribution(board.known));
  expect(distributionOfHolding.reduce((total, { trades }) => total + trades, 0)).toBe(
    board.known.filter(({ net }) => net !== null).length,
  );
});

test.each(RESULT_GROUPS.filter((by) => by !== 'hour' && by !== 'weekday'))(
  'by %s they agree too',
  async (groupBy) => {
    const { groups } = await read(`groupBy=${groupBy}`);
    const keyOf = (trade: ReckonedTrade | ReckonedOrder) =>
      groupBy === 'user' ? trade.userId : trade[groupBy];
    const orders = Map.groupBy(board.orders, keyOf);
    const wanted = [...Map.groupBy(board.known, keyOf)].map(([key, trades]) => ({
      key,
      label: groupBy === 'user' ? trades[0]?.username : key,
      ...reckon(trades),
      ...reckonOrders(orders.get(key) ?? []),
      maxDrawdown: reckonFall(trades, DAY_MS),
    }));
    const byKey = <Row extends { key: string }>(rows: Row[]) =>
      rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    expect(byKey(groups)).toEqual(byKey(wanted));
  },
);
