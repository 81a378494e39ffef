import { isListed, listedTokens } from '../listed-tokens.ts';
import { paperContract } from '../paper-contracts.ts';
import { type PaperRequest, VIEWER_HEADER } from '../paper-http.ts';
import type { PaperContext } from '../paper-session.ts';
import { pageOf } from './bybit-pages.ts';
import {
  isGiven,
  limitIn,
  type Parameters,
  parametersOf,
  requireLinear,
  tokenOf,
} from './bybit-parameters.ts';
import { instrumentView, tickerView } from './bybit-views.ts';

export type BybitPublicHandler = (call: {
  context: PaperContext;
  request: PaperRequest;
  now: Date;
}) => Promise<unknown>;

const INSTRUMENTS = { usual: 500, most: 1000 };

export const BYBIT_PUBLIC: Record<string, BybitPublicHandler> = {
  'GET /v5/market/time': async ({ now }) => ({
    timeSecond: String(Math.floor(now.getTime() / 1000)),
    timeNano: `${now.getTime()}000000`,
  }),

  'GET /v5/market/instruments-info': async ({ context, request }) => {
    const parameters = parametersOf(request);
    requireLinear(parameters);
    const isTrading = !isGiven(parameters, 'status') || parameters.status === 'Trading';
    const tokens = isTrading ? await tokensAskedFor(context, parameters) : [];
    const { page, nextPageCursor } = pageOf(tokens, {
      limit: limitIn(parameters, INSTRUMENTS),
      cursor: parameters.cursor,
    });
    const list = page.map((token) => instrumentView(paperContract(token, 'Bybit')));
    return { category: 'linear', list, nextPageCursor };
  },

  'GET /v5/market/tickers': async ({ context, request }) => {
    const parameters = parametersOf(request);
    requireLinear(parameters);
    // A price of one's own is seen where one token is asked for.
    const userId = isGiven(parameters, 'symbol') ? (request.headers[VIEWER_HEADER] ?? null) : null;
    const tokens = await tokensAskedFor(context, parameters);
    const marks = await context.marks.newest(tokens, { userId, db: context.db });
    const list = [...marks].map(([token, { price }]) => tickerView(`${token}USDT`, price));
    return { category: 'linear', list };
  },
};

async function tokensAskedFor(context: PaperContext, parameters: Parameters): Promise<string[]> {
  if (!isGiven(parameters, 'symbol')) return listedTokens(context, 'Bybit');
  return [await tokenOf(parameters, (name) => isListed(context, 'Bybit', name))];
}
