import { listedTokens, paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { PublicCall, PublicRoutes } from '../dialect.ts';
import { VIEWER_HEADER } from '../http.ts';
import { isGiven } from '../parameters.ts';
import { pageOf } from './pages.ts';
import { limitIn, requireLinear } from './parameters.ts';
import { instrumentView, tickerView } from './views.ts';

const OTHER_MARKETS = new Set(['spot', 'inverse', 'option']);
const INSTRUMENTS = { usual: 500, most: 1000 };

export const BYBIT_PUBLIC: PublicRoutes = {
  'GET /v5/market/time': async ({ now }) => ({
    timeSecond: String(Math.floor(now.getTime() / 1000)),
    timeNano: `${now.getTime()}000000`,
  }),

  'GET /v5/market/instruments-info': async (call) => {
    const { parameters } = call;
    const { category = '' } = parameters;
    // Requested by clients that list all markets.
    if (OTHER_MARKETS.has(category)) return { category, list: [], nextPageCursor: '' };
    requireLinear(call);
    const { contracts } = call.books;
    const status = isGiven(parameters, 'status') ? parameters.status : 'Trading';
    const tokens = (await tokensAskedFor(call)).filter(
      (token) => contracts.statusOf('Bybit', token) === status,
    );
    const { page, nextPageCursor } = pageOf(tokens, {
      limit: limitIn(parameters, INSTRUMENTS),
      cursor: parameters.cursor,
    });
    const marks = await call.books.marks.newest(page, { userId: null, db: call.books.db });
    const list = page.map((token) => {
      const { endsAt, kind, maximumQuantity, maximumMarketQuantity } = contracts.of('Bybit', token);
      const view = instrumentView(paperContract(token, 'Bybit', marks.get(token)?.price ?? null));
      return {
        ...view,
        status: contracts.statusOf('Bybit', token),
        deliveryTime: String(endsAt?.getTime() ?? 0),
        symbolType: kind ?? '',
        lotSizeFilter: {
          ...view.lotSizeFilter,
          ...(maximumQuantity === undefined ? {} : { maxOrderQty: maximumQuantity }),
          ...(maximumMarketQuantity === undefined ? {} : { maxMktOrderQty: maximumMarketQuantity }),
        },
      };
    });
    return { category: 'linear', list, nextPageCursor };
  },

  'GET /v5/market/tickers': async (call) => {
    const { books, request, parameters } = call;
    requireLinear(call);
    // A user's own prices are visible only in requests for one token.
    const userId = isGiven(parameters, 'symbol') ? (request.headers[VIEWER_HEADER] ?? null) : null;
    const tokens = await tokensAskedFor(call);
    const marks = await books.marks.newest(tokens, { userId, db: books.db });
    const list = [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price));
    return { category: 'linear', list };
  },
};

async function tokensAskedFor({ books, optionalToken }: PublicCall): Promise<string[]> {
  const token = await optionalToken();
  return token === null ? listedTokens(books, 'Bybit') : [token];
}
