import { messageAnswer } from '#contract/auth.ts';
import { idParams } from '#contract/paging.ts';
import { endedSessions, sessionList } from '#contract/sessions.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getSession, getUser } from '#server/platform/http/access.ts';
import {
  clearSessionCookie,
  endOtherSessionsOf,
  endSessionOf,
  listSessionsOf,
  type SessionRow,
} from '#server/platform/http/access-sessions.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { describeDevice } from './describe-device.ts';

const user = routeOptions({ access: 'user', tags: ['sessions'] });

/** One's own sessions. Ending one needs no step-up: after losing a device one must be fast. */
export function registerSessionRoutes(app: App, deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>): void {
  app.get('/api/auth/sessions', user({ token: null, answer: sessionList }), async (request) => {
    const { id, user: owner } = getSession(request);
    const rows = await listSessionsOf({ db: deps.db, userId: owner.id, now: deps.clock.now() });
    return {
      sessions: rows.map((row) => ({
        id: row.id,
        current: row.id === id,
        ...originOf(row),
        createdAt: row.createdAt.toISOString(),
        lastSeenAt: row.lastSeenAt.toISOString(),
      })),
    };
  });

  app.delete(
    '/api/auth/sessions/:id',
    user({
      write: { stepUp: 'never', audit: ['session ended'], token: null },
      params: idParams,
      answer: messageAnswer,
    }),
    async (request, reply) => {
      const { id: sessionId } = request.params;
      const { id: currentId, user: owner } = getSession(request);
      await deps.db.transaction(async (tx) => {
        const row = required(await endSessionOf({ db: tx, userId: owner.id, sessionId }), 'sessionNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'session ended',
          subject: { kind: 'session', id: sessionId, name: owner.username },
          before: originOf(row),
        });
      });
      request.log.info({ userId: owner.id, sessionId }, 'session ended');
      if (sessionId === currentId) clearSessionCookie(request, reply);
      return { message: sessionId === currentId ? 'Signed out' : 'The session was ended' };
    },
  );

  app.delete(
    '/api/auth/sessions',
    user({
      write: { stepUp: 'never', audit: ['other sessions ended'], token: null },
      answer: endedSessions,
    }),
    async (request) => {
      const { id: userId, username } = getUser(request);
      const { id: sessionId } = getSession(request);
      const ended = await deps.db.transaction(async (tx) => {
        const count = await endOtherSessionsOf({ db: tx, userId, sessionId, now: deps.clock.now() });
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'other sessions ended',
          subject: { kind: 'user', id: userId, name: username },
          after: { ended: count },
        });
        return count;
      });
      request.log.info({ userId, ended }, 'other sessions ended');
      return { message: messageOf(ended), ended };
    },
  );
}

const originOf = ({ userAgent, address }: SessionRow) => ({ device: describeDevice(userAgent), address });

function messageOf(ended: number): string {
  if (ended === 0) return 'There was no other session';
  return ended === 1 ? 'One other session was ended' : `${ended} other sessions were ended`;
}
