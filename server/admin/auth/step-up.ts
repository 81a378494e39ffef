import type { FastifyRequest } from 'fastify';
import type { StepUpBody, WebauthnResponse } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { getSession, getUser } from '#server/platform/http/access.ts';
import { openStepUp } from '#server/platform/http/access-sessions.ts';
import { required } from '#server/platform/http/errors.ts';
import { limitFactorAttempts } from '#server/platform/http/factor-limits.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { usernameKey } from '../users/user-rows.ts';
import { checkOwnPassword } from './check-password.ts';
import { acceptCode, recordRecoveryCode } from './factors/accept-code.ts';
import { notePasskeyUse } from './factors/passkeys.store.ts';
import { relyingPartyOf } from './factors/relying-party.ts';
import { checkAssertion } from './factors/use-passkey.ts';

type StepUpDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'limitPasswordAttempts' | 'secretBox'>;

/** Confirms who uses this session, by one of three proofs. Returns until when that counts. */
export async function stepUp(deps: StepUpDeps, request: FastifyRequest, body: StepUpBody): Promise<Date> {
  if ('password' in body) {
    await checkOwnPassword(deps, request, body.password);
    return deps.db.transaction((db) => openAndRecord({ ...deps, db }, request, 'password'));
  }
  const until =
    'code' in body
      ? await stepUpWithCode(deps, request, body.code)
      : await stepUpWithPasskey(deps, request, body.assertion);
  if (until === null) {
    const address = sourceAddress(request, deps.config);
    request.log.warn({ userId: getUser(request).id, address }, 'second factor not accepted');
  }
  return required(until, 'invalidFactor');
}

function stepUpWithCode(deps: StepUpDeps, request: FastifyRequest, code: string): Promise<Date | null> {
  const { id: userId, username } = getUser(request);
  const attempt = { account: usernameKey(username), address: sourceAddress(request, deps.config) };
  return limitFactorAttempts(deps, attempt, () =>
    deps.db.transaction(async (db) => {
      const used = await acceptCode({ ...deps, db }, { userId, code });
      if (used === null) return null;
      if (used === 'recovery code') {
        await recordRecoveryCode({ ...deps, db }, { userId, actor: actorOf(request, deps.config) });
      }
      return openAndRecord({ ...deps, db }, request, used);
    }),
  );
}

async function stepUpWithPasskey(
  deps: StepUpDeps,
  request: FastifyRequest,
  assertion: WebauthnResponse,
): Promise<Date | null> {
  const party = relyingPartyOf(request);
  const users = [getUser(request).id];
  const used = await checkAssertion(deps, { assertion, purpose: 'step-up', users, party });
  if (used === null) return null;
  return deps.db.transaction(async (db) => {
    const { passkey, counter } = used;
    if (!(await notePasskeyUse(db, { passkey, counter, now: deps.clock.now() }))) return null;
    return openAndRecord({ ...deps, db }, request, 'passkey');
  });
}

async function openAndRecord(
  deps: Pick<Deps, 'audit' | 'clock' | 'config'> & { db: Queryable },
  request: FastifyRequest,
  proof: string,
): Promise<Date> {
  const { id: sessionId } = getSession(request);
  const until = await openStepUp({ db: deps.db, sessionId, now: deps.clock.now() });
  await recordConfirmation(deps, request, proof);
  return until;
}

export async function recordConfirmation(
  deps: Pick<Deps, 'audit' | 'config'> & { db: Queryable },
  request: FastifyRequest,
  proof: string,
): Promise<void> {
  const { id, username } = getUser(request);
  await deps.audit.record(deps.db, {
    actor: actorOf(request, deps.config),
    action: 'identity confirmed',
    subject: { kind: 'user', id, name: username },
    after: { with: proof },
  });
}
