import type { BookOwner } from '#server/exchanges/paper/book.ts';
import { isListed } from '#server/exchanges/paper/listed-tokens.ts';
import { type PaperSession, viewAccount, withAccount } from '#server/exchanges/paper/paper-books.ts';
import type { LoseStopOf, VenueBooks } from '../dialect.ts';
import type { StruckFaults } from '../faults.ts';
import type { VenueRequest } from '../http.ts';
import { isGiven, type Parameters, parametersOf, requireLinear, tokenOf } from './parameters.ts';

export interface BybitRequest {
  books: VenueBooks;
  request: VenueRequest;
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
    const token = () => tokenOf(parameters, (name) => isListed(call.books, 'Bybit', name));
    return handler({
      ...call,
      parameters,
      token,
      optionalToken: async () => (isGiven(parameters, 'symbol') ? await token() : null),
      inAccount: (work) => inAccount(call.books, call.owner, work),
    });
  };
}

/** The same for what belongs to USDT perpetuals. */
export const linear = (handler: (call: BybitCall) => Promise<unknown>): BybitHandler =>
  prepared(async (call) => {
    requireLinear(call.parameters);
    return handler(call);
  });
