import { describe, expect, test } from 'vitest';
import { positionDifferences } from './position-differences.ts';

const held = { quantity: '0.5', leverage: 10, stopLoss: '98', takeProfit: '104' };
const recorded = {
  leftQuantity: null,
  filledQuantity: '0.500',
  leverage: 10,
  stopLoss: '98.0',
  takeProfit: '104',
  isDone: true,
};

describe('differences between exchange and record', () => {
  test('finds no difference in other spellings of the same numbers', () => {
    expect(positionDifferences(held, recorded)).toEqual([]);
  });

  test('compares with what was left after a part was closed', () => {
    const reduced = { ...recorded, leftQuantity: '0.25' };
    expect(positionDifferences({ ...held, quantity: '0.25' }, reduced)).toEqual([]);
    expect(positionDifferences(held, reduced)).toEqual(['The exchange holds 0.5, 0.25 was left here']);
  });

  test('reports only "Not opened here" for a position without a trade', () => {
    expect(positionDifferences({ ...held, stopLoss: null }, null)).toEqual(['Not opened here']);
  });

  test.each([
    [{ quantity: '0.4' }, 'The exchange holds 0.4, 0.500 was bought or sold here'],
    [{ stopLoss: null }, 'The exchange has no stop loss, 98.0 was set here'],
    [{ stopLoss: '97' }, "The exchange's stop loss is 97, 98.0 was set here"],
    [{ takeProfit: null }, 'The exchange has no take profit, 104 was set here'],
    [{ takeProfit: '105' }, "The exchange's take profit is 105, 104 was set here"],
    [{ leverage: 20 }, "The exchange's leverage is 20, 10 was set here"],
  ])('reports %o', (change, expected) => {
    expect(positionDifferences({ ...held, ...change }, recorded)).toEqual([expected]);
  });

  test('reports several differences together', () => {
    const changed = { quantity: '1', leverage: 20, stopLoss: null, takeProfit: null };
    expect(positionDifferences(changed, recorded)).toHaveLength(4);
  });

  test('compares nothing while the order is in progress', () => {
    const underWay = { ...recorded, filledQuantity: '0', isDone: false };
    expect(positionDifferences({ ...held, stopLoss: null }, underWay)).toEqual([]);
  });
});
