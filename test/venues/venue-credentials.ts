import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';

const KEY_PREFIX = 'paper-';

/** The keys of a venue account, derived from a secret shared by both sides of a test: signatures are really checked. */
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

/** The venue's answer about an account's key. */
export interface VenueKey {
  mayTrade: boolean;
  mayWithdraw: boolean;
  /** Set if the account's kind differs from the one the dialect supports. */
  accountMode?: 'classic' | 'unified';
  /** The mode of a unified account at Bitget; isolated margin by default. */
  accountLevel?: 'basic' | 'advanced' | 'isolated' | 'delta';
  /** When the key ends; only Bybit tells. */
  expiresAt?: Date;
  /** Omits the account id from the answer. */
  hidesAccount?: boolean;
}

export const TRADING_KEY: VenueKey = { mayTrade: true, mayWithdraw: false };

/** Compares secrets in constant time. */
export function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
