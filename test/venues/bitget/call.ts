import type { BookOwner } from '#server/exchanges/paper/book.ts';
import { isListed } from '#server/exchanges/paper/listed-tokens.ts';
import { type PaperSession, viewAccount, withAccount } from '#server/exchanges/paper/paper-books.ts';
import type { LoseStopOf, VenueBooks } from '../dialect.ts';
import type { StruckFaults } from '../faults.ts';
import type { VenueRequest } from '../http.ts';
import { type Parameters, parametersOf, requireUsdtFutures, tokenOf } from './parameters.ts';

export interface BitgetRequest {
  books: VenueBooks;
  request: VenueRequest;
  userId: string;
  faults: StruckFaults;
  loseStopOf: LoseStopOf;
}

export interface BitgetCall extends BitgetRequest {
  owner: BookOwner;
  parameters: Parameters;
  token(): Promise<string>;
  inAccount<T>(work: (session: PaperSession) => Promise<T>): Promise<T>;
}

export type BitgetHandler = (call: BitgetRequest) => Promise<unknown>;

export function prepared(handler: (call: BitgetCall) => Promise<unknown>): BitgetHandler {
  return async (call) => {
    const parameters = parametersOf(call.request);
    const inAccount = call.request.method === 'GET' ? viewAccount : withAccount;
    // The library leaves it out where positions of the past are asked for.
    if (parameters.productType !== undefined || !call.request.path.endsWith('/history-position')) {
      requireUsdtFutures(parameters);
    }
    const owner: BookOwner = { userId: call.userId, platform: 'Bitget' };
    return handler({
      ...call,
      owner,
      parameters,
      token: () => tokenOf(parameters, (name) => isListed(call.books, 'Bitget', name)),
      inAccount: (work) => inAccount(call.books, owner, work),
    });
  };
}
