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

// Requirements: signals-the-dialogs-10
test('groups failed trades by reason, with their share and users', () => {
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
    users: [
      { username: 'ann@example.com', texts: [] },
      { username: 'bob@example.com', texts: [] },
    ],
  });
  expect(failures[0]?.percentage).toBeCloseTo(66.67, 1);
  expect(failures[1]?.reason).toBe('Unknown error');
});

test('does not count an order in progress as failed', () => {
  const groups = groupTrades([trade({ fillStatus: null, state: 'submitting' })]);
  expect(groups.failed).toEqual([]);
  expect(groups.unsettled).toHaveLength(1);
  expect(groups.successRate).toBe(0);
  expect(groupTrades([]).successRate).toBeNull();
});

// Requirements: signals-the-dialogs-10
test('groups failures by cause, even if their figures differ per user', () => {
  const small = (available: string) =>
    `The minimum order of 0.01 BTC needs ${available}.5 USDT, above the 33% limit of ${available} USDT`;
  const { failures } = groupTrades([
    trade({ error: small('12'), username: 'ann@example.com' }),
    trade({ error: small('1,234.56'), username: 'bob@example.com' }),
    trade({ error: 'Order not filled', username: 'cid@example.com' }),
    trade({ error: small('12'), username: 'ann@example.com' }),
  ]);
  expect(failures).toHaveLength(2);
  expect(failures[0]).toMatchObject({
    reason: 'The minimum order of 0.01 BTC needs … USDT, above the 33% limit of … USDT',
    count: 3,
    percentage: 75,
    users: [
      { username: 'ann@example.com', texts: [small('12')] },
      { username: 'bob@example.com', texts: [small('1,234.56')] },
    ],
  });
});

// Requirements: signals-the-dialogs-10
test.each([
  [
    'times',
    'Trading is halted since 2026-01-02T08:15:00.000Z: x',
    'Trading is halted since 2026-01-03T08:15:00Z: x',
    1,
  ],
  ['prices', 'Stop loss 64301 is not below 64300', 'Stop loss 64302.5 is not below 64302.4', 1],
  ['codes of an exchange', 'Bitget refused it (40762)', 'Bitget refused it (43011)', 2],
  ['names of tokens', '1INCH is not listed', '1000PEPE is not listed', 2],
  ['attempts in words', 'not filled after one attempt', 'not filled after two attempts', 2],
])('groups trades with different %s', (_, one, other, groups) => {
  expect(groupTrades([trade({ error: one }), trade({ error: other })]).failures).toHaveLength(groups);
});
