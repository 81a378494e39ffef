import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { largestDrawdown } from './drawdown.ts';

const points = (...lines: string[]) =>
  lines.map((line) => {
    const [equity = '', change = ''] = line.split(' ');
    return { equity, change };
  });

// Requirements: results-equity-3
describe('the largest drawdown', () => {
  test('is the deepest fall below an earlier high, in USDT and percent', () => {
    expect(largestDrawdown(points('1000 0', '1200 200', '900 -100', '1500 500', '1400 400'))).toEqual({
      amount: '300',
      percent: '25.00',
    });
  });

  test('of amounts and of percent may be different falls', () => {
    const falls = points('100 0', '80 -20', '1100 1000', '990 890');
    expect(largestDrawdown(falls)).toEqual({ amount: '110', percent: '20.00' });
  });

  test('leaves out deposits, withdrawals, and accounts that come or go', () => {
    // 1,000 lose a tenth; 9,000 arrive; 9,900 lose a tenth; 8,910 − 4,000 stay.
    expect(largestDrawdown(points('1000 0', '900 -100', '9900 -100', '8910 -1090', '4910 -1090'))).toEqual({
      amount: '1090',
      percent: '19.00',
    });
  });

  test('has no percent where a step began with nothing, and none without points', () => {
    expect(largestDrawdown(points('0 0', '10 10', '5 5'))).toEqual({ amount: '5', percent: null });
    expect(largestDrawdown([])).toEqual({ amount: '0', percent: '0.00' });
  });

  test('without movements of money is the fall below the highest equity', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(amounts, (worths) => {
        const first = worths[0] ?? 0;
        const found = largestDrawdown(
          worths.map((worth) => ({ equity: String(worth), change: String(worth - first) })),
        );
        let [highest, fall, share] = [0, 0, 0];
        for (const worth of worths) {
          highest = Math.max(highest, worth);
          fall = Math.max(fall, highest - worth);
          share = Math.max(share, (highest - worth) / highest);
        }
        expect(found.amount).toBe(String(fall));
        expect(Math.abs(Number(found.percent) - share * 100)).toBeLessThan(0.005 + 1e-9);
      }),
    );
  });
});
