import { isPending, type OrderOfToken, type PaperOrder } from '#server/exchanges/paper/book.ts';
import type { PaperSession } from '#server/exchanges/paper/paper-books.ts';
import { historyFill, listFills, ordersById } from '#server/exchanges/paper/paper-queries.ts';
import { listEndedOrders, type OrderHandle } from '../venue-queries.ts';
import { type BybitCall, type BybitHandler, linear } from './call.ts';
import { closedOrders } from './closed-orders.ts';
import { closedPnlView, executionView, orderView, triggerView } from './order-views.ts';
import { matches } from './orders.ts';
import { cursorAfter, idInCursor } from './pages.ts';
import { isGiven, limitIn, orderHandleIn, periodIn, wrong } from './parameters.ts';

const DAY_MS = 86_400_000;
const ORDERS = { usual: 20, most: 50 };
const FILLS = { usual: 50, most: 100 };
/** How many ended orders the real-time list remembers. */
const REMEMBERED = 500;

export const BYBIT_HISTORY: Record<string, BybitHandler> = {
  /**
   * Open orders, and the stops and targets of positions. One that is asked for by its id is found for a while after it
   * has ended, until the exchange's service is started anew: from then on only in the history.
   */
  'GET /v5/order/realtime': linear(async (call) => {
    const { parameters, optionalToken, inAccount, faults } = call;
    const [token, handle] = [await optionalToken(), orderHandleIn(parameters)];
    if (token === null && handle === null && parameters.settleCoin !== 'USDT') {
      throw wrong('params error: symbol, baseCoin or settleCoin is required');
    }
    const wantsEnded = handle !== null || parameters.openOnly === '1';
    const rows = await inAccount(async (session) => {
      const open = openRows(session, token, handle);
      const endedToo = wantsEnded && !faults.find('endedOrdersForgotten');
      return endedToo ? [...open, ...(await endedRows(session, call, { token, handle }))] : open;
    });
    const { orderFilter } = parameters;
    const filtered = rows.filter(({ isStop }) => !orderFilter || isStop === (orderFilter === 'StopOrder'));
    return { category: 'linear', ...pageOfRows(filtered, call) };
  }),

  /** Ended orders of seven days; what was cancelled without any fill is gone after one. */
  'GET /v5/order/history': linear(async (call) => {
    const { parameters, optionalToken, inAccount, owner, now } = call;
    const [token, handle, limit] = [
      await optionalToken(),
      orderHandleIn(parameters),
      limitIn(parameters, ORDERS),
    ];
    const period = handle && !isGiven(parameters, 'startTime') ? null : periodIn(parameters, now);
    const before = idInCursor(parameters.cursor);
    await settled(inAccount);
    const orders = await inAccount(({ db }) =>
      listEndedOrders(db, { owner, token, handle, period, before, limit }),
    );
    const kept = orders.filter(
      ({ order }) => order.filledSize.gt(0) || now.getTime() - order.updatedAt.getTime() <= DAY_MS,
    );
    const last = orders.at(-1)?.order;
    return {
      category: 'linear',
      list: kept.map(orderView),
      nextPageCursor: last ? cursorAfter(last.id, last.createdAt) : '',
    };
  }),

  'GET /v5/execution/list': linear(async (call) => {
    const { parameters, optionalToken, inAccount, owner, now } = call;
    const [token, handle, limit] = [
      await optionalToken(),
      orderHandleIn(parameters),
      limitIn(parameters, FILLS),
    ];
    const period = handle && !isGiven(parameters, 'startTime') ? null : periodIn(parameters, now);
    const before = idInCursor(parameters.cursor);
    await settled(inAccount);
    const { page, orders } = await inAccount(async ({ db }) => {
      const fills = await listFills(db, owner);
      const all = await ordersById(db, owner, [...new Set(fills.map(({ orderId }) => orderId))]);
      const wanted = fills
        .filter((fill) => token === null || fill.token === token)
        .filter(({ orderId }) => handle === null || isOrder(all.get(orderId), handle))
        .filter(({ createdAt }) => !period || (createdAt >= period.from && createdAt <= period.to))
        .filter(({ id }) => before === null || id < before)
        .reverse();
      return { page: wanted.slice(0, limit), orders: all };
    });
    const last = page.at(-1);
    return {
      category: 'linear',
      list: page.map((fill) => executionView(fill, orders.get(fill.orderId)?.order)),
      nextPageCursor: last ? cursorAfter(last.id, last.createdAt) : '',
    };
  }),

  'GET /v5/position/closed-pnl': linear(async (call) => {
    const { parameters, optionalToken, inAccount, owner, now } = call;
    const [token, limit] = [await optionalToken(), limitIn(parameters, FILLS)];
    const period = periodIn(parameters, now);
    const before = idInCursor(parameters.cursor);
    await settled(inAccount);
    const { page, orders } = await inAccount(async ({ db }) => {
      const closed = closedOrders((await listFills(db, owner)).map(historyFill))
        .filter((entry) => token === null || entry.token === token)
        .filter(({ closedAt }) => closedAt >= period.from && closedAt <= period.to)
        .filter(({ id }) => before === null || id < before)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit);
      return {
        page: closed,
        orders: await ordersById(
          db,
          owner,
          closed.map(({ orderId }) => orderId),
        ),
      };
    });
    const last = page.at(-1);
    return {
      category: 'linear',
      list: page.map((entry) => closedPnlView(entry, orders.get(entry.orderId)?.order)),
      nextPageCursor: last ? cursorAfter(last.id, last.closedAt) : '',
    };
  }),
};

