import { describe, expect, it } from 'vitest';
import { availableForSizing, estimateBalance, isBalanceFresh, isUsableBalance } from './balance.ts';

describe('balance', () => {
  // Requirements: trading-constants-15
  it('uses 318.31 × 0.8 for an estimate', () => {
    expect(estimateBalance()).toBe('254.648');
  });

  it('subtracts margin that the exchange does not know yet', () => {
    expect(availableForSizing({ available: '1000', unreportedMargins: [] })).toBe('1000');
    expect(availableForSizing({ available: '1000', unreportedMargins: ['250.5', '100'] })).toBe('649.5');
    expect(availableForSizing({ available: '100', unreportedMargins: ['250'] })).toBe('0');
  });

  it('accepts the last real balance for 60 seconds', () => {
    const readAt = new Date('2024-05-01T12:00:00Z');
    expect(isBalanceFresh({ readAt, now: new Date('2024-05-01T12:01:00Z') })).toBe(true);
    expect(isBalanceFresh({ readAt, now: new Date('2024-05-01T12:01:00.001Z') })).toBe(false);
  });

  it('rejects a negative or unreadable balance', () => {
    expect(['0', '12.5'].every(isUsableBalance)).toBe(true);
    expect(['-1', 'NaN', '', 'Infinity'].some(isUsableBalance)).toBe(false);
  });
});
