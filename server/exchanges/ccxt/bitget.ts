import { type ClosedPosition, ExchangeError } from '../exchange.ts';
import { BITGET_LIMITS } from '../limits/exchange-limits.ts';
import {
  accountStateOf,
  balanceOf,
  closedPositionOf,
  closedPositionsIn,
  closingOrderOf,
  entryProblemOf,
  isEntry,
  keyInspectionOf,
  largestOrdersOf,
  orderOf,
  planOf,
  plansIn,
  positionOf,
  protectionOf,
  protectionShownBy,
  shownByOrder,
  spotBalanceOf,
  tickerOf,
} from './bitget-readers.ts';
import { currentScope } from './call-scope.ts';
import { type BitgetClient, createBitgetClient } from './client.ts';
import { BITGET_CODES } from './codes.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { billEntries } from './ledger-readers.ts';
import { createTokenDoubts, envelopeIn, list, orderIdOf, record, rows, textOf } from './readers.ts';

const DEMO_HEADER = 'PAPTRADING';
const KEY_HEADER = 'ACCESS-KEY';
const ORIGIN = 'https://api.bitget.com';
const DAY_MS = 86_400_000;
const USDT_FUTURES = { productType: 'USDT-FUTURES' };
const HISTORY_PER_PAGE = 100;
/** Ten full pages of history per call are enough; the next call reads older positions. */
const MOST_HISTORY_PAGES = 10;
/** Bitget keeps three months of history and refuses periods longer than 90 days. */
const MAX_HISTORY_MS = 89 * DAY_MS;
const PERMISSION_MISSING = '40014';
/** Selects position stops and targets among the trigger orders. */
const STOPS_AND_TARGETS = { planType: 'profit_loss' };
/** The library takes an order id; it must be undefined to look up by client order id. */
const BY_CLIENT_ORDER_ID = undefined as unknown as string;

