import { sql } from 'drizzle-orm';
import type { Statement } from '#contract/statements.ts';
import { D, toPlain } from '#domain/decimal.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';

export type Line = Statement['lines'][number];
export interface Period {
  from: Date;
  to: Date;
}

interface FillRow extends Record<string, unknown> {
  at: string;
  platform: string;
  token: string;
  side: 'buy' | 'sell';
  size: string;
  price: string;
  profit: string;
  fee: string;
  trade_id: string | null;
}

/** The movements of the user's paper wallets: each fill's profit and fee, and what the wallets began with. */
export async function listPaperLines(db: Db, userId: string, { from, to }: Period): Promise<Line[]> {
  const within = sql`between ${from.toISOString()}::timestamptz and ${to.toISOString()}::timestamptz - interval '1 microsecond'`;
  const { rows: fills } = await db.execute<FillRow>(sql`
    select fill.created_at as at, fill.platform, fill.token, fill.side, fill.size::text, fill.price::text,
      fill.profit::text, fill.fee::text, attempt.trade_id
    from paper_fills as fill
    left join paper_orders as "order" on "order".id = fill.order_id
    left join order_attempts as attempt on attempt.client_order_id = "order".client_order_id
    where fill.user_id = ${userId} and fill.created_at ${within}
    order by fill.created_at, fill.id`);
  const { rows: wallets } = await db.execute<{ at: string; platform: string; amount: string }>(sql`
    select opened_at as at, platform, (balance - realised_profit + fees_paid)::text as amount from paper_accounts
    where user_id = ${userId} and opened_at ${within}`);
  const lines = [
    ...wallets.map(
      ({ at, platform, amount }): Line => ({
        at: iso(at),
        kind: 'deposit',
        text: `Paper balance of ${platform}`,
        amount: toPlain(amount),
      }),
    ),
    ...fills.flatMap(linesOfFill),
  ];
  // Stable: a fill's lines stay together.
  return lines.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function linesOfFill(fill: FillRow): Line[] {
  const { platform, token, side, size, price, profit, fee } = fill;
  const what = `${side === 'buy' ? 'Bought' : 'Sold'} ${toPlain(size)} ${token} at ${toPlain(price)} on ${platform}`;
  const common = { at: iso(fill.at), ...(fill.trade_id === null ? {} : { tradeId: fill.trade_id }) };
  return [
    ...(D(profit).isZero()
      ? []
      : [{ ...common, kind: 'trade' as const, text: what, amount: toPlain(profit) }]),
    ...(D(fee).isZero()
      ? []
      : [{ ...common, kind: 'fee' as const, text: `Fee: ${what}`, amount: toPlain(D(fee).negated()) }]),
  ];
}

/** What is known without an exchange's ledger: closed positions, each at its closing. */
export async function listKnownLines(db: Db, userId: string, { from, to }: Period): Promise<Line[]> {
  const { rows } = await db.execute<{
    closed_at: string;
    trade_id: string;
    token: string;
    side: string;
    gross: string;
    fees: string | null;
    funding: string | null;
  }>(sql`
    select closed_at, trade_id, token, side, (realised_profit - coalesce(funding, 0))::text as gross, fees::text, funding::text
    from closed_positions
    where user_id = ${userId} and realised_profit is not null and closed_at >= ${from.toISOString()}::timestamptz
      and closed_at < ${to.toISOString()}::timestamptz
    order by closed_at, id`);
  return rows.flatMap(({ closed_at, trade_id: tradeId, token, side, gross, fees, funding }) => {
    const line = (kind: Line['kind'], text: string, amount: string): Line => ({
      at: iso(closed_at),
      kind,
      text,
      amount: toPlain(amount),
      tradeId,
    });
    const position = `${token} ${side}`;
    return [
      line('trade', `Closed ${position}`, gross),
      ...(fees === null ? [] : [line('fee', `Fees of ${position}`, D(fees).negated().toFixed())]),
      ...(funding === null || D(funding).isZero()
        ? []
        : [line('funding', `Funding of ${position}`, funding)]),
    ];
  });
}

/** By month of the zone, oldest first: what paper wallets received and what trading changed. */
export async function listPaperMonths(
  db: Db,
  userId: string,
  timeZone: string,
): Promise<{ month: string; deposits: string; traded: string }[]> {
  const { rows } = await db.execute<{ month: string; deposits: string; traded: string }>(sql`
    select to_char(at at time zone ${timeZone}, 'YYYY-MM') as month, sum(deposit)::text as deposits, sum(traded)::text as traded
    from (
      select opened_at as at, balance - realised_profit + fees_paid as deposit, 0 as traded from paper_accounts
      where user_id = ${userId}
      union all
      select created_at, 0, profit - fee from paper_fills where user_id = ${userId}
    ) as movements
    group by 1 order by 1`);
  return rows;
}

/** A record further away does not tell the open profit of an instant; accounts are recorded every hour. */
const RECORD_LASTS = sql`interval '3 hours'`;

/**
 * Profit of the user's open positions, from the record of each account nearest to the instant; null where an account has
 * none near it. An account takes part from its first record on, and one that is no longer used until its last.
 */
export async function readOpenProfit(
  db: Db,
  { userId, mode, at }: { userId: string; mode: ExchangeMode; at: Date },
): Promise<string | null> {
  const used = (await listAccounts(db, { userId })).map(({ exchangePlatform }) => exchangePlatform);
  const instant = sql`${at.toISOString()}::timestamptz`;
  const records = sql`from equity_snapshots as record
    where record.user_id = ${userId} and record.exchange_platform = account.exchange_platform and exchange_mode = ${mode}`;
  const { rows } = await db.execute<{ accounts: number; recorded: number; profit: string | null }>(sql`
    select count(*)::int as accounts, count(nearest.open_profit)::int as recorded, sum(nearest.open_profit)::text as profit
    from account_figures as account
    left join lateral (
      select open_profit ${records} and at between ${instant} - ${RECORD_LASTS} and ${instant} + ${RECORD_LASTS}
      order by abs(extract(epoch from at - ${instant})), at limit 1) as nearest on true
    where account.user_id = ${userId}
      and exists (select ${records} and at <= ${instant} + ${RECORD_LASTS})
      and (${JSON.stringify(used)}::jsonb ? account.exchange_platform
        or exists (select ${records} and at >= ${instant} - ${RECORD_LASTS}))`);
  const [sum] = rows;
  if (sum === undefined || sum.profit === null || sum.recorded < sum.accounts) return null;
  return toPlain(sum.profit);
}

export async function readFeePercent(db: Queryable, userId: string): Promise<string> {
  const { rows } = await db.execute<{ percent: string }>(
    sql`select percent::text from performance_fees where user_id = ${userId}`,
  );
  return toPlain(rows[0]?.percent ?? '0');
}

export async function storeFeePercent(
  db: Queryable,
  { userId, percent, at }: { userId: string; percent: string; at: Date },
): Promise<void> {
  await db.execute(sql`
    insert into performance_fees (user_id, percent, updated_at) values (${userId}, ${percent}, ${at.toISOString()})
    on conflict (user_id) do update set percent = excluded.percent, updated_at = excluded.updated_at`);
}

const iso = (text: string) => new Date(text).toISOString();
