import type { Statement } from '#contract/statements.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { closingAfter, highWaterMarkFees } from '#domain/results/statement.ts';
import type { Deps } from '#server/deps.ts';
import { monthBounds, monthOf } from '#server/platform/month-bounds.ts';
import { readLedgerStatement } from './read-ledger-statement.ts';
import {
  listKnownLines,
  listPaperLines,
  listPaperMonths,
  readFeePercent,
  readOpenProfit,
} from './statements.store.ts';

/** A month of a user's wallet, by the ledger of paper mode or of the exchanges; without one it says 'incomplete'. */
export async function readStatement(
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>,
  user: { id: string; username: string },
  month = monthOf(deps.clock.now(), deps.config.displayTimezone),
): Promise<Statement> {
  const { displayTimezone: timeZone, exchangeMode } = deps.config;
  const period = monthBounds(month, timeZone);
  const now = deps.clock.now();
  const openProfitAt = async (at: Date) =>
    period.from > now ? null : await readOpenProfit(deps.db, { userId: user.id, mode: exchangeMode, at });
  const [percent, openProfitAtStart, openProfitAtEnd] = await Promise.all([
    readFeePercent(deps.db, user.id),
    openProfitAt(period.from),
    openProfitAt(new Date(Math.min(period.to.getTime(), now.getTime()))),
  ]);
  const common = {
    userId: user.id,
    username: user.username,
    month,
    timeZone,
    from: period.from.toISOString(),
    to: period.to.toISOString(),
    at: now.toISOString(),
    openProfitAtStart,
    openProfitAtEnd,
  };
  if (exchangeMode !== 'paper') {
    const told = await readLedgerStatement(deps, { userId: user.id, month, period, percent });
    if (told !== null) return { ...common, ...told, complete: true };
    return {
      ...common,
      complete: false,
      openingBalance: null,
      closingBalance: null,
      lines: await listKnownLines(deps.db, user.id, period),
      fee: { percent, highWaterMark: null, due: null },
    };
  }
  const [lines, months] = await Promise.all([
    listPaperLines(deps.db, user.id, period),
    listPaperMonths(deps.db, user.id, timeZone),
  ]);
  const before = months.filter((one) => one.month < month);
  const balanceAfter = (of: typeof months) =>
    toPlain(of.reduce((balance, { deposits, traded }) => balance.plus(deposits).plus(traded), D(0)));
  const openingBalance = balanceAfter(before);
  const closingBalance = closingAfter(openingBalance, lines);
  const shown = [
    ...before,
    months.find((one) => one.month === month) ?? { month, deposits: '0', traded: '0' },
  ];
  const fees = highWaterMarkFees({
    percent,
    openingBalance: '0',
    months: shown.map(({ deposits }, index) => ({
      deposits,
      closingBalance: balanceAfter(shown.slice(0, index + 1)),
    })),
  });
  const { highWaterMark, due } = fees.at(-1) ?? { highWaterMark: '0', due: '0.00' };
  return {
    ...common,
    complete: true,
    openingBalance,
    closingBalance,
    lines,
    fee: { percent, highWaterMark, due },
  };
}
