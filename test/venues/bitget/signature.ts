import { createHmac } from 'node:crypto';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { VenueRequest } from '../http.ts';
import { VenueRefusal } from '../refusals.ts';
import { sameText } from '../venue-credentials.ts';

const TIMESTAMP_WINDOW_MS = 30_000;

/**
 * Returns the user who signed the request. Refuses it with Bitget's codes if key, passphrase, time or signature are
 * wrong.
 */
export function authenticateBitgetRequest(options: {
  request: VenueRequest;
  now: Date;
  userIdOfKey: (apiKey: string) => string | null;
  credentialsFor: (userId: string) => ExchangeCredentials;
}): string {
  const { request, now, userIdOfKey, credentialsFor } = options;
  const key = header(request, 'access-key', '40001');
  const signature = header(request, 'access-sign', '40002');
  const timestamp = header(request, 'access-timestamp', '40003');
  const passphrase = header(request, 'access-passphrase', '40011');

  const userId = userIdOfKey(key);
  if (userId === null) throw new VenueRefusal('40006', 'Invalid ACCESS_KEY');
  if (!/^\d{13}$/.test(timestamp)) throw new VenueRefusal('40005', 'Invalid ACCESS_TIMESTAMP');
  if (Math.abs(now.getTime() - Number(timestamp)) > TIMESTAMP_WINDOW_MS) {
    throw new VenueRefusal('40008', 'Request timestamp expired');
  }
  const credentials = credentialsFor(userId);
  if (!sameText(passphrase, credentials.passphrase ?? '')) {
    throw new VenueRefusal('40012', 'apikey/password is incorrect');
  }
  if (!sameText(signature, bitgetSignature(credentials.apiSecret, timestamp, request))) {
    throw new VenueRefusal('40009', 'sign signature error');
  }
  return userId;
}

/** Bitget signs the decoded query, while the URL carries it percent-encoded. */
export function bitgetSignature(
  apiSecret: string,
  timestamp: string,
  request: Pick<VenueRequest, 'method' | 'path' | 'query' | 'body'>,
): string {
  const query = request.query ? `?${decoded(request.query)}` : '';
  return createHmac('sha256', apiSecret)
    .update(`${timestamp}${request.method}${request.path}${query}${request.body}`)
    .digest('base64');
}

function header(request: VenueRequest, name: string, missingCode: string): string {
  const value = request.headers[name];
  if (!value) throw new VenueRefusal(missingCode, `${name.toUpperCase().replaceAll('-', '_')} is empty`);
  return value;
}

function decoded(query: string): string {
  try {
    return decodeURIComponent(query);
  } catch {
    return query;
  }
}
