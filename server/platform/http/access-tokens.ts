import { createHash, randomBytes } from 'node:crypto';
import { and, asc, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import { TOKEN_PREFIX, TOKEN_SCOPES, type TokenScope } from '#contract/tokens.ts';
import type { Db, Queryable } from '../db/database.ts';
import { apiTokens, users } from '../db/schema.ts';
import { timeOrderedId } from '../ids.ts';
import { type Session, userOfSession } from './access-sessions.ts';

const TOKEN_BYTES = 32;
const TOKEN_SHAPE = new RegExp(`^${TOKEN_PREFIX}[\\w-]{43}$`);
const HINT_CHARACTERS = 4;
/** `last_used_at` is written at most this often, not with every request. */
const USED_EVERY_MS = 60_000;

export type ApiTokenRow = typeof apiTokens.$inferSelect;

/** Stores a new token of which only the hash is kept; `token` is the only copy. */
export async function createApiToken(options: {
  db: Queryable;
  userId: string;
  name: string;
  scopes: readonly TokenScope[];
  expiresAt: Date | null;
  now: Date;
}): Promise<{ token: string; row: ApiTokenRow }> {
  const { db, userId, name, scopes, expiresAt, now } = options;
  const token = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const row: ApiTokenRow = {
    id: timeOrderedId(),
    userId,
    name,
    tokenHash: hashOf(token),
    hint: `…${token.slice(-HINT_CHARACTERS)}`,
    scopes: TOKEN_SCOPES.filter((scope) => scopes.includes(scope)),
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
  };
  await db.insert(apiTokens).values(row);
  return { token, row };
}

/**
 * The session that a token stands for, with its owner's current data, or null when the token does not count: unknown,
 * expired, of an inactive user, or with a scope that its owner has lost.
 */
export async function findTokenSession(options: {
  db: Db;
  token: string;
  now: Date;
}): Promise<Session | null> {
  const { db, token, now } = options;
  if (!TOKEN_SHAPE.test(token)) return null;
  const { id, name, scopes, lastUsedAt } = apiTokens;
  const [row] = await db
    .select({ token: { id, name, scopes }, lastUsedAt, user: userOfSession })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.tokenHash, hashOf(token)), isLiving(now)));
  if (row === undefined) return null;
  await noteUse(db, { id: row.token.id, lastUsedAt: row.lastUsedAt, now });
  return { id: row.token.id, user: row.user, keyRevealedUntil: null, stepUpUntil: null, token: row.token };
}

/** Whether a token still counts for a user of this role. */
export async function isTokenLiving(options: {
  db: Db;
  id: string;
  isAdmin: boolean;
  now: Date;
}): Promise<boolean> {
  const { db, id, isAdmin, now } = options;
  const rows = await db
    .select({ id: apiTokens.id })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.id, id), eq(users.isAdmin, isAdmin), isLiving(now)));
  return rows.length > 0;
}

const isLiving = (now: Date) =>
  and(
    eq(users.isActive, true),
    or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, now)),
    or(eq(users.isAdmin, true), sql`not 'admin' = any(${apiTokens.scopes})`),
  );

async function noteUse(
  db: Db,
  { id, lastUsedAt, now }: { id: string; lastUsedAt: Date | null; now: Date },
): Promise<void> {
  const due = new Date(now.getTime() - USED_EVERY_MS);
  if (lastUsedAt !== null && lastUsedAt > due) return;
  await db
    .update(apiTokens)
    .set({ lastUsedAt: now })
    .where(and(eq(apiTokens.id, id), or(isNull(apiTokens.lastUsedAt), lte(apiTokens.lastUsedAt, due))));
}

/** All tokens of a user, also those that have expired. */
export async function listTokensOf(db: Queryable, userId: string): Promise<ApiTokenRow[]> {
  return await db.select().from(apiTokens).where(eq(apiTokens.userId, userId)).orderBy(asc(apiTokens.id));
}

/** Null when the user has no such token. */
export async function deleteTokenOf(
  db: Queryable,
  { userId, id }: { userId: string; id: string },
): Promise<ApiTokenRow | null> {
  const [deleted] = await db
    .delete(apiTokens)
    .where(and(eq(apiTokens.id, id), eq(apiTokens.userId, userId)))
    .returning();
  return deleted ?? null;
}

/** Ends every API token of a user. */
export async function endTokensOf({ db, userId }: { db: Queryable; userId: string }): Promise<void> {
  await db.delete(apiTokens).where(eq(apiTokens.userId, userId));
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
