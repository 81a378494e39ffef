import { describe, expect, test } from 'vitest';
import { CLOSE_REASONS, closedBy } from './closed-by.ts';

const long = { side: 'long', closePrice: '101', stopLoss: '98', takeProfit: '104' } as const;
const short = { side: 'short', closePrice: '101', stopLoss: '104', takeProfit: '98' } as const;
const nothing = { closeReason: null, source: null };

describe('how a position was closed', () => {
  test.each([
    [CLOSE_REASONS.operator, 'operator'],
    [CLOSE_REASONS.reversedBy('a-signal'), 'reversal'],
    [CLOSE_REASONS.stopMissing, 'protection'],
  ])('attributes our own order for "%s" to %s, whatever the price', (closeReason, expected) => {
    expect(closedBy({ ...long, closePrice: '90', closeReason, source: 'order' })).toBe(expected);
  });

  test.each(['stop loss', 'take profit', 'liquidation'] as const)(
    'takes the exchange’s word for its %s, whatever the price',
    (source) => {
      expect(closedBy({ ...long, closeReason: null, source })).toBe(source);
    },
  );

  test('does not explain an order of another origin by its price', () => {
    expect(closedBy({ ...long, closePrice: '90', closeReason: null, source: 'order' })).toBe('unknown');
  });

  test.each([
    [long, '98', 'stop loss'],
    [long, '97.9', 'stop loss'],
    [long, '98.1', 'unknown'],
    [long, '103.9', 'unknown'],
    [long, '104', 'take profit'],
    [short, '104', 'stop loss'],
    [short, '110', 'stop loss'],
    [short, '103.9', 'unknown'],
    [short, '98', 'take profit'],
    [short, '90', 'take profit'],
  ] as const)(
    'decides by the price without any order: %o closed at %s by %s',
    (position, closePrice, expected) => {
      expect(closedBy({ ...position, closePrice, ...nothing })).toBe(expected);
    },
  );
});
