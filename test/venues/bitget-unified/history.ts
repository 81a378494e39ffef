import { listClosedPositions } from '#server/exchanges/paper/paper-queries.ts';
import { type PrivateCall, settled } from '../dialect.ts';
import { ledgerOf, ledgerPage } from '../venue-ledger.ts';
import { listEndedOrders } from '../venue-queries.ts';
import { oneOf, pageOf, periodIn } from './parameters.ts';
import { pastStrategyViews } from './strategies.ts';
import { closedPositionView, financialRecordView, orderView } from './views.ts';

/* Ended orders and closed positions, newest first; `cursor` continues after the previous page. */

export async function historyOrders(call: PrivateCall) {
  const { parameters, inAccount, owner, optionalToken, books } = call;
  const token = await optionalToken();
  await settled(call);
  const [period, page] = [periodIn(call), pageOf(parameters)];
  const orders = await inAccount(({ db }) => listEndedOrders(db, { owner, token, period, ...page }));
  return {
    list: orders.map((one) => orderView(one.token, one.order, books.strategies)),
    cursor: String(orders.at(-1)?.order.id ?? ''),
  };
}

export async function historyPositions(call: PrivateCall) {
  const { parameters, inAccount, owner, optionalToken } = call;
  const only = await optionalToken();
  await settled(call);
  const [{ from, to }, { limit, before }] = [periodIn(call), pageOf(parameters)];
  const positions = await inAccount(({ db }) => listClosedPositions(db, owner));
  const page = positions
    .filter(({ token, id }) => (only === null || token === only) && (before === null || id < before))
    .filter(({ closedAt }) => closedAt >= from && closedAt <= to)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
  return { list: page.map(closedPositionView), cursor: String(page.at(-1)?.id ?? '') };
}

export async function historyStrategies(call: PrivateCall) {
  const { parameters, inAccount, owner, books } = call;
  await settled(call);
  const query = { owner, ...periodIn(call), ...pageOf(parameters), strategies: books.strategies };
  const list = await inAccount(({ db }) => pastStrategyViews(db, query));
  return { list, cursor: list.at(-1)?.orderId ?? '' };
}

/** The ledger of one category, newest first. Transfers are in the category of everything else. */
export async function financialRecords(call: PrivateCall) {
  const { parameters, inAccount, owner, books } = call;
  const category = oneOf(parameters, 'category', ['SPOT', 'MARGIN', 'USDT-FUTURES', 'OTHER']);
  await settled(call);
  const query = { ...periodIn(call), ...pageOf(parameters) };
  const rows = await inAccount(({ db }) => ledgerOf(db, owner, books.movements));
  const asked = rows.filter(({ token }) => category === (token === null ? 'OTHER' : 'USDT-FUTURES'));
  const page = ledgerPage(asked, query);
  return { list: page.map(financialRecordView), cursor: String(page.at(-1)?.id ?? '') };
}
