import { changeLeverage, changePositionMode } from '#server/exchanges/paper/account-settings.ts';
import { isPending, kindOfPlan, type PaperTrigger, type TokenBook } from '#server/exchanges/paper/book.ts';
import type { PaperSession } from '#server/exchanges/paper/paper-books.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import { checkTrigger, placePaperTrigger } from '#server/exchanges/paper/paper-orders.ts';
import { BookRefusal } from '#server/exchanges/paper/refusals.ts';
import { contradicted, type OrderFields } from '../contradictions.ts';
import type { PrivateCall, PrivateRoutes } from '../dialect.ts';
import { isGiven } from '../parameters.ts';
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
import { findOwnStoredOrder, matches } from '../venue-queries.ts';
import { financialRecords, historyOrders, historyPositions, historyStrategies } from './history.ts';
import {
  clientOidIn,
  decimalIn,
  isByMark,
  marginModeIn,
  oneOf,
  optionalDecimalIn,
  orderHandleIn,
  pageOf,
  refuseClassicFields,
  usdtFutures,
  verificationFailed,
} from './parameters.ts';
import { liveStrategyViews, strategiesIn } from './strategies.ts';
import { assetsView, infoView, orderView, positionView, settingsView } from './views.ts';

const ORDER_FIELDS: OrderFields<ReturnType<typeof orderView>> = {
  side: 'side',
  clientOrderId: 'clientOid',
  symbol: 'symbol',
  quantity: 'qty',
  filled: 'cumExecQty',
  averagePrice: 'avgPrice',
};

