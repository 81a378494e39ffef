import { createHash, randomBytes } from 'node:crypto';
import { and, eq, gt, lt } from 'drizzle-orm';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Queryable } from '#server/platform/db/database.ts';
import { halfSignIns, users } from '#server/platform/db/schema.ts';
import { cookieOptions, isSecure } from '#server/platform/http/access-sessions.ts';
import type { UserRow } from '../users/user-rows.ts';

// A sign-in whose password was right and whose second factor is still missing. It is no session: nothing but the routes
// of the second factor reads its cookie.

const HALF_SIGN_IN_MS = 5 * 60_000;
const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[\w-]{43}$/;

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** Returns the token; only its hash is stored. */
export async function openHalfSignIn(db: Queryable, options: { userId: string; now: Date }): Promise<string> {
  const { userId, now } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await db.delete(halfSignIns).where(lt(halfSignIns.expiresAt, now));
  await db.insert(halfSignIns).values({
    tokenHash: hashOf(token),
    userId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + HALF_SIGN_IN_MS),
  });
  return token;
}

/** The active user whose password was right; null when the half sign-in has ended. */
export async function findHalfSignIn(
  db: Queryable,
  options: { token: string | null; now: Date },
): Promise<UserRow | null> {
  const { token, now } = options;
  if (token === null || !TOKEN_SHAPE.test(token)) return null;
  const [row] = await db
    .select({ user: users })
    .from(halfSignIns)
    .innerJoin(users, eq(users.id, halfSignIns.userId))
    .where(
      and(eq(halfSignIns.tokenHash, hashOf(token)), eq(users.isActive, true), gt(halfSignIns.expiresAt, now)),
    );
  return row?.user ?? null;
}

/** False when it has ended already: a half sign-in becomes one session. */
export async function endHalfSignIn(db: Queryable, token: string): Promise<boolean> {
  const ended = await db
    .delete(halfSignIns)
    .where(eq(halfSignIns.tokenHash, hashOf(token)))
    .returning({ userId: halfSignIns.userId });
  return ended.length > 0;
}

const cookieName = (request: FastifyRequest) => (isSecure(request) ? '__Host-half-sid' : 'half-sid');

export const readHalfToken = (request: FastifyRequest): string | null =>
  request.cookies[cookieName(request)] ?? null;

export function setHalfCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(cookieName(request), token, { ...cookieOptions(request), maxAge: HALF_SIGN_IN_MS / 1000 });
}

export function clearHalfCookie(request: FastifyRequest, reply: FastifyReply): void {
  if (readHalfToken(request) !== null) reply.clearCookie(cookieName(request), cookieOptions(request));
}
