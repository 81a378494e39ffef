import { D, type Decimal, largest, roundHalfUp, toPlain } from '../decimal.ts';

/** A movement of a wallet, in USDT. */
export interface Movement {
  kind: 'trade' | 'fee' | 'funding' | 'deposit' | 'withdrawal' | 'other';
  amount: string;
}

/** A month of a wallet, in USDT. Deposits are net of withdrawals. */
export interface MonthOfWallet {
  deposits: string;
  closingBalance: string;
}

export interface HighWaterMark {
  /** The highest month end so far, this month included, with later deposits added and withdrawals taken off. */
  highWaterMark: string;
  /** Of this month, in USDT with two decimals. */
  due: string;
}

/**
 * The fee of each month, oldest first: the percentage of what the month's end is above the highest earlier month end.
 * Deposits and withdrawals move the mark along, so only trading is charged. `openingBalance` is the mark at the
 * beginning. Fees are computed, never collected: balances do not contain them. Throws a RangeError for a percentage
 * outside 0 to 100.
 */
export function highWaterMarkFees(options: {
  percent: string;
  openingBalance: string;
  months: readonly MonthOfWallet[];
}): HighWaterMark[] {
  const share = D(options.percent).div(100);
  if (share.lt(0) || share.gt(1)) throw new RangeError(`Not a percentage: ${options.percent}`);
  let mark: Decimal = D(options.openingBalance);
  return options.months.map(({ deposits, closingBalance }) => {
    // A wallet that was emptied starts again at nothing.
    const before = largest(mark.plus(deposits), 0);
    const profit = largest(D(closingBalance).minus(before), 0);
    mark = largest(before, closingBalance);
    return { highWaterMark: toPlain(mark), due: roundHalfUp(profit.times(share), 2) };
  });
}

/** What remains after the movements: opening + lines = closing, exactly. */
export const closingAfter = (openingBalance: string, lines: readonly Pick<Movement, 'amount'>[]): string =>
  toPlain(lines.reduce((balance, { amount }) => balance.plus(amount), D(openingBalance)));
