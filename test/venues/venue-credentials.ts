import { createHmac } from 'node:crypto';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';

const KEY_PREFIX = 'paper-';

/** The keys of a venue's account, derived from a secret that both sides of a test know: signatures are really checked. */
export function venueCredentials(userId: string, secretKey: string): Required<ExchangeCredentials> {
  const derive = (purpose: string) =>
    createHmac('sha256', secretKey).update(`paper-exchange:${purpose}:${userId}`).digest('base64url');
  return {
    apiKey: `${KEY_PREFIX}${userId}`,
    apiSecret: derive('secret'),
    passphrase: derive('passphrase').slice(0, 32),
    accountMode: 'classic',
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function userIdOfVenueKey(apiKey: string): string | null {
  const userId = apiKey.startsWith(KEY_PREFIX) ? apiKey.slice(KEY_PREFIX.length) : '';
  return UUID.test(userId) ? userId : null;
}
