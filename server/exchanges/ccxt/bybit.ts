import { BYBIT_LIMITS } from '../limits/exchange-limits.ts';
import { closedPositionsOf } from './bybit-history.ts';
import {
  balanceOf,
  closingOrderOf,
  entryProblemOf,
  isEntry,
  isProtection,
  keyInspectionOf,
  largestOrdersOf,
  orderOf,
  positionOf,
  positionStateOf,
  protectionOf,
  resultIn,
  tickerOf,
  tickersIn,
} from './bybit-readers.ts';
import { type BybitClient, createBybitClient } from './client.ts';
import { BYBIT_CODES } from './codes.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { transactionEntries } from './ledger-readers.ts';
import { envelopeIn, type Json, list, orderIdOf, rows, textOf, unreadable } from './readers.ts';

const LINEAR = { category: 'linear' };
const IN_USDT = { ...LINEAR, settleCoin: 'USDT' };
/** Stop and target close the whole position at market when the mark price reaches them. */
const STOP = { slTriggerBy: 'MarkPrice', slOrderType: 'Market' };
const TARGET = { tpTriggerBy: 'MarkPrice', tpOrderType: 'Market' };
const WHOLE_POSITION = { tpslMode: 'Full', positionIdx: 0 };

const ORDERS_PER_PAGE = 50;
const POSITIONS_PER_PAGE = 200;
const HISTORY_PER_PAGE = 100;
const LEDGER_PER_PAGE = 50;
/** Two years, less a day for the time that reading takes. */
const LEDGER_KEPT_MS = 729 * 86_400_000;
const MOST_PAGES = 20;
const DAY_MS = 86_400_000;
/** Bybit answers at most one week of history per request. */
const WEEK_MS = 7 * DAY_MS;
/** Asks slightly into the future: the exchange's clock may be ahead of ours. */
const CLOCK_SLACK_MS = 30 * 60_000;
type Ask = (parameters: Json) => Promise<unknown>;

