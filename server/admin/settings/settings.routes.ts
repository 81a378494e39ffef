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
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { toUserSettings } from '../users/user-rows.ts';
import { findUser } from '../users/users.store.ts';
import { changePassword } from './change-password.ts';
import { updateSettings } from './settings.store.ts';
import { signalProcessors, signalTimeframes } from './signal-choices.ts';

const asUser = { access: 'user' } as const;
const asAdmin = { access: 'admin' } as const;

export function registerSettingsRoutes(app: App, deps: Pick<Deps, 'config' | 'clock' | 'db' | 'pool'>): void {
  app.get(
    '/api/user-settings',
    { config: asUser, schema: { response: { 200: settingsAnswer } } },
    (request) => readSettings(deps.db, getUser(request).id),
  );

  app.put(
    '/api/user-settings',
    { config: asUser, schema: { body: settingsBody, response: { 200: settingsAnswer } } },
    (request) => writeSettings(deps, getUser(request).id, request.body),
  );

  app.get(
    '/api/user-settings/signal-timeframes',
    { config: asUser, schema: { response: { 200: z.array(z.string()) } } },
    async (request) => {
      const { id } = getUser(request);
      return signalTimeframes({
        signals: await listChoices(deps.db, 'signals', 'timeframe', id),
        candles: await listChoices(deps.db, 'price-logs', 'timeframe', id),
      });
    },
  );

  app.get(
    '/api/user-settings/signal-processors',
    { config: asUser, schema: { response: { 200: z.array(z.string()) } } },
    async (request) =>
      signalProcessors(await listChoices(deps.db, 'signals', 'processor', getUser(request).id)),
  );

  app.put(
    '/api/user-settings/change-password',
    { config: asUser, schema: { body: changePasswordBody, response: { 200: messageAnswer } } },
    async (request, reply) => {
      setSessionCookie(request, reply, await changePassword(deps, request, request.body));
      request.log.info({ userId: getUser(request).id }, 'password changed');
      return { message: 'Your password has been updated successfully.' };
    },
  );

  app.get(
    '/api/admin/user-settings/:userId',
    { config: asAdmin, schema: { params: userIdParams, response: { 200: settingsAnswer } } },
    (request) => readSettings(deps.db, request.params.userId),
  );

  app.put(
    '/api/admin/user-settings/:userId',
    {
      config: asAdmin,
      schema: { params: userIdParams, body: adminSettingsBody, response: { 200: settingsAnswer } },
    },
    async (request) => {
      const { userId } = request.params;
      const answer = await writeSettings(deps, userId, request.body);
      request.log.info({ userId, by: getUser(request).id }, 'settings changed');
      return answer;
    },
  );
}

async function readSettings(db: Queryable, userId: string) {
  const found = await findUser(db, userId);
  if (found === null) throw new AppError('userNotFound');
  if (found.settings === null) throw new AppError('settingsNotFound');
  return { success: true as const, data: toUserSettings(found.user, found.settings) };
}

async function writeSettings(deps: Pick<Deps, 'clock' | 'db'>, userId: string, changes: AdminSettingsBody) {
  return deps.db.transaction(async (tx) => {
    const isWritten = await updateSettings(tx, { userId, changes, now: deps.clock.now() });
    const answer = await readSettings(tx, userId);
    if (!isWritten) throw new AppError('settingsChanged', { data: answer.data });
    return answer;
  });
}
