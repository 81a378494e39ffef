import type { PrivateCall, PrivateRoutes } from '../dialect.ts';
import { isGiven, type Parameters, parameterReaders } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import type { OrderHandle } from '../venue-queries.ts';

export const verificationFailed = (name: string) =>
  new VenueRefusal('400172', `Parameter verification failed ${name}`);

export const { parametersOf, oneOf, decimalIn, optionalDecimalIn, instantIn, limitIn } =
  parameterReaders(verificationFailed);

/** What v2 calls the side of a position is refused here. */
export function refuseClassicFields(parameters: Parameters): void {
  if (!isGiven(parameters, 'holdSide')) return;
  throw new VenueRefusal('25236', 'The position side does not match the holding mode');
}

export const usdtFutures =
  (handler: (call: PrivateCall) => Promise<unknown>): PrivateRoutes[string] =>
  async (call) => {
    if (call.parameters.category?.toUpperCase() !== 'USDT-FUTURES') throw verificationFailed('category');
    refuseClassicFields(call.parameters);
    return handler(call);
  };

/** Cross margin unless isolated margin is named. */
export const marginModeIn = (parameters: Parameters) =>
  isGiven(parameters, 'marginMode')
    ? oneOf(parameters, 'marginMode', ['isolated', 'crossed'])
    : ('crossed' as const);

/** Whether a trigger price is compared with the mark: with the market price unless that is named. */
export const isByMark = (parameters: Parameters, name: 'slTriggerBy' | 'tpTriggerBy') =>
  isGiven(parameters, name) && oneOf(parameters, name, ['mark', 'market']) === 'mark';

const CLIENT_OID = /^[0-9A-Za-z_:#\-+\s]{1,32}$/;

export function clientOidIn(parameters: Parameters): string | null {
  const { clientOid = '' } = parameters;
  if (clientOid === '') return null;
  if (!CLIENT_OID.test(clientOid)) throw verificationFailed('clientOid');
  return clientOid;
}

/** The exchange's id counts where both are given. */
export function orderHandleIn(parameters: Parameters): OrderHandle {
  if (isGiven(parameters, 'orderId')) return { orderId: idIn(parameters, 'orderId') };
  const clientOrderId = clientOidIn(parameters);
  if (clientOrderId === null) throw verificationFailed('orderId');
  return { clientOrderId };
}

export function idIn(parameters: Parameters, name: string): bigint {
  if (!/^\d{1,19}$/.test(parameters[name] ?? '')) throw verificationFailed(name);
  return BigInt(parameters[name] ?? '');
}

const LARGEST_PAGE = 100;

/** The size of a page, and the id that it ends before. */
export function pageOf(parameters: Parameters): { limit: number; before: bigint | null } {
  const limit = limitIn(parameters, LARGEST_PAGE);
  if (limit > LARGEST_PAGE) throw verificationFailed('limit');
  return { limit, before: isGiven(parameters, 'cursor') ? idIn(parameters, 'cursor') : null };
}

const DAY_MS = 86_400_000;
const LONGEST_PERIOD_MS = 30 * DAY_MS;
const HISTORY_MS = 90 * DAY_MS;

export function periodIn({ parameters, books }: PrivateCall): { from: Date; to: Date } {
  const now = books.clock.now();
  const to = instantIn(parameters, 'endTime') ?? now;
  const from = instantIn(parameters, 'startTime') ?? new Date(to.getTime() - LONGEST_PERIOD_MS);
  if (from > to || to.getTime() - from.getTime() > LONGEST_PERIOD_MS) throw verificationFailed('endTime');
  if (now.getTime() - from.getTime() > HISTORY_MS) throw verificationFailed('startTime');
  return { from, to };
}
