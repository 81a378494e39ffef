import type { PrivateCall, PrivateRoutes, PublicCall } from '../dialect.ts';
import { isGiven, type Parameters, parameterReaders } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import type { OrderHandle } from '../venue-queries.ts';

export const verificationFailed = (name: string) =>
  new VenueRefusal('40017', `Parameter verification failed ${name}`);

export const { parametersOf, oneOf, decimalIn, optionalDecimalIn, instantIn, limitIn } =
  parameterReaders(verificationFailed);

export function requireUsdtFutures({ parameters }: Pick<PublicCall, 'parameters'>): void {
  if (parameters.productType?.toUpperCase() !== 'USDT-FUTURES') throw verificationFailed('productType');
}

export const usdtFutures =
  (handler: (call: PrivateCall) => Promise<unknown>): PrivateRoutes[string] =>
  async (call) => {
    requireUsdtFutures(call);
    return handler(call);
  };

export const marginModeIn = (parameters: Parameters) =>
  oneOf(parameters, 'marginMode', ['isolated', 'crossed']);

const CLIENT_OID = /^[0-9A-Za-z_:#\-+\s]{1,32}$/;

export function clientOidIn(parameters: Parameters): string | null {
  const { clientOid = '' } = parameters;
  if (clientOid === '') return null;
  if (!CLIENT_OID.test(clientOid))
    throw new VenueRefusal('40305', 'client_oid length is not greater than 32');
  return clientOid;
}

export function orderHandleIn(parameters: Parameters): OrderHandle {
  if (isGiven(parameters, 'orderId')) return { orderId: idIn(parameters, 'orderId') };
  const clientOrderId = clientOidIn(parameters);
  if (clientOrderId === null) throw new VenueRefusal('40913', 'orderId and clientOid must be passed one');
  return { clientOrderId };
}

export function idIn(parameters: Parameters, name: string): bigint {
  if (!/^\d{1,19}$/.test(parameters[name] ?? '')) throw verificationFailed(name);
  return BigInt(parameters[name] ?? '');
}

const LARGEST_PAGE = 100;

export function pageSizeIn(parameters: Parameters, usual: number): number {
  const size = limitIn(parameters, usual);
  if (size > LARGEST_PAGE) throw verificationFailed('limit');
  return size;
}
