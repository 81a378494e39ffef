import { D, type Decimal, largest, smallest } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { VenueOperation } from './operations.ts';

/** At each fill, or only while the order is not yet filled. */
export type StopDrop = 'always' | 'while partly filled';

/** What can go wrong, as seen by a client. `Before` and `After` say on which side of being processed it happens. */
export type VenueFaultKind =
  | { kind: 'delay'; delayMs: number }
  | { kind: 'refuse'; code: string; message?: string; status?: number }
  /** `retryAfterMs` is in the answer where the exchange gives it. `ofAddress`: the limit of the address, not of the account. */
  | { kind: 'tooManyRequests'; retryAfterMs?: number; ofAddress?: boolean }
  | { kind: 'badGatewayBefore'; status?: number }
  | { kind: 'badGatewayAfter'; status?: number }
  /** HTTP 500, in the exchange's own envelope or as a bare page; before it is processed, or after. */
  | { kind: 'internalError'; envelope?: boolean; after?: boolean }
  | { kind: 'timeout' }
  | { kind: 'acceptThenTimeout' }
  | { kind: 'cutBeforeAccept' }
  | { kind: 'cutAfterAccept' }
  | { kind: 'stalledBody' }
  | { kind: 'truncatedBody' }
  | { kind: 'empty200' }
  | { kind: 'html200' }
  /**
   * Of a marketable order only this fraction fills at once, at least a step and never all; the rest rests until the
   * next mark. `one step` and `all but one step` leave what is below the minimums.
   */
  | { kind: 'partialFill'; fraction: string | 'one step' | 'all but one step' }
  /** A marketable order does not fill at once but rests until the next mark. */
  | { kind: 'restFirst' }
  /** The order keeps its stop loss on paper, but the position that it opens has none; or none until the order is filled. */
  | { kind: 'stopDropped'; when?: StopDrop }
  /** An order that closes the position leaves its stop and target behind. */
  | { kind: 'protectionKept' }
  /** Placing a stop or target on the open position is refused. */
  | { kind: 'stopRefused'; code?: string; message?: string }
  /** Closing the position is refused. */
  | { kind: 'closeRefused'; code?: string; message?: string }
  /** The order fills just before the cancel arrives. */
  | { kind: 'cancelLosesToFill' }
  /** The cancel is answered with success, and the order fills nevertheless. */
  | { kind: 'cancelAcknowledgedButFilled' }
  /** The cancel is answered as if there were no such order, which lives on. */
  | { kind: 'cancelUnknown' }
  /** The cancel is answered with success, the order lives on and fills a while later. */
  | { kind: 'lateFill'; afterMs?: number; afterRequests?: number }
  /** The placement is cut off, look-ups find nothing, and the order arrives a while later. */
  | { kind: 'lateArrival'; afterMs?: number; afterRequests?: number }
  /** Orders that have ended are found only in the history, as after a restart of Bybit's service. */
  | { kind: 'endedOrdersForgotten' }
  /** Set-leverage is answered with success and changes nothing. */
  | { kind: 'leverageIgnored' }
  | { kind: 'leverageRefused' }
  /** Set-leverage is answered with success and sets another leverage: this one, or one less. */
  | { kind: 'leverageDiffers'; leverage?: number }
  /** The order is refused for want of balance. */
  | { kind: 'balanceRefused' }
  /** Private requests are refused, as with a revoked key. Goes on until it is taken back. */
  | { kind: 'wrongKey' }
  /** The exchange's clock differs by this from the real one. Goes on until it is taken back. */
  | { kind: 'clockOff'; offsetMs: number };

export interface FaultMatch {
  /** What the request does; left out: what the kind belongs to, or anything. */
  operation?: VenueOperation;
  /** End of the request path, such as 'place-order', in one dialect. */
  path?: string;
  platform?: ExchangePlatform;
  userId?: string;
  /** The first matching request that it strikes, counted from 1 (the default). */
  nth?: number;
  /** How many matching requests it strikes; 1 by default, Infinity for all. */
  times?: number;
}

export type VenueFault = VenueFaultKind & { on?: FaultMatch };

type Kind = VenueFaultKind['kind'];

const PLACEMENTS: readonly VenueOperation[] = ['place-order', 'close-position'];

