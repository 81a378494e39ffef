import { cutText } from '#server/platform/cut-text.ts';
import type { CallRecord } from '../exchange.ts';
import type { CallScope, ExchangeAnswer } from './call-scope.ts';
import type { TransportError } from './transport-error.ts';
import { withoutSecrets } from './without-secrets.ts';

const MAX_TEXT = 4_000;

/** What is shown of one HTTP exchange: address, body and answer. Headers carry the secrets, so none is ever copied. */
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
