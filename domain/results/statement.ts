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

/** A month of an exchange's ledger of one account, in USDT. */
export interface LedgerMonth {
  month: string;
  /** Net of withdrawals. */
  deposits: string;
  /** The sum of all movements, deposits included. */
  moved: string;
  /**
   * What the wallet held before the ledger began, by each balance that entries of the month tell: the lowest, the highest
   * and the last of these figures. They are equal where the ledger adds up; null where no entry tells a balance.
   */
  began: { lowest: string; highest: string; last: string } | null;
}

/**
 * What the wallet held before the ledger began, for a statement of the month; null where the told balances contradict
 * the movements, within the month or since the last balance before it, or where none is told. Months in order of time.
 */
export function walletBefore(months: readonly LedgerMonth[], month: string): string | null {
  const told = months.filter(({ began }) => began !== null);
  const own = told.find((one) => one.month === month)?.began;
  const before = told.findLast((one) => one.month < month)?.began?.last;
  if (own) {
    const agrees = D(own.lowest).eq(own.highest) && (before === undefined || D(before).eq(own.lowest));
    return agrees ? toPlain(own.lowest) : null;
  }
  if (before !== undefined) return toPlain(before);
  const after = told.find((one) => one.month > month)?.began;
  return after && D(after.lowest).eq(after.highest) ? toPlain(after.lowest) : null;
}

/** Whether all balances that the ledger tells until the end of the month agree with its movements. */
export function addsUpUntil(months: readonly LedgerMonth[], month: string): boolean {
  const told = months.flatMap(({ began, ...of }) =>
    began === null || of.month > month ? [] : [began.lowest, began.highest],
  );
  return told.every((one) => D(one).eq(told[0] ?? 0));
}
