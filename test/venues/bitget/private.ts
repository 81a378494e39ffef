import {
  changeLeverage,
  changeMarginModeOfToken,
  changePositionMode,
} from '#server/exchanges/paper/account-settings.ts';
import { isPending, kindOfPlan } from '#server/exchanges/paper/book.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import { placePaperTrigger } from '#server/exchanges/paper/paper-orders.ts';
import { BookRefusal } from '#server/exchanges/paper/refusals.ts';
import { contradicted, type OrderFields } from '../contradictions.ts';
import type { PrivateCall, PrivateRoutes } from '../dialect.ts';
import { VenueRefusal } from '../refusals.ts';
import {
  asLookedUp,
  cancelStruckOrder,
  noteCancel,
  placeStruckOrder,
  refuseStruckProtection,
  struckLeverage,
  struckStopPrice,
} from '../struck-orders.ts';
import { findStoredOrder, matches, newestFills } from '../venue-queries.ts';
import { accountBills, cancelPlans, ordersHistory, positionHistory } from './history.ts';
import {
  clientOidIn,
  decimalIn,
  marginModeIn,
  oneOf,
  optionalDecimalIn,
  orderHandleIn,
  requireUsdtFutures,
  usdtFutures,
  verificationFailed,
} from './parameters.ts';
import {
  balanceView,
  fillView,
  keyView,
  leverageView,
  orderView,
  pendingOrderView,
  positionView,
  tokenAccountView,
  triggerView,
} from './views.ts';

const MARGIN_COIN = 'USDT';
const ORDER_FIELDS: OrderFields<ReturnType<typeof orderView>> = {
  side: 'side',
  clientOrderId: 'clientOid',
  symbol: 'symbol',
  quantity: 'size',
  filled: 'baseVolume',
  averagePrice: 'priceAvg',
};

