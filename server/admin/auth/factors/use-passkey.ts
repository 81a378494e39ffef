import { generateAuthenticationOptions, verifyAuthenticationResponse } from '@simplewebauthn/server';
import type { WebauthnResponse } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import { userHandle } from './add-passkey.ts';
import { CHALLENGE_MS, type ChallengePurpose, storeChallenge, takeChallenge } from './passkey-challenges.ts';
import { challengeIn } from './passkey-responses.ts';
import { findPasskeyByCredential, listPasskeys, type PasskeyRow } from './passkeys.store.ts';
import type { RelyingParty } from './relying-party.ts';

/** Options for the dialog in which a browser uses a passkey; without a user it offers all of this site. */
export async function assertionOptions(
  deps: Pick<Deps, 'clock' | 'db'>,
  { purpose, userId, party }: { purpose: ChallengePurpose; userId: string | null; party: RelyingParty },
) {
  const own = userId === null ? [] : await listPasskeys(deps.db, userId);
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    timeout: CHALLENGE_MS,
    // Alone, the passkey stands for the password as well.
    userVerification: userId === null ? 'required' : 'preferred',
    ...(userId === null
      ? {}
      : { allowCredentials: own.map(({ credentialId: id, transports }) => ({ id, transports })) }),
  });
  await storeChallenge(deps.db, { challenge: options.challenge, purpose, userId, now: deps.clock.now() });
  return options;
}

export interface UsedPasskey {
  passkey: PasskeyRow;
  counter: number;
  /** Whose challenge it was; null for a sign-in with the passkey alone. */
  challengedUser: string | null;
}

/**
 * Checks a browser's answer and uses its challenge up. `users`: whose challenge it may be, and then also the passkey; null
 * for a sign-in with the passkey alone, for which the authenticator must have verified its user. Null when it is refused.
 */
export async function checkAssertion(
  deps: Pick<Deps, 'clock' | 'db'>,
  options: {
    assertion: WebauthnResponse;
    purpose: ChallengePurpose;
    users: readonly (string | null)[];
    party: RelyingParty;
  },
): Promise<UsedPasskey | null> {
  const { assertion, purpose, users, party } = options;
  const challenge = challengeIn(assertion);
  if (challenge === null) return null;
  const taken = await takeChallenge(deps.db, { challenge, purpose, now: deps.clock.now() });
  if (taken === null || !users.includes(taken.userId)) return null;
  const challengedUser = taken.userId;
  const passkey = await findPasskeyByCredential(deps.db, assertion.id);
  if (passkey === null || (challengedUser ?? passkey.userId) !== passkey.userId) return null;
  const { clientDataJSON, authenticatorData = '', signature = '', userHandle: handle } = assertion.response;
  if (handle && handle !== userHandle(passkey.userId)) return null;
  const checking = verifyAuthenticationResponse({
    response: {
      id: assertion.id,
      rawId: assertion.rawId,
      type: assertion.type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
    },
    requireUserVerification: challengedUser === null,
  });
  // It throws for a wrong origin, an old counter, a missing verification and everything unreadable.
  const checked = await checking.catch(() => null);
  if (!checked?.verified) return null;
  return { passkey, counter: checked.authenticationInfo.newCounter, challengedUser };
}
