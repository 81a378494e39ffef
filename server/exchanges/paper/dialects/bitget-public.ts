import { isListed, listedTokens } from '../listed-tokens.ts';
import { paperContract } from '../paper-contracts.ts';
import { type PaperRequest, VIEWER_HEADER } from '../paper-http.ts';
import type { PaperContext } from '../paper-session.ts';
import { parametersOf, requireUsdtFutures, tokenOf } from './bitget-parameters.ts';
import { contractView, tickerView } from './bitget-views.ts';

export type PublicHandler = (call: {
  context: PaperContext;
  request: PaperRequest;
  now: Date;
}) => Promise<unknown>;

export const BITGET_PUBLIC: Record<string, PublicHandler> = {
  'GET /api/v2/public/time': async ({ now }) => ({ serverTime: String(now.getTime()) }),

  'GET /api/v2/mix/market/contracts': async ({ context, request }) => {
    if (parametersOf(request).productType?.toUpperCase() !== 'USDT-FUTURES') return [];
    const tokens = await listedTokens(context, 'Bitget');
    return tokens.map((token) => contractView(paperContract(token)));
  },

  'GET /api/v2/mix/market/ticker': async ({ context, request, now }) => {
    const parameters = parametersOf(request);
    requireUsdtFutures(parameters);
    const token = await tokenOf(parameters, (name) => isListed(context, 'Bitget', name));
    const userId = request.headers[VIEWER_HEADER] ?? null;
    const mark = (await context.marks.newest([token], { userId, db: context.db })).get(token);
    return mark ? [tickerView(`${token}USDT`, mark.price, now)] : [];
  },

  'GET /api/v2/mix/market/tickers': async ({ context, request, now }) => {
    requireUsdtFutures(parametersOf(request));
    const tokens = await listedTokens(context, 'Bitget');
    const marks = await context.marks.newest(tokens, { userId: null, db: context.db });
    return [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price, now));
  },
};
