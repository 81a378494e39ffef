import { createHash, randomBytes } from 'node:crypto';
import { and, desc, eq, gt, lt, ne, or } from 'drizzle-orm';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CurrentUser } from '#contract/auth.ts';
import type { TokenScope } from '#contract/tokens.ts';
import type { Db, Queryable } from '../db/database.ts';
import { halfSignIns, sessions, users } from '../db/schema.ts';
import { timeOrderedId } from '../ids.ts';
import { readApiToken } from './bearer-token.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const SESSION_IDLE_MS = 12 * HOUR_MS;
export const SESSION_LIFETIME_MS = 7 * 24 * HOUR_MS;
/** How long a confirmed identity counts: for the whole webhook key, and for what needs a step-up. */
const CONFIRMED_MS = 5 * MINUTE_MS;
/** `last_seen_at` is written at most this often, not with every request. */
const SEEN_EVERY_MS = MINUTE_MS;

const LONGEST_USER_AGENT = 300;
const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[\w-]{43}$/;

export interface Session {
  id: string;
  user: CurrentUser;
  /** Until then this session sees the whole webhook key. */
  keyRevealedUntil: Date | null;
  /** Until then this session may do what needs a step-up. */
  stepUpUntil: Date | null;
  /** The API token that stands for a session; null with a cookie. */
  token: { id: string; name: string; scopes: readonly TokenScope[] } | null;
}

/** From where and with what a session is opened, for its user's list of sessions. */
export interface SessionOrigin {
  address: string;
  /** As the browser sends it. */
  userAgent: string | undefined;
}

/** Opens a session and returns its token; only the hash is stored. */
export async function createSession(
  options: SessionOrigin & { db: Queryable; userId: string; now: Date },
): Promise<string> {
  const { db, userId, address, userAgent, now } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await db.insert(sessions).values({
    id: timeOrderedId(),
    tokenHash: hashOf(token),
    userId,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + SESSION_LIFETIME_MS),
    address,
    userAgent: userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
  });
  return token;
}

/** The columns of a session's user. */
export const userOfSession = {
  id: users.id,
  username: users.username,
  isAdmin: users.isAdmin,
  firstName: users.firstName,
  lastName: users.lastName,
  countryCode: users.countryCode,
  mobileNumber: users.mobileNumber,
};

/** The session of a token with its user's current data, or null when it has ended. */
export async function findSession(options: { db: Db; token: string; now: Date }): Promise<Session | null> {
  const { db, token, now } = options;
  if (!TOKEN_SHAPE.test(token)) return null;
  const [row] = await db
    .select({
      id: sessions.id,
      lastSeenAt: sessions.lastSeenAt,
      keyRevealedUntil: sessions.keyRevealedUntil,
      stepUpUntil: sessions.stepUpUntil,
      user: userOfSession,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, hashOf(token)), eq(users.isActive, true), isLiving(now)));
  if (row === undefined) return null;
  if (row.lastSeenAt.getTime() <= now.getTime() - SEEN_EVERY_MS) {
    await db
      .update(sessions)
      .set({ lastSeenAt: now })
      .where(and(eq(sessions.id, row.id), lt(sessions.lastSeenAt, now)));
  }
  const { id, user, keyRevealedUntil, stepUpUntil } = row;
  return { id, user, keyRevealedUntil, stepUpUntil, token: null };
}

/** Neither expired nor idle for too long. */
const isLiving = (now: Date) =>
  and(gt(sessions.expiresAt, now), gt(sessions.lastSeenAt, new Date(now.getTime() - SESSION_IDLE_MS)));

export type SessionRow = Pick<
  typeof sessions.$inferSelect,
  'id' | 'address' | 'userAgent' | 'createdAt' | 'lastSeenAt'
>;

/** The sessions of a user, the one used last first. */
export async function listSessionsOf(options: {
  db: Queryable;
  userId: string;
  now: Date;
}): Promise<SessionRow[]> {
  const { id, address, userAgent, createdAt, lastSeenAt } = sessions;
  return await options.db
    .select({ id, address, userAgent, createdAt, lastSeenAt })
    .from(sessions)
    .where(and(eq(sessions.userId, options.userId), isLiving(options.now)))
    .orderBy(desc(lastSeenAt), desc(id));
}

/** Ends one session of a user; null when it is not theirs or has ended. */
export async function endSessionOf(options: {
  db: Queryable;
  userId: string;
  sessionId: string;
}): Promise<SessionRow | null> {
  const [ended] = await options.db
    .delete(sessions)
    .where(and(eq(sessions.id, options.sessionId), eq(sessions.userId, options.userId)))
    .returning();
  return ended ?? null;
}

/** Ends the other sessions of a user and returns how many of them were still alive. */
export async function endOtherSessionsOf(options: {
  db: Queryable;
  userId: string;
  sessionId: string;
  now: Date;
}): Promise<number> {
  const others = and(eq(sessions.userId, options.userId), ne(sessions.id, options.sessionId));
  const ended = await options.db
    .delete(sessions)
    .where(and(others, isLiving(options.now)))
    .returning();
  await options.db.delete(sessions).where(others);
  return ended.length;
}

export async function endSession(options: { db: Queryable; token: string }): Promise<void> {
  await options.db.delete(sessions).where(eq(sessions.tokenHash, hashOf(options.token)));
}

/** Ends every session of a user, and every sign-in that still waits for the second factor. */
export async function endSessionsOf(options: { db: Queryable; userId: string }): Promise<void> {
  await options.db.delete(halfSignIns).where(eq(halfSignIns.userId, options.userId));
  await options.db.delete(sessions).where(eq(sessions.userId, options.userId));
}

/** Removes expired sessions. */
export async function removeDeadSessions(options: { db: Db; now: Date }): Promise<void> {
  const idleSince = new Date(options.now.getTime() - SESSION_IDLE_MS);
  await options.db
    .delete(sessions)
    .where(or(lt(sessions.expiresAt, options.now), lt(sessions.lastSeenAt, idleSince)));
}

/** Shows the session its whole webhook key for five minutes; a confirmed password is a step-up as well. */
export async function revealKey(options: { db: Queryable; sessionId: string; now: Date }): Promise<void> {
  const until = new Date(options.now.getTime() + CONFIRMED_MS);
  await options.db
    .update(sessions)
    .set({ keyRevealedUntil: until, stepUpUntil: until })
    .where(eq(sessions.id, options.sessionId));
}

/** Opens five minutes for what needs a step-up, and returns their end. */
export async function openStepUp(options: { db: Queryable; sessionId: string; now: Date }): Promise<Date> {
  const stepUpUntil = new Date(options.now.getTime() + CONFIRMED_MS);
  await options.db.update(sessions).set({ stepUpUntil }).where(eq(sessions.id, options.sessionId));
  return stepUpUntil;
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

/** With an API token the cookie does not count: such a request is not checked for its origin. */
export function readSessionToken(request: FastifyRequest): string | null {
  if (readApiToken(request) !== null) return null;
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

/** What the cookies of sessions and of half sign-ins have in common. */
export function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(request) } as const;
}
