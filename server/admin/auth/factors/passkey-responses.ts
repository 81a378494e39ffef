import { decodeClientDataJSON } from '@simplewebauthn/server/helpers';
import type { WebauthnResponse } from '#contract/factors.ts';

/** The challenge that a browser's answer names; null when the answer is not readable. */
export function challengeIn(response: WebauthnResponse): string | null {
  try {
    const { challenge } = decodeClientDataJSON(response.response.clientDataJSON);
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}
