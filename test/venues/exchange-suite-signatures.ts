import { createHmac } from 'node:crypto';
import type { VenueRequest } from '#test/venues/http.ts';
import type { SuiteDialect } from './exchange-suite-words.ts';

/** Recomputes the signature from the documentation; null if it is valid. */
export function signatureProblem(
  dialect: SuiteDialect,
  { method, path, query, body, headers }: VenueRequest,
  secret: string,
): string | null {
  const hmac = (text: string) => createHmac('sha256', secret).update(text);
  if (dialect !== 'Bybit') {
    const raw = query === '' ? '' : `?${decodeURIComponent(query)}`;
    const signed = `${headers['access-timestamp']}${method}${path}${raw}${body}`;
    return headers['access-sign'] === hmac(signed).digest('base64') ? null : `wrong signature of ${signed}`;
  }
  const payload = method === 'POST' ? body : query;
  const signed = `${headers['x-bapi-timestamp']}${headers['x-bapi-api-key']}${headers['x-bapi-recv-window']}${payload}`;
  return headers['x-bapi-sign'] === hmac(signed).digest('hex') ? null : `wrong signature of ${signed}`;
}
