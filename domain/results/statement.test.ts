import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addsUpUntil, closingAfter, highWaterMarkFees, type LedgerMonth, walletBefore } from './statement.ts';

const month = (closingBalance: string, deposits = '0') => ({ closingBalance, deposits });
const due = (percent: string, openingBalance: string, months: ReturnType<typeof month>[]) =>
  highWaterMarkFees({ percent, openingBalance, months }).map((one) => one.due);

// Requirements: results-statements-1
describe('the fee above the high-water mark', () => {
  test('is due on new highs of month ends only', () => {
    const months = [month('3000'), month('2000'), month('3500'), month('5000')];
    expect(due('30', '1000', months)).toEqual(['600.00', '0.00', '150.00', '450.00']);
    expect(
      highWaterMarkFees({ percent: '30', openingBalance: '1000', months }).map((one) => one.highWaterMark),
    ).toEqual(['3000', '3000', '3500', '5000']);
  });

  test('leaves out deposits and withdrawals', () => {
    const months = [month('3500', '500'), month('1500', '-1000'), month('13000', '10000'), month('14500')];
    // Without them: 1,000 → 3,000 → 2,000 → 3,500 → 5,000.
    expect(due('30', '1000', months)).toEqual(['600.00', '0.00', '150.00', '450.00']);
  });

  test('does not charge a deposit after the wallet was emptied', () => {
    expect(due('20', '1000', [month('0', '-1500'), month('500', '500'), month('600')])).toEqual([
      '0.00',
      '0.00',
      '20.00',
    ]);
  });

  test('never exceeds the percentage of what trading brought in the good months', () => {
    const amount = fc.integer({ min: -1_000, max: 1_000 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ gained: amount, moved: fc.integer({ min: 0, max: 500 }) })),
        (plan) => {
          let balance = 10_000;
          const months = plan.map(({ gained, moved }) => {
            balance = Math.max(0, balance + moved + gained);
            return month(String(balance), String(moved));
          });
          const fees = due('10', '10000', months).map(Number);
          for (const [index, fee] of fees.entries()) {
            expect(fee).toBeGreaterThanOrEqual(0);
            expect(fee).toBeLessThanOrEqual(Math.max(0, plan[index]?.gained ?? 0) * 0.1 + 1e-9);
          }
        },
      ),
    );
  });

  test.each(['-1', '100.1'])('refuses %s percent', (percent) => {
    expect(() => highWaterMarkFees({ percent, openingBalance: '0', months: [] })).toThrow(RangeError);
  });
});

test('opening and lines add up to closing, to the last digit', () => {
  expect(closingAfter('0.1', [{ amount: '0.2' }, { amount: '-0.00000001' }])).toBe('0.29999999');
});

describe('what a wallet held before its ledger began', () => {
  const ledger = (...of: [month: string, ...began: string[]][]): LedgerMonth[] =>
    of.map(([name, lowest, highest = lowest, last = highest]) => ({
      ...{ month: name, deposits: '0', moved: '0' },
      began:
        lowest === undefined || highest === undefined || last === undefined
          ? null
          : { lowest, highest, last },
    }));

  test.each([
    ['its own balances', ledger(['01', '5.0'], ['02', '5'], ['03', '7'])],
    ['the last balance before it', ledger(['01', '5'], ['02'], ['03', '7'])],
    ['the first balance after it', ledger(['02'], ['03', '5.00'])],
  ])('comes from %s', (_, months) => {
    expect(walletBefore(months, '02')).toBe('5');
  });

  test.each([
    ['balances of the month contradict its movements', ledger(['02', '5', '6'])],
    ['a movement before the month is missing', ledger(['01', '5'], ['02', '6'])],
    ['one is missing after the last balance of the month before', ledger(['01', '4', '5', '4'], ['02', '5'])],
    ['no balance is told', ledger(['02'])],
  ])('is unknown if %s', (_, months) => {
    expect(walletBefore(months, '02')).toBeNull();
  });

  test('a contradiction ends what adds up, not the months after it', () => {
    const months = ledger(['01', '5', '6', '6'], ['02', '6'], ['03', '6', '9']);
    expect(walletBefore(months, '02')).toBe('6');
    expect([addsUpUntil(months, '02'), addsUpUntil(months.slice(1), '02')]).toEqual([false, true]);
  });
});
