import type { ClosedPosition } from '../exchange.ts';
import { BITGET } from './bitget.ts';
import { BITGET_UNIFIED_CODES } from './bitget-unified-codes.ts';
import {
  accountModeOf,
  accountStateOf,
  balanceOf,
  changeOf,
  closedPositionOf,
  closingOrderOf,
  dataIn,
  historyPageIn,
  isEntry,
  keyInspectionOf,
  legsIn,
  orderOf,
  type Page,
  pageIn,
  planOf,
  positionOf,
  protectionOf,
  shownByOrder,
  triggeredBy,
} from './bitget-unified-readers.ts';
import { currentScope } from './call-scope.ts';
import { type BitgetClient, createBitgetUnifiedClient } from './client.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { financialRecordEntries } from './ledger-readers.ts';
import { createTokenDoubts, type Json, orderIdOf, textOf, unreadable } from './readers.ts';

const DAY_MS = 86_400_000;
/** Bitget answers at most 30 days of history per request, and keeps 90. */
const LONGEST_PERIOD_MS = 30 * DAY_MS;
const MAX_HISTORY_MS = 89 * DAY_MS;
/** Asks slightly into the future: the exchange's clock may be ahead of ours. */
const CLOCK_SLACK_MS = 60_000;
const PER_PAGE = 100;
const MOST_PAGES = 20;
const USDT_FUTURES = { category: 'USDT-FUTURES' };
/** The balance of USDT is one for all of them. Only some copies of the documentation list the last one. */
const LEDGER_CATEGORIES = ['USDT-FUTURES', 'SPOT', 'MARGIN', 'OTHER'];
const CATEGORY_UNKNOWN = /"code":\s*"400172"/;
/** Without it a stop is triggered by the market price. */
const BY_MARK = { slTriggerBy: 'mark', tpTriggerBy: 'mark' };
/** `crossed` unless it is named. */
const ISOLATED = { marginMode: 'isolated' };

type Ask = (parameters: Json) => Promise<unknown>;

/**
 * Bitget v3, USDT-margined perpetuals, unified account in isolated margin mode, one-way mode. Contracts and prices are
 * those of v2: they are public and belong to no kind of account.
 */
