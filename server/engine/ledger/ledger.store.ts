import { and, desc, eq, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { LedgerEntry } from '#server/exchanges/exchange.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { ledgerCoverage, type ledgerEntries } from '#server/platform/db/schema.ts';

/** An account at an exchange as its ledger is kept. */
export interface LedgerOwner {
  userId: string;
  exchangePlatform: string;
  exchangeMode: ExchangeMode;
  /** Kind and id of the account at the exchange: another kind or id has another ledger. */
  account: string;
}

export interface Period {
  from: Date;
  to: Date;
}

const isOf = (
  table: typeof ledgerCoverage | typeof ledgerEntries,
  { userId, exchangePlatform, exchangeMode, account }: LedgerOwner,
) =>
  and(
    eq(table.userId, userId),
    eq(table.exchangePlatform, exchangePlatform),
    eq(table.exchangeMode, exchangeMode),
    eq(table.account, account),
  );

/** The id of the account of the key, and since when a key of it is stored; null without a stored key. */
export async function readKeyedAccount(
  db: Queryable,
  { userId, exchangePlatform }: Pick<LedgerOwner, 'userId' | 'exchangePlatform'>,
): Promise<{ accountId: string; since: Date } | null> {
  const { rows } = await db.execute<{ account_id: string; since: string }>(sql`
    select coalesce(account_id, '') as account_id, coalesce(account_since, updated_at) as since
    from exchange_credentials where user_id = ${userId} and exchange_platform = ${exchangePlatform}`);
  const [row] = rows;
  return row === undefined ? null : { accountId: row.account_id, since: new Date(row.since) };
}

/** The latest period that was read without a hole. */
export async function readCoverage(db: Queryable, owner: LedgerOwner): Promise<Period | null> {
  const [row] = await db
    .select({ from: ledgerCoverage.coveredFrom, to: ledgerCoverage.coveredUntil })
    .from(ledgerCoverage)
    .where(isOf(ledgerCoverage, owner))
    .orderBy(desc(ledgerCoverage.coveredFrom))
    .limit(1);
  return row ?? null;
}

/**
 * Stores the entries (newest first) of a period that was read whole, and extends the coverage from `before`, in one
 * transaction. Stores nothing and answers false if the coverage is another one by now.
 */
export async function storePeriod(
  db: Db,
  options: {
    owner: LedgerOwner;
    before: Period | null;
    covered: Period;
    entries: readonly LedgerEntry[];
    /** Checked in the transaction. */
    isStillAccount: (tx: Queryable) => Promise<boolean>;
  },
): Promise<boolean> {
  const { owner, before, covered, entries } = options;
  return await db.transaction(async (tx) => {
    if (!(await options.isStillAccount(tx))) return false;
    const period = { coveredFrom: covered.from, coveredUntil: covered.to };
    const written =
      before === null
        ? await tx
            .insert(ledgerCoverage)
            .values({ ...owner, ...period })
            .onConflictDoNothing()
            .returning({ userId: ledgerCoverage.userId })
        : await tx
            .update(ledgerCoverage)
            .set({ coveredUntil: covered.to })
            .where(
              and(
                isOf(ledgerCoverage, owner),
                eq(ledgerCoverage.coveredFrom, before.from),
                eq(ledgerCoverage.coveredUntil, before.to),
              ),
            )
            .returning({ userId: ledgerCoverage.userId });
    if (written.length === 0) return false;
    await insertEntries(tx, owner, entries.toReversed());
    return true;
  });
}

/** In this order. An entry that is known stays as it is. */
async function insertEntries(
  db: Queryable,
  { userId, exchangePlatform, exchangeMode, account }: LedgerOwner,
  entries: readonly LedgerEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await db.execute(sql`
    insert into ledger_entries (user_id, exchange_platform, exchange_mode, account, entry_id, at, position, kind, amount,
      balance, token, client_order_id, text)
    select ${userId}::uuid, ${exchangePlatform}, ${exchangeMode}, ${account}, entry.value ->> 'id',
      (entry.value ->> 'at')::timestamptz, last.position + entry.index, entry.value ->> 'kind',
      (entry.value ->> 'amount')::numeric, (entry.value ->> 'balance')::numeric, entry.value ->> 'token',
      entry.value ->> 'clientOrderId', entry.value ->> 'text'
    from json_array_elements(${JSON.stringify(entries)}::json) with ordinality as entry (value, index),
      (select coalesce(max(position), 0) as position from ledger_entries
        where user_id = ${userId} and exchange_platform = ${exchangePlatform} and exchange_mode = ${exchangeMode}
          and account = ${account}) as last
    order by entry.index
    on conflict do nothing`);
}
