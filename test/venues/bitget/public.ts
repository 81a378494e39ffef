import { isListed, listedTokens } from '#server/exchanges/paper/listed-tokens.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { VenueBooks } from '../dialect.ts';
import { type VenueRequest, VIEWER_HEADER } from '../http.ts';
import { parametersOf, requireUsdtFutures, tokenOf } from './parameters.ts';
import { contractView, tickerView } from './views.ts';

export type PublicHandler = (call: {
  books: VenueBooks;
  request: VenueRequest;
  now: Date;
}) => Promise<unknown>;

export const BITGET_PUBLIC: Record<string, PublicHandler> = {
  'GET /api/v2/public/time': async ({ now }) => ({ serverTime: String(now.getTime()) }),

  // Clients that list all markets ask for these: there is no spot and no margin trading.
  'GET /api/v2/spot/public/coins': async () => [],
  'GET /api/v2/spot/public/symbols': async () => [],
  'GET /api/v2/margin/currencies': async () => [],

  'GET /api/v2/mix/market/contracts': async ({ books, request }) => {
    if (parametersOf(request).productType?.toUpperCase() !== 'USDT-FUTURES') return [];
    const tokens = await listedTokens(books, 'Bitget');
    return tokens.map((token) => contractView(paperContract(token)));
  },

  'GET /api/v2/mix/market/ticker': async ({ books, request, now }) => {
    const parameters = parametersOf(request);
    requireUsdtFutures(parameters);
    const token = await tokenOf(parameters, (name) => isListed(books, 'Bitget', name));
    const userId = request.headers[VIEWER_HEADER] ?? null;
    const mark = (await books.marks.newest([token], { userId, db: books.db })).get(token);
    return mark ? [tickerView(`${token}USDT`, mark.price, now)] : [];
  },

  'GET /api/v2/mix/market/tickers': async ({ books, request, now }) => {
    requireUsdtFutures(parametersOf(request));
    const tokens = await listedTokens(books, 'Bitget');
    const marks = await books.marks.newest(tokens, { userId: null, db: books.db });
    return [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price, now));
  },
};
