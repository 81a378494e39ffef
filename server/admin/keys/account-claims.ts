import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import type { AttentionCondition } from '#contract/attention.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { exchangeCredentials, users } from '#server/platform/db/schema.ts';

/*
 * One user per exchange account and mode: two would each size their orders by the whole balance. The user who connected
 * first has the account, and the next user has it as soon as that key is removed or replaced.
 */

interface AccountClaim {
  /** When the user's first key of the account was stored; the earliest user has the account. Null: no account is known. */
  since: Date | null;
  /** The name of the user who was connected before; null: nobody was. */
  usedBy: string | null;
}

/** Older rows without `account_since` count from the time their key was entered. */
const sinceOf = (table: string) => `coalesce(${table}.account_since, ${table}.updated_at)`;

/**
 * For a query of `exchange_credentials`: the name of the user who connected to the same account first; null: the row's
 * own user. Columns are written out because Drizzle leaves out the table in a query of one table.
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
 * The user's claim to an account, by the exchange's id of it (a sub-account has its own). Call it in the transaction that
 * writes the key, and before the write: claims of one account come one after another on all instances, so that of two
 * users at once the second sees the first. There are no accounts in paper mode.
 */
export async function claimAccount(
  tx: Tx,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  { userId, platform, accountId }: { userId: string; platform: ExchangePlatform; accountId: string | null },
): Promise<AccountClaim> {
  const mode = config.exchangeMode;
  if (mode === 'paper' || accountId === null) return { since: null, usedBy: null };
  const name = `exchange-account:${platform}:${mode}:${accountId}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  // A statement of its own sees what was committed during the wait.
  const connected = await listConnected(tx, { platform, mode, accountId });
  const [first] = connected;
  const own = connected.find((row) => row.userId === userId);
  if (own !== undefined)
    return { since: own.since, usedBy: own === first ? null : (first?.username ?? null) };
  // Later than all others, even if another instance's clock is ahead.
  const last = connected.at(-1)?.since.getTime() ?? 0;
  const since = new Date(Math.max(clock.now().getTime(), last + 1));
  return { since, usedBy: first?.username ?? null };
}

/** Users with a key of the account, the first one first. */
async function listConnected(
  db: Queryable,
  { platform, mode, accountId }: { platform: ExchangePlatform; mode: 'demo' | 'live'; accountId: string },
) {
  const since = sql`${sql.raw(sinceOf('exchange_credentials'))}`.mapWith(exchangeCredentials.updatedAt);
  return await db
    .select({ userId: exchangeCredentials.userId, username: users.username, since })
    .from(exchangeCredentials)
    .innerJoin(users, eq(users.id, exchangeCredentials.userId))
    .where(
      and(
        eq(exchangeCredentials.exchangePlatform, platform),
        eq(exchangeCredentials.exchangeMode, mode),
        eq(exchangeCredentials.accountId, accountId),
      ),
    )
    .orderBy(since, exchangeCredentials.userId);
}

/** A condition for every user who trades nothing because another user connected to the exchange account first. */
export async function duplicateAccountConditions({
  config,
  db,
}: Pick<Deps, 'config' | 'db'>): Promise<AttentionCondition[]> {
  const mode = config.exchangeMode;
  if (mode === 'paper') return [];
  const { userId, exchangePlatform, accountId, accountSince, updatedAt } = exchangeCredentials;
  const { username } = users;
  const rows = await db
    .select({ userId, username, exchangePlatform, accountId, accountSince, updatedAt, accountUsedBy })
    .from(exchangeCredentials)
    .innerJoin(users, eq(users.id, userId))
    .where(and(eq(exchangeCredentials.exchangeMode, mode), isNotNull(accountId)))
    .orderBy(asc(username));
  return rows.flatMap((row) => {
    if (row.accountUsedBy === null) return [];
    return [
      {
        code: 'duplicate_exchange_account',
        severity: 'critical' as const,
        since: (row.accountSince ?? row.updatedAt).toISOString(),
        text: `${row.exchangePlatform} account ${row.accountId} is connected for ${row.accountUsedBy} and ${row.username}. Nothing is ordered for ${row.username}, who was later, until one of the two keys is removed or replaced.`,
        link: `/settings?userId=${row.userId}`,
        action: 'Open settings',
      },
    ];
  });
}
