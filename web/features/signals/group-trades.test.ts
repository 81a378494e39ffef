import { expect, test } from 'vitest';
import type { Trade } from '#contract/signals.ts';
import { groupTrades } from './group-trades.ts';

const trade = (change: Partial<Trade>): Trade => ({
  id: 'id',
  success: false,
  fillStatus: 'unfilled',
  state: 'unfilled',
  error: null,
  userId: 'user',
  username: 'ann@example.com',
  exchangePlatform: 'Bitget',
  orderId: null,
  createdAt: '2026-11-21T00:00:00Z',
  exchangeResponse: null,
  orderPayload: { symbol: 'BTCUSDT' },
  ...change,
});

test('failed trades are grouped by reason with their share and the affected users', () => {
  const { failures, successRate } = groupTrades([
    trade({ success: true, fillStatus: 'filled' }),
    trade({ error: 'Order not filled', username: 'ann@example.com' }),
    trade({ error: 'Order not filled', username: 'bob@example.com' }),
    trade({ error: null, username: 'cid@example.com' }),
  ]);
  expect(successRate).toBe(25);
  expect(failures[0]).toMatchObject({
    reason: 'Order not filled',
    count: 2,
    usernames: ['ann@example.com', 'bob@example.com'],
  });
  expect(failures[0]?.percentage).toBeCloseTo(66.67, 1);
  expect(failures[1]?.reason).toBe('Unknown error');
});

test('an order on its way is not counted as failed', () => {
  const groups = groupTrades([trade({ fillStatus: null, state: 'submitting' })]);
  expect(groups.failed).toEqual([]);
  expect(groups.unsettled).toHaveLength(1);
  expect(groups.successRate).toBe(0);
  expect(groupTrades([]).successRate).toBeNull();
});
