import {
  notificationsAnswer,
  notificationsQuery,
  readNotificationsAnswer,
  readNotificationsBody,
} from '#contract/notifications.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { countNotifications, listNotifications, markRead } from './notifications.store.ts';

const user = routeOptions({ access: 'user', tags: ['alerts'] });

/** The inbox: administrators read what is told to administrators, others what is told to them. */
export function registerNotificationRoutes(app: App, deps: Pick<Deps, 'db'>): void {
  app.get(
    '/api/notifications',
    user({ querystring: notificationsQuery, answer: notificationsAnswer }),
    async (request) => {
      const { page, limit, severity, unread } = request.query;
      const filter = {
        severity,
        isRead: unread === undefined ? undefined : unread === 'false',
      };
      const viewer = getUser(request);
      const [notifications, total] = await Promise.all([
        listNotifications(deps.db, { viewer, filter, page, limit }),
        countNotifications(deps.db, { viewer, filter }),
      ]);
      return { notifications, total };
    },
  );

  app.post(
    '/api/notifications/read',
    user({
      // It changes what the reader's own bell counts, and nothing else.
      write: { stepUp: 'never', audit: [], token: 'read' },
      body: readNotificationsBody,
      answer: readNotificationsAnswer,
    }),
    async (request) => {
      const viewer = getUser(request);
      await markRead(deps.db, { viewer, ids: 'ids' in request.body ? request.body.ids : 'all' });
      return { unread: await countNotifications(deps.db, { viewer, filter: { isRead: false } }) };
    },
  );
}
