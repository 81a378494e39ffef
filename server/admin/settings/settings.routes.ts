import type { FastifyRequest } from 'fastify';
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
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { setSessionCookie } from '#server/platform/http/access-sessions.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import type { WriteRule } from '#server/platform/http/write-rules.ts';
import { toUserSettings } from '../users/user-rows.ts';
import { findUser } from '../users/users.store.ts';
import { changePassword } from './change-password.ts';
import { loosensSettings } from './loosens-settings.ts';
import { updateSettings } from './settings.store.ts';
import { signalProcessors, signalTimeframes } from './signal-choices.ts';

const user = routeOptions({ access: 'user' });
const admin = routeOptions({ access: 'admin' });
const settingsWrite: WriteRule = { stepUp: 'handler', audit: ['settings changed'], token: 'admin' };

export function registerSettingsRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
): void {
  app.get('/api/user-settings', user({ answer: settingsAnswer }), (request) =>
    readSettings(deps.db, getUser(request).id),
  );

  app.put(
    '/api/user-settings',
    user({ write: settingsWrite, body: settingsBody, answer: settingsAnswer }),
    (request) => writeSettings(deps, request, { userId: getUser(request).id, changes: request.body }),
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
    user({
      write: { stepUp: 'password', audit: ['password changed'], token: null },
      body: changePasswordBody,
      answer: messageAnswer,
    }),
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
    admin({ write: settingsWrite, params: userIdParams, body: adminSettingsBody, answer: settingsAnswer }),
    async (request) => {
      const { userId } = request.params;
      const answer = await writeSettings(deps, request, { userId, changes: request.body });
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

async function writeSettings(
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>,
  request: FastifyRequest,
  { userId, changes }: { userId: string; changes: AdminSettingsBody },
) {
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const { user: owner, settings } = required(await findUser(tx, userId), 'userNotFound');
    // In paper mode no money moves.
    if (settings !== null && deps.config.exchangeMode !== 'paper') {
      const { isTestUser } = owner;
      if (loosensSettings({ ...settings, isTestUser }, changes)) requireStepUp(request, now);
    }
    const isWritten = await updateSettings(tx, { userId, changes, now });
    const answer = await readSettings(tx, userId);
    if (!isWritten || settings === null) throw new AppError('settingsChanged', { data: answer.data });
    const before = toUserSettings(owner, settings);
    // The time of the change is that of the entry.
    const changed = changedFields({ ...before, updatedAt: null }, { ...answer.data, updatedAt: null });
    if (changed !== null) {
      await deps.audit.record(tx, {
        actor: actorOf(request, deps.config),
        action: 'settings changed',
        subject: aboutUser(owner),
        ...changed,
      });
    }
    return answer;
  });
}
