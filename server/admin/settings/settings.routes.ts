import { z } from 'zod';
import { messageAnswer } from '#contract/auth.ts';
import { userIdParams } from '#contract/paging.ts';
import {
  type AdminSettingsBody,
  adminSettingsBody,
  changePasswordBody,
  settingsAnswer,
  settingsBody,
} from '#contract/settings.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import { setSessionCookie } from '#server/platform/http/access-sessions.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { toUserSettings } from '../users/user-rows.ts';
import { findUser } from '../users/users.store.ts';
import { changePassword } from './change-password.ts';
import { updateSettings } from './settings.store.ts';
import { signalProcessors, signalTimeframes } from './signal-choices.ts';

const user = routeOptions({ access: 'user' });
const admin = routeOptions({ access: 'admin' });

export function registerSettingsRoutes(
  app: App,
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
): void {
  app.get('/api/user-settings', user({ answer: settingsAnswer }), (request) =>
    readSettings(deps.db, getUser(request).id),
  );

  app.put('/api/user-settings', user({ body: settingsBody, answer: settingsAnswer }), (request) =>
    writeSettings(deps, getUser(request).id, request.body),
  );

  app.get('/api/user-settings/signal-timeframes', user({ answer: z.array(z.string()) }), async (request) => {
    const { id } = getUser(request);
    return signalTimeframes({
      signals: await listChoices(deps.db, 'signals', 'timeframe', id),
      candles: await listChoices(deps.db, 'price-logs', 'timeframe', id),
    });
  });

  app.get('/api/user-settings/signal-processors', user({ answer: z.array(z.string()) }), async (request) =>
    signalProcessors(await listChoices(deps.db, 'signals', 'processor', getUser(request).id)),
  );

  app.put(
    '/api/user-settings/change-password',
    user({ body: changePasswordBody, answer: messageAnswer }),
    async (request, reply) => {
      setSessionCookie(request, reply, await changePassword(deps, request, request.body));
      request.log.info({ userId: getUser(request).id }, 'password changed');
      return { message: 'Your password has been updated successfully.' };
    },
  );

  app.get(
    '/api/admin/user-settings/:userId',
    admin({ params: userIdParams, answer: settingsAnswer }),
    (request) => readSettings(deps.db, request.params.userId),
  );

  app.put(
    '/api/admin/user-settings/:userId',
    admin({ params: userIdParams, body: adminSettingsBody, answer: settingsAnswer }),
    async (request) => {
      const { userId } = request.params;
      const answer = await writeSettings(deps, userId, request.body);
      request.log.info({ userId, by: getUser(request).id }, 'settings changed');
      return answer;
    },
  );
}

async function readSettings(db: Queryable, userId: string) {
  const { user: owner, settings } = required(await findUser(db, userId), 'userNotFound');
  const data = toUserSettings(owner, required(settings, 'settingsNotFound'));
  return { success: true as const, data };
}

async function writeSettings(deps: Pick<Deps, 'clock' | 'db'>, userId: string, changes: AdminSettingsBody) {
  return deps.db.transaction(async (tx) => {
    const isWritten = await updateSettings(tx, { userId, changes, now: deps.clock.now() });
    const answer = await readSettings(tx, userId);
    if (!isWritten) throw new AppError('settingsChanged', { data: answer.data });
    return answer;
  });
}
