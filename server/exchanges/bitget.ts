import { createBitgetClient } from './bitget-client.ts';
import { BITGET_CODES } from './bitget-codes.ts';
import {
  accountStateOf,
  balanceOf,
  closedPositionOf,
  closedPositionsIn,
  closingOrderOf,
  contractOf,
  isEntry,
  orderIdOf,
  orderOf,
  positionOf,
  protectionOf,
  spotBalanceOf,
  tickerOf,
} from './bitget-readers.ts';
import type { CcxtDialect } from './ccxt-dialect.ts';
import type { BitgetClient } from './ccxt-library.ts';

const DEMO_HEADER = 'PAPTRADING';
const KEY_HEADER = 'ACCESS-KEY';

/** Bitget v2, USDT-margined perpetuals, classic account, one-way mode. */
export const BITGET: CcxtDialect = {
  platform: 'Bitget',
  origin: 'https://api.bitget.com',
  codes: BITGET_CODES,
  createClient: createBitgetClient,

  envelope({ body }) {
    try {
      const { code, msg } = JSON.parse(body) as { code?: unknown; msg?: unknown };
      return code === undefined ? null : { code: String(code), message: String(msg ?? '') };
    } catch {
      return null;
    }
  },
  isSuccessCode: (code) => code === '00000',

  environmentProblem(environment, headers) {
    const isDemo = headers[DEMO_HEADER] === '1';
    if (isDemo === (environment === 'demo')) return null;
    // The exchange's clock is asked without it; without a key a request concerns no account.
    if (environment === 'demo' && headers[KEY_HEADER] === undefined) return null;
    return `a ${environment} request must ${isDemo ? 'not ' : ''}carry ${DEMO_HEADER}: 1`;
  },

  contractOf,
  tickerOf,
  balanceOf,
  spotBalanceOf,
  accountStateOf,
  orderOf,
  isEntry,
  positionOf,
  protectionOf,
  closedPositionOf,
  closingOrderOf,
  orderIdOf,

  balanceParameters: { type: 'swap', productType: 'USDT-FUTURES' },
  spotBalanceParameters: { type: 'spot' },
  positionParameters: { productType: 'USDT-FUTURES' },
  oneWayMode: 'one_way_mode',
  isolatedMode: 'isolated',

  // Without `price` in them, stop and target execute at the market; the trigger is the mark price by default.
  entryParameters: (order) => ({
    clientOrderId: order.clientOrderId,
    marginMode: 'isolated',
    timeInForce: 'GTC',
    stopLoss: { triggerPrice: order.stopLoss },
    takeProfit: { triggerPrice: order.takeProfit },
  }),
  closeParameters: (clientOrderId) => ({ clientOrderId, marginMode: 'isolated', reduceOnly: true }),
  referenceParameters: (clientOrderId) => ({ clientOrderId }),
  protectionListParameters: { trigger: true, planType: 'profit_loss' },
  protectionCancelParameters: { trigger: true, planType: 'profit_loss' },
  positionHistory: {
    pageSize: 100,
    // Bitget keeps three months, and refuses a longer period than 90 days.
    maxAgeMs: 89 * 86_400_000,
    // The library's own method leaves the product type out.
    async read(client, { since, before }) {
      const answer: unknown = await (client as BitgetClient).privateMixGetV2MixPositionHistoryPosition({
        productType: 'USDT-FUTURES',
        startTime: String(since.getTime()),
        limit: '100',
        ...(before === null ? {} : { idLessThan: before }),
      });
      return closedPositionsIn(answer);
    },
  },
  orderHistory: {
    pageSize: 100,
    parameters: ({ from, to }) => ({
      startTime: String(from.getTime()),
      endTime: String(to.getTime()),
      limit: '100',
    }),
  },
  protectionParameters: (side, { triggerPrice, clientOrderId }) => ({
    clientOrderId,
    triggerType: 'mark_price',
    [side === 'stopLoss' ? 'stopLossPrice' : 'takeProfitPrice']: triggerPrice,
  }),
};
