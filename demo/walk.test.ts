import { describe, expect, test } from 'vitest';
import { createWalk } from './walk.ts';

const options = { seed: 'test', startPrice: 100, volatility: 0.002, volume: 50 };
const take = (count: number, given = options) => {
  const walk = createWalk(given);
  return Array.from({ length: count }, () => walk());
};

describe('a walk', () => {
  test('is the same for the same options and another for another seed', () => {
    expect(take(300)).toEqual(take(300));
    expect(take(300, { ...options, seed: 'other' })).not.toEqual(take(300));
  });

  test('begins at its start price, and each bar opens where the one before closed', () => {
    const bars = take(300);
    expect(bars[0]?.open).toBe(100);
    bars.slice(1).forEach((bar, index) => {
      expect(bar.open).toBe(bars[index]?.close);
    });
  });

  test('keeps open and close within high and low, above zero, with volume', () => {
    for (const { open, high, low, close, volume } of take(2000)) {
      expect(high).toBeGreaterThanOrEqual(Math.max(open, close));
      expect(low).toBeLessThanOrEqual(Math.min(open, close));
      expect(low).toBeGreaterThan(0);
      expect(volume).toBeGreaterThan(0);
    }
  });

  test('has phases that go far and phases that go nowhere', () => {
    const closes = take(3000).map(({ close }) => close);
    const moves = Array.from({ length: 60 }, (_, part) =>
      Math.abs(Math.log((closes[part * 50 + 49] ?? 0) / (closes[part * 50] ?? 0))),
    );
    expect(Math.max(...moves)).toBeGreaterThan(0.03);
    expect(Math.min(...moves)).toBeLessThan(0.003);
  });

  test('stays within sight of where it began for a month', () => {
    const closes = take(30 * 288).map(({ close }) => close);
    expect(Math.max(...closes)).toBeLessThan(200);
    expect(Math.min(...closes)).toBeGreaterThan(50);
  });
});
