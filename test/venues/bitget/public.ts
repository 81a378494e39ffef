import { listedTokens, paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { PublicRoutes } from '../dialect.ts';
import { VIEWER_HEADER } from '../http.ts';
import { requireUsdtFutures } from './parameters.ts';
import { contractView, tickerView } from './views.ts';

export const BITGET_PUBLIC: PublicRoutes = {
  'GET /api/v2/public/time': async ({ now }) => ({ serverTime: String(now.getTime()) }),

  // Requested by clients that list all markets: there is no spot and no margin trading.
  'GET /api/v2/spot/public/coins': async () => [],
  'GET /api/v2/spot/public/symbols': async () => [],
  'GET /api/v2/margin/currencies': async () => [],

  'GET /api/v2/mix/market/contracts': async ({ books, parameters }) => {
    if (parameters.productType?.toUpperCase() !== 'USDT-FUTURES') return [];
    const tokens = await listedTokens(books, 'Bitget');
    const marks = await books.marks.newest(tokens, { userId: null, db: books.db });
    return tokens.map((token) => {
      const { endsAt, kind, maximumQuantity, maximumMarketQuantity } = books.contracts.of('Bitget', token);
      return {
        ...contractView(paperContract(token, 'Bitget', marks.get(token)?.price ?? null)),
        symbolStatus: books.contracts.statusOf('Bitget', token),
        offTime: String(endsAt?.getTime() ?? -1),
        isRwa: kind ?? 'NO',
        ...(maximumQuantity === undefined ? {} : { maxOrderQty: maximumQuantity }),
        ...(maximumMarketQuantity === undefined ? {} : { maxMarketOrderQty: maximumMarketQuantity }),
      };
    });
  },

  'GET /api/v2/mix/market/ticker': async (call) => {
    requireUsdtFutures(call);
    const { books, request, now } = call;
    const token = await call.token();
    const userId = request.headers[VIEWER_HEADER] ?? null;
    const mark = (await books.marks.newest([token], { userId, db: books.db })).get(token);
    return mark ? [tickerView(`${token}USDT`, mark.price, now)] : [];
  },

  'GET /api/v2/mix/market/tickers': async (call) => {
    requireUsdtFutures(call);
    const { books, now } = call;
    const tokens = await listedTokens(books, 'Bitget');
    const marks = await books.marks.newest(tokens, { userId: null, db: books.db });
    return [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price, now));
  },
};