export const BITGET_UNIFIED_PRIVATE: PrivateRoutes = {
  'GET /api/v3/account/info': async ({ books, owner: { userId } }) => infoView(userId, books.keyOf(userId)),

  'GET /api/v3/account/settings': async ({ books, owner: { userId }, inAccount }) =>
    inAccount(async ({ account }) => settingsView(userId, account, books.keyOf(userId))),

  'GET /api/v3/account/assets': async ({ inAccount }) =>
    assetsView(await inAccount((session) => session.balances())),

  'GET /api/v3/account/financial-records': financialRecords,

  'POST /api/v3/account/set-hold-mode': async ({ parameters, inAccount }) => {
    const mode = oneOf(parameters, 'holdMode', ['one_way_mode', 'hedge_mode']);
    await inAccount(async (session) => changePositionMode(session, mode));
    return 'success';
  },

  'POST /api/v3/account/set-leverage': usdtFutures(async ({ parameters, token, inAccount, faults }) => {
    const [name, leverage] = [await token(), Number(parameters.leverage)];
    if (!Number.isInteger(leverage) || leverage < 1) throw verificationFailed('leverage');
    const become = struckLeverage(faults, leverage, paperContract(name).maximumLeverage);
    // The leverage of cross margin is another one, which nothing here uses.
    if (become !== null && marginModeIn(parameters) === 'isolated')
      await inAccount(async (session) => changeLeverage(session, session.token(name), become));
    return 'success';
  }),

  'POST /api/v3/trade/place-order': usdtFutures(async (call) => {
    const { parameters, token, books } = call;
    const clientOrderId = clientOidIn(parameters);
    const order = {
      token: await token(),
      clientOrderId,
      side: oneOf(parameters, 'side', ['buy', 'sell']),
      type: oneOf(parameters, 'orderType', ['limit', 'market']),
      price: optionalDecimalIn(parameters, 'price'),
      size: decimalIn(parameters, 'qty'),
      reduceOnly:
        isGiven(parameters, 'reduceOnly') && oneOf(parameters, 'reduceOnly', ['yes', 'no']) === 'yes',
      marginMode: marginModeIn(parameters),
      presetStopLoss: optionalDecimalIn(parameters, 'stopLoss'),
      presetTakeProfit: optionalDecimalIn(parameters, 'takeProfit'),
    };
    if (isGiven(parameters, 'timeInForce')) oneOf(parameters, 'timeInForce', ['gtc']);
    noteTriggers(call, clientOrderId);
    const placed = await placeStruckOrder(call, order);
    books.strategies.pairs.delete(placed.clientOrderId);
    return { orderId: String(placed.id), clientOid: placed.clientOrderId };
  }),

  'POST /api/v3/trade/cancel-order': async (call) => {
    const { parameters, inAccount, owner } = call;
    refuseClassicFields(parameters);
    const handle = orderHandleIn(parameters);
    noteCancel(call, handle.clientOrderId);
    const { order, outcome } = await inAccount(async (session) => {
      for (const book of session.account.tokens.values()) {
        const pending = book.orders.find((candidate) => isPending(candidate) && matches(candidate, handle));
        if (!pending) continue;
        return { order: pending, outcome: await cancelStruckOrder(call, { session, book, order: pending }) };
      }
      const stored = await findOwnStoredOrder(session.db, { owner, ...handle });
      throw new BookRefusal({ kind: stored ? 'order-ended' : 'order-unknown' });
    });
    if (outcome === 'lost') throw new BookRefusal({ kind: 'order-ended' });
    return { orderId: String(order.id), clientOid: order.clientOrderId };
  },

  'GET /api/v3/trade/order-info': async (call) => {
    const { parameters, inAccount, owner, books, faults } = call;
    const handle = orderHandleIn(parameters);
    const found = await inAccount(async (session) => {
      // Orders settled just now are in the book but not yet in the table.
      for (const { token, orders } of session.account.tokens.values()) {
        const order = orders.find((candidate) => matches(candidate, handle));
        if (order) return { token, order };
      }
      return findOwnStoredOrder(session.db, { owner, ...handle });
    });
    if (!found) throw new BookRefusal({ kind: 'order-unknown' });
    const { token, order } = found;
    const view = orderView(token, asLookedUp(call, order), books.strategies);
    return contradicted(view, { order, faults, fields: ORDER_FIELDS });
  },

  'GET /api/v3/trade/unfilled-orders': usdtFutures(
    async ({ parameters, optionalToken, inAccount, books }) => {
      const [only, { limit, before }] = [await optionalToken(), pageOf(parameters)];
      const orders = await inAccount(async ({ account }) =>
        [...account.tokens.values()]
          .filter((book) => only === null || book.token === only)
          .flatMap((book) =>
            book.orders
              .filter((order) => isPending(order) && (before === null || (order.id ?? 0n) < before))
              .map((order) => orderView(book.token, order, books.strategies)),
          ),
      );
      const page = orders.reverse().slice(0, limit);
      return { list: page, cursor: page.at(-1)?.orderId ?? '' };
    },
  ),

  'GET /api/v3/trade/history-orders': usdtFutures(historyOrders),

  'GET /api/v3/position/current-position': usdtFutures(async ({ inAccount, optionalToken, books }) => {
    const only = await optionalToken();
    return inAccount(async (session) => {
      const positions = [];
      for (const book of session.account.tokens.values()) {
        if (!book.position || (only !== null && book.token !== only)) continue;
        const view = positionView(book, book.position, await session.markOf(book.token));
        positions.push(books.contracts.shown('Bitget', book.token, view, 'total'));
      }
      return { list: positions };
    });
  }),

  'GET /api/v3/position/history-position': usdtFutures(historyPositions),

  'POST /api/v3/trade/place-strategy-order': usdtFutures(placeStrategy),
  'POST /api/v3/trade/modify-strategy-order': modifyStrategy,
  'POST /api/v3/trade/cancel-strategy-order': async ({ parameters, inAccount, books }) => {
    const handle = orderHandleIn(parameters);
    await inAccount(async (session) => {
      for (const trigger of strategyOf(session, handle, books.strategies).triggers)
        Object.assign(trigger, { state: 'cancelled', updatedAt: books.clock.now() });
    });
    return null;
  },
  'GET /api/v3/trade/unfilled-strategy-orders': usdtFutures(async ({ parameters, inAccount, books }) => {
    if (isGiven(parameters, 'type') && parameters.type !== 'tpsl') return [];
    return inAccount(async ({ account }) =>
      [...account.tokens.values()].flatMap((book) => liveStrategyViews(book, books.strategies)),
    );
  }),
  'GET /api/v3/trade/history-strategy-orders': usdtFutures(historyStrategies),
};

/** Notes which of an order's stop and target is not triggered by the mark. */
function noteTriggers({ parameters, books }: PrivateCall, clientOrderId: string | null): void {
  const { byMarket } = books.strategies;
  if (clientOrderId === null) return;
  const isMarket =
    (isGiven(parameters, 'stopLoss') && !isByMark(parameters, 'slTriggerBy')) ||
    (isGiven(parameters, 'takeProfit') && !isByMark(parameters, 'tpTriggerBy'));
  if (isMarket) byMarket.add(clientOrderId);
  else byMarket.delete(clientOrderId);
}

const LEGS = [
  ['stopLoss', 'pos_loss', 'loss_plan'],
  ['takeProfit', 'pos_profit', 'profit_plan'],
] as const;

