import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { WebauthnResponse } from '#contract/factors.ts';
import { requestJson } from './api-client.ts';

/** The browser made or found no passkey. Its message is for the user. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/** Browsers offer passkeys only to https addresses and localhost. */
export const canUsePasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** Asks the server for options and the browser for a passkey; the answer signs in or confirms. */
export async function askForPasskey(optionsPath: string): Promise<WebauthnResponse> {
  const { startAuthentication } = await load();
  const optionsJSON = await requestJson<PublicKeyCredentialRequestOptionsJSON>(optionsPath, {
    method: 'POST',
  });
  return await startAuthentication({ optionsJSON }).catch(explain);
}

export async function createPasskey(optionsPath: string): Promise<WebauthnResponse> {
  const { startRegistration } = await load();
  const optionsJSON = await requestJson<PublicKeyCredentialCreationOptionsJSON>(optionsPath, {
    method: 'POST',
  });
  return await startRegistration({ optionsJSON }).catch(explain);
}

/** Loaded on first use, because most sign-ins go without. */
async function load() {
  if (!canUsePasskeys()) throw new PasskeyError('This browser cannot use passkeys at this address');
  return await import('@simplewebauthn/browser').catch((cause: unknown) => {
    throw new PasskeyError('The code for passkeys could not be loaded', { cause });
  });
}

function explain(cause: unknown): never {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'InvalidStateError')
    throw new PasskeyError('This device has a passkey for this account already', { cause });
  // Browsers do not say which of the two it was.
  if (name === 'NotAllowedError' || name === 'AbortError')
    throw new PasskeyError('No passkey was used: the request was cancelled or timed out', { cause });
  throw new PasskeyError('The browser could not use a passkey', { cause });
}
