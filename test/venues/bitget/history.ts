import { listClosedPositions } from '#server/exchanges/paper/paper-queries.ts';
import { type PrivateCall, settled } from '../dialect.ts';
import { isGiven } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import { ledgerOf, ledgerPage } from '../venue-ledger.ts';
import { listEndedOrders } from '../venue-queries.ts';
import { idIn, instantIn, pageSizeIn, verificationFailed } from './parameters.ts';
import { billView, closedPositionView, pendingOrderView } from './views.ts';

const LONGEST_PERIOD_MS = 90 * 86_400_000;

const PLAN_TYPES = new Set(['pos_loss', 'pos_profit', 'loss_plan', 'profit_plan']);

/** Closed positions, newest first; `idLessThan` continues after the previous page. */
export async function positionHistory(call: PrivateCall) {
  const { parameters, inAccount, owner, optionalToken } = call;
  const only = await optionalToken();
  await settled(call);
  const [from, to] = periodIn(call);
  const limit = pageSizeIn(parameters, 20);
  const before = isGiven(parameters, 'idLessThan') ? idIn(parameters, 'idLessThan') : null;
  const positions = await inAccount(({ db }) => listClosedPositions(db, owner));
  const page = positions
    .filter((position) => only === null || position.token === only)
    .filter(({ closedAt }) => closedAt >= from && closedAt <= to)
    .filter(({ id }) => before === null || id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
  return { list: page.map(closedPositionView), endId: String(page.at(-1)?.id ?? '') };
}

const LEDGER_PERIOD_MS = 30 * 86_400_000;

/** The ledger of the futures wallet, newest first, at most 30 days a request and 90 days back. */
export async function accountBills(call: PrivateCall) {
  const { parameters, inAccount, owner, books } = call;
  await settled(call);
  const now = books.clock.now();
  const [from, to] = periodIn(call, LEDGER_PERIOD_MS);
  if (now.getTime() - from.getTime() > LONGEST_PERIOD_MS) throw verificationFailed('startTime');
  const before = isGiven(parameters, 'idLessThan') ? idIn(parameters, 'idLessThan') : null;
  const limit = pageSizeIn(parameters, 20);
  const rows = await inAccount(({ db }) => ledgerOf(db, owner, books.movements));
  const page = ledgerPage(rows, { from, to, before, limit });
  return { bills: page.map(billView), endId: String(page.at(-1)?.id ?? '') };
}

export async function ordersHistory(call: PrivateCall) {
  const { parameters, inAccount, owner, token } = call;
  const name = await token();
  await settled(call);
  const [from, to] = periodIn(call);
  const limit = pageSizeIn(parameters, 100);
  const orders = await inAccount(({ db }) =>
    listEndedOrders(db, { owner, token: name, period: { from, to }, limit }),
  );
  return {
    entrustedList: orders.map(({ order }) => pendingOrderView(name, order)),
    endId: String(orders.at(-1)?.order.id ?? ''),
  };
}

/** Cancels the plans of this type in `orderIdList`. Answers success for any other type, with nothing cancelled. */
export async function cancelPlans({ request, inAccount, token, books, parameters }: PrivateCall) {
  const [name, ids] = [await token(), orderIdsIn(request.body)];
  return inAccount(async (session) => {
    const book = session.token(name);
    const successList: { orderId: string; clientOid: string }[] = [];
    const failureList: { orderId: string; clientOid: string; errorMsg: string }[] = [];
    if (!PLAN_TYPES.has(parameters.planType ?? '')) return { successList, failureList };
    for (const orderId of ids) {
      const live = book.triggers.find(
        ({ id, state, planType }) =>
          String(id) === orderId && state === 'live' && planType === parameters.planType,
      );
      if (!live) failureList.push({ orderId, clientOid: '', errorMsg: 'Order does not exist' });
      else {
        Object.assign(live, { state: 'cancelled', updatedAt: books.clock.now() });
        successList.push({ orderId, clientOid: live.clientOrderId });
      }
    }
    if (successList.length === 0)
      throw new VenueRefusal('43020', 'Stop profit and stop loss order does not exist');
    return { successList, failureList };
  });
}

function periodIn({ parameters, books }: PrivateCall, longestMs = LONGEST_PERIOD_MS): [Date, Date] {
  const to = instantIn(parameters, 'endTime') ?? books.clock.now();
  const from = instantIn(parameters, 'startTime') ?? new Date(to.getTime() - longestMs);
  if (from > to || to.getTime() - from.getTime() > longestMs) throw verificationFailed('startTime');
  return [from, to];
}

/** The only parameter that is a list. */
function orderIdsIn(body: string): string[] {
  const { orderIdList } = JSON.parse(body) as { orderIdList?: unknown };
  if (!Array.isArray(orderIdList) || orderIdList.length === 0) throw verificationFailed('orderIdList');
  return orderIdList.map((entry: unknown) => {
    const { orderId } = entry as { orderId?: unknown };
    if (typeof orderId !== 'string') throw verificationFailed('orderIdList');
    return orderId;
  });
}
