import { sql } from 'drizzle-orm';
import { toPlain } from '#domain/decimal.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { LedgerMonth } from '#domain/results/statement.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { Line, Period } from './statements.store.ts';

/** A period in which an account's ledger was read without a hole. */
export interface CoveredLedger extends Period {
  userId: string;
  exchangePlatform: string;
  exchangeMode: ExchangeMode;
  account: string;
}

/** All that was read of the user's accounts in this mode, oldest first. */
export async function listCoveredLedgers(
  db: Db,
  { userId, exchangeMode }: { userId: string; exchangeMode: ExchangeMode },
): Promise<CoveredLedger[]> {
  const { rows } = await db.execute<{ platform: string; account: string; from: string; to: string }>(sql`
    select exchange_platform as platform, account, covered_from as from, covered_until as to from ledger_coverage
    where user_id = ${userId} and exchange_mode = ${exchangeMode}
    order by covered_from, exchange_platform, account`);
  return rows.map(({ platform, account, from, to }) => ({
    ...{ userId, exchangeMode, exchangePlatform: platform, account },
    from: new Date(from),
    to: new Date(to),
  }));
}

const isOf = ({ userId, exchangePlatform, exchangeMode, account }: CoveredLedger) =>
  sql`entry.user_id = ${userId} and entry.exchange_platform = ${exchangePlatform}
    and entry.exchange_mode = ${exchangeMode} and entry.account = ${account}`;
const isWithin = ({ from, to }: Period) =>
  sql`entry.at >= ${from.toISOString()}::timestamptz and entry.at < ${to.toISOString()}::timestamptz`;

/** The covered period by month of the zone, oldest first. */
export async function listLedgerMonths(
  db: Db,
  ledger: CoveredLedger,
  timeZone: string,
): Promise<LedgerMonth[]> {
  const { rows } = await db.execute<{
    month: string;
    deposits: string;
    moved: string;
    lowest: string | null;
    highest: string | null;
    last: string | null;
  }>(sql`
    with told as (
      select entry.at, entry.position, entry.kind, entry.amount,
        entry.balance - sum(entry.amount) over (order by entry.at, entry.position) as began
      from ledger_entries as entry where ${isOf(ledger)} and ${isWithin(ledger)})
    select to_char(at at time zone ${timeZone}, 'YYYY-MM') as month, sum(amount)::text as moved,
      coalesce(sum(amount) filter (where kind in ('deposit', 'withdrawal')), 0)::text as deposits,
      min(began)::text as lowest, max(began)::text as highest,
      ((array_agg(began order by at desc, position desc) filter (where began is not null))[1])::text as last
    from told group by 1 order by 1`);
  return rows.map(({ month, deposits, moved, lowest, highest, last }) => ({
    ...{ month, deposits, moved },
    began: lowest === null || highest === null || last === null ? null : { lowest, highest, last },
  }));
}

/** The movements of the account in the period, in the exchange's order. */
export async function listLedgerLines(db: Db, ledger: CoveredLedger, period: Period): Promise<Line[]> {
  const { rows } = await db.execute<{
    at: string;
    kind: Line['kind'];
    text: string;
    amount: string;
    trade_id: string | null;
  }>(sql`
    select entry.at, entry.kind, entry.text, entry.amount::text, attempt.trade_id
    from ledger_entries as entry
    left join order_attempts as attempt on attempt.client_order_id = entry.client_order_id
    where ${isOf(ledger)} and ${isWithin(period)}
    order by entry.at, entry.position`);
  return rows.map(({ at, kind, text, amount, trade_id: tradeId }) => ({
    at: new Date(at).toISOString(),
    kind,
    text: `${text} on ${ledger.exchangePlatform}`,
    amount: toPlain(amount),
    ...(tradeId === null ? {} : { tradeId }),
  }));
}
