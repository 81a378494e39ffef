import { isPending, type PaperOrder, type TokenBook } from '../book.ts';
import type { StruckFaults } from '../faults.ts';
import { isListed } from '../listed-tokens.ts';
import { paperContract } from '../paper-contracts.ts';
import type { PaperRequest } from '../paper-http.ts';
import { cancelPaperOrder, fillRest, placePaperOrder, placePaperTrigger } from '../paper-orders.ts';
import { type PaperContext, PaperRefusal, type PaperSession, withAccount } from '../paper-session.ts';
import { findStoredOrder, newestFills } from '../paper-store.ts';
import { cancelPlans, ordersHistory, positionHistory } from './bitget-history.ts';
import {
  clientOidIn,
  decimalIn,
  marginModeIn,
  type OrderHandle,
  optionalDecimalIn,
  orderHandleIn,
  orderTypeIn,
  type Parameters,
  parametersOf,
  planTypeIn,
  positionModeIn,
  requireUsdtFutures,
  sideIn,
  tokenOf,
  verificationFailed,
} from './bitget-parameters.ts';
import {
  balanceView,
  fillView,
  leverageView,
  orderView,
  pendingOrderView,
  positionView,
  tokenAccountView,
  triggerView,
} from './bitget-views.ts';

export interface PrivateCall {
  context: PaperContext;
  request: PaperRequest;
  userId: string;
  faults: StruckFaults;
  /** Orders whose stop loss a fault makes the exchange lose. */
  loseStopOf: (clientOrderId: string) => void;
}

export interface Prepared extends PrivateCall {
  parameters: Parameters;
  token(): Promise<string>;
  inAccount<T>(work: (session: PaperSession) => Promise<T>): Promise<T>;
}

export type PrivateHandler = (call: PrivateCall) => Promise<unknown>;

const MARGIN_COIN = 'USDT';

