import { describe, expect, it } from 'vitest';
import { D } from '../decimal.ts';
import { MOST_PARTS, splitClose } from './split-close.ts';

describe('a close in parts', () => {
  it.each([
    ['within the largest order', '3600', '3600', '0.1', ['3600']],
    ['of a contract without a largest order', '11418', null, '0.1', ['11418']],
    ['of a contract whose step is not known', '11418', '3600', null, ['11418']],
    ['above it', '11418', '3600', '0.1', ['2854.5', '2854.5', '2854.5', '2854.5']],
    ['whose last part would be tiny', '7201', '3600', '1', ['2401', '2401', '2399']],
    ['of a quantity between steps', '7.25', '3', '0.1', ['2.5', '2.5', '2.25']],
    ['with a largest order between steps', '10', '3.05', '0.1', ['2.5', '2.5', '2.5', '2.5']],
    ['with a largest order below a step', '10', '0.05', '0.1', ['10']],
  ])('%s', (_, quantity, maximum, step, parts) => {
    expect(splitClose({ quantity, maximum, step })).toEqual(parts);
  });

  it('is never above the largest order, and adds up to the quantity', () => {
    for (let quantity = 1; quantity <= 400; quantity += 1) {
      for (const maximum of ['9', '10', '37']) {
        const parts = splitClose({ quantity: String(quantity), maximum, step: '1' });
        expect(parts.every((part) => D(part).lte(maximum) && D(part).gt(0))).toBe(true);
        expect(parts.reduce((sum, part) => sum + Number(part), 0)).toBe(quantity);
      }
    }
  });

  it('leaves what needs too many orders to the next step', () => {
    expect(splitClose({ quantity: '1000', maximum: '1', step: '1' })).toHaveLength(MOST_PARTS);
  });
});
