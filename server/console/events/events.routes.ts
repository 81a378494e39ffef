import { and, eq, gt } from 'drizzle-orm';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BEAT_MS, type Change, type ChangeTopic } from '#contract/events.ts';
import type { Deps } from '#server/deps.ts';
import { sessions, users } from '#server/platform/db/schema.ts';
import { getSession } from '#server/platform/http/access.ts';
import { SESSION_IDLE_MS } from '#server/platform/http/access-sessions.ts';
import { isTokenLiving } from '#server/platform/http/access-tokens.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { createEventStream, type EventStream } from './event-stream.ts';

/** Streams (tabs) per user; a new one closes the oldest, which reconnects when its tab is viewed. */
const MOST_STREAMS_A_USER = 20;

/** Without a HEAD route, because its response would never end. */
const ROUTE = {
  config: { access: 'user' },
  schema: { tags: ['events'], summary: 'Server-sent events: what to fetch again' },
  exposeHeadRoute: false,
} as const;

type StreamDeps = Pick<Deps, 'db' | 'clock' | 'changeFeed'>;

interface OpenStream {
  userId: string;
  stream: EventStream;
}

/** Tells the screens of signed-in users what to fetch again. */
export function registerEventRoutes(app: App, deps: StreamDeps): void {
  const open = new Set<OpenStream>();
  app.addHook('preClose', async () => {
    for (const { stream } of open) stream.end();
  });

  app.get('/api/events', ROUTE, async (request, reply) => {
    const { id: userId } = getSession(request).user;
    const stream = createEventStream(reply.raw, deps.clock);
    const stop = await follow(deps, { request, stream });
    reply.hijack();
    sendHead(reply);
    makeRoom(open, userId);
    const entry = { userId, stream };
    open.add(entry);
    const closed = () => {
      open.delete(entry);
      stop();
    };
    reply.raw.once('close', closed);
    if (reply.raw.destroyed) return closed();
    stream.send('ready');
  });
}

/** Forwards changes to a stream and ends the stream with its session. Returns a function that stops it. */
async function follow(
  deps: StreamDeps,
  { request, stream }: { request: FastifyRequest; stream: EventStream },
): Promise<() => void> {
  const { id, user, token } = getSession(request);
  const { isAdmin } = user;
  const isLiving = () =>
    token === null
      ? isSessionLiving(deps, { id, isAdmin })
      : isTokenLiving({ db: deps.db, id, isAdmin, now: deps.clock.now() });
  const checkSession = async () => {
    try {
      if (!(await isLiving())) stream.end();
    } catch (error) {
      request.log.debug({ err: error }, 'the session of an event stream cannot be checked now');
    }
  };
  const unsubscribe = await deps.changeFeed
    .subscribe({
      onMessage(change) {
        const mayEnd = change.topic === 'sessions' || change.topic === 'users';
        if (mayEnd && (change.userId ?? user.id) === user.id) void checkSession();
        const visible = visibleChange(change, user);
        if (visible) stream.add(visible);
      },
      onGap: () => stream.send('gap'),
      // A stream that stayed open but silent would make the screen look up to date.
      onAway: () => stream.end(),
    })
    .catch((error: unknown) => {
      throw new AppError('unavailable', { cause: error, retryAfterSeconds: 5 });
    });
  const stopBeating = deps.clock.every(BEAT_MS, () => {
    stream.send('beat');
    void checkSession();
  });
  return () => {
    stopBeating();
    unsubscribe();
  };
}

function sendHead(reply: FastifyReply): void {
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Close the connection after the stream, so that a shutdown does not wait for it.
    connection: 'close',
    // Reverse proxies that buffer responses would hold events back.
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
}

function makeRoom(open: ReadonlySet<OpenStream>, userId: string): void {
  const own = [...open].filter((stream) => stream.userId === userId);
  for (const { stream } of own.slice(0, Math.max(0, own.length + 1 - MOST_STREAMS_A_USER))) stream.end();
}

/**
 * Whether a session still receives events: it has not expired, its user is active, and the user's role has not changed.
 * The check does not count as use, so an open tab does not keep its session alive.
 */
async function isSessionLiving(
  deps: StreamDeps,
  session: { id: string; isAdmin: boolean },
): Promise<boolean> {
  const now = deps.clock.now();
  const rows = await deps.db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.id, session.id),
        eq(users.isActive, true),
        eq(users.isAdmin, session.isAdmin),
        gt(sessions.expiresAt, now),
        gt(sessions.lastSeenAt, new Date(now.getTime() - SESSION_IDLE_MS)),
      ),
    );
  return rows.length > 0;
}

/** Topics that ordinary users' screens show; each user sees only their own. */
const OF_ONES_OWN: ReadonlySet<ChangeTopic> = new Set([
  'deliveries',
  'hooks',
  'users',
  'trading-halts',
  'notifications',
]);

/**
 * The part of a change that the viewer may receive: administrators see everything except others' deliveries; other users
 * only learn that something of their own changed. A change without a user (too many at once) may be the viewer's.
 */
export function visibleChange(change: Change, viewer: { id: string; isAdmin: boolean }): Change | null {
  const isOwn = change.userId === undefined || change.userId === viewer.id;
  if (change.topic === 'sessions') return null;
  if (change.topic === 'deliveries') return isOwn ? change : null;
  if (viewer.isAdmin) return change;
  // Only administrators see which signal or workflow opened a position.
  if (change.topic === 'trades') return change.userId === viewer.id ? { topic: 'trades' } : null;
  return OF_ONES_OWN.has(change.topic) && isOwn ? change : null;
}
