import { and, asc, eq, isNotNull } from 'drizzle-orm';
import type { AttentionCondition } from '#contract/attention.ts';
import type { Deps } from '#server/deps.ts';
import { exchangeCredentials, users } from '#server/platform/db/schema.ts';
import { accountUsedBy } from './account-claims.ts';

/** Every user for whom nothing is ordered because another user was connected to the exchange account before. */
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
