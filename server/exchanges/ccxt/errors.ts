import { ExchangeError, type Placement, UNREADABLE } from '../exchange.ts';
import { LONGEST_ASKED_MS } from '../limits/rate-holds.ts';
import type { CallScope, ExchangeAnswer } from './call-scope.ts';
import type { CcxtDialect } from './dialect.ts';
import { TransportError } from './transport-error.ts';

/*
 * What a failed call means. The judgement rests on what the transport saw (phase, status, answer code), not on the
 * client library's error classes: those mix 'not placed' with 'unknown', and a 200 without an order does not even
 * throw.
 * 1. A call counts as refused only after a definite answer of the exchange, or if nothing was sent.
 * 2. Anything unrecognised is unknown.
 */

type Judged = 'not-sent' | 'refused' | 'credentials' | 'retry-later' | 'duplicate' | 'unknown';

export interface Judgement {
  what: Judged;
  code: string | null;
  message: string;
  retryAfterMs: number;
}

type JudgedDialect = Pick<CcxtDialect, 'platform' | 'codes' | 'statuses' | 'envelope' | 'successCode'>;

const RATE_LIMITED = new Set([418, 429]);
const RETRY_AFTER_MS = { rate: 1_000, clock: 1_000, maintenance: 5_000, connect: 1_000, status: 30_000 };

/** `unknown` may have been executed, `duplicate` was executed earlier; all others certainly were not (I6). */
export function judge(error: unknown, scope: CallScope, dialect: JudgedDialect): Judgement {
  if (error instanceof ExchangeError) {
    const what = error.kind === 'refused' ? 'refused' : error.kind;
    return { what, code: error.code, message: error.message, retryAfterMs: RETRY_AFTER_MS.connect };
  }
  const verdict = (what: Judged, message: string, more: Partial<Judgement> = {}): Judgement => ({
    what,
    code: null,
    retryAfterMs: 0,
    message: `${dialect.platform}: ${message}`,
    ...more,
  });
  if (error instanceof TransportError && error.phase !== 'sent') {
    if (error.phase === 'not-sent') return verdict('not-sent', error.message, { code: 'not-sent' });
    return verdict('retry-later', error.message, {
      retryAfterMs: error.retryAfterMs ?? RETRY_AFTER_MS.connect,
    });
  }
  const { answer } = scope;
  if (!answer) {
    if (!scope.sent) return verdict('not-sent', messageOf(error), { code: 'not-sent' });
    if (!(error instanceof TransportError)) return verdict('unknown', 'no usable answer');
    return verdict('unknown', error.message, error.isUnreadable ? { code: UNREADABLE } : {});
  }
  return judgeAnswer({ answer, dialect, verdict });
}

function judgeAnswer(options: {
  answer: NonNullable<CallScope['answer']>;
  dialect: JudgedDialect;
  verdict: (what: Judged, message: string, more?: Partial<Judgement>) => Judgement;
}): Judgement {
  const { answer, dialect, verdict } = options;
  const envelope = dialect.envelope(answer);
  const { codes } = dialect;
  if (!envelope || envelope.code === dialect.successCode) {
    if (RATE_LIMITED.has(answer.status)) return rateLimited();
    const text = `no usable answer (HTTP ${answer.status})`;
    const byItsStatus = envelope ? null : byStatus(text, String(answer.status));
    return byItsStatus ?? verdict('unknown', text, isGiven(answer) ? { code: UNREADABLE } : {});
  }
  const { code } = envelope;
  const text = `${envelope.message || 'refused'} (${code})`;
  if (codes.duplicate.has(code)) return verdict('duplicate', text, { code });
  if (RATE_LIMITED.has(answer.status)) return rateLimited(code);
  if (answer.status >= 500) return verdict('unknown', text, { code });
  if (codes.clock.has(code))
    return verdict('retry-later', text, { code, retryAfterMs: RETRY_AFTER_MS.clock });
  if (codes.retryLater.has(code)) {
    return verdict('retry-later', text, { code, retryAfterMs: RETRY_AFTER_MS.maintenance });
  }
  if (codes.credentials.has(code) || codes.otherAccountMode.has(code))
    return verdict('credentials', text, { code });
  if (codes.refused.has(code)) return verdict('refused', text, { code });
  return byStatus(text, code) ?? verdict('unknown', text, { code });

  function byStatus(message: string, saidCode: string): Judgement | null {
    const what = dialect.statuses.get(answer.status);
    if (what === undefined) return null;
    return verdict(what, message, { code: saidCode, retryAfterMs: RETRY_AFTER_MS.status });
  }

  function rateLimited(limitCode: string | null = null): Judgement {
    const seconds = Number(answer.headers['retry-after']);
    const asked = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : RETRY_AFTER_MS.rate;
    const retryAfterMs = Math.min(asked, LONGEST_ASKED_MS);
    return verdict('retry-later', 'too many requests', {
      code: limitCode ?? String(answer.status),
      retryAfterMs,
    });
  }
}

/** Whether the exchange itself answered: its gateways fail with a status of their own. */
export const isGiven = ({ status }: ExchangeAnswer): boolean => status >= 200 && status < 300;

/** The outcome of a placement that returned no order id. */
export function placementOf(judgement: Judgement): Placement {
  const { message, retryAfterMs } = judgement;
  switch (judgement.what) {
    case 'not-sent':
    case 'refused':
    case 'credentials':
      return { outcome: 'refused', code: judgement.code ?? 'not-sent', message };
    case 'retry-later':
      return { outcome: 'retry-later', message, retryAfterMs };
    case 'duplicate':
      return { outcome: 'duplicate', message };
    case 'unknown':
      return { outcome: 'unknown', message };
  }
}

export function exchangeErrorOf(judgement: Judgement, cause: unknown): ExchangeError {
  const { what, code, message } = judgement;
  const kind = what === 'not-sent' || what === 'duplicate' ? 'refused' : what;
  return new ExchangeError(kind, message, { code, cause });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
