import { describe, expect, test } from 'vitest';
import { createMarket } from './market.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const [token] = DEMO_TOKENS as readonly [DemoToken];
const begin = new Date('2026-01-01T00:00:00Z');
const options = { token, seed: '1', begin };
const steps = (count: number, market = createMarket(options)) =>
  Array.from({ length: count }, () => market.step());

describe('a market', () => {
  test('is the same for the same seed', () => {
    expect(steps(400)).toEqual(steps(400));
    expect(steps(400, createMarket({ ...options, seed: '2' }))).not.toEqual(steps(400));
  });

  test('closes candles of all timeframes at their times', () => {
    const counted = (minutes: number) =>
      steps(288).filter(({ candles }) => candles.some((one) => one.timeframeMinutes === minutes)).length;
    expect([5, 15, 60, 240].map(counted)).toEqual([288, 96, 24, 6]);
  });

  test('comes by a given price at a given time', () => {
    const time = new Date('2026-01-01T10:00:00Z');
    const market = createMarket({ ...options, passesBy: { time, price: 42_000 } });
    const there = steps(200, market).find(({ closeTime }) => closeTime.getTime() === time.getTime());
    expect(there?.price).toBeCloseTo(42_000, 6);
  });

  test('goes on from where a sudden move took it', () => {
    const market = createMarket(options);
    const [before] = steps(1, market);
    const alert = market.surge(1.02);
    expect(alert.bar.close).toBeCloseTo((before?.price ?? 0) * 1.02, 6);
    expect(alert.bar.high).toBeGreaterThanOrEqual(alert.bar.close);
    expect(market.step().candles[0]?.bar.open).toBeCloseTo(alert.bar.close, 6);
  });

  test('crosses both ways', () => {
    const actions = steps(500).flatMap(({ crossings }) => crossings.map(({ action }) => action));
    expect(new Set(actions)).toEqual(new Set(['buy', 'sell']));
  });
});