/** Bybit v5, linear USDT perpetuals, unified account, one-way mode. */
export const BYBIT: CcxtDialect = {
  platform: 'Bybit',
  accountMode: 'unified',
  origins: {
    paper: 'https://api.bybit.com',
    demo: 'https://api-demo.bybit.com',
    live: 'https://api.bybit.com',
  },
  addressProblem(environment, { hostname }) {
    if (!/(^|\.)(bybit|bytick|bybitgeorgia|bybit-tr|manepa)\./.test(hostname)) return null;
    if (environment === 'paper') return 'paper trading never reaches Bybit itself';
    const isDemo = hostname.startsWith('api-demo');
    return isDemo === (environment === 'demo') ? null : `${hostname} is not for ${environment} trading`;
  },
  codes: BYBIT_CODES,
  statuses: new Map([
    // A gateway rejected the key or the headers: nothing behind it has seen the request.
    [401, 'credentials'],
    // Too many requests from this address, or an unsupported country.
    [403, 'retry-later'],
  ]),
  createClient: createBybitClient,

  envelope: ({ body }) => envelopeIn(body, { code: 'retCode', message: 'retMsg', at: 'time' }),
  successCode: '0',
  limits: BYBIT_LIMITS,
  // Demo and live have different addresses, and the transport knows only one of them.
  environmentProblem: () => null,

  inspectKey: async (client) => keyInspectionOf(await bybit(client).privateGetV5UserQueryApi()),

  entryProblemOf,
  largestOrdersOf,
  fetchTicker: async (client, symbol, token) =>
    tickerOf(await bybit(client).publicGetV5MarketTickers(named(client, symbol)), token),
  async fetchTickers(client) {
    const answer: unknown = await bybit(client).publicGetV5MarketTickers(LINEAR);
    return tickersIn(answer);
  },
  fetchBalance: async (client) =>
    balanceOf(await bybit(client).privateGetV5AccountWalletBalance({ accountType: 'UNIFIED', coin: 'USDT' })),
  fetchSpotBalance: null,

  oneWayMode: 'one-way',
  isolatedMode: 'ISOLATED_MARGIN',
  readAccount: null,
  readSettings: null,
  readMarginMode: async (client) =>
    textOf(resultIn(await bybit(client).privateGetV5AccountInfo()).marginMode),

  entryParameters: (order) => ({
    clientOrderId: order.clientOrderId,
    timeInForce: 'GTC',
    stopLoss: { triggerPrice: order.stopLoss },
    takeProfit: { triggerPrice: order.takeProfit },
    ...WHOLE_POSITION,
    ...STOP,
    ...TARGET,
  }),
  closeParameters: (clientOrderId) => ({ clientOrderId, reduceOnly: true, positionIdx: 0 }),
  referenceParameters: (clientOrderId) => ({ orderLinkId: clientOrderId }),
  lookUps: [
    // Open orders and the 500 that ended last; Bybit forgets ended ones when it restarts.
    async (client, symbol, clientOrderId) =>
      ordersIn(await bybit(client).privateGetV5OrderRealtime(one(client, symbol, clientOrderId))),
    async (client, symbol, clientOrderId) =>
      ordersIn(await bybit(client).privateGetV5OrderHistory(one(client, symbol, clientOrderId))),
  ],
  // Documented: one day for orders cancelled without a fill; a week for the others, as far as the default query finds
  // them.
  orderMemory: { withoutFillsMs: DAY_MS, withFillsMs: WEEK_MS },
  readOpenOrders: (client, symbol) =>
    pages((parameters) => bybit(client).privateGetV5OrderRealtime(parameters), {
      ...named(client, symbol),
      openOnly: 0,
      orderFilter: 'Order',
      limit: ORDERS_PER_PAGE,
    }),
  orderOf,
  isEntry,
  // Leverage and margin mode belong to the position, not to the order.
  shownByOrder: () => null,

  readPositions,
  readPosition: async (client, symbol) =>
    positionStateOf(await bybit(client).privateGetV5PositionList(named(client, symbol))),
  positionOf,
  protection: {
    heldBy: 'position',
    of: protectionOf,
    set: (client, symbol, { side, triggerPrice }) =>
      bybit(client).privatePostV5PositionTradingStop({
        ...named(client, symbol),
        ...WHOLE_POSITION,
        ...(side === 'stopLoss' ? STOP : TARGET),
        [side]: triggerPrice,
      }),
    async list(client, symbol) {
      const orders = await pages((parameters) => bybit(client).privateGetV5OrderRealtime(parameters), {
        ...(symbol === undefined ? IN_USDT : named(client, symbol)),
        openOnly: 0,
        orderFilter: 'StopOrder',
        limit: ORDERS_PER_PAGE,
      });
      return orders.filter(isProtection);
    },
    async cancel(client, symbol, info) {
      await client.cancelOrder(orderIdOf(info), symbol);
    },
  },

  async fetchClosedPositions(client, { since, now }) {
    const openNow = await readPositions(client);
    const period = { since, until: new Date(now.getTime() + CLOCK_SLACK_MS) };
    const ask = bybit(client);
    const executions = await readHistory((asked) => ask.privateGetV5ExecutionList(asked), IN_USDT, period);
    if (executions.length === 0) return [];
    const closedOrders = await readHistory(
      (asked) => ask.privateGetV5PositionClosedPnl(asked),
      LINEAR,
      period,
    );
    return closedPositionsOf({ executions, closedOrders, openNow });
  },
  ledgerReach: { keptMs: LEDGER_KEPT_MS, longestPeriodMs: WEEK_MS },
  /** Without a category, to which transfers do not belong. */
  async fetchLedger(client, { from, to, cursor }) {
    const { list: found, nextPageCursor } = resultIn(
      await bybit(client).privateGetV5AccountTransactionLog({
        accountType: 'UNIFIED',
        currency: 'USDT',
        startTime: from.getTime(),
        endTime: to.getTime(),
        limit: LEDGER_PER_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    const page = rows(found);
    const next = textOf(nextPageCursor);
    const isLast = page.length === 0 || next === '' || next === cursor;
    return { entries: page.flatMap(transactionEntries), next: isLast ? null : next };
  },
  async findClosingOrder(client, symbol, { position, from, to }) {
    const startTime = Math.max(from.getTime(), to.getTime() - WEEK_MS);
    const orders = await pages((parameters) => bybit(client).privateGetV5OrderHistory(parameters), {
      ...named(client, symbol),
      startTime,
      endTime: to.getTime(),
      limit: ORDERS_PER_PAGE,
    });
    return closingOrderOf(orders, position);
  },
};

const bybit = (client: CcxtClient) => client as BybitClient;

const named = (client: CcxtClient, symbol: string) => ({ ...LINEAR, symbol: client.market(symbol).id });

const one = (client: CcxtClient, symbol: string, orderLinkId: string) => ({
  ...named(client, symbol),
  orderLinkId,
});

function readPositions(client: CcxtClient): Promise<unknown[]> {
  const ask: Ask = (parameters) => bybit(client).privateGetV5PositionList(parameters);
  return pages(ask, { ...IN_USDT, limit: POSITIONS_PER_PAGE });
}

const ordersIn = (answer: unknown): unknown[] => list(resultIn(answer).list);

/** Reads a period week by week, newest first, up to MOST_PAGES pages. */
async function readHistory(
  ask: Ask,
  parameters: Json,
  { since, until }: { since: Date; until: Date },
): Promise<unknown[]> {
  const found: unknown[] = [];
  let pagesLeft = MOST_PAGES;
  for (let end = until.getTime(); end > since.getTime() && pagesLeft > 0; end -= WEEK_MS) {
    const startTime = Math.max(since.getTime(), end - WEEK_MS);
    for await (const page of pagesOf(ask, {
      ...parameters,
      startTime,
      endTime: end,
      limit: HISTORY_PER_PAGE,
    })) {
      found.push(...page);
      pagesLeft -= 1;
      if (pagesLeft === 0) break;
    }
  }
  return found;
}

/** Throws on too many pages: an incomplete list would hide the rest. */
async function pages(ask: Ask, parameters: Json): Promise<unknown[]> {
  const found: unknown[] = [];
  let count = 0;
  for await (const page of pagesOf(ask, parameters)) {
    found.push(...page);
    count += 1;
    if (count > MOST_PAGES) throw unreadable(`More than ${MOST_PAGES} pages were answered`);
  }
  return found;
}

async function* pagesOf(ask: Ask, parameters: Json): AsyncGenerator<unknown[]> {
  const isOpen = parameters.startTime === undefined;
  let cursor = '';
  do {
    const result = resultIn(await ask(cursor === '' ? parameters : { ...parameters, cursor }));
    const [found, next] = [rows(result.list), textOf(result.nextPageCursor)];
    yield found;
    if (next === cursor) return;
    // The last page of open orders also names a next page, which is empty. Pages of histories may omit rows.
    const isLast = found.length === 0 || (isOpen && found.length < Number(parameters.limit));
    cursor = isLast ? '' : next;
  } while (cursor !== '');
}
