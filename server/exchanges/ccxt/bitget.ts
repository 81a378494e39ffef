import { type ClosedPosition, ExchangeError } from '../exchange.ts';
import { BITGET_LIMITS } from '../limits/exchange-limits.ts';
import {
  accountStateOf,
  balanceOf,
  closedPositionOf,
  closedPositionsIn,
  closingOrderOf,
  isEntry,
  keyInspectionOf,
  orderOf,
  positionOf,
  protectionOf,
  shownByOrder,
  spotBalanceOf,
  tickerOf,
} from './bitget-readers.ts';
import { currentScope } from './call-scope.ts';
import { type BitgetClient, createBitgetClient } from './client.ts';
import { BITGET_CODES } from './codes.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { envelopeIn } from './readers.ts';

const DEMO_HEADER = 'PAPTRADING';
const KEY_HEADER = 'ACCESS-KEY';
const ORIGIN = 'https://api.bitget.com';
const DAY_MS = 86_400_000;
const USDT_FUTURES = { productType: 'USDT-FUTURES' };
const HISTORY_PER_PAGE = 100;
/** Ten full pages of history in one go are enough; what is older is asked for by the next call. */
const MOST_HISTORY_PAGES = 10;
/** Bitget keeps three months, and refuses a longer period than 90 days. */
const MAX_HISTORY_MS = 89 * DAY_MS;
const PERMISSION_MISSING = '40014';
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

  envelope: ({ body }) => envelopeIn(body, 'code', 'msg'),
  successCode: '00000',
  limits: BITGET_LIMITS,

  environmentProblem(environment, headers) {
    const isDemo = headers[DEMO_HEADER] === '1';
    if (isDemo === (environment === 'demo')) return null;
    // The exchange's clock is asked without it; without a key a request concerns no account.
    if (environment === 'demo' && headers[KEY_HEADER] === undefined) return null;
    return `a ${environment} request must ${isDemo ? 'not ' : ''}carry ${DEMO_HEADER}: 1`;
  },

  async inspectKey(client) {
    try {
      return keyInspectionOf(await bitget(client).privateSpotGetV2SpotAccountInfo());
    } catch (error) {
      if (!currentScope().answer?.body.includes(`"${PERMISSION_MISSING}"`)) throw error;
      // Copies of the documentation differ on whether this needs the right to read spot.
      const message = `Bitget: the key may not read what it may do; give it the right to read spot, too (${PERMISSION_MISSING})`;
      throw new ExchangeError('credentials', message, { code: PERMISSION_MISSING, cause: error });
    }
  },

  fetchTicker: async (client, symbol, token) => tickerOf((await client.fetchTicker(symbol)).info, token),
  fetchBalance: async (client) =>
    balanceOf((await client.fetchBalance({ type: 'swap', ...USDT_FUTURES })).info),
  fetchSpotBalance: async (client) => spotBalanceOf((await client.fetchBalance({ type: 'spot' })).info),

  oneWayMode: 'one_way_mode',
  isolatedMode: 'isolated',
  fetchAccountState: async (client, symbol) => accountStateOf((await client.fetchLeverage(symbol)).info),

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
  shownByOrder,

  readPositions: async (client) => infosOf(await client.fetchPositions(undefined, USDT_FUTURES)),
  positionOf,
  protection: {
    heldBy: 'orders',
    list: async (client, symbol) => {
      const parameters = { ...PLANS, ...USDT_FUTURES };
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

  /** The library's own method leaves the product type out. */
  async fetchClosedPositions(client, { since, now }) {
    const startTime = String(Math.max(since.getTime(), now.getTime() - MAX_HISTORY_MS));
    const found = new Map<string, ClosedPosition>();
    let before: string | null = null;
    for (let page = 0; page < MOST_HISTORY_PAGES; page += 1) {
      const answer: unknown = await bitget(client).privateMixGetV2MixPositionHistoryPosition({
        ...USDT_FUTURES,
        startTime,
        limit: String(HISTORY_PER_PAGE),
        ...(before === null ? {} : { idLessThan: before }),
      });
      const read = closedPositionsIn(answer).map(closedPositionOf);
      const known = found.size;
      const positions = read.filter((position) => position !== null);
      for (const position of positions) found.set(position.positionId, position);
      before = positions.at(-1)?.positionId ?? null;
      // A page that brings nothing new would be answered for ever.
      if (read.length < HISTORY_PER_PAGE || before === null || found.size === known) break;
    }
    return [...found.values()];
  },
  async findClosingOrder(client, symbol, { position, from, to }) {
    const orders = await client.fetchCanceledAndClosedOrders(symbol, undefined, undefined, {
      startTime: String(from.getTime()),
      endTime: String(to.getTime()),
      limit: '100',
    });
    return closingOrderOf(infosOf(orders), position);
  },
};

const bitget = (client: CcxtClient) => client as BitgetClient;

const infosOf = (found: { info: unknown }[]): unknown[] => found.map(({ info }) => info);
