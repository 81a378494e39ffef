import { describe, expect, it } from 'vitest';
import { entryEpsilon, entryPrice } from './entry-price.ts';

describe('the entry epsilon', () => {
  // Requirements: trading-constants-6
  it.each([
    ['BTC', '100000', 'manual', '2.5'],
    ['ETH', '3000', 'manual', '1.5'],
    ['SOL', '200', 'manual', '1'],
    ['PEPE', '0.00001', 'manual', '0.00000005'],
    ['BTC', '100000', 'automatic', '10'],
    ['ETH', '3000', 'automatic', '0.9'],
    ['TON', '5', 'automatic', '0.0025'],
    ['SOL', '200', 'automatic', '0.08'],
    ['SUI', '4', 'automatic', '0.002'],
    ['XRP', '2', 'automatic', '0.0012'],
    ['constructor', '2', 'automatic', '0.0012'],
  ] as const)('of %s at %s in the %s profile is %s', (token, price, profile, epsilon) => {
    expect(entryEpsilon({ token, price, profile })).toBe(epsilon);
  });

  it('is multiplied for a second attempt', () => {
    expect(entryEpsilon({ token: 'BTC', price: '100000', profile: 'manual', multiplier: 2 })).toBe('5');
    expect(entryEpsilon({ token: 'BTC', price: '100000', profile: 'automatic', multiplier: 2.5 })).toBe('25');
  });
});

describe('the entry price', () => {
  // Requirements: trading-constants-6
  it.each([
    ['buy', '97313.7', '2.5', '0.1', '97316.2'],
    ['sell', '97313.7', '2.5', '0.1', '97311.2'],
    ['buy', '187.413', '0.937065', '0.001', '188.351'],
    ['sell', '187.413', '0.937065', '0.001', '186.475'],
    ['buy', '0.00001187', '0.00000005935', '0.00000001', '0.00001193'],
  ] as const)(
    'a %s at %s with epsilon %s on the tick %s is %s',
    (action, referencePrice, epsilon, tick, price) => {
      expect(entryPrice({ action, referencePrice, epsilon, tick })).toBe(price);
    },
  );
});
