import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import type { AttentionCondition } from '#contract/attention.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { exchangeCredentials, users } from '#server/platform/db/schema.ts';

/*
 * One user per exchange account and mode: two users would each size their orders with the whole balance. The account
 * belongs to the user who connected it first; when that key is removed or replaced, it passes to the next user.
 */

interface AccountClaim {
  /** When the user's first key for the account was stored; the earliest user owns the account. Null: account unknown. */
  since: Date | null;
  /** Name of the user who connected earlier, or null. */
  usedBy: string | null;
}

/** Older rows without `account_since` use the time when their key was entered. */
const sinceOf = (table: string) => `coalesce(${table}.account_since, ${table}.updated_at)`;

/**
 * For queries on `exchange_credentials`: the name of the user who connected the same account first, or null if that is
 * the row's own user. Columns are spelled out because Drizzle omits table names in single-table queries.
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
 * Claims an account for the user by the exchange's account id (a sub-account has its own id). Call it in the transaction
 * that writes the key, before the write: claims to the same account are serialized across instances, so that the second
 * of two concurrent users sees the first. Paper mode has no accounts.
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
  // A separate statement sees rows that were committed during the wait.
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

/** Users with a key for the account, in the order in which they connected. */
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

/** One condition for every user who cannot trade because another user connected the same exchange account first. */
export async function duplicateAccountConditions({
  config,
  db,
}: Pick<Deps, 'config' | 'db'>): Promise<AttentionCondition[]> {
  const mode = config.exchangeMode;
  if (mode === 'paper') return [];
  const rows = await db
    .select({ key: exchangeCredentials, username: users.username, accountUsedBy })
    .from(exchangeCredentials)
    .innerJoin(users, eq(users.id, exchangeCredentials.userId))
    .where(and(eq(exchangeCredentials.exchangeMode, mode), isNotNull(exchangeCredentials.accountId)))
    .orderBy(asc(users.username));
  return rows
    .filter((row) => row.accountUsedBy !== null)
    .map(({ key, username, accountUsedBy: usedBy }) => ({
      code: 'duplicate_exchange_account',
      severity: 'critical',
      since: (key.accountSince ?? key.updatedAt).toISOString(),
      text: `${key.exchangePlatform} account ${key.accountId} is connected for ${usedBy} and ${username}. Nothing is ordered for ${username}, who was later, until one of the two keys is removed or replaced.`,
      link: `/settings?userId=${key.userId}`,
      action: 'Open settings',
    }));
}
