import { createHmac, timingSafeEqual } from 'node:crypto';
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

/** What the venue says of an account's key when it is asked. */
export interface VenueKey {
  mayTrade: boolean;
  mayWithdraw: boolean;
  /** The account's kind, where it is not the one that the dialect is for. */
  accountMode?: 'classic' | 'unified';
  /** The answer leaves out to which account the key belongs. */
  hidesAccount?: boolean;
}

export const TRADING_KEY: VenueKey = { mayTrade: true, mayWithdraw: false };

/** Compares secrets in a time that tells nothing of where they differ. */
export function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
