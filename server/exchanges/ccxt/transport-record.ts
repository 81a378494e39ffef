import { cutText } from '#server/platform/cut-text.ts';
import type { CallRecord, ExchangeCredentials } from '../exchange.ts';
import type { CallScope, ExchangeAnswer } from './call-scope.ts';
import type { TransportError } from './transport-error.ts';

const MAX_TEXT = 4_000;

/**
 * The displayed part of one HTTP exchange: address, body and answer. Headers carry the secrets and are never copied.
 */
export function callRecord(options: {
  scope: CallScope;
  request: { method: string; body?: string | undefined };
  target: URL;
  startedAt: Date;
  durationMs: number;
  answer: ExchangeAnswer | null;
  failure: TransportError | null;
  success: boolean;
}): CallRecord {
  const { scope, request, target, startedAt, durationMs, answer, failure, success } = options;
  return {
    type: scope.type,
    method: request.method,
    endpoint: target.pathname,
    timestamp: startedAt.toISOString(),
    requestData: request.body ? readable(request.body) : Object.fromEntries(target.searchParams),
    responseData: answer ? readable(cleanBody(answer, scope)) : { error: failure?.message ?? 'no answer' },
    success,
    status: answer?.status ?? null,
    durationMs,
  };
}

const cleanBody = ({ body }: ExchangeAnswer, { account }: CallScope) =>
  account === null ? body : withoutSecrets(body, account.credentials);

function readable(body: string): unknown {
  if (body.length > MAX_TEXT) return `${cutText(body, MAX_TEXT)}… (${body.length} characters)`;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** Shorter strings are too short for secrets and may be ordinary words of the exchange. */
const SHORTEST_SECRET = 8;
const CENSOR = '[redacted]';

/** Removes the account's secrets from the text: an exchange may echo the request in a refusal. */
export function withoutSecrets(text: string, credentials: ExchangeCredentials): string {
  const { apiKey, apiSecret, passphrase = '' } = credentials;
  return [apiKey, apiSecret, passphrase]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((clean, secret) => clean.replaceAll(secret, CENSOR), text);
}
