import type { Decimal } from '#domain/decimal.ts';
import { liveTrigger, type PlanType, positionModeOf, type TokenBook } from '#server/exchanges/paper/book.ts';
import { setTrigger } from '#server/exchanges/paper/matching.ts';
import type { PaperSession } from '#server/exchanges/paper/paper-books.ts';
import { checkTrigger } from '#server/exchanges/paper/paper-orders.ts';
import { BookRefusal } from '#server/exchanges/paper/refusals.ts';
import type { PrivateRoutes } from '../dialect.ts';
import { isGiven, type Parameters } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import { refuseStruckProtection, struckStopPrice } from '../struck-orders.ts';
import { checkProtectionTerms } from './orders.ts';
import { pageOf } from './pages.ts';
import { decimalIn, limitIn, linear, wrong } from './parameters.ts';
import { heldView, positionViews } from './views.ts';

export const BYBIT_POSITIONS: PrivateRoutes = {
  'GET /v5/position/list': linear(async ({ parameters, optionalToken, inAccount, books }) => {
    const token = await optionalToken();
    if (token === null && parameters.settleCoin !== 'USDT') {
      throw wrong('params error: symbol or settleCoin is required');
    }
    const views = await inAccount(async (session) => {
      const { account } = session;
      if (token !== null) return positionViews(account, session.token(token), await session.markOf(token));
      const held = [];
      for (const book of account.tokens.values()) {
        if (book.position) held.push(heldView(book, book.position, await session.markOf(book.token)));
      }
      return held;
    });
    const limit = limitIn(parameters, { usual: 20, most: 200 });
    const shown = views.map((view) =>
      books.contracts.shown('Bybit', view.symbol.slice(0, -'USDT'.length), view, 'size'),
    );
    const { page, nextPageCursor } = pageOf(shown, { limit, cursor: parameters.cursor });
    return { category: 'linear', list: page, nextPageCursor };
  }),

  'POST /v5/position/trading-stop': linear(async (call) => {
    const { parameters, token, inAccount, faults } = call;
    const name = await token();
    if (!isGiven(parameters, 'tpslMode')) throw wrong('params error: tpslMode is required');
    if ((parameters.positionIdx ?? '0') !== '0') throw wrong('position idx not match position mode');
    checkProtectionTerms(parameters);
    const wanted = [wantedIn(parameters, 'pos_loss'), wantedIn(parameters, 'pos_profit')];
    if (wanted.every(({ price }) => price === undefined)) throw wrong('params error: nothing to set');
    if (wanted.some(({ price }) => price)) refuseStruckProtection(faults);
    if (faults.find('stopIgnored')) return {};
    await inAccount(async (session) => {
      const book = session.token(name);
      await check(session, book, wanted);
      const side = book.position?.side ?? 'long';
      const placed = wanted.map(({ planType, price }) =>
        price && planType === 'pos_loss'
          ? { planType, price: struckStopPrice(faults, { token: name, platform: 'Bybit', side, price }) }
          : { planType, price },
      );
      apply(session, book, placed);
    });
    return {};
  }),
};

interface Wanted {
  planType: PlanType;
  /** Undefined: unchanged. Null: removed. */
  price: Decimal | null | undefined;
}

function wantedIn(parameters: Parameters, planType: PlanType): Wanted {
  const name = planType === 'pos_loss' ? 'stopLoss' : 'takeProfit';
  if (!isGiven(parameters, name)) return { planType, price: undefined };
  return { planType, price: Number(parameters[name]) === 0 ? null : decimalIn(parameters, name) };
}

/** Checks everything before anything is changed. */
async function check(session: PaperSession, book: TokenBook, wanted: Wanted[]): Promise<void> {
  if (positionModeOf(session.account, book) !== 'one_way_mode')
    throw new BookRefusal({ kind: 'position-mode' });
  const { position } = book;
  if (!position) throw wrong('can not set tp/sl/ts for zero position');
  for (const { planType, price } of wanted) {
    if (price)
      await checkTrigger(session, { token: book.token, planType, triggerPrice: price }, position.side);
  }
  const changes = wanted.filter(({ planType, price }) => {
    const live = liveTrigger(book, planType);
    return price === undefined ? false : price === null ? live !== null : !live?.triggerPrice.eq(price);
  });
  if (changes.length === 0) throw new VenueRefusal('34040', 'not modified');
}

function apply(session: PaperSession, book: TokenBook, wanted: Wanted[]): void {
  for (const { planType, price } of wanted) {
    if (price) setTrigger(book, planType, price, { clientOrderId: '' }, session.now);
    else if (price === null) {
      const live = liveTrigger(book, planType);
      if (live) Object.assign(live, { state: 'cancelled', updatedAt: session.now });
    }
  }
}
