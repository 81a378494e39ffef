import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import type { WebauthnResponse } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { passkeys } from '#server/platform/db/schema.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { CHALLENGE_MS, storeChallenge, takeChallenge } from './passkey-challenges.ts';
import { challengeIn } from './passkey-responses.ts';
import { listPasskeys, type PasskeyRow } from './passkeys.store.ts';
import type { RelyingParty } from './relying-party.ts';

const MAX_PASSKEYS = 20;
/** EdDSA, ES256 and RS256 (COSE), which every browser and authenticator has one of. */
const ALGORITHMS = [-8, -7, -257];

/** The user id as an authenticator keeps it. */
const handleOf = (userId: string) => new TextEncoder().encode(userId);

export const userHandle = (userId: string): string => Buffer.from(handleOf(userId)).toString('base64url');

/** Options for the dialog in which a browser makes a passkey. */
export async function passkeyOptions(
  deps: Pick<Deps, 'clock' | 'db'>,
  { user, party }: { user: { id: string; username: string }; party: RelyingParty },
) {
  const existing = await listPasskeys(deps.db, user.id);
  if (existing.length >= MAX_PASSKEYS) {
    throw new AppError('badRequest', { message: `At most ${MAX_PASSKEYS} passkeys: remove one first` });
  }
  const options = await generateRegistrationOptions({
    rpName: 'Signal Board',
    rpID: party.id,
    userID: handleOf(user.id),
    userName: user.username,
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: existing.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
  const { challenge } = options;
  await storeChallenge(deps.db, { challenge, purpose: 'enrol', userId: user.id, now: deps.clock.now() });
  return options;
}

/** The passkey in a browser's answer to the options; refuses any other answer. */
export async function readNewPasskey(
  deps: Pick<Deps, 'clock' | 'db'>,
  options: { userId: string; name: string; response: WebauthnResponse; party: RelyingParty },
): Promise<PasskeyRow> {
  const { userId, name, response, party } = options;
  const now = deps.clock.now();
  const challenge = challengeIn(response);
  const taken = challenge && (await takeChallenge(deps.db, { challenge, purpose: 'enrol', now }));
  if (!taken || taken.userId !== userId) throw new AppError('invalidFactor');
  const { clientDataJSON, attestationObject = '', transports = [] } = response.response;
  const verified = await verifyRegistrationResponse({
    response: {
      id: response.id,
      rawId: response.rawId,
      type: response.type,
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    supportedAlgorithmIDs: ALGORITHMS,
    // A key without a PIN is a second factor as well; signing in with it alone asks for more.
    requireUserVerification: false,
  }).catch((cause: unknown) => {
    throw new AppError('invalidFactor', { cause });
  });
  if (!verified.verified) throw new AppError('invalidFactor');
  const { id: credentialId, publicKey, counter } = verified.registrationInfo.credential;
  return {
    id: timeOrderedId(),
    userId,
    name,
    credentialId,
    publicKey: Buffer.from(publicKey),
    counter,
    transports,
    createdAt: now,
    lastUsedAt: null,
  };
}

export async function storePasskey(db: Queryable, passkey: PasskeyRow): Promise<void> {
  try {
    await db.insert(passkeys).values(passkey);
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new AppError('badRequest', { message: 'This passkey is set up already', cause });
  }
}
