import { createHash, randomBytes } from 'node:crypto';
import { and, eq, gt, lt, or } from 'drizzle-orm';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CurrentUser } from '#contract/auth.ts';
import type { Db, Queryable } from '../db/database.ts';
import { sessions, users } from '../db/schema.ts';
import { timeOrderedId } from '../ids.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const SESSION_IDLE_MS = 12 * HOUR_MS;
export const SESSION_LIFETIME_MS = 7 * 24 * HOUR_MS;
const KEY_REVEALED_MS = 5 * MINUTE_MS;
/** `last_seen_at` is written at most this often, not with every request. */
const SEEN_EVERY_MS = MINUTE_MS;

const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[\w-]{43}$/;

export interface Session {
  id: string;
  user: CurrentUser;
  /** Until then this session sees the whole webhook key. */
  keyRevealedUntil: Date | null;
}

/** Opens a session and returns its token; only the hash is stored. */
export async function createSession(options: { db: Queryable; userId: string; now: Date }): Promise<string> {
  const { db, userId, now } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await db.insert(sessions).values({
    id: timeOrderedId(),
    tokenHash: hashOf(token),
    userId,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + SESSION_LIFETIME_MS),
  });
  return token;
}

/** The session of a token with its user's current data, or null when it has ended. */
export async function findSession(options: { db: Db; token: string; now: Date }): Promise<Session | null> {
  const { db, token, now } = options;
  if (!TOKEN_SHAPE.test(token)) return null;
  const [row] = await db
    .select({
      id: sessions.id,
      lastSeenAt: sessions.lastSeenAt,
      keyRevealedUntil: sessions.keyRevealedUntil,
      user: {
        id: users.id,
        username: users.username,
        isAdmin: users.isAdmin,
        firstName: users.firstName,
        lastName: users.lastName,
        countryCode: users.countryCode,
        mobileNumber: users.mobileNumber,
      },
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.tokenHash, hashOf(token)),
        eq(users.isActive, true),
        gt(sessions.expiresAt, now),
        gt(sessions.lastSeenAt, new Date(now.getTime() - SESSION_IDLE_MS)),
      ),
    );
  if (row === undefined) return null;
  if (row.lastSeenAt.getTime() <= now.getTime() - SEEN_EVERY_MS) {
    await db
      .update(sessions)
      .set({ lastSeenAt: now })
      .where(and(eq(sessions.id, row.id), lt(sessions.lastSeenAt, now)));
  }
  return { id: row.id, user: row.user, keyRevealedUntil: row.keyRevealedUntil };
}

export async function endSession(options: { db: Db; token: string }): Promise<void> {
  await options.db.delete(sessions).where(eq(sessions.tokenHash, hashOf(options.token)));
}

/** Ends every session of a user. */
export async function endSessionsOf(options: { db: Queryable; userId: string }): Promise<void> {
  await options.db.delete(sessions).where(eq(sessions.userId, options.userId));
}

/** Removes expired sessions. */
export async function removeDeadSessions(options: { db: Db; now: Date }): Promise<void> {
  const idleSince = new Date(options.now.getTime() - SESSION_IDLE_MS);
  await options.db
    .delete(sessions)
    .where(or(lt(sessions.expiresAt, options.now), lt(sessions.lastSeenAt, idleSince)));
}

/** Shows the session its whole webhook key for five minutes. */
export async function revealKey(options: { db: Db; sessionId: string; now: Date }): Promise<void> {
  await options.db
    .update(sessions)
    .set({ keyRevealedUntil: new Date(options.now.getTime() + KEY_REVEALED_MS) })
    .where(eq(sessions.id, options.sessionId));
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

// `__Host-` binds the cookie to this host over HTTPS; browsers refuse the prefix over plain http.
const SECURE_NAME = '__Host-sid';
const PLAIN_NAME = 'sid';

/** Whether the browser uses HTTPS, according to `PUBLIC_URL` or else to the request. */
export function isSecure(request: Pick<FastifyRequest, 'protocol' | 'server'>): boolean {
  return request.server.publicUrl?.startsWith('https:') ?? request.protocol === 'https';
}

export function readSessionToken(request: FastifyRequest): string | null {
  return request.cookies[cookieName(request)] ?? null;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(cookieName(request), token, {
    ...cookieOptions(request),
    maxAge: SESSION_LIFETIME_MS / 1000,
  });
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieName(request), cookieOptions(request));
}

function cookieName(request: FastifyRequest): string {
  return isSecure(request) ? SECURE_NAME : PLAIN_NAME;
}

function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(request) } as const;
}
