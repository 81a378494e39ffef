import { isPending, type OrderOfToken, type PaperOrder } from '#server/exchanges/paper/book.ts';
import type { PaperSession } from '#server/exchanges/paper/paper-books.ts';
import { listFills, ordersById, type StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import { contradicted, type OrderFields } from '../contradictions.ts';
import { type PrivateCall, type PrivateRoutes, settled } from '../dialect.ts';
import { isGiven } from '../parameters.ts';
import { asLookedUp } from '../struck-orders.ts';
import { listEndedOrders, matches, type OrderHandle } from '../venue-queries.ts';
import { closedOrders } from './closed-orders.ts';
import { closedPnlView, executionView, orderView, otherExecutionView, triggerView } from './order-views.ts';
import { cursorAfter, idInCursor } from './pages.ts';
import { limitIn, linear, orderHandleIn, periodIn, wrong } from './parameters.ts';

const DAY_MS = 86_400_000;
const ORDERS = { usual: 20, most: 50 };
const FILLS = { usual: 50, most: 100 };
/** How many ended orders the real-time list remembers. */
const REMEMBERED = 500;

export const BYBIT_HISTORY: PrivateRoutes = {
  /**
   * Open orders, and the stops and targets of positions. A query by id also finds an ended order until the exchange's
   * service restarts; after that only the history has it.
   */
  'GET /v5/order/realtime': linear(async (call) => {
    const { parameters, optionalToken, inAccount, faults } = call;
    const [token, handle] = [await optionalToken(), orderHandleIn(parameters)];
    if (token === null && handle === null && parameters.settleCoin !== 'USDT') {
      throw wrong('params error: symbol, baseCoin or settleCoin is required');
    }
    const wantsEnded = handle !== null || parameters.openOnly === '1';
    const rows = await inAccount(async (session) => {
      const open = openRows(session, call, { token, handle });
      const endedToo = wantsEnded && !faults.find('endedOrdersForgotten');
      return endedToo ? [...open, ...(await endedRows(session, call, { token, handle }))] : open;
    });
    const { orderFilter } = parameters;
    const filtered = rows.filter(({ isStop }) => !orderFilter || isStop === (orderFilter === 'StopOrder'));
    return { category: 'linear', ...pageOfRows(filtered, call) };
  }),

  /** Ended orders of seven days; orders cancelled without any fill disappear after one. */
  'GET /v5/order/history': linear(async (call) => {
    const { inAccount, owner, now } = call;
    const query = await queryOf(call, ORDERS);
    await settled(call);
    const orders = await inAccount(({ db }) => listEndedOrders(db, { owner, ...query }));
    const kept = orders.filter(
      ({ order }) => order.filledSize.gt(0) || now.getTime() - order.updatedAt.getTime() <= DAY_MS,
    );
    const shown = kept.map(({ token, order }) => ({ token, order: asLookedUp(call, order) }));
    const views = shown.map((one) => lookedUpView(one, call));
    return pageOf(views, orders.at(-1)?.order);
  }),

  'GET /v5/execution/list': linear(async (call) => {
    const { books, inAccount, owner } = call;
    const query = await queryOf(call, FILLS);
    const { handle, period, before } = query;
    const isWithin = (at: Date) => period === null || (at >= period.from && at <= period.to);
    const others = books.contracts
      .said('Bybit')
      .filter(({ token }) => query.token === null || query.token === token)
      .flatMap(({ token, execution }) =>
        execution === undefined || before !== null || !isWithin(execution.at)
          ? []
          : [otherExecutionView(token, execution)],
      );
    await settled(call);
    return inAccount(async ({ db }) => {
      const fills = await listFills(db, owner);
      const orders = await ordersById(db, owner, [...new Set(fills.map(({ orderId }) => orderId))]);
      const isWanted = ({ orderId }: StoredFill) => {
        const order = orders.get(orderId)?.order;
        return handle === null || (order !== undefined && matches(order, handle));
      };
      const page = newestOf(fills.filter(isWanted), query);
      const rows = page.map((fill) => executionView(fill, orders.get(fill.orderId)?.order));
      return pageOf([...others, ...rows], page.at(-1));
    });
  }),

  'GET /v5/position/closed-pnl': linear(async (call) => {
    const { parameters, inAccount, owner, now } = call;
    const query = { ...(await queryOf(call, FILLS)), period: periodIn(parameters, now) };
    await settled(call);
    return inAccount(async ({ db }) => {
      const page = newestOf(closedOrders(await listFills(db, owner)), query);
      const ids = page.map(({ orderId }) => orderId);
      const orders = await ordersById(db, owner, ids);
      return pageOf(
        page.map((entry) => closedPnlView(entry, orders.get(entry.orderId)?.order)),
        page.at(-1),
      );
    });
  }),
};

interface HistoryQuery {
  token: string | null;
  handle: OrderHandle | null;
  /** Null: any time. */
  period: { from: Date; to: Date } | null;
  before: bigint | null;
  limit: number;
}

async function queryOf(call: PrivateCall, limits: { usual: number; most: number }): Promise<HistoryQuery> {
  const { parameters, optionalToken, now } = call;
  const handle = orderHandleIn(parameters);
  return {
    token: await optionalToken(),
    handle,
    period: handle && !isGiven(parameters, 'startTime') ? null : periodIn(parameters, now),
    before: idInCursor(parameters.cursor),
    limit: limitIn(parameters, limits),
  };
}

function newestOf<Row extends { id: bigint; token: string; createdAt: Date }>(
  rows: Row[],
  { token, period, before, limit }: HistoryQuery,
): Row[] {
  return rows
    .filter((row) => token === null || row.token === token)
    .filter(({ createdAt }) => !period || (createdAt >= period.from && createdAt <= period.to))
    .filter(({ id }) => before === null || id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
}

const pageOf = (list: unknown[], last: { id: bigint | null; createdAt: Date } | undefined) => ({
  category: 'linear',
  list,
  nextPageCursor: last ? cursorAfter(last.id, last.createdAt) : '',
});

interface OrderRow {
  id: bigint;
  at: Date;
  isStop: boolean;
  view: ReturnType<typeof orderView> | ReturnType<typeof triggerView>;
}

const orderRow = ({ token, order }: OrderOfToken, call: PrivateCall): OrderRow => ({
  id: order.id ?? 0n,
  at: order.createdAt,
  isStop: order.source === 'pos_loss' || order.source === 'pos_profit',
  view: lookedUpView({ token, order }, call),
});

const ORDER_FIELDS: OrderFields<ReturnType<typeof orderView>> = {
  side: 'side',
  clientOrderId: 'orderLinkId',
  symbol: 'symbol',
  quantity: 'qty',
  filled: 'cumExecQty',
  averagePrice: 'avgPrice',
};

const lookedUpView = ({ token, order }: OrderOfToken, { faults }: PrivateCall) =>
  contradicted(orderView({ token, order }), { order, faults, fields: ORDER_FIELDS });

function openRows(
  { account }: PaperSession,
  call: PrivateCall,
  { token, handle }: { token: string | null; handle: OrderHandle | null },
): OrderRow[] {
  const books = [...account.tokens.values()].filter((book) => token === null || book.token === token);
  const orders = books.flatMap((book) =>
    book.orders
      .filter((order) => isPending(order) && (handle === null || matches(order, handle)))
      .map((order) => orderRow({ token: book.token, order: asLookedUp(call, order) }, call)),
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

/** Orders settled just now are in the book but not yet in the table. */
async function endedRows(
  { account, db }: PaperSession,
  call: PrivateCall,
  { token, handle }: { token: string | null; handle: OrderHandle | null },
): Promise<OrderRow[]> {
  const inHand = [...account.tokens.values()]
    .filter((book) => token === null || book.token === token)
    .flatMap((book) => book.orders.map((order) => ({ token: book.token, order })))
    .filter(({ order }) => !isPending(order) && (handle === null || matches(order, handle)));
  const known = new Set(inHand.map(({ order }) => order.id));
  const stored = await listEndedOrders(db, { owner: call.owner, token, handle, limit: REMEMBERED });
  const others = stored.filter(({ order }) => !known.has(order.id) && !isInHand(account.tokens, order));
  return [...inHand.reverse(), ...others].map(({ token: name, order }) =>
    orderRow({ token: name, order: asLookedUp(call, order) }, call),
  );
}

const isInHand = (tokens: PaperSession['account']['tokens'], { id }: PaperOrder) =>
  [...tokens.values()].some(({ orders }) => orders.some((order) => order.id === id));

function pageOfRows(rows: OrderRow[], { parameters }: PrivateCall) {
  const limit = limitIn(parameters, ORDERS);
  const after = idInCursor(parameters.cursor);
  const start = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1;
  const page = rows.slice(start, start + limit);
  const last = page.at(-1);
  return { list: page.map(({ view }) => view), nextPageCursor: last ? cursorAfter(last.id, last.at) : '' };
}
