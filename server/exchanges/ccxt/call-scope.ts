import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallPriority, CallRecord, ExchangeAccount } from '../exchange.ts';

/**
 * Purpose and account of one call. One client instance serves all users (an instance per user costs 433 kB and its own
 * connections), so this context travels with the call and is read where requests are signed and sent.
 */
export interface CallScope {
  type: string;
  /** Null for public data. */
  account: ExchangeAccount | null;
  /** Nothing is sent after this instant. */
  notAfter: Date | null;
  onCall: ((call: CallRecord) => void) | null;
  viewerUserId: string | null;
  /** Default: the priority of the call type. */
  priority?: CallPriority | null;
  /** Called once before the first request is signed; see `PlacementContext`. */
  announce?: (() => Promise<boolean>) | undefined;
  /** Set when a request is only described: it goes to this callback and never leaves. */
  describe?: (request: { method: string; endpoint: string; body: string }) => void;
  /** Set by the transport: whether a request may have reached the exchange, and its last answer. */
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
