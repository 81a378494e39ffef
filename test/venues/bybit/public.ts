import { isListed, listedTokens } from '#server/exchanges/paper/listed-tokens.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { VenueBooks } from '../dialect.ts';
import { type VenueRequest, VIEWER_HEADER } from '../http.ts';
import { pageOf } from './pages.ts';
import { isGiven, limitIn, type Parameters, parametersOf, requireLinear, tokenOf } from './parameters.ts';
import { instrumentView, tickerView } from './views.ts';

export type BybitPublicHandler = (call: {
  books: VenueBooks;
  request: VenueRequest;
  now: Date;
}) => Promise<unknown>;

const OTHER_MARKETS = new Set(['spot', 'inverse', 'option']);
const INSTRUMENTS = { usual: 500, most: 1000 };

export const BYBIT_PUBLIC: Record<string, BybitPublicHandler> = {
  'GET /v5/market/time': async ({ now }) => ({
    timeSecond: String(Math.floor(now.getTime() / 1000)),
    timeNano: `${now.getTime()}000000`,
  }),

  'GET /v5/market/instruments-info': async ({ books, request }) => {
    const parameters = parametersOf(request);
    const { category = '' } = parameters;
    // Clients that list all markets ask for these.
    if (OTHER_MARKETS.has(category)) return { category, list: [], nextPageCursor: '' };
    requireLinear(parameters);
    const isTrading = !isGiven(parameters, 'status') || parameters.status === 'Trading';
    const tokens = isTrading ? await tokensAskedFor(books, parameters) : [];
    const { page, nextPageCursor } = pageOf(tokens, {
      limit: limitIn(parameters, INSTRUMENTS),
      cursor: parameters.cursor,
    });
    const list = page.map((token) => instrumentView(paperContract(token, 'Bybit')));
    return { category: 'linear', list, nextPageCursor };
  },

  'GET /v5/market/tickers': async ({ books, request }) => {
    const parameters = parametersOf(request);
    requireLinear(parameters);
    // A price of one's own is seen where one token is asked for.
    const userId = isGiven(parameters, 'symbol') ? (request.headers[VIEWER_HEADER] ?? null) : null;
    const tokens = await tokensAskedFor(books, parameters);
    const marks = await books.marks.newest(tokens, { userId, db: books.db });
    const list = [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price));
    return { category: 'linear', list };
  },
};

async function tokensAskedFor(books: VenueBooks, parameters: Parameters): Promise<string[]> {
  if (!isGiven(parameters, 'symbol')) return listedTokens(books, 'Bybit');
  return [await tokenOf(parameters, (name) => isListed(books, 'Bybit', name))];
}
