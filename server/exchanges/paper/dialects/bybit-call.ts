import type { BookOwner } from '../book.ts';
import type { StruckFaults } from '../faults.ts';
import { isListed } from '../listed-tokens.ts';
import type { PaperRequest } from '../paper-http.ts';
import { type PaperContext, type PaperSession, viewAccount, withAccount } from '../paper-session.ts';
import { isGiven, type Parameters, parametersOf, requireLinear, tokenOf } from './bybit-parameters.ts';
import type { LoseStopOf } from './dialect.ts';

export interface BybitRequest {
  context: PaperContext;
  request: PaperRequest;
  owner: BookOwner;
  /** The time by the exchange's clock. */
  now: Date;
  faults: StruckFaults;
  loseStopOf: LoseStopOf;
}

export interface BybitCall extends BybitRequest {
  parameters: Parameters;
  token(): Promise<string>;
  /** Null when the request names no symbol. */
  optionalToken(): Promise<string | null>;
  inAccount<T>(work: (session: PaperSession) => Promise<T>): Promise<T>;
}

export type BybitHandler = (call: BybitRequest) => Promise<unknown>;

export function prepared(handler: (call: BybitCall) => Promise<unknown>): BybitHandler {
  return async (call) => {
    const parameters = parametersOf(call.request);
    const inAccount = call.request.method === 'GET' ? viewAccount : withAccount;
    const token = () => tokenOf(parameters, (name) => isListed(call.context, 'Bybit', name));
    return handler({
      ...call,
      parameters,
      token,
      optionalToken: async () => (isGiven(parameters, 'symbol') ? await token() : null),
      inAccount: (work) => inAccount(call.context, call.owner, work),
    });
  };
}

/** The same for what belongs to USDT perpetuals. */
export const linear = (handler: (call: BybitCall) => Promise<unknown>): BybitHandler =>
  prepared(async (call) => {
    requireLinear(call.parameters);
    return handler(call);
  });
