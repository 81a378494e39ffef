import { and, eq, sql } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { exchangeCredentials, users } from '#server/platform/db/schema.ts';

/*
 * One user per exchange account and mode: two would each size their orders by the whole balance. The user who was
 * connected first has the account; it belongs to the next one as soon as that key is removed or replaced.
 */

/** An account by the exchange's own id. A sub-account has an id of its own and is another account. */
export interface AccountIdentity {
  platform: ExchangePlatform;
  mode: 'demo' | 'live';
  accountId: string;
}

export interface AccountClaim {
  /** When the user's first key of the account was stored; it decides who of several was first. */
  since: Date;
  /** User name of whoever was first; null: this user. */
  usedBy: string | null;
}

/** Rows from before `account_since` was kept count from when their key was entered. */
const sinceOf = (table: string) => `coalesce(${table}.account_since, ${table}.updated_at)`;

/**
 * For a query of `exchange_credentials`: the user name of whoever was connected to the same account before the row's
 * user; null: nobody. Named in full because Drizzle leaves out the table where a query has only one.
 */
export const accountUsedBy = sql<string | null>`(
  select u.username from exchange_credentials other join users u on u.id = other.user_id
  where other.exchange_platform = exchange_credentials.exchange_platform
    and other.account_id = exchange_credentials.account_id
    and other.exchange_mode = exchange_credentials.exchange_mode
    and (${sql.raw(sinceOf('other'))}, other.user_id)
      < (${sql.raw(sinceOf('exchange_credentials'))}, exchange_credentials.user_id)
  order by ${sql.raw(sinceOf('other'))}, other.user_id limit 1)`.as('account_used_by');

/**
 * To be asked before a key of the account is written for the user, in the same transaction: claims of one account come
 * one after another on all instances, so of two users at once the second sees the first.
 */
export async function claimAccount(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  { userId, account }: { userId: string; account: AccountIdentity },
): Promise<AccountClaim> {
  const { platform, mode, accountId } = account;
  const name = `exchange-account:${platform}:${mode}:${accountId}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  // A statement of its own: it sees what was committed while this waited.
  const connected = await listConnected(tx, account);
  const own = connected.findIndex((row) => row.userId === userId);
  const [first] = connected;
  const known = connected[own];
  if (known !== undefined)
    return { since: known.since, usedBy: own === 0 ? null : (first?.username ?? null) };
  // Later than all others, also where their instance's clock is ahead.
  const last = connected.at(-1)?.since.getTime() ?? 0;
  const since = new Date(Math.max(clock.now().getTime(), last + 1));
  return { since, usedBy: first?.username ?? null };
}

/** Users with a key of the account, the first one first. */
async function listConnected(db: Queryable, { platform, mode, accountId }: AccountIdentity) {
  const rows = await db
    .select({
      userId: exchangeCredentials.userId,
      username: users.username,
      accountSince: exchangeCredentials.accountSince,
      updatedAt: exchangeCredentials.updatedAt,
    })
    .from(exchangeCredentials)
    .innerJoin(users, eq(users.id, exchangeCredentials.userId))
    .where(
      and(
        eq(exchangeCredentials.exchangePlatform, platform),
        eq(exchangeCredentials.exchangeMode, mode),
        eq(exchangeCredentials.accountId, accountId),
      ),
    )
    .orderBy(
      sql`coalesce(${exchangeCredentials.accountSince}, ${exchangeCredentials.updatedAt})`,
      exchangeCredentials.userId,
    );
  return rows.map(({ accountSince, updatedAt, ...user }) => ({ ...user, since: accountSince ?? updatedAt }));
}