interface OrderRow {
  id: bigint;
  at: Date;
  isStop: boolean;
  view: ReturnType<typeof orderView> | ReturnType<typeof triggerView>;
}

const orderRow = ({ token, order }: OrderOfToken): OrderRow => ({
  id: order.id ?? 0n,
  at: order.createdAt,
  isStop: order.source === 'pos_loss' || order.source === 'pos_profit',
  view: orderView({ token, order }),
});

function openRows({ account }: PaperSession, token: string | null, handle: OrderHandle | null): OrderRow[] {
  const books = [...account.tokens.values()].filter((book) => token === null || book.token === token);
  const orders = books.flatMap((book) =>
    book.orders
      .filter((order) => isPending(order) && (handle === null || matches(order, handle)))
      .map((order) => orderRow({ token: book.token, order })),
  );
  const triggers = books.flatMap((book) =>
    book.triggers
      .filter(({ id, state }) => state === 'live' && (handle === null || id === handle.orderId))
      .map((trigger) => ({
        id: trigger.id ?? 0n,
        at: trigger.createdAt,
        isStop: true,
        view: triggerView(book, trigger),
      })),
  );
  return [...orders, ...triggers].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
}

/** What was settled just now is in the book, not yet in the table. */
async function endedRows(
  { account, db }: PaperSession,
  { owner }: BybitCall,
  { token, handle }: { token: string | null; handle: OrderHandle | null },
): Promise<OrderRow[]> {
  const inHand = [...account.tokens.values()]
    .filter((book) => token === null || book.token === token)
    .flatMap((book) => book.orders.map((order) => ({ token: book.token, order })))
    .filter(({ order }) => !isPending(order) && (handle === null || matches(order, handle)));
  const known = new Set(inHand.map(({ order }) => order.id));
  const stored = await listEndedOrders(db, { owner, token, handle, limit: REMEMBERED });
  const others = stored.filter(({ order }) => !known.has(order.id) && !isInHand(account.tokens, order));
  return [...inHand.reverse(), ...others].map(orderRow);
}

const isInHand = (tokens: PaperSession['account']['tokens'], { id }: PaperOrder) =>
  [...tokens.values()].some(({ orders }) => orders.some((order) => order.id === id));

function pageOfRows(rows: OrderRow[], { parameters }: BybitCall) {
  const limit = limitIn(parameters, ORDERS);
  const after = idInCursor(parameters.cursor);
  const start = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1;
  const page = rows.slice(start, start + limit);
  const last = page.at(-1);
  return { list: page.map(({ view }) => view), nextPageCursor: last ? cursorAfter(last.id, last.at) : '' };
}

const isOrder = (found: OrderOfToken | undefined, handle: OrderHandle) =>
  found !== undefined && matches(found.order, handle);

/** What the newest marks did is in the tables only after a transaction of its own. */
const settled = (inAccount: BybitCall['inAccount']) => inAccount(async () => undefined);
