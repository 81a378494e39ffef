import type { PrivateCall, PrivateRoutes, PublicCall } from '../dialect.ts';
import { isGiven, type Parameters, parameterReaders } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import type { OrderHandle } from '../venue-queries.ts';

export const wrong = (message: string) => new VenueRefusal('10001', message);

const readers = parameterReaders((name) => wrong(`params error: ${name} invalid`));
export const { parametersOf, oneOf, decimalIn, optionalDecimalIn } = readers;

export function requireLinear({ parameters }: Pick<PublicCall, 'parameters'>): void {
  if (parameters.category !== 'linear') throw wrong('params error: Category is invalid');
}

/** For endpoints of USDT perpetuals. */
export const linear =
  (handler: (call: PrivateCall) => Promise<unknown>): PrivateRoutes[string] =>
  async (call) => {
    requireLinear(call);
    return handler(call);
  };

const ORDER_LINK_ID = /^[0-9A-Za-z_-]+$/;
const LONGEST_ORDER_LINK_ID = 36;

export function orderLinkIdIn(parameters: Parameters): string | null {
  const { orderLinkId: value = '' } = parameters;
  if (value === '') return null;
  if (value.length > LONGEST_ORDER_LINK_ID) {
    throw wrong(`order link id is longer than ${LONGEST_ORDER_LINK_ID}`);
  }
  if (!ORDER_LINK_ID.test(value)) throw wrong('params error: orderLinkId invalid');
  return value;
}

/** Null if the request names no order. */
export function orderHandleIn(parameters: Parameters): OrderHandle | null {
  if (isGiven(parameters, 'orderId')) return { orderId: idOf(parameters.orderId ?? '') };
  const clientOrderId = orderLinkIdIn(parameters);
  return clientOrderId === null ? null : { clientOrderId };
}

/** Bybit's order ids are UUIDs; these are numeric ids formatted as UUIDs. */
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

/** 0n matches no order. */
function idOf(orderId: string): bigint {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(orderId)) return 0n;
  const id = BigInt(`0x${orderId.replaceAll('-', '')}`);
  return id > LARGEST_ID ? 0n : id;
}

const DAY_MS = 86_400_000;
const LONGEST_PERIOD_MS = 7 * DAY_MS;

/** At most seven days, which is also the default. */
export function periodIn(parameters: Parameters, now: Date): { from: Date; to: Date } {
  const [start, end] = [readers.instantIn(parameters, 'startTime'), readers.instantIn(parameters, 'endTime')];
  const from = start ?? new Date((end ?? now).getTime() - LONGEST_PERIOD_MS);
  const to = end ?? new Date(start ? start.getTime() + LONGEST_PERIOD_MS : now.getTime());
  if (from > to || to.getTime() - from.getTime() > LONGEST_PERIOD_MS) {
    throw wrong('The time range between startTime and endTime cannot exceed 7 days.');
  }
  return { from, to };
}

export const limitIn = (parameters: Parameters, { usual, most }: { usual: number; most: number }) =>
  Math.min(readers.limitIn(parameters, usual), most);
