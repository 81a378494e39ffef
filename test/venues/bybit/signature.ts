import { createHmac } from 'node:crypto';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { VenueRequest } from '../http.ts';
import { VenueRefusal } from '../refusals.ts';
import { sameText } from '../venue-credentials.ts';

const USUAL_WINDOW_MS = 5_000;
/** How far a request may be ahead of the exchange's clock, whatever window it asks for. */
const LARGEST_LEAD_MS = 1_000;

export const KEY_HEADER = 'x-bapi-api-key';

/** Returns the user who signed the request. Refuses it with Bybit's codes if key, time or signature are wrong. */
export function authenticateBybitRequest(options: {
  request: VenueRequest;
  now: Date;
  userIdOfKey: (apiKey: string) => string | null;
  credentialsFor: (userId: string) => ExchangeCredentials;
}): string {
  const { request, now, userIdOfKey, credentialsFor } = options;
  const { headers } = request;
  const apiKey = headers[KEY_HEADER] ?? '';
  const timestamp = headers['x-bapi-timestamp'] ?? '';
  const window = headers['x-bapi-recv-window'] ?? '';
  if (apiKey === '') throw new VenueRefusal('10003', 'API key is invalid.');
  if (!headers['x-bapi-sign']) throw new VenueRefusal('10004', 'error sign! origin_string[]');
  checkTime({ timestamp, windowMs: window === '' ? USUAL_WINDOW_MS : Number(window), now });
  const userId = userIdOfKey(apiKey);
  if (userId === null) throw new VenueRefusal('10003', 'API key is invalid.');
  const expected = bybitSignature(credentialsFor(userId).apiSecret, { apiKey, timestamp, window }, request);
  if (!sameText(headers['x-bapi-sign'], expected)) {
    throw new VenueRefusal('10004', 'error sign! please check your signature generation algorithm.');
  }
  return userId;
}

/** Bybit signs the query exactly as it appears in the URL, or the body as sent. */
export function bybitSignature(
  apiSecret: string,
  { apiKey, timestamp, window }: { apiKey: string; timestamp: string; window: string },
  { method, query, body }: Pick<VenueRequest, 'method' | 'query' | 'body'>,
): string {
  const payload = method === 'GET' ? query : body;
  return createHmac('sha256', apiSecret).update(`${timestamp}${apiKey}${window}${payload}`).digest('hex');
}

function checkTime({ timestamp, windowMs, now }: { timestamp: string; windowMs: number; now: Date }): void {
  const [asked, server] = [Number(timestamp), now.getTime()];
  const isInTime =
    /^\d{13}$/.test(timestamp) && asked < server + LARGEST_LEAD_MS && server - asked <= windowMs;
  if (isInTime) return;
  throw new VenueRefusal(
    '10002',
    `invalid request, please check your server timestamp or recv_window param. req_timestamp[${timestamp}],server_timestamp[${server}],recv_window[${windowMs}]`,
  );
}