export const BITGET_PRIVATE: PrivateRoutes = {
  'GET /api/v2/mix/account/accounts': usdtFutures(async ({ inAccount }) => [
    balanceView(await inAccount((session) => session.balances())),
  ]),

  'GET /api/v2/mix/account/account': usdtFutures(async ({ token, inAccount }) => {
    const name = await token();
    return inAccount(async (session) =>
      tokenAccountView(session.account, session.token(name), await session.balances()),
    );
  }),

  'GET /api/v2/mix/account/bill': usdtFutures(accountBills),

  'GET /api/v2/spot/account/assets': async () => [],

  'GET /api/v2/spot/account/info': async ({ books, owner: { userId } }) =>
    keyView(userId, books.keyOf(userId)),

  'POST /api/v2/mix/account/set-position-mode': usdtFutures(async ({ parameters, inAccount }) => {
    const posMode = oneOf(parameters, 'posMode', ['one_way_mode', 'hedge_mode']);
    await inAccount(async (session) => changePositionMode(session, posMode));
    return { posMode };
  }),

  'POST /api/v2/mix/account/set-margin-mode': usdtFutures(async ({ parameters, token, inAccount }) => {
    const [name, marginMode] = [await token(), marginModeIn(parameters)];
    return inAccount(async (session) => {
      const book = session.token(name);
      changeMarginModeOfToken(book, marginMode);
      return leverageView(book);
    });
  }),

  'POST /api/v2/mix/account/set-leverage': usdtFutures(async ({ parameters, token, inAccount, faults }) => {
    const [name, leverage] = [await token(), Number(parameters.leverage)];
    if (!Number.isInteger(leverage) || leverage < 1) throw verificationFailed('leverage');
    const become = struckLeverage(faults, leverage, paperContract(name).maximumLeverage);
    return inAccount(async (session) => {
      const book = session.token(name);
      if (become !== null) await changeLeverage(session, book, become);
      return { ...leverageView(book), longLeverage: String(leverage), shortLeverage: String(leverage) };
    });
  }),

  'POST /api/v2/mix/order/place-order': usdtFutures(async (call) => {
    const { parameters, token } = call;
    const order = {
      token: await token(),
      clientOrderId: clientOidIn(parameters),
      side: oneOf(parameters, 'side', ['buy', 'sell']),
      type: oneOf(parameters, 'orderType', ['limit', 'market']),
      price: optionalDecimalIn(parameters, 'price'),
      size: decimalIn(parameters, 'size'),
      reduceOnly: parameters.reduceOnly === 'YES',
      marginMode: marginModeIn(parameters),
      presetStopLoss: optionalDecimalIn(parameters, 'presetStopLossPrice'),
      presetTakeProfit: optionalDecimalIn(parameters, 'presetStopSurplusPrice'),
    };
    if (!/^gtc$/i.test(parameters.force ?? 'gtc')) throw verificationFailed('force');
    if (parameters.marginCoin !== MARGIN_COIN) throw verificationFailed('marginCoin');
    const placed = await placeStruckOrder(call, order);
    return { orderId: String(placed.id), clientOid: placed.clientOrderId };
  }),

  'POST /api/v2/mix/order/cancel-order': usdtFutures(async (call) => {
    const { parameters, token, inAccount, owner } = call;
    const [name, handle] = [await token(), orderHandleIn(parameters)];
    noteCancel(call, handle.clientOrderId);
    const { order, outcome } = await inAccount(async (session) => {
      const book = session.token(name);
      const pending = book.orders.find((candidate) => isPending(candidate) && matches(candidate, handle));
      if (!pending) {
        const stored = await findStoredOrder(session.db, { owner, token: name, ...handle });
        throw new BookRefusal({ kind: stored ? 'order-ended' : 'order-unknown' });
      }
      return { order: pending, outcome: await cancelStruckOrder(call, { session, book, order: pending }) };
    });
    if (outcome === 'lost') throw new BookRefusal({ kind: 'order-ended' });
    return { orderId: String(order.id), clientOid: order.clientOrderId };
  }),

  'GET /api/v2/mix/order/detail': usdtFutures(async (call) => {
    const { parameters, token, inAccount, owner } = call;
    const [name, handle] = [await token(), orderHandleIn(parameters)];
    const order = await inAccount(async (session) => {
      // Orders settled just now are in the book but not yet in the table.
      const inHand = session.token(name).orders.find((candidate) => matches(candidate, handle));
      return inHand ?? findStoredOrder(session.db, { owner, token: name, ...handle });
    });
    if (!order) {
      throw new VenueRefusal(
        '40109',
        'The data of the order cannot be found, please confirm the order number',
      );
    }
    const { faults } = call;
    return contradicted(orderView(name, asLookedUp(call, order)), { order, faults, fields: ORDER_FIELDS });
  }),

  'GET /api/v2/mix/order/orders-pending': usdtFutures(async ({ optionalToken, inAccount }) => {
    const only = await optionalToken();
    const orders = await inAccount(async ({ account }) =>
      [...account.tokens.values()]
        .filter((book) => only === null || book.token === only)
        .flatMap((book) => book.orders.filter(isPending).map((order) => pendingOrderView(book.token, order))),
    );
    const newestFirst = orders.reverse();
    return { entrustedList: newestFirst, endId: newestFirst.at(-1)?.orderId ?? '' };
  }),

  'GET /api/v2/mix/order/fills': usdtFutures(async ({ optionalToken, inAccount, owner }) => {
    const only = await optionalToken();
    const fills = await inAccount(({ db }) => newestFills(db, { owner, token: only, limit: 100 }));
    return { fillList: fills.map(fillView), endId: String(fills.at(-1)?.id ?? '') };
  }),

  'GET /api/v2/mix/position/all-position': usdtFutures(async (call) => listPositions(call, null)),
  'GET /api/v2/mix/position/single-position': usdtFutures(async (call) => {
    if (call.parameters.marginCoin !== MARGIN_COIN) throw verificationFailed('marginCoin');
    return listPositions(call, await call.token());
  }),

  'POST /api/v2/mix/order/place-tpsl-order': usdtFutures(async (call) => {
    const { parameters, token, inAccount, faults, books } = call;
    refuseStruckProtection(faults);
    const planType = oneOf(parameters, 'planType', ['pos_loss', 'pos_profit', 'loss_plan', 'profit_plan']);
    const isSized = planType === 'loss_plan' || planType === 'profit_plan';
    const order = {
      token: await token(),
      planType,
      clientOrderId: clientOidIn(parameters),
      triggerPrice: decimalIn(parameters, 'triggerPrice'),
      size: isSized ? decimalIn(parameters, 'size') : undefined,
    };
    // Not documented, and assumed of any size that is sent.
    const size = optionalDecimalIn(parameters, 'size');
    if (size) books.contracts.requireSize('Bitget', { token: order.token, type: 'market', size });
    if (faults.find('stopIgnored')) return { orderId: '1', clientOid: order.clientOrderId ?? '' };
    const trigger = await inAccount(async (session) => {
      const placed = await placePaperTrigger(session, order);
      const { token: name, planType: kind } = order;
      if (kindOfPlan(kind) === 'pos_loss') {
        const { holdSide: side, triggerPrice: price } = placed;
        const wanted = { token: name, platform: 'Bitget' as const, side, price };
        placed.triggerPrice = struckStopPrice(faults, wanted);
      }
      return placed;
    });
    return { orderId: String(trigger.id), clientOid: trigger.clientOrderId };
  }),

  'GET /api/v2/mix/order/orders-plan-pending': usdtFutures(
    async ({ parameters, optionalToken, inAccount, books }) => {
      const only = await optionalToken();
      if (parameters.planType !== 'profit_loss') return { entrustedList: [], endId: '' };
      const triggers = await inAccount(async ({ account }) =>
        [...account.tokens.values()]
          .filter((book) => only === null || book.token === only)
          .flatMap((book) => book.triggers.map((trigger) => ({ book, trigger })))
          .filter(({ trigger }) => trigger.state === 'live')
          .map(({ book, trigger }) => {
            const kind = kindOfPlan(trigger.planType) === 'pos_loss' ? 'stop' : 'target';
            const isUnreadable = books.contracts.of('Bitget', book.token).unreadablePlans?.includes(kind);
            return { ...triggerView(book, trigger), ...(isUnreadable ? { triggerPrice: '' } : {}) };
          }),
      );
      return { entrustedList: triggers, endId: triggers.at(-1)?.orderId ?? '' };
    },
  ),

  'POST /api/v2/mix/order/cancel-plan-order': usdtFutures(cancelPlans),
  'GET /api/v2/mix/order/orders-history': usdtFutures(ordersHistory),
  'GET /api/v2/mix/position/history-position': async (call) => {
    // The library omits the product type when it reads past positions.
    if (call.parameters.productType !== undefined) requireUsdtFutures(call);
    return positionHistory(call);
  },
};

/** Null: of every token. */
const listPositions = ({ inAccount, books }: PrivateCall, only: string | null) =>
  inAccount(async (session) => {
    const positions = [];
    for (const book of session.account.tokens.values()) {
      if (!book.position || (only !== null && book.token !== only)) continue;
      const view = positionView(book, book.position, await session.markOf(book.token));
      positions.push(books.contracts.shown('Bitget', book.token, view, 'total'));
    }
    return positions;
  });
