import { BITGET_LIMITS } from '../limits/bitget-limits.ts';
import { createBitgetClient } from './bitget-client.ts';
import { BITGET_CODES } from './bitget-codes.ts';
import { readClosedPositions } from './bitget-history.ts';
import { inspectBitgetKey } from './bitget-key.ts';
import {
  accountStateOf,
  balanceOf,
  closingOrderOf,
  isEntry,
  orderIdOf,
  orderOf,
  positionOf,
  protectionOf,
  shownByOrder,
  spotBalanceOf,
  tickerOf,
} from './bitget-readers.ts';
import { contractOf } from './contract.ts';
import type { CcxtDialect } from './dialect.ts';

const DEMO_HEADER = 'PAPTRADING';
const KEY_HEADER = 'ACCESS-KEY';
const ORIGIN = 'https://api.bitget.com';
const DAY_MS = 86_400_000;
/** The stops and targets of positions, among the triggered orders. */
const PLANS = { trigger: true, planType: 'profit_loss' };
/** The library names an order by id; by client order id it wants none. */
const BY_CLIENT_ORDER_ID = undefined as unknown as string;

/** Bitget v2, USDT-margined perpetuals, classic account, one-way mode. */
export const BITGET: CcxtDialect = {
  platform: 'Bitget',
  accountMode: 'classic',
  // Demo and live are one address, told apart by a header.
  origins: { paper: ORIGIN, demo: ORIGIN, live: ORIGIN },
  addressProblem: (environment, { hostname }) =>
    environment === 'paper' && /(^|\.)bitget\./.test(hostname)
      ? 'paper trading never reaches Bitget itself'
      : null,
  codes: BITGET_CODES,
  statuses: new Map(),
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
  limits: BITGET_LIMITS,

  environmentProblem(environment, headers) {
    const isDemo = headers[DEMO_HEADER] === '1';
    if (isDemo === (environment === 'demo')) return null;
    // The exchange's clock is asked without it; without a key a request concerns no account.
    if (environment === 'demo' && headers[KEY_HEADER] === undefined) return null;
    return `a ${environment} request must ${isDemo ? 'not ' : ''}carry ${DEMO_HEADER}: 1`;
  },

  inspectKey: inspectBitgetKey,

  contractOf,
  readTicker: async (client, symbol) => (await client.fetchTicker(symbol)).info,
  tickerOf,

  readBalance: async (client) =>
    (await client.fetchBalance({ type: 'swap', productType: 'USDT-FUTURES' })).info as unknown,
  balanceOf,
  spotBalance: {
    read: async (client) => (await client.fetchBalance({ type: 'spot' })).info as unknown,
    of: spotBalanceOf,
  },

  oneWayMode: 'one_way_mode',
  isolatedMode: 'isolated',
  readAccountState: async (client, symbol) => (await client.fetchLeverage(symbol)).info as unknown,
  accountStateOf,

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
  // One look-up finds an order in whatever state it is.
  lookUps: [
    async (client, symbol, clientOrderId) => [
      (await client.fetchOrder(BY_CLIENT_ORDER_ID, symbol, { clientOrderId })).info,
    ],
  ],
  // Ninety days are documented for the history; for the look-up of one order nothing is, so it is not relied on.
  orderMemory: { withoutFillsMs: DAY_MS, withFillsMs: 7 * DAY_MS },
  readOpenOrders: async (client, symbol) => infosOf(await client.fetchOpenOrders(symbol)),
  orderOf,
  isEntry,
  orderIdOf,
  shownByOrder,

  readPositions: async (client) =>
    infosOf(await client.fetchPositions(undefined, { productType: 'USDT-FUTURES' })),
  positionOf,
  protection: {
    heldBy: 'orders',
    list: async (client, symbol) => {
      const parameters = { ...PLANS, productType: 'USDT-FUTURES' };
      return infosOf(await client.fetchOpenOrders(symbol, undefined, undefined, parameters));
    },
    of: protectionOf,
    cancelParameters: PLANS,
    orderParameters: ({ side, triggerPrice, clientOrderId }) => ({
      clientOrderId,
      triggerType: 'mark_price',
      [side === 'stopLoss' ? 'stopLossPrice' : 'takeProfitPrice']: triggerPrice,
    }),
  },

  readClosedPositions,
  async readEndedOrders(client, symbol, { from, to }) {
    const orders = await client.fetchCanceledAndClosedOrders(symbol, undefined, undefined, {
      startTime: String(from.getTime()),
      endTime: String(to.getTime()),
      limit: '100',
    });
    return infosOf(orders);
  },
  closingOrderOf,
};

const infosOf = (found: { info: unknown }[]): unknown[] => found.map(({ info }) => info);
