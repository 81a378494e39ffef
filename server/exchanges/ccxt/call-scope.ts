import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallPriority, CallRecord, ExchangeAccount } from '../exchange.ts';

/**
 * Who and what one call is for. One client instance serves all users (an instance for each costs 433 kB and its own
 * connections), so this travels beside the call and is read where requests are signed and sent.
 */
export interface CallScope {
  type: string;
  /** Null for public data. */
  account: ExchangeAccount | null;
  /** Nothing is sent after this instant. */
  notAfter: Date | null;
  onCall: ((call: CallRecord) => void) | null;
  viewerUserId: string | null;
  /** Left out: what the type of the call asks for. */
  priority?: CallPriority | null;
  /** Set where a request is only to be seen: it is handed over here and never leaves. */
  describe?: (request: { method: string; endpoint: string; body: string }) => void;
  /** Set by the transport: whether a request may have reached the exchange, and what it answered last. */
  sent: boolean;
  answer: ExchangeAnswer | null;
}

export interface ExchangeAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export const callScope = new AsyncLocalStorage<CallScope>();

export function currentScope(): CallScope {
  const scope = callScope.getStore();
  if (!scope) throw new Error('An exchange was called outside a call scope');
  return scope;
}
