import { and, eq, getTableColumns, inArray, isNull, ne, or } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { exchangeCredentials, trades } from '#server/platform/db/schema.ts';
import { accountUsedBy } from './account-claims.ts';

export type CredentialsRow = typeof exchangeCredentials.$inferSelect;

/** `accountUsedBy`: the user who connected the same account first, in the key's mode; null: this user. */
export type StoredRow = CredentialsRow & { accountUsedBy: string | null };

const storedColumns = { ...getTableColumns(exchangeCredentials), accountUsedBy };

/** A user has at most one set of credentials for each exchange. */
export interface CredentialsOwner {
  userId: string;
  platform: ExchangePlatform;
}

const ownedBy = ({ userId, platform }: CredentialsOwner) =>
  and(eq(exchangeCredentials.userId, userId), eq(exchangeCredentials.exchangePlatform, platform));

export async function findCredentials(db: Queryable, owner: CredentialsOwner): Promise<StoredRow | null> {
  const [row] = await db.select(storedColumns).from(exchangeCredentials).where(ownedBy(owner));
  return row ?? null;
}

/** In the order of the owners, in one statement. */
export async function findCredentialsOf(
  db: Queryable,
  owners: readonly CredentialsOwner[],
): Promise<(StoredRow | null)[]> {
  const rows = await db
    .select(storedColumns)
    .from(exchangeCredentials)
    .where(
      isOneOf(
        exchangeCredentials.userId,
        owners.map(({ userId }) => userId),
      ),
    );
  return owners.map(
    ({ userId, platform }) =>
      rows.find((row) => row.userId === userId && row.exchangePlatform === platform) ?? null,
  );
}

export const listCredentials = (db: Queryable): Promise<StoredRow[]> =>
  db.select(storedColumns).from(exchangeCredentials);

/** Changes only this key, not a key that was entered since. False when nothing changed. */
export async function updateCredentials(
  db: Queryable,
  row: CredentialsRow,
  changes: Partial<KeyFindings>,
): Promise<boolean> {
  const updated = await db
    .update(exchangeCredentials)
    .set(changes)
    .where(
      and(
        eq(exchangeCredentials.userId, row.userId),
        eq(exchangeCredentials.exchangePlatform, row.exchangePlatform),
        eq(exchangeCredentials.sealed, row.sealed),
        // Keep the first reason: later ones follow from it.
        changes.rejectedAt ? isNull(exchangeCredentials.rejectedAt) : undefined,
      ),
    )
    .returning({ userId: exchangeCredentials.userId });
  return updated.length > 0;
}

/** Facts about a key that are learned after it was entered. */
type KeyFindings = Omit<
  CredentialsRow,
  'userId' | 'exchangePlatform' | 'sealed' | 'apiKeyHint' | 'updatedAt'
>;

/** No order is placed with a key until the exchange has reported its permissions and its account. */
export const isVerified = ({ inspectedAt, accountId }: CredentialsRow): boolean =>
  inspectedAt !== null && accountId !== null;

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

/** Returns the deleted row; null if there was none. */
export async function deleteCredentials(
  db: Queryable,
  owner: CredentialsOwner,
): Promise<CredentialsRow | null> {
  const [removed] = await db.delete(exchangeCredentials).where(ownedBy(owner)).returning();
  return removed ?? null;
}

/** Settling an order needs the key that placed the order. */
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

/**
 * Tokens of positions opened here in this mode that may be open in the stored key's account (null: unknown) but not in
 * the next key's account.
 */
export async function listTokensHeldInStored(
  db: Queryable,
  { userId, platform }: CredentialsOwner,
  accounts: {
    mode: Exclude<Config['exchangeMode'], 'paper'>;
    stored: string | null;
    next: string | null;
  },
): Promise<string[]> {
  const { mode, stored, next } = accounts;
  const { exchangeAccountId } = trades;
  const rows = await db
    .selectDistinct({ token: trades.token })
    .from(trades)
    .where(
      and(
        eq(trades.userId, userId),
        eq(trades.exchangePlatform, platform),
        eq(trades.exchangeMode, mode),
        inArray(trades.fillStatus, ['filled', 'partial']),
        isNull(trades.positionClosedAt),
        stored === null ? undefined : or(isNull(exchangeAccountId), eq(exchangeAccountId, stored)),
        next === null ? undefined : or(isNull(exchangeAccountId), ne(exchangeAccountId, next)),
      ),
    )
    .orderBy(trades.token);
  return rows.map(({ token }) => token);
}

export interface TradeInStored {
  tradeId: string;
  token: string;
  createdAt: Date;
  /** It has opened a position that is not recorded as closed. */
  isOpen: boolean;
  /** Its orders have ended. */
  isSettled: boolean;
}

/** Trades in the stored key's account (null: unknown) in this mode that are under way or whose position is open. */
export async function listTradesInStored(
  db: Queryable,
  { userId, platform }: CredentialsOwner,
  account: { mode: Exclude<Config['exchangeMode'], 'paper'>; accountId: string | null },
): Promise<TradeInStored[]> {
  const { mode, accountId } = account;
  const isFilled = inArray(trades.fillStatus, ['filled', 'partial']);
  const rows = await db
    .select({
      tradeId: trades.id,
      token: trades.token,
      createdAt: trades.createdAt,
      state: trades.state,
      fillStatus: trades.fillStatus,
      positionClosedAt: trades.positionClosedAt,
    })
    .from(trades)
    .where(
      and(
        eq(trades.userId, userId),
        eq(trades.exchangePlatform, platform),
        eq(trades.exchangeMode, mode),
        or(ne(trades.state, 'done'), and(isFilled, isNull(trades.positionClosedAt))),
        accountId === null
          ? undefined
          : or(isNull(trades.exchangeAccountId), eq(trades.exchangeAccountId, accountId)),
      ),
    )
    .orderBy(trades.createdAt);
  return rows.map(({ state, fillStatus, positionClosedAt, ...trade }) => ({
    ...trade,
    isOpen: (fillStatus === 'filled' || fillStatus === 'partial') && positionClosedAt === null,
    isSettled: state === 'done',
  }));
}

/** Makes orders that wait for a key continue immediately. */
export async function wakeUnsettledTrades(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'jobs'>,
  { userId, platform }: CredentialsOwner,
): Promise<void> {
  const woken = await tx
    .update(trades)
    .set({ dueAt: deps.clock.now() })
    .where(and(eq(trades.userId, userId), eq(trades.exchangePlatform, platform), ne(trades.state, 'done')))
    .returning({ tradeId: trades.id });
  for (const { tradeId } of woken) await deps.jobs.send(tx, 'advance-trade', { tradeId });
}
