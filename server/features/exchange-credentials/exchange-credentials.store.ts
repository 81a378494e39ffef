import { and, eq, ne } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { exchangeCredentials, trades } from '#server/platform/database/schema.ts';

export type CredentialsRow = typeof exchangeCredentials.$inferSelect;

/** A user has at most one set of credentials for each exchange. */
export interface CredentialsOwner {
  userId: string;
  platform: ExchangePlatform;
}

const ownedBy = ({ userId, platform }: CredentialsOwner) =>
  and(eq(exchangeCredentials.userId, userId), eq(exchangeCredentials.exchangePlatform, platform));

export async function findCredentials(
  db: Queryable,
  owner: CredentialsOwner,
): Promise<CredentialsRow | null> {
  const [row] = await db.select().from(exchangeCredentials).where(ownedBy(owner));
  return row ?? null;
}

export async function writeCredentials(db: Queryable, row: CredentialsRow): Promise<void> {
  const { userId: _userId, exchangePlatform: _platform, ...changes } = row;
  await db
    .insert(exchangeCredentials)
    .values(row)
    .onConflictDoUpdate({
      target: [exchangeCredentials.userId, exchangeCredentials.exchangePlatform],
      set: changes,
    });
}

export async function deleteCredentials(db: Queryable, owner: CredentialsOwner): Promise<boolean> {
  const removed = await db
    .delete(exchangeCredentials)
    .where(ownedBy(owner))
    .returning({ userId: exchangeCredentials.userId });
  return removed.length > 0;
}

/** An order of the user at the exchange is not settled: bringing it to its end needs the key that placed it. */
export async function hasUnsettledTrade(
  db: Queryable,
  { userId, platform }: CredentialsOwner,
): Promise<boolean> {
  const [row] = await db
    .select({ id: trades.id })
    .from(trades)
    .where(and(eq(trades.userId, userId), eq(trades.exchangePlatform, platform), ne(trades.state, 'done')))
    .limit(1);
  return row !== undefined;
}
