import { D, type Decimal, isPositive } from '#domain/decimal.ts';
import type { MarginMode, PlanType, PositionMode, Side } from '#server/exchanges/paper/book.ts';
import type { VenueRequest } from '../http.ts';
import { VenueRefusal } from '../refusals.ts';
import { tokenOfSymbol } from '../symbols.ts';
import type { OrderHandle } from '../venue-queries.ts';

export type Parameters = Record<string, string>;

/** The query of a GET or the JSON body of a POST, values as text. */
export function parametersOf(request: VenueRequest): Parameters {
  if (request.method === 'GET') return Object.fromEntries(new URLSearchParams(request.query));
  let body: unknown;
  try {
    body = JSON.parse(request.body || '{}');
  } catch {
    throw verificationFailed('body');
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw verificationFailed('body');
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

export function requireUsdtFutures(parameters: Parameters): void {
  if (parameters.productType?.toUpperCase() !== 'USDT-FUTURES') throw verificationFailed('productType');
}

/** The token of the request's contract; refused as Bitget does when no such contract is listed. */
export async function tokenOf(
  parameters: Parameters,
  isListed: (token: string) => Promise<boolean>,
): Promise<string> {
  const token = tokenOfSymbol(parameters.symbol ?? '');
  if (token === null || !(await isListed(token))) {
    throw new VenueRefusal('40034', `Parameter ${parameters.symbol ?? 'symbol'} does not exist`);
  }
  return token;
}

export function oneOf<T extends string>(parameters: Parameters, name: string, values: readonly T[]): T {
  const found = values.find((value) => value === parameters[name]);
  if (found === undefined) throw verificationFailed(name);
  return found;
}

export const sideIn = (parameters: Parameters): Side => oneOf(parameters, 'side', ['buy', 'sell']);
export const orderTypeIn = (parameters: Parameters) => oneOf(parameters, 'orderType', ['limit', 'market']);
export const marginModeIn = (parameters: Parameters): MarginMode =>
  oneOf(parameters, 'marginMode', ['isolated', 'crossed']);
export const positionModeIn = (parameters: Parameters): PositionMode =>
  oneOf(parameters, 'posMode', ['one_way_mode', 'hedge_mode']);
export const planTypeIn = (parameters: Parameters): PlanType =>
  oneOf(parameters, 'planType', ['pos_loss', 'pos_profit']);

export function decimalIn(parameters: Parameters, name: string): Decimal {
  const value = parameters[name];
  if (!isPositive(value)) throw verificationFailed(name);
  return D(value as string);
}

export function optionalDecimalIn(parameters: Parameters, name: string): Decimal | null {
  return parameters[name] === undefined || parameters[name] === '' ? null : decimalIn(parameters, name);
}

const CLIENT_OID = /^[0-9A-Za-z_:#\-+\s]{1,32}$/;

export function clientOidIn(parameters: Parameters): string | null {
  const value = parameters.clientOid;
  if (value === undefined || value === '') return null;
  if (!CLIENT_OID.test(value)) throw new VenueRefusal('40305', 'client_oid length is not greater than 32');
  return value;
}

export function orderHandleIn(parameters: Parameters): OrderHandle {
  const { orderId } = parameters;
  if (orderId) {
    if (!/^\d{1,18}\d?$/.test(orderId)) throw verificationFailed('orderId');
    return { orderId: BigInt(orderId) };
  }
  const clientOrderId = clientOidIn(parameters);
  if (clientOrderId === null) throw new VenueRefusal('40913', 'orderId and clientOid must be passed one');
  return { clientOrderId };
}

/** Milliseconds as text; null when it was left out. */
export function instantIn(parameters: Parameters, name: string): Date | null {
  const value = parameters[name];
  if (value === undefined || value === '') return null;
  if (!/^\d{1,14}$/.test(value)) throw verificationFailed(name);
  return new Date(Number(value));
}

const LARGEST_PAGE = 100;

export function pageSizeIn(parameters: Parameters, usual: number): number {
  const value = parameters.limit;
  if (value === undefined || value === '') return usual;
  const size = Number(value);
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) throw verificationFailed('limit');
  return size;
}

export const verificationFailed = (name: string) =>
  new VenueRefusal('40017', `Parameter verification failed ${name}`);