export const BITGET_PRIVATE: Record<string, PrivateHandler> = {
  'GET /api/v2/mix/account/accounts': prepared(async ({ inAccount }) => [
    balanceView(await inAccount((session) => session.balances())),
  ]),

  'GET /api/v2/mix/account/account': prepared(async ({ token, inAccount }) => {
    const name = await token();
    return inAccount(async (session) =>
      tokenAccountView(session.account, session.token(name), await session.balances()),
    );
  }),

  'GET /api/v2/spot/account/assets': async () => [],

  'POST /api/v2/mix/account/set-position-mode': prepared(async ({ parameters, inAccount }) => {
    const posMode = positionModeIn(parameters);
    await inAccount(async ({ account }) => {
      if (account.positionMode === posMode) return;
      if ([...account.tokens.values()].some(hasBusiness)) {
        throw new PaperRefusal('40920', 'Position or order exists, the position mode cannot be switched');
      }
      account.positionMode = posMode;
    });
    return { posMode };
  }),

  'POST /api/v2/mix/account/set-margin-mode': prepared(async ({ parameters, token, inAccount }) => {
    const [name, marginMode] = [await token(), marginModeIn(parameters)];
    return inAccount(async (session) => {
      const book = session.token(name);
      if (book.marginMode !== marginMode && hasBusiness(book)) {
        throw new PaperRefusal(
          '45117',
          'Currently holding positions or orders, the margin mode cannot be adjusted',
        );
      }
      book.marginMode = marginMode;
      return leverageView(book);
    });
  }),

  'POST /api/v2/mix/account/set-leverage': prepared(async ({ parameters, token, inAccount, faults }) => {
    const [name, leverage] = [await token(), Number(parameters.leverage)];
    const { maximumLeverage } = paperContract(name);
    if (!Number.isInteger(leverage) || leverage < 1) throw verificationFailed('leverage');
    if (leverage > maximumLeverage) throw new PaperRefusal('40797', 'Exceeded the maximum settable leverage');
    return inAccount(async (session) => {
      const book = session.token(name);
      if (!faults.find('leverageIgnored')) await changeLeverage(session, book, leverage);
      return { ...leverageView(book), longLeverage: String(leverage), shortLeverage: String(leverage) };
    });
  }),

  'POST /api/v2/mix/order/place-order': prepared(
    async ({ parameters, token, inAccount, faults, loseStopOf }) => {
      const order = {
        token: await token(),
        clientOrderId: clientOidIn(parameters),
        side: sideIn(parameters),
        type: orderTypeIn(parameters),
        price: optionalDecimalIn(parameters, 'price'),
        size: decimalIn(parameters, 'size'),
        reduceOnly: parameters.reduceOnly === 'YES',
        marginMode: marginModeIn(parameters),
        presetStopLoss: optionalDecimalIn(parameters, 'presetStopLossPrice'),
        presetTakeProfit: optionalDecimalIn(parameters, 'presetStopSurplusPrice'),
        immediateFraction: faults.find('restFirst') ? '0' : (faults.find('partialFill')?.fraction ?? '1'),
        dropStop: faults.find('stopDropped') !== null,
      };
      if (!/^gtc$/i.test(parameters.force ?? 'gtc')) throw verificationFailed('force');
      if (parameters.marginCoin !== MARGIN_COIN) throw verificationFailed('marginCoin');
      if (order.dropStop && order.clientOrderId) loseStopOf(order.clientOrderId);
      const placed = await inAccount(async (session) => {
        const protection = session.token(order.token).triggers.filter(({ state }) => state === 'live');
        const accepted = await placePaperOrder(session, order);
        if (faults.find('protectionKept')) for (const trigger of protection) trigger.state = 'live';
        return accepted;
      });
      return { orderId: String(placed.id), clientOid: placed.clientOrderId };
    },
  ),

  'POST /api/v2/mix/order/cancel-order': prepared(
    async ({ parameters, token, inAccount, userId, faults }) => {
      const [name, handle] = [await token(), orderHandleIn(parameters)];
      const order = await inAccount(async (session) => {
        const book = session.token(name);
        const pending = book.orders.find((candidate) => isPending(candidate) && matches(candidate, handle));
        if (!pending) {
          const stored = await findStoredOrder(session.db, { userId, token: name, ...handle });
          throw stored
            ? new PaperRefusal('22001', 'No order to cancel')
            : new PaperRefusal('40768', 'Order does not exist');
        }
        if (faults.find('cancelLosesToFill') || faults.find('cancelAcknowledgedButFilled')) {
          await fillRest(session, book, pending);
        } else {
          cancelPaperOrder(session, book, pending);
        }
        return pending;
      });
      if (faults.find('cancelLosesToFill')) throw new PaperRefusal('22001', 'No order to cancel');
      return { orderId: String(order.id), clientOid: order.clientOrderId };
    },
  ),

  'GET /api/v2/mix/order/detail': prepared(async ({ parameters, token, inAccount, userId }) => {
    const [name, handle] = [await token(), orderHandleIn(parameters)];
    const order = await inAccount(async (session) => {
      // What was settled just now is in the book, not yet in the table.
      const inHand = session.token(name).orders.find((candidate) => matches(candidate, handle));
      return inHand ?? findStoredOrder(session.db, { userId, token: name, ...handle });
    });
    if (!order) {
      throw new PaperRefusal(
        '40109',
        'The data of the order cannot be found, please confirm the order number',
      );
    }
    return orderView(name, order);
  }),

  'GET /api/v2/mix/order/orders-pending': prepared(async ({ parameters, token, inAccount }) => {
    const only = parameters.symbol ? await token() : null;
    const orders = await inAccount(async ({ account }) =>
      [...account.tokens.values()]
        .filter((book) => only === null || book.token === only)
        .flatMap((book) => book.orders.filter(isPending).map((order) => pendingOrderView(book.token, order))),
    );
    const newestFirst = orders.reverse();
    return { entrustedList: newestFirst, endId: newestFirst.at(-1)?.orderId ?? '' };
  }),

  'GET /api/v2/mix/order/fills': prepared(async ({ parameters, token, inAccount, userId }) => {
    const only = parameters.symbol ? await token() : null;
    const fills = await inAccount(({ db }) => newestFills(db, { userId, token: only, limit: 100 }));
    return { fillList: fills.map(fillView), endId: String(fills.at(-1)?.id ?? '') };
  }),

  'GET /api/v2/mix/position/all-position': prepared(({ inAccount }) =>
    inAccount(async (session) => {
      const positions = [];
      for (const book of session.account.tokens.values()) {
        if (book.position)
          positions.push(positionView(book, book.position, await session.markOf(book.token)));
      }
      return positions;
    }),
  ),

  'POST /api/v2/mix/order/place-tpsl-order': prepared(async ({ parameters, token, inAccount }) => {
    const order = {
      token: await token(),
      planType: planTypeIn(parameters),
      clientOrderId: clientOidIn(parameters),
      triggerPrice: decimalIn(parameters, 'triggerPrice'),
    };
    const trigger = await inAccount((session) => placePaperTrigger(session, order));
    return { orderId: String(trigger.id), clientOid: trigger.clientOrderId };
  }),

  'GET /api/v2/mix/order/orders-plan-pending': prepared(async ({ parameters, token, inAccount }) => {
    const only = parameters.symbol ? await token() : null;
    if (parameters.planType !== 'profit_loss') return { entrustedList: [], endId: '' };
    const triggers = await inAccount(async ({ account }) =>
      [...account.tokens.values()]
        .filter((book) => only === null || book.token === only)
        .flatMap((book) => book.triggers.map((trigger) => ({ book, trigger })))
        .filter(({ trigger }) => trigger.state === 'live')
        .map(({ book, trigger }) => triggerView(book, trigger)),
    );
    return { entrustedList: triggers, endId: triggers.at(-1)?.orderId ?? '' };
  }),

  'POST /api/v2/mix/order/cancel-plan-order': prepared(cancelPlans),
  'GET /api/v2/mix/order/orders-history': prepared(ordersHistory),
  'GET /api/v2/mix/position/history-position': prepared(positionHistory),
};

function prepared(handler: (call: Prepared) => Promise<unknown>): PrivateHandler {
  return async (call) => {
    const parameters = parametersOf(call.request);
    requireUsdtFutures(parameters);
    return handler({
      ...call,
      parameters,
      token: () => tokenOf(parameters, (name) => isListed(call.context, name)),
      inAccount: (work) => withAccount(call.context, call.userId, work),
    });
  };
}

/** A changed leverage re-margins the open position, which takes free balance when it is lowered. */
async function changeLeverage(session: PaperSession, book: TokenBook, leverage: number): Promise<void> {
  const { position } = book;
  if (position && position.leverage !== leverage) {
    const margin = position.entryPrice.times(position.size).div(leverage).toDecimalPlaces(12);
    const { available } = await session.balances();
    if (margin.minus(position.margin).gt(available)) {
      throw new PaperRefusal('40762', 'The order amount exceeds the balance');
    }
    position.margin = margin;
    position.leverage = leverage;
  }
  book.leverage = leverage;
}

const hasBusiness = (book: TokenBook) => book.position !== null || book.orders.some(isPending);

const matches = (order: PaperOrder, handle: OrderHandle) =>
  handle.orderId === undefined ? order.clientOrderId === handle.clientOrderId : order.id === handle.orderId;