export const BITGET_UNIFIED: CcxtDialect = {
  ...BITGET,
  accountMode: 'unified',
  codes: BITGET_UNIFIED_CODES,
  createClient: createBitgetUnifiedClient,

  async inspectKey(client) {
    const settings = await bitget(client).privateUtaGetV3AccountSettings();
    const key = keyInspectionOf(await bitget(client).privateUtaGetV3AccountInfo());
    return { ...key, ...accountModeOf(settings) };
  },

  fetchBalance: async (client) => balanceOf(await bitget(client).privateUtaGetV3AccountAssets()),
  fetchSpotBalance: null,

  readAccount: null,
  readSettings: async (client, symbol) =>
    accountStateOf(await bitget(client).privateUtaGetV3AccountSettings(), textOf(client.market(symbol).id)),

  entryParameters: (order) => ({
    ...ISOLATED,
    ...BY_MARK,
    clientOrderId: order.clientOrderId,
    timeInForce: 'GTC',
    stopLoss: { triggerPrice: order.stopLoss },
    takeProfit: { triggerPrice: order.takeProfit },
  }),
  closeParameters: (clientOrderId) => ({ ...ISOLATED, clientOrderId, reduceOnly: true }),
  referenceParameters: (clientOrderId) => ({ ...USDT_FUTURES, clientOrderId }),
  lookUps: [
    async (client, _symbol, clientOid) => [
      dataIn(await bitget(client).privateUtaGetV3TradeOrderInfo({ clientOid })),
    ],
  ],
  readOpenOrders: (client, symbol) =>
    pages(
      pageIn,
      (parameters) => bitget(client).privateUtaGetV3TradeUnfilledOrders(parameters),
      named(client, symbol),
    ),
  orderOf,
  isEntry,
  shownByOrder,

  readPositions: async (client) =>
    pageIn(await bitget(client).privateUtaGetV3PositionCurrentPosition(USDT_FUTURES)).found,
  readPosition: async (client, symbol) => ({
    positions: pageIn(await bitget(client).privateUtaGetV3PositionCurrentPosition(named(client, symbol)))
      .found,
  }),
  positionOf,
  protection: {
    heldBy: 'orders',
    /** The list is of all contracts. */
    async list(client, symbol) {
      const answer = await bitget(client).privateUtaGetV3TradeUnfilledStrategyOrders({
        ...USDT_FUTURES,
        type: 'tpsl',
      });
      const legs = legsIn(answer);
      // One of no contract may be of this one.
      return symbol === undefined
        ? legs
        : legs.filter((info) => ['', client.market(symbol).id].includes(symbolOf(info)));
    },
    of: protectionOf,
    shownByPosition: null,
    planOf,
    modify: (client, info, change) =>
      bitget(client).privateUtaPostV3TradeModifyStrategyOrder(changeOf(info, change)),
    async cancel(client, symbol, info) {
      if (symbolOf(info) !== client.market(symbol).id)
        throw unreadable('A stop or target of no contract stays');
      await bitget(client).privateUtaPostV3TradeCancelStrategyOrder({ orderId: orderIdOf(info) });
    },
    // The library names the side of the position of a reduce-only order. One of the whole position needs no size, so that
    // none is above the largest market order.
    orderParameters: ({ side, triggerPrice, clientOrderId, isLarge = false }) => ({
      clientOrderId,
      reduceOnly: true,
      type: 'tpsl',
      tpslMode: 'full',
      ...(side === 'stopLoss'
        ? { stopLossPrice: triggerPrice, slTriggerBy: 'mark' }
        : { takeProfitPrice: triggerPrice, tpTriggerBy: 'mark' }),
      ...(isLarge ? { qty: undefined } : {}),
    }),
  },

  async fetchClosedPositions(client, { since, now }) {
    const earliestMs = Math.max(since.getTime(), now.getTime() - MAX_HISTORY_MS);
    const tokens = createTokenDoubts();
    const found = new Map<string, ClosedPosition>();
    for (const period of periodsOf(earliestMs, now.getTime() + CLOCK_SLACK_MS)) {
      const infos = await pages(
        historyPageIn,
        (parameters) => bitget(client).privateUtaGetV3PositionHistoryPosition(parameters),
        { ...USDT_FUTURES, ...period },
      );
      tokens.each(infos, (info) => {
        const position = closedPositionOf(info);
        if (position !== null) found.set(position.positionId, position);
      });
    }
    return tokens.told([...found.values()]);
  },
  ledgerReach: { keptMs: MAX_HISTORY_MS, longestPeriodMs: LONGEST_PERIOD_MS },
  /** One category after the other; the cursor names the category and the exchange's cursor within it. */
  async fetchLedger(client, { from, to, cursor = '0:' }) {
    const [, index = '0', before = ''] = /^(\d):(.*)$/.exec(cursor) ?? [];
    const category = LEDGER_CATEGORIES[Number(index)];
    if (category === undefined) throw unreadable('The ledger has no such category');
    const isOptional = Number(index) === LEDGER_CATEGORIES.length - 1;
    const { found, cursor: end } = await bitget(client)
      .privateUtaGetV3AccountFinancialRecords({
        category,
        coin: 'USDT',
        startTime: String(from.getTime()),
        endTime: String(to.getTime()),
        limit: String(PER_PAGE),
        ...(before === '' ? {} : { cursor: before }),
      })
      .then(historyPageIn, (error: unknown) => {
        if (!isOptional || !CATEGORY_UNKNOWN.test(currentScope().answer?.body ?? '')) throw error;
        return { found: [], cursor: '' };
      });
    const isLast = found.length < PER_PAGE || end === '' || end === before;
    const following = isOptional ? null : `${Number(index) + 1}:`;
    return {
      entries: found.flatMap(financialRecordEntries),
      next: isLast ? following : `${index}:${end}`,
    };
  },
  async findClosingOrder(client, symbol, { position, from, to }) {
    const startTime = String(Math.max(from.getTime(), to.getTime() - LONGEST_PERIOD_MS));
    const period = { startTime, endTime: String(to.getTime()) };
    const orders = await pages(
      historyPageIn,
      (parameters) => bitget(client).privateUtaGetV3TradeHistoryOrders(parameters),
      { ...named(client, symbol), ...period },
    );
    const closing = closingOrderOf(orders, position);
    if (closing?.source !== 'order') return closing;
    // An order does not show that a stop sent it.
    const strategies = await pages(
      historyPageIn,
      (parameters) => bitget(client).privateUtaGetV3TradeHistoryStrategyOrders(parameters),
      { ...USDT_FUTURES, type: 'tpsl', ...period },
    );
    return { ...closing, source: triggeredBy(strategies, position) ?? 'order' };
  },
};

const symbolOf = (info: unknown): string => textOf((Object(info) as Json).symbol);

const bitget = (client: CcxtClient) => client as BitgetClient;

const named = (client: CcxtClient, symbol: string) => ({
  ...USDT_FUTURES,
  symbol: client.market(symbol).id,
});

/** Newest first, each as long as one request may ask for. */
function periodsOf(fromMs: number, toMs: number): { startTime: string; endTime: string }[] {
  const periods = [];
  for (let endMs = toMs; endMs > fromMs; endMs -= LONGEST_PERIOD_MS) {
    const startMs = Math.max(fromMs, endMs - LONGEST_PERIOD_MS);
    periods.push({ startTime: String(startMs), endTime: String(endMs) });
  }
  return periods;
}

/** Reads until a page is not full. Throws on too many: an incomplete list would hide the rest. */
async function pages(read: (answer: unknown) => Page, ask: Ask, parameters: Json): Promise<unknown[]> {
  const all: unknown[] = [];
  let before = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const more = before === '' ? {} : { cursor: before };
    const { found, cursor } = read(await ask({ ...parameters, limit: String(PER_PAGE), ...more }));
    all.push(...found);
    if (found.length < PER_PAGE || cursor === '' || cursor === before) return all;
    before = cursor;
  }
  throw unreadable(`More than ${MOST_PAGES} pages were answered`);
}
