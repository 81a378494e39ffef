import { describe, expect, test } from 'vitest';
import { changedPrices, effectOf, growsRisk, priceProblem, stepPrice } from './move-protection-model.ts';

const long = { side: 'long', quantity: '2', entryPrice: '100', markPrice: '102', stopLoss: '98' } as const;
const short = { ...long, side: 'short', markPrice: '98', stopLoss: '102' } as const;

test.each([
  ['67379.5', '0.1', 1, '67379.6'],
  ['67379.5', '0.1', -1, '67379.4'],
  ['0.00001226', '0.00000001', 1, '0.00001227'],
  ['99.97', '0.1', 1, '100.0'],
  ['99.97', '0.1', -1, '99.9'],
  ['0.1', '0.1', -1, '0.1'],
  ['3000', '1', 1, '3001'],
  ['abc', '0.1', 1, 'abc'],
] as const)('steps %s by the tick %s to %s: %s', (text, tick, direction, expected) => {
  expect(stepPrice(text, tick, direction)).toBe(expected);
});

describe('a typed price', () => {
  test.each([
    ['stopLoss', long, '99', null],
    ['stopLoss', long, '102', 'Has to be below the mark price 102'],
    ['takeProfit', long, '101.9', 'Has to be above the mark price 102'],
    ['stopLoss', short, '98', 'Has to be above the mark price 98'],
    ['takeProfit', short, '99', 'Has to be below the mark price 98'],
    ['stopLoss', long, '99.05', 'Has to be a multiple of the tick 0.1'],
    ['stopLoss', long, '', 'Enter a price above 0'],
    ['stopLoss', long, '0', 'Enter a price above 0'],
    ['stopLoss', long, '-5', 'Enter a price above 0'],
    ['stopLoss', { ...long, markPrice: null }, '500', null],
  ] as const)('as %s of %o at %s: %s', (side, position, text, problem) => {
    expect(priceProblem(text, { side, position, tick: '0.1' })).toBe(problem);
  });

  test('shows its distance from the mark and the result there', () => {
    expect(effectOf('99.96', long)).toEqual({ percent: expect.closeTo(-2), profit: expect.closeTo(-0.08) });
    expect(effectOf('99.96', short)).toEqual({ percent: expect.closeTo(2), profit: expect.closeTo(0.08) });
    expect(effectOf('99.96', { ...long, markPrice: null })).toMatchObject({ percent: null });
    expect(effectOf('no', long)).toBeNull();
  });

  test.each([
    [long, '97', true],
    [long, '98.0', false],
    [long, '99', false],
    [short, '103', true],
    [short, '101', false],
    [{ ...long, stopLoss: null }, '1', false],
  ] as const)('of %o at %s means more risk: %s', (position, text, expected) => {
    expect(growsRisk(text, position)).toBe(expected);
  });
});

test('sends only what was changed', () => {
  const held = { stopLoss: '98', takeProfit: null };
  expect(changedPrices({ stopLoss: '98.00', takeProfit: '' }, held)).toEqual({});
  expect(changedPrices({ stopLoss: ' 99 ', takeProfit: '110' }, held)).toEqual({
    stopLoss: '99',
    takeProfit: '110',
  });
});