async function placeStrategy(call: PrivateCall) {
  const { parameters, token, inAccount, faults, books } = call;
  refuseStruckProtection(faults);
  if (isGiven(parameters, 'type') && parameters.type !== 'tpsl') throw verificationFailed('type');
  const name = await token();
  const side = oneOf(parameters, 'posSide', ['long', 'short']);
  const isPartial =
    isGiven(parameters, 'tpslMode') && oneOf(parameters, 'tpslMode', ['full', 'partial']) === 'partial';
  const size = isPartial ? decimalIn(parameters, 'qty') : undefined;
  // Not documented, and assumed of any size that is sent.
  const sent = optionalDecimalIn(parameters, 'qty');
  if (sent) books.contracts.requireSize('Bitget', { token: name, type: 'market', size: sent });
  const clientOrderId = clientOidIn(parameters);
  const legs = LEGS.flatMap(([field, whole, part]) => {
    const triggerPrice = optionalDecimalIn(parameters, field);
    return triggerPrice === null ? [] : [{ planType: isPartial ? part : whole, triggerPrice }];
  });
  if (legs.length === 0) throw verificationFailed('stopLoss');
  if (faults.find('stopIgnored')) return { orderId: '1', clientOid: clientOrderId ?? '' };
  noteTriggers(call, clientOrderId);
  const placed = await inAccount(async (session) => {
    const book = session.token(name);
    if (book.position !== null && book.position.side !== side)
      throw new VenueRefusal('25601', 'The position does not exist');
    // The same id again, within six hours: the order that it names.
    const known = clientOrderId === null ? [] : liveOf(book, clientOrderId);
    if (known.length > 0) return known;
    for (const leg of legs) await checkTrigger(session, { token: name, ...leg }, side);
    const triggers: PaperTrigger[] = [];
    for (const leg of legs) {
      const trigger = await placePaperTrigger(session, { token: name, clientOrderId, size, ...leg });
      strikePrice(call, name, trigger);
      triggers.push(trigger);
    }
    return triggers;
  });
  const [first] = placed;
  if (first === undefined) throw new Error('No trigger was placed');
  if (placed.length > 1) books.strategies.pairs.add(first.clientOrderId);
  return { orderId: String(first.id), clientOid: first.clientOrderId };
}

const liveOf = (book: TokenBook, clientOrderId: string) =>
  book.triggers.filter((trigger) => trigger.clientOrderId === clientOrderId && trigger.state === 'live');

function strikePrice({ faults }: PrivateCall, token: string, trigger: PaperTrigger): void {
  if (kindOfPlan(trigger.planType) !== 'pos_loss') return;
  const { holdSide: side, triggerPrice: price } = trigger;
  trigger.triggerPrice = struckStopPrice(faults, { token, platform: 'Bitget', side, price });
}

/** Takes what it names for the whole order: a stop or target that it does not name is gone. */
async function modifyStrategy(call: PrivateCall) {
  const { parameters, inAccount, faults, books } = call;
  refuseStruckProtection(faults);
  const handle = orderHandleIn(parameters);
  const size = decimalIn(parameters, 'qty');
  return inAccount(async (session) => {
    const { book, triggers } = strategyOf(session, handle, books.strategies);
    books.contracts.requireSize('Bitget', { token: book.token, type: 'market', size });
    const [first] = triggers;
    const answer = { orderId: String(first?.id), clientOid: first?.clientOrderId ?? '' };
    if (faults.find('stopIgnored')) return answer;
    const changes = triggers.map((trigger) => {
      const field = kindOfPlan(trigger.planType) === 'pos_loss' ? 'stopLoss' : 'takeProfit';
      return { trigger, triggerPrice: optionalDecimalIn(parameters, field) };
    });
    const side = book.position?.side;
    if (side === undefined) throw new BookRefusal({ kind: 'no-position' });
    for (const { trigger, triggerPrice } of changes) {
      if (triggerPrice === null) continue;
      await checkTrigger(session, { token: book.token, planType: trigger.planType, triggerPrice }, side);
    }
    noteTriggers(call, first?.clientOrderId ?? null);
    for (const { trigger, triggerPrice } of changes) {
      const updatedAt = books.clock.now();
      if (triggerPrice === null) Object.assign(trigger, { state: 'cancelled', updatedAt });
      else Object.assign(trigger, { triggerPrice, updatedAt });
      if (triggerPrice !== null) strikePrice(call, book.token, trigger);
    }
    return answer;
  });
}

/** The live strategy order with this id, and its book. */
function strategyOf(
  { account }: PaperSession,
  { orderId, clientOrderId }: ReturnType<typeof orderHandleIn>,
  strategies: PrivateCall['books']['strategies'],
): { book: TokenBook; triggers: PaperTrigger[] } {
  for (const book of account.tokens.values()) {
    const triggers = strategiesIn(book, strategies).find(([first]) =>
      orderId === undefined ? first?.clientOrderId === clientOrderId : first?.id === orderId,
    );
    if (triggers) return { book, triggers };
  }
  throw new BookRefusal({ kind: 'order-unknown' });
}
