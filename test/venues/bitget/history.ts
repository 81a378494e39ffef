import { listClosedPositions } from '#server/exchanges/paper/paper-queries.ts';
import { VenueRefusal } from '../refusals.ts';
import { listEndedOrders } from '../venue-queries.ts';
import type { BitgetCall } from './call.ts';
import { instantIn, pageSizeIn, verificationFailed } from './parameters.ts';
import { closedPositionView, pendingOrderView } from './views.ts';

const LONGEST_PERIOD_MS = 90 * 86_400_000;

/** Closed positions, the newest first; `idLessThan` goes on behind the page before. */
export async function positionHistory({ parameters, books, inAccount, owner, token }: BitgetCall) {
  const only = parameters.symbol ? await token() : null;
  await settled(inAccount);
  const [from, to] = periodIn({ parameters, now: books.clock.now() });
  const limit = pageSizeIn(parameters, 20);
  const before = idLessThanIn(parameters.idLessThan);
  const positions = await inAccount(({ db }) => listClosedPositions(db, owner));
  const page = positions
    .filter((position) => only === null || position.token === only)
    .filter(({ closedAt }) => closedAt >= from && closedAt <= to)
    .filter(({ id }) => before === null || id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
  return { list: page.map(closedPositionView), endId: String(page.at(-1)?.id ?? '') };
}

export async function ordersHistory({ parameters, books, inAccount, owner, token }: BitgetCall) {
  const name = await token();
  await settled(inAccount);
  const [from, to] = periodIn({ parameters, now: books.clock.now() });
  const limit = pageSizeIn(parameters, 100);
  const orders = await inAccount(({ db }) =>
    listEndedOrders(db, { owner, token: name, period: { from, to }, limit }),
  );
  return {
    entrustedList: orders.map(({ order }) => pendingOrderView(name, order)),
    endId: String(orders.at(-1)?.order.id ?? ''),
  };
}

/** Cancels the stops and targets named in `orderIdList`; the others of the list are answered as failures. */
export async function cancelPlans({ request, inAccount, token, books }: BitgetCall) {
  const [name, ids] = [await token(), orderIdsIn(request.body)];
  return inAccount(async (session) => {
    const book = session.token(name);
    const successList: { orderId: string; clientOid: string }[] = [];
    const failureList: { orderId: string; clientOid: string; errorMsg: string }[] = [];
    for (const orderId of ids) {
      const live = book.triggers.find(({ id, state }) => String(id) === orderId && state === 'live');
      if (!live) failureList.push({ orderId, clientOid: '', errorMsg: 'Order does not exist' });
      else {
        Object.assign(live, { state: 'cancelled', updatedAt: books.clock.now() });
        successList.push({ orderId, clientOid: live.clientOrderId });
      }
    }
    if (successList.length === 0) throw new VenueRefusal('40768', 'Order does not exist');
    return { successList, failureList };
  });
}

/** What the newest marks did is in the tables only after a transaction of its own. */
const settled = (inAccount: BitgetCall['inAccount']) => inAccount(async () => undefined);

function periodIn({ parameters, now }: { parameters: Record<string, string>; now: Date }): [Date, Date] {
  const to = instantIn(parameters, 'endTime') ?? now;
  const from = instantIn(parameters, 'startTime') ?? new Date(to.getTime() - LONGEST_PERIOD_MS);
  if (from > to || to.getTime() - from.getTime() > LONGEST_PERIOD_MS) throw verificationFailed('startTime');
  return [from, to];
}

function idLessThanIn(text: string | undefined): bigint | null {
  if (text === undefined || text === '') return null;
  if (!/^\d{1,19}$/.test(text)) throw verificationFailed('idLessThan');
  return BigInt(text);
}

/** The one parameter that is a list. */
function orderIdsIn(body: string): string[] {
  const { orderIdList } = JSON.parse(body) as { orderIdList?: unknown };
  if (!Array.isArray(orderIdList) || orderIdList.length === 0) throw verificationFailed('orderIdList');
  return orderIdList.map((entry: unknown) => {
    const { orderId } = entry as { orderId?: unknown };
    if (typeof orderId !== 'string') throw verificationFailed('orderIdList');
    return orderId;
  });
}
