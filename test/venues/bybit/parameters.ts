import { D, type Decimal, isPositive } from '#domain/decimal.ts';
import type { Side } from '#server/exchanges/paper/book.ts';
import type { VenueRequest } from '../http.ts';
import { VenueRefusal } from '../refusals.ts';
import { tokenOfSymbol } from '../symbols.ts';
import type { OrderHandle } from '../venue-queries.ts';

export type Parameters = Record<string, string>;

export const wrong = (message: string) => new VenueRefusal('10001', message);

/** The query of a GET or the JSON body of a POST, values as text. */
export function parametersOf(request: VenueRequest): Parameters {
  if (request.method === 'GET') return Object.fromEntries(new URLSearchParams(request.query));
  let body: unknown;
  try {
    body = JSON.parse(request.body || '{}');
  } catch {
    throw wrong('params error: the body is not JSON');
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw wrong('params error');
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

export function requireLinear(parameters: Parameters): void {
  if (parameters.category !== 'linear') throw wrong('params error: Category is invalid');
}

export const isGiven = (parameters: Parameters, name: string) =>
  parameters[name] !== undefined && parameters[name] !== '';

/** The token of the request's contract; refused when no such contract is listed. */
export async function tokenOf(
  parameters: Parameters,
  isListed: (token: string) => Promise<boolean>,
): Promise<string> {
  const token = tokenOfSymbol(parameters.symbol ?? '');
  if (token === null || !(await isListed(token))) throw wrong('params error: symbol invalid');
  return token;
}

export function oneOf<T extends string>(parameters: Parameters, name: string, values: readonly T[]): T {
  const found = values.find((value) => value === parameters[name]);
  if (found === undefined) throw wrong(`params error: ${name} invalid`);
  return found;
}

export const sideIn = (parameters: Parameters): Side =>
  oneOf(parameters, 'side', ['Buy', 'Sell']) === 'Buy' ? 'buy' : 'sell';

export function decimalIn(parameters: Parameters, name: string): Decimal {
  const value = parameters[name];
  if (!isPositive(value)) throw wrong(`${name} invalid`);
  return D(value as string);
}

export const optionalDecimalIn = (parameters: Parameters, name: string): Decimal | null =>
  isGiven(parameters, name) ? decimalIn(parameters, name) : null;

const ORDER_LINK_ID = /^[0-9A-Za-z_-]+$/;
const LONGEST_ORDER_LINK_ID = 36;

export function orderLinkIdIn(parameters: Parameters): string | null {
  const value = parameters.orderLinkId;
  if (value === undefined || value === '') return null;
  if (value.length > LONGEST_ORDER_LINK_ID) {
    throw wrong(`order link id is longer than ${LONGEST_ORDER_LINK_ID}`);
  }
  if (!ORDER_LINK_ID.test(value)) throw wrong('params error: orderLinkId invalid');
  return value;
}

/** Null when the request names no order. */
export function orderHandleIn(parameters: Parameters): OrderHandle | null {
  if (isGiven(parameters, 'orderId')) return { orderId: idOf(parameters.orderId ?? '') };
  const clientOrderId = orderLinkIdIn(parameters);
  return clientOrderId === null ? null : { clientOrderId };
}

/** Bybit's order ids are UUIDs; ours are numbers written as one. */
export const orderIdOf = (id: bigint | null): string => {
  const digits = (id ?? 0n).toString(16).padStart(32, '0');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([a, b]) => digits.slice(a, b))
    .join('-');
};

const LARGEST_ID = 2n ** 63n - 1n;

/** What names no order of ours finds none. */
function idOf(orderId: string): bigint {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(orderId)) return 0n;
  const id = BigInt(`0x${orderId.replaceAll('-', '')}`);
  return id > LARGEST_ID ? 0n : id;
}

/** Milliseconds as text; null when it was left out. */
export function instantIn(parameters: Parameters, name: string): Date | null {
  const value = parameters[name];
  if (value === undefined || value === '') return null;
  if (!/^\d{1,14}$/.test(value)) throw wrong(`params error: ${name} invalid`);
  return new Date(Number(value));
}

const DAY_MS = 86_400_000;
const LONGEST_PERIOD_MS = 7 * DAY_MS;

/** Seven days at most, and these when none are named. */
export function periodIn(parameters: Parameters, now: Date): { from: Date; to: Date } {
  const [start, end] = [instantIn(parameters, 'startTime'), instantIn(parameters, 'endTime')];
  const from = start ?? new Date((end ?? now).getTime() - LONGEST_PERIOD_MS);
  const to = end ?? new Date(start ? start.getTime() + LONGEST_PERIOD_MS : now.getTime());
  if (from > to || to.getTime() - from.getTime() > LONGEST_PERIOD_MS) {
    throw wrong('The time range between startTime and endTime cannot exceed 7 days.');
  }
  return { from, to };
}

export function limitIn(parameters: Parameters, { usual, most }: { usual: number; most: number }): number {
  const value = parameters.limit;
  if (value === undefined || value === '') return usual;
  const limit = Number(value);
  if (!Number.isInteger(limit) || limit < 1) throw wrong('params error: limit invalid');
  return Math.min(limit, most);
}
