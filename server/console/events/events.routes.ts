import type { FastifyReply, FastifyRequest } from 'fastify';
import { BEAT_MS } from '#contract/events.ts';
import type { Deps } from '#server/deps.ts';
import { getSession } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import { isSessionLiving } from './living-session.ts';
import { visibleChange } from './visible-changes.ts';

/** Tabs of one user; the oldest gives way, and comes back when it is looked at. */
const MOST_STREAMS_A_USER = 20;

/** A HEAD would never end. */
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

/** Tells signed-in screens what to fetch again. */
export function registerEventRoutes(app: App, deps: StreamDeps): void {
  const open = new Set<OpenStream>();
  app.addHook('preClose', async () => {
    for (const { stream } of open) stream.end();
  });

  app.get('/api/events', ROUTE, async (request, reply) => {
    const { id: userId } = getSession(request).user;
    const stream = createEventStream(reply.raw);
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

/** Hears of changes for a stream, and ends it with its session; returns what stops that. */
async function follow(
  deps: StreamDeps,
  { request, stream }: { request: FastifyRequest; stream: EventStream },
): Promise<() => void> {
  const { id, user } = getSession(request);
  const checkSession = async () => {
    try {
      if (!(await isSessionLiving(deps, { id, isAdmin: user.isAdmin }))) stream.end();
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
      // An open stream that stays silent would have the screen say that it is up to date.
      onAway: () => stream.end(),
    })
    .catch((error: unknown) => {
      throw new AppError('unavailable', { cause: error, retryAfterSeconds: 5 });
    });
  const beat = setInterval(() => {
    stream.send('beat');
    void checkSession();
  }, BEAT_MS);
  return () => {
    clearInterval(beat);
    unsubscribe();
  };
}

function sendHead(reply: FastifyReply): void {
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A connection that carried a stream carries nothing after it: its end must not be waited for at a stop.
    connection: 'close',
    // Reverse proxies that gather answers would hold events back.
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
}

function makeRoom(open: ReadonlySet<OpenStream>, userId: string): void {
  const own = [...open].filter((stream) => stream.userId === userId);
  for (const { stream } of own.slice(0, Math.max(0, own.length + 1 - MOST_STREAMS_A_USER))) stream.end();
}
