import { eq } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import { messageAnswer } from '#contract/auth.ts';
import {
  addPasskeyBody,
  codeBody,
  factorsAnswer,
  passkeyAnswer,
  recoveryCodesAnswer,
  totpAnswer,
  webauthnOptions,
} from '#contract/factors.ts';
import { idParams, userIdParams } from '#contract/paging.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { users } from '#server/platform/db/schema.ts';
import { getUser } from '#server/platform/http/access.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listFactors, needsFactor, removeFactors } from '#server/platform/http/second-factors.ts';
import type { WriteRule } from '#server/platform/http/write-rules.ts';
import { findUser } from '../../users/users.store.ts';
import { passkeyOptions, readNewPasskey, storePasskey } from './add-passkey.ts';
import { deletePasskey, findPasskey, listPasskeys, toPasskeySummary } from './passkeys.store.ts';
import { countRecoveryCodes, removeRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { relyingPartyOf } from './relying-party.ts';
import { confirmTotp, findTotp, removeTotp, startTotp } from './totp.ts';

const user = routeOptions({ access: 'user', beforeFactor: true });
const admin = routeOptions({ access: 'admin' });

const writing = (...audit: WriteRule['audit']): WriteRule => ({ stepUp: 'always', audit, token: null });

/** A user's own second factors, and their reset by an administrator. */
export function registerFactorRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'secretBox'>,
): void {
  const ownSubject = (request: FastifyRequest) => {
    const { id, username } = getUser(request);
    return { kind: 'user', id, name: username } as const;
  };

  app.get('/api/auth/factors', user({ token: null, answer: factorsAnswer }), async (request) => {
    const { id } = getUser(request);
    const totp = await findTotp(deps.db, id);
    const passkeys = await listPasskeys(deps.db, id);
    return {
      totp: totp?.confirmedAt ? { confirmedAt: totp.confirmedAt.toISOString() } : null,
      passkeys: passkeys.map(toPasskeySummary),
      recoveryCodesLeft: await countRecoveryCodes(deps.db, id),
      required: needsFactor(deps.config, getUser(request)),
    };
  });

  app.post('/api/auth/totp', user({ write: writing(), answer: totpAnswer }), (request) =>
    // A transaction, because it seals: a rotation of SECRET_KEY waits for it.
    deps.db.transaction((tx) =>
      startTotp({ ...deps, db: tx }, { user: getUser(request), now: deps.clock.now() }),
    ),
  );

  app.post(
    '/api/auth/totp/confirm',
    user({ write: writing('authenticator app added'), body: codeBody, answer: recoveryCodesAnswer }),
    async (request) => {
      const { id: userId } = getUser(request);
      const { code } = request.body;
      const recoveryCodes = await deps.db.transaction(async (db) => {
        const isRight = await confirmTotp({ ...deps, db }, { userId, code, now: deps.clock.now() });
        if (!isRight) throw new AppError('invalidFactor');
        await deps.audit.record(db, {
          actor: actorOf(request, deps.config),
          action: 'authenticator app added',
          subject: ownSubject(request),
        });
        return replaceRecoveryCodes(db, userId);
      });
      request.log.info({ userId }, 'authenticator app added');
      return { recoveryCodes };
    },
  );

  app.delete(
    '/api/auth/totp',
    user({ write: writing('authenticator app removed'), answer: messageAnswer }),
    async (request) => {
      const { id: userId } = getUser(request);
      await deps.db.transaction(async (db) => {
        await holdUser(db, userId);
        const removed = await removeTotp(db, userId);
        if (removed === null) throw new AppError('notFound', { message: 'No authenticator app is set up' });
        await removeIdleCodes(db, userId);
        if (removed.confirmedAt === null) return;
        await deps.audit.record(db, {
          actor: actorOf(request, deps.config),
          action: 'authenticator app removed',
          subject: ownSubject(request),
        });
      });
      request.log.info({ userId }, 'authenticator app removed');
      return { message: 'The authenticator app was removed' };
    },
  );

  app.post(
    '/api/auth/passkeys/options',
    user({ write: writing(), answer: webauthnOptions }),
    async (request) => ({
      ...(await passkeyOptions(deps, { user: getUser(request), party: relyingPartyOf(request) })),
    }),
  );

  app.post(
    '/api/auth/passkeys',
    user({ write: writing('passkey added'), body: addPasskeyBody, answer: passkeyAnswer }),
    async (request) => {
      const { id: userId } = getUser(request);
      const party = relyingPartyOf(request);
      const passkey = await readNewPasskey(deps, { ...request.body, userId, party });
      await deps.db.transaction(async (db) => {
        await storePasskey(db, passkey);
        await deps.audit.record(db, {
          actor: actorOf(request, deps.config),
          action: 'passkey added',
          subject: { kind: 'passkey', id: passkey.id, name: passkey.name },
        });
      });
      request.log.info({ userId, passkeyId: passkey.id }, 'passkey added');
      return { passkey: toPasskeySummary(passkey) };
    },
  );

  app.get(
    '/api/auth/passkeys/:id',
    user({ token: null, params: idParams, answer: passkeyAnswer }),
    async (request) => {
      const own = { id: request.params.id, userId: getUser(request).id };
      return { passkey: toPasskeySummary(required(await findPasskey(deps.db, own), 'passkeyNotFound')) };
    },
  );

  app.delete(
    '/api/auth/passkeys/:id',
    user({ write: writing('passkey removed'), params: idParams, answer: messageAnswer }),
    async (request) => {
      const { id: userId } = getUser(request);
      const { id } = request.params;
      await deps.db.transaction(async (db) => {
        await holdUser(db, userId);
        const { name } = required(await deletePasskey(db, { id, userId }), 'passkeyNotFound');
        await removeIdleCodes(db, userId);
        await deps.audit.record(db, {
          actor: actorOf(request, deps.config),
          action: 'passkey removed',
          subject: { kind: 'passkey', id, name },
        });
      });
      request.log.info({ userId, passkeyId: id }, 'passkey removed');
      return { message: 'The passkey was removed' };
    },
  );

  app.delete(
    '/api/admin/user/:userId/factors',
    admin({ write: writing('factors reset'), params: userIdParams, answer: messageAnswer }),
    async (request) => {
      const { userId } = request.params;
      const by = getUser(request).id;
      if (userId === by) {
        throw new AppError('ownAccount', { message: 'You cannot reset your own second factors' });
      }
      const { user: owner } = required(await findUser(deps.db, userId), 'userNotFound');
      await deps.db.transaction(async (db) => {
        await holdUser(db, userId);
        const before = await removeFactors(db, userId);
        await endSessionsOf({ db, userId });
        await deps.audit.record(db, {
          actor: actorOf(request, deps.config),
          action: 'factors reset',
          subject: { kind: 'user', id: userId, name: owner.username },
          before,
        });
      });
      request.log.info({ userId, by }, 'second factors reset');
      return { message: 'The second factors were removed' };
    },
  );
}

/** Of two removals at once, the second one sees what the first one left. */
async function holdUser(db: Queryable, userId: string): Promise<void> {
  await db.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update');
}

/** Recovery codes stand in for another factor: without one they serve nothing. */
async function removeIdleCodes(db: Queryable, userId: string): Promise<void> {
  if ((await listFactors(db, userId)).length === 0) await removeRecoveryCodes(db, userId);
}
