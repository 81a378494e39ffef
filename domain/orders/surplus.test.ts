import { describe, expect, test } from 'vitest';
import { surplusOf } from './surplus.ts';

const order = { price: '100.5', quantity: '0.08', filledQuantity: '0', averagePrice: null };
const held = { quantity: '0.03', entryPrice: '100' };
const ended = { side: 'buy', attempts: [order], held, seen: null } as const;

describe('what a position holds beyond the known fills', () => {
  test.each([
    ['without a position', { held: null }],
    ['when the fills explain it', { attempts: [{ ...order, filledQuantity: '0.03', averagePrice: '100' }] }],
    [
      'when a stop has closed a part',
      { attempts: [{ ...order, filledQuantity: '0.05', averagePrice: '100' }] },
    ],
    ['without an order', { attempts: [] }],
  ])('is nothing %s', (_name, changes) => {
    expect(surplusOf({ ...ended, ...changes })).toBeNull();
  });

  test('is the fill of the order that left as much open', () => {
    expect(surplusOf(ended)).toEqual({
      known: '0',
      shown: '0.03',
      isHeld: true,
      adopted: { filledQuantity: '0.03', averagePrice: '100' },
    });
  });

  test('is priced without the fills of the earlier order', () => {
    const first = { ...order, filledQuantity: '0.03', averagePrice: '100' };
    const second = { price: '101', quantity: '0.05', filledQuantity: '0.01', averagePrice: '101' };
    const found = surplusOf({
      ...ended,
      attempts: [first, second],
      held: { quantity: '0.06', entryPrice: '100.5' },
    });
    expect(found?.adopted).toEqual({ filledQuantity: '0.03', averagePrice: '101' });
  });

  test.each([
    ['more than the order left open', { held: { quantity: '0.09', entryPrice: '100' } }],
    ['bought above every limit', { held: { quantity: '0.03', entryPrice: '100.6' } }],
    ['sold below every limit', { side: 'sell' as const, held: { quantity: '0.03', entryPrice: '100.4' } }],
    ['partly closed since it was seen', { seen: '0.05' }],
    ['closed since it was seen', { held: null, seen: '0.05' }],
  ])('is not adopted when it is %s', (_name, changes) => {
    expect(surplusOf({ ...ended, ...changes })).toMatchObject({ adopted: null });
  });
});
