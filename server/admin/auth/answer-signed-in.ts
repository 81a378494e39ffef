import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CurrentUser } from '#contract/auth.ts';
import type { Deps } from '#server/deps.ts';
import { endSession, readSessionToken, setSessionCookie } from '#server/platform/http/access-sessions.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { toCurrentUser, type UserRow } from '../users/user-rows.ts';
import { clearHalfCookie } from './half-sign-in.ts';

/** Replaces the browser's session by the new one. */
export async function answerSignedIn(
  deps: Pick<Deps, 'config' | 'db'>,
  options: {
    request: FastifyRequest;
    reply: FastifyReply;
    signedIn: { user: UserRow; token: string };
  },
): Promise<{ user: CurrentUser }> {
  const { request, reply, signedIn } = options;
  const { user, token } = signedIn;
  request.log.info({ userId: user.id, address: sourceAddress(request, deps.config) }, 'signed in');
  const previous = readSessionToken(request);
  if (previous !== null) await endSession({ db: deps.db, token: previous });
  setSessionCookie(request, reply, token);
  clearHalfCookie(request, reply);
  return { user: toCurrentUser(user) };
}