/** Bitget v2, USDT-margined perpetuals, classic account, one-way mode. */
export const BITGET: CcxtDialect = {
  platform: 'Bitget',
  accountMode: 'classic',
  // Demo and live share one address; a header tells them apart.
  origins: { paper: ORIGIN, demo: ORIGIN, live: ORIGIN },
  addressProblem: (environment, { hostname }) =>
    environment === 'paper' && /(^|\.)bitget\./.test(hostname)
      ? 'paper trading never reaches Bitget itself'
      : null,
  codes: BITGET_CODES,
  statuses: new Map(),
  createClient: createBitgetClient,

  envelope: ({ body }) => envelopeIn(body, { code: 'code', message: 'msg', at: 'requestTime' }),
  successCode: '00000',
  limits: BITGET_LIMITS,

  environmentProblem(environment, headers) {
    const isDemo = headers[DEMO_HEADER] === '1';
    if (isDemo === (environment === 'demo')) return null;
    // The library reads the exchange's clock without the header; a request without a key concerns no account.
    if (environment === 'demo' && headers[KEY_HEADER] === undefined) return null;
    return `a ${environment} request must ${isDemo ? 'not ' : ''}carry ${DEMO_HEADER}: 1`;
  },

  async inspectKey(client) {
    try {
      return keyInspectionOf(await bitget(client).privateSpotGetV2SpotAccountInfo());
    } catch (error) {
      if (!currentScope().answer?.body.includes(`"${PERMISSION_MISSING}"`)) throw error;
      // Copies of the documentation disagree on whether this needs the 'spot read' permission.
      const message = `Bitget: the key may not read what it may do; give it the right to read spot, too (${PERMISSION_MISSING})`;
      throw new ExchangeError('credentials', message, { code: PERMISSION_MISSING, cause: error });
    }
  },

  entryProblemOf,
  largestOrdersOf,
  fetchTicker: async (client, symbol, token) => tickerOf((await client.fetchTicker(symbol)).info, token),
  async fetchTickers(client) {
    const answer: unknown = await bitget(client).publicMixGetV2MixMarketTickers(USDT_FUTURES);
    const bySymbol = new Map(list(record(answer).data).map((info) => [info.symbol, info]));
    return (token) => tickerOf(bySymbol.get(`${token}USDT`), token);
  },
  fetchBalance: async (client) =>
    balanceOf((await client.fetchBalance({ type: 'swap', ...USDT_FUTURES })).info),
  fetchSpotBalance: async (client) => spotBalanceOf((await client.fetchBalance({ type: 'spot' })).info),

  oneWayMode: 'one_way_mode',
  isolatedMode: 'isolated',
  async readAccount(client, symbol) {
    const { info } = await client.fetchLeverage(symbol);
    return { balance: balanceOf([info]), ...accountStateOf(info) };
  },
  readSettings: null,
  readMarginMode: null,

  // Without `price`, stop and target execute at market; they trigger on the mark price by default.
  entryParameters: (order) => ({
    clientOrderId: order.clientOrderId,
    marginMode: 'isolated',
    timeInForce: 'GTC',
    stopLoss: { triggerPrice: order.stopLoss },
    takeProfit: { triggerPrice: order.takeProfit },
  }),
  closeParameters: (clientOrderId) => ({ clientOrderId, marginMode: 'isolated', reduceOnly: true }),
  referenceParameters: (clientOrderId) => ({ clientOrderId }),
  // One look-up finds an order in any state.
  lookUps: [
    async (client, symbol, clientOrderId) => [
      (await client.fetchOrder(BY_CLIENT_ORDER_ID, symbol, { clientOrderId })).info,
    ],
  ],
  // Bitget documents 90 days for the history but nothing for the single-order look-up, so do not rely on 90 days.
  orderMemory: { withoutFillsMs: DAY_MS, withFillsMs: 7 * DAY_MS },
  readOpenOrders: async (client, symbol) => infosOf(await client.fetchOpenOrders(symbol)),
  orderOf,
  isEntry,
  shownByOrder,

  /** Calls the endpoint directly: the library's own method fails at the first row that it cannot read. */
  async readPositions(client) {
    const parameters = { ...USDT_FUTURES, marginCoin: 'USDT' };
    const answer: unknown = await bitget(client).privateMixGetV2MixPositionAllPosition(parameters);
    return rows(record(answer).data);
  },
  /** Calls the endpoint directly: the library's own method returns only one of two positions in hedge mode. */
  async readPosition(client, symbol) {
    const answer: unknown = await bitget(client).privateMixGetV2MixPositionSinglePosition({
      ...USDT_FUTURES,
      symbol: client.market(symbol).id,
      marginCoin: 'USDT',
    });
    return { positions: list(record(answer).data) };
  },
  positionOf,
  protection: {
    heldBy: 'orders',
    /** Calls the endpoint directly: the library's own method fails at the first row that it cannot read. */
    async list(client, symbol) {
      const answer: unknown = await bitget(client).privateMixGetV2MixOrderOrdersPlanPending({
        ...USDT_FUTURES,
        ...STOPS_AND_TARGETS,
        ...(symbol === undefined ? {} : { symbol: client.market(symbol).id }),
      });
      return plansIn(answer);
    },
    of: protectionOf,
    shownByPosition: protectionShownBy,
    planOf,
    modify: null,
    /** A cancel needs the plan's own type: `profit_loss` selects in lists only, and cancels nothing with a success. */
    async cancel(client, symbol, info) {
      const orderId = orderIdOf(info);
      const answer: unknown = await bitget(client).privateMixPostV2MixOrderCancelPlanOrder({
        ...USDT_FUTURES,
        symbol: client.market(symbol).id,
        marginCoin: 'USDT',
        planType: record(info).planType,
        orderIdList: [{ orderId }],
      });
      const { successList, failureList } = record(record(answer).data);
      const named = (plans: unknown) => list(plans ?? []).find((one) => textOf(one.orderId) === orderId);
      const failed = named(failureList);
      if (named(successList) !== undefined && failed === undefined) return;
      const why = textOf(failed?.errorMsg);
      const message = `Bitget did not cancel the plan ${orderId}${why === '' ? '' : `: ${why}`}`;
      throw new ExchangeError('unknown', message);
    },
    // The library places plans of the whole position unless the type says otherwise.
    // One of the whole position needs no size, so that none is above the largest market order.
    orderParameters: ({ side, triggerPrice, clientOrderId, isSized = false, isLarge = false }) => ({
      clientOrderId,
      triggerType: 'mark_price',
      [side === 'stopLoss' ? 'stopLossPrice' : 'takeProfitPrice']: triggerPrice,
      ...(isSized ? { planType: side === 'stopLoss' ? 'loss_plan' : 'profit_plan' } : {}),
      ...(isLarge && !isSized ? { size: undefined } : {}),
    }),
  },

  /** Calls the endpoint directly: the library's own method omits the product type. */
  async fetchClosedPositions(client, { since, now }) {
    const startTime = String(Math.max(since.getTime(), now.getTime() - MAX_HISTORY_MS));
    const tokens = createTokenDoubts();
    const found = new Map<string, ClosedPosition>();
    let before: string | null = null;
    for (let page = 0; page < MOST_HISTORY_PAGES; page += 1) {
      const answer: unknown = await bitget(client).privateMixGetV2MixPositionHistoryPosition({
        ...USDT_FUTURES,
        startTime,
        limit: String(HISTORY_PER_PAGE),
        ...(before === null ? {} : { idLessThan: before }),
      });
      const read = closedPositionsIn(answer);
      const known = found.size;
      const positions: ClosedPosition[] = [];
      tokens.each(read, (info) => {
        const position = closedPositionOf(info);
        if (position !== null) positions.push(position);
      });
      for (const position of positions) found.set(position.positionId, position);
      before = positions.at(-1)?.positionId ?? null;
      // Stop at a page without new positions, or the loop would never end.
      if (read.length < HISTORY_PER_PAGE || before === null || found.size === known) break;
    }
    return tokens.told([...found.values()]);
  },
  ledgerReach: { keptMs: MAX_HISTORY_MS, longestPeriodMs: 30 * DAY_MS },
  /** Calls the endpoint directly: the library drops the end of a page, and what tells one record from another. */
  async fetchLedger(client, { from, to, cursor }) {
    const answer: unknown = await bitget(client).privateMixGetV2MixAccountBill({
      ...USDT_FUTURES,
      startTime: String(from.getTime()),
      endTime: String(to.getTime()),
      limit: String(HISTORY_PER_PAGE),
      ...(cursor === undefined ? {} : { idLessThan: cursor }),
    });
    const { bills, endId } = record(record(answer).data);
    const found = rows(bills ?? []);
    const next = found.length < HISTORY_PER_PAGE ? '' : textOf(endId);
    return { entries: found.flatMap(billEntries), next: next === '' || next === cursor ? null : next };
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