const OPERATIONS_OF_KIND: Partial<Record<Kind, readonly VenueOperation[]>> = {
  partialFill: PLACEMENTS,
  restFirst: PLACEMENTS,
  stopDropped: PLACEMENTS,
  protectionKept: PLACEMENTS,
  balanceRefused: ['place-order'],
  lateArrival: ['place-order'],
  closeRefused: ['close-position'],
  stopRefused: ['place-protection'],
  cancelLosesToFill: ['cancel-order'],
  cancelAcknowledgedButFilled: ['cancel-order'],
  cancelUnknown: ['cancel-order'],
  lateFill: ['cancel-order'],
  endedOrdersForgotten: ['find-order', 'open-orders'],
  leverageIgnored: ['set-leverage'],
  leverageRefused: ['set-leverage'],
  leverageDiffers: ['set-leverage'],
};

/** Not an event but a condition: it lasts. */
const LASTING: ReadonlySet<Kind> = new Set(['wrongKey', 'clockOff', 'endedOrdersForgotten']);

const OF_ACCOUNTS: ReadonlySet<Kind> = new Set(['wrongKey']);

export interface StruckRequest {
  path: string;
  platform: ExchangePlatform;
  operations: readonly VenueOperation[];
  userId: string | null;
}

export interface Faults {
  set(faults: readonly VenueFault[]): void;
  /** The faults that strike this request; each call counts as one request. */
  strike(request: StruckRequest): StruckFaults;
}

export interface StruckFaults {
  find<K extends Kind>(kind: K): Extract<VenueFault, { kind: K }> | null;
}

export function createFaults(initial: readonly VenueFault[] = []): Faults {
  let armed = arm(initial);
  return {
    set(faults) {
      armed = arm(faults);
    },
    strike(request) {
      const struck = armed.filter((entry) => strikes(entry, request)).map(({ fault }) => fault);
      return {
        find: <K extends Kind>(kind: K) =>
          struck.find((fault): fault is Extract<VenueFault, { kind: K }> => fault.kind === kind) ?? null,
      };
    },
  };
}

interface ArmedFault {
  fault: VenueFault;
  seen: number;
}

const arm = (faults: readonly VenueFault[]): ArmedFault[] => faults.map((fault) => ({ fault, seen: 0 }));

function strikes(entry: ArmedFault, request: StruckRequest): boolean {
  const { kind, on = {} } = entry.fault;
  const { path, platform, userId, nth = 1, times = LASTING.has(kind) ? Number.POSITIVE_INFINITY : 1 } = on;
  if (path !== undefined && !request.path.endsWith(path)) return false;
  if (!isMeant(entry.fault, request)) return false;
  if (platform !== undefined && platform !== request.platform) return false;
  if (userId !== undefined && userId !== request.userId) return false;
  entry.seen += 1;
  return entry.seen >= nth && entry.seen < nth + times;
}

function isMeant({ kind, on }: VenueFault, { operations, userId }: StruckRequest): boolean {
  if (OF_ACCOUNTS.has(kind) && userId === null) return false;
  if (on?.operation !== undefined) return operations.includes(on.operation);
  const usual = on?.path === undefined ? OPERATIONS_OF_KIND[kind] : undefined;
  return usual === undefined || operations.some((operation) => usual.includes(operation));
}

/** How much of a marketable order fills at once. What cannot be read as a fraction fills all. */
export function immediateSize(faults: StruckFaults): (size: Decimal, step: Decimal) => Decimal {
  return (size, step) => {
    if (faults.find('restFirst')) return D(0);
    const fraction = faults.find('partialFill')?.fraction;
    if (fraction === undefined) return size;
    const leastAndMost = (wanted: Decimal) => smallest(largest(wanted, step), size.minus(step));
    if (fraction === 'one step') return leastAndMost(step);
    if (fraction === 'all but one step') return leastAndMost(size);
    const part = Number(fraction);
    if (!(part >= 0 && part < 1)) return size;
    return part === 0 ? D(0) : leastAndMost(size.times(part));
  };
}

export const stopDropIn = (faults: StruckFaults): StopDrop | undefined => {
  const fault = faults.find('stopDropped');
  return fault ? (fault.when ?? 'always') : undefined;
};
