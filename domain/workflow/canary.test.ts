import { describe, expect, test } from 'vitest';
import { type CanaryOrder, type CanaryUser, judgeCanary } from './canary.ts';

const DUE = new Date('2026-05-04T10:00:20.000Z');
const at = (seconds: number) => new Date(DUE.getTime() + (seconds - 20) * 1_000);
const filled = (order: Partial<CanaryOrder> = {}): CanaryOrder => ({
  completedAt: at(5),
  success: true,
  error: null,
  averagePrice: '100',
  protectionStatus: 'verified',
  ...order,
});
const working = filled({ completedAt: null, success: null, averagePrice: null, protectionStatus: null });
const user = (position: number, order: CanaryOrder | null, hasEnded = false): CanaryUser => ({
  position,
  hasEnded,
  order,
});

const judge = (users: CanaryUser[], more: Partial<Parameters<typeof judgeCanary>[0]> = {}) =>
  judgeCanary({
    settings: { users: 2, withinSeconds: 20, maxSlippageBps: 50 },
    signal: { action: 'buy', price: '100' },
    users,
    dueAt: DUE,
    isDue: false,
    ...more,
  });

// Requirements: additions-limits-12
describe('a canary', () => {
  test('lets the first users trade, up to the last of them who was not skipped', () => {
    expect(judge([user(1, null), user(4, null)], { dueAt: null })).toEqual({ state: 'waiting', upTo: 4 });
    expect(judge([user(1, filled()), user(4, working)])).toEqual({ state: 'waiting', upTo: 4 });
  });

  test('passes when all of them are filled and protected, or all were skipped', () => {
    expect(judge([user(0, filled()), user(1, filled({ completedAt: DUE }))])).toEqual({ state: 'passed' });
    expect(judge([user(0, filled())], { isDue: true })).toEqual({ state: 'passed' });
    expect(judge([])).toEqual({ state: 'passed' });
  });

  test.each<[string, CanaryUser, string]>([
    ['failed', user(1, filled({ success: false, error: 'refused' })), 'failed: refused'],
    [
      'repaired',
      user(1, filled({ protectionStatus: 'repaired' })),
      'was filled, but the exchange did not keep the stop of its order',
    ],
    [
      'late',
      user(1, filled({ completedAt: at(20.001) })),
      'was filled and protected later than 20 s after the first order',
    ],
    ['without a price', user(1, filled({ averagePrice: null })), 'was filled at a price that is not known'],
    [
      'too dear',
      user(1, filled({ averagePrice: '100.51' })),
      'was filled at 100.51, 51.00 bps worse than the signal price 100, the limit is 50 bps',
    ],
    ['without an order', user(1, null, true), 'got no order, because its processing failed'],
  ])('fails when an order is %s', (_name, second, what) => {
    const reason = `canary 2 of 2 ${what}`;
    expect(judge([user(0, working), second])).toEqual({ state: 'failed', reason });
  });

  test('fails when its time is over before all orders are done', () => {
    const over = { isDue: true };
    const late = 'was not filled and protected within 20 s of the first order';
    expect(judge([user(0, working)], over)).toEqual({ state: 'failed', reason: `canary 1 of 1 ${late}` });
    const none = 'canary 2 of 2 had no order within 20 s of the first one';
    expect(judge([user(0, filled()), user(1, null)], over)).toEqual({ state: 'failed', reason: none });
  });

  test.each([
    ['buy', '100.5', 'passed'],
    ['buy', '100.51', 'failed'],
    ['buy', '90', 'passed'],
    ['sell', '99.5', 'passed'],
    ['sell', '99.49', 'failed'],
    ['sell', '110', 'passed'],
  ] as const)('a %s filled at %s has %s: only a worse price counts', (action, averagePrice, state) => {
    const signal = { action, price: '100' };
    expect(judge([user(0, filled({ averagePrice }))], { signal })).toMatchObject({ state });
  });
});
