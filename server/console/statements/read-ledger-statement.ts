import type { Statement } from '#contract/statements.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { addsUpUntil, closingAfter, highWaterMarkFees, walletBefore } from '#domain/results/statement.ts';
import type { Deps } from '#server/deps.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import { monthBounds, monthOf, nextMonth } from '#server/platform/month-bounds.ts';
import {
  type CoveredLedger,
  listCoveredLedgers,
  listLedgerLines,
  listLedgerMonths,
} from './ledger-lines.store.ts';
import type { Period } from './statements.store.ts';

/** Ledgers are read every hour; a running month without a newer reading is not known. */
const NEWEST_WITHIN_MS = 24 * 3_600_000;

type Told = Pick<Statement, 'at' | 'openingBalance' | 'closingBalance' | 'lines' | 'fee'>;

/**
 * The month by what the exchanges' ledgers told; null where it is not covered whole, or where a told balance differs
 * from the sum of the movements. All accounts that the user used in the month take part.
 */
export async function readLedgerStatement(
  { db, clock, config, log }: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>,
  of: { userId: string; month: string; period: Period; percent: string },
): Promise<Told | null> {
  const { userId, month, period, percent } = of;
  const { displayTimezone: timeZone, exchangeMode } = config;
  const now = clock.now();
  const known = await listCoveredLedgers(db, { userId, exchangeMode });
  const ledgers = known.filter(({ from, to }) => from < period.to && to > period.from);
  const isCovered = ({ from, to }: CoveredLedger) =>
    from <= period.from && (to >= period.to || (now < period.to && isNewest(to, now)));
  const used = await listAccounts(db, { userId });
  const isRead = (platform: string) => ledgers.some((one) => one.exchangePlatform === platform);
  if (ledgers.length === 0 || !ledgers.every(isCovered)) return null;
  if (!used.every(({ exchangePlatform }) => isRead(exchangePlatform))) return null;

  const knownUntil = new Date(Math.min(...[period, ...ledgers].map(({ to }) => to.getTime())));
  const wallets = await Promise.all(
    ledgers.map(async (ledger) => {
      const months = await listLedgerMonths(db, ledger, timeZone);
      const lines = await listLedgerLines(db, ledger, { from: period.from, to: knownUntil });
      return { ledger, months, lines, before: walletBefore(months, month) };
    }),
  );
  for (const { before, months, ledger } of wallets) {
    if (before !== null) continue;
    const isTold = months.some(({ began }) => began !== null);
    const { exchangePlatform } = ledger;
    if (isTold) log.warn({ userId, exchangePlatform, month }, 'the ledger of an account does not add up');
    return null;
  }
  const openingAt = (name: string) =>
    toPlain(
      wallets
        .flatMap(({ before, months }) => [
          before ?? '0',
          ...months.filter((one) => one.month < name).map(({ moved }) => moved),
        ])
        .reduce((sum, amount) => sum.plus(amount), D(0)),
    );
  const openingBalance = openingAt(month);
  // Stable: movements of one account stay in order.
  const lines = wallets
    .flatMap((wallet) => wallet.lines)
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const closingBalance = closingAfter(openingBalance, lines);
  const moved = lines.filter(({ kind }) => kind === 'deposit' || kind === 'withdrawal');

  const isWhole = wallets.every(({ months }) => addsUpUntil(months, month));
  const earlier = monthsBetween(
    wallets
      .map(({ ledger }) => firstWholeMonth(ledger.from, timeZone))
      .sort()
      .at(-1) ?? month,
    month,
  );
  const fees = highWaterMarkFees({
    percent,
    openingBalance: openingAt(earlier[0] ?? month),
    months: [
      ...earlier.map((name) => ({
        closingBalance: openingAt(nextMonth(name)),
        deposits: toPlain(
          wallets
            .flatMap(({ months }) => months.filter((one) => one.month === name))
            .reduce((sum, { deposits }) => sum.plus(deposits), D(0)),
        ),
      })),
      { closingBalance, deposits: closingAfter('0', moved) },
    ],
  });
  const { highWaterMark, due } = fees.at(-1) ?? { highWaterMark: null, due: null };
  return {
    at: (now < period.to ? knownUntil : now).toISOString(),
    openingBalance,
    closingBalance,
    lines,
    // An earlier month that does not add up may hide a higher mark.
    fee: isWhole ? { percent, highWaterMark, due } : { percent, highWaterMark: null, due: null },
  };
}

const isNewest = (to: Date, now: Date) => now.getTime() - to.getTime() < NEWEST_WITHIN_MS;

function firstWholeMonth(from: Date, timeZone: string): string {
  const month = monthOf(from, timeZone);
  return monthBounds(month, timeZone).from < from ? nextMonth(month) : month;
}

/** From the first (included) to the last (excluded). */
function monthsBetween(first: string, last: string): string[] {
  const months = [];
  for (let month = first; month < last; month = nextMonth(month)) months.push(month);
  return months;
}
