import { D, type Decimal, largest, smallest } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { VenueOperation } from './operations.ts';

/** How a look-up contradicts the entry that was sent. */
export const CONTRADICTIONS = [
  'the other side',
  'another client order id',
  'another symbol',
  'another quantity',
  'ten times the quantity filled',
  'a volume of NaN',
  'a negative volume',
  'a price of 200,000 digits',
] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** At every fill, or only while the order is not completely filled. */
export type StopDrop = 'always' | 'while partly filled';

/** Failures as a client sees them. `Before` and `After` refer to the processing of the request. */
export type VenueFaultKind =
  | { kind: 'delay'; delayMs: number }
  | { kind: 'refuse'; code: string; message?: string; status?: number }
  /**
   * `retryAfterMs` is included in the answer if the exchange reports it. `ofAddress`: the limit of the address, not of
   * the account.
   */
  | { kind: 'tooManyRequests'; retryAfterMs?: number; ofAddress?: boolean }
  | { kind: 'badGatewayBefore'; status?: number }
  | { kind: 'badGatewayAfter'; status?: number }
  /** HTTP 500, in the exchange's own envelope or as a bare page; before or after processing. */
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
   * Only this fraction of a marketable order fills immediately, at least one step and never all; the rest stays open
   * until the next mark. `one step` and `all but one step` leave amounts below the minimums.
   */
  | { kind: 'partialFill'; fraction: string | 'one step' | 'all but one step' }
  /** A marketable order does not fill immediately but rests until the next mark. */
  | { kind: 'restFirst' }
  /** The order shows its stop loss, but the position that it opens has none; or none until the order is filled. */
  | { kind: 'stopDropped'; when?: StopDrop }
  /**
   * The position gets a stop other than the one that was ordered or placed: this many ticks further away (`most`: as
   * far as a price can be), or one that covers only this fraction of the order.
   */
  | { kind: 'stopMisplaced'; ticks?: number | 'most'; covers?: string }
  /** An order that closes the position leaves its stop and target behind. */
  | { kind: 'protectionKept' }
  /** Placing a stop or target on the open position is refused. */
  | { kind: 'stopRefused'; code?: string; message?: string }
  /** Placing a stop or target on the open position is answered with success, but changes nothing. */
  | { kind: 'stopIgnored' }
  /** Closing the position is refused. */
  | { kind: 'closeRefused'; code?: string; message?: string }
  /** The order fills just before the cancel arrives. */
  | { kind: 'cancelLosesToFill' }
  /** The cancel is answered with success, but the order fills anyway. */
  | { kind: 'cancelAcknowledgedButFilled' }
  /** The cancel is answered as if the order did not exist, but the order lives on. */
  | { kind: 'cancelUnknown' }
  /** The cancel is answered with success, but the order lives on and fills later. */
  | { kind: 'lateFill'; afterMs?: number; afterRequests?: number }
  /** The placement is cut off, look-ups find nothing, and the order arrives later. */
  | { kind: 'lateArrival'; afterMs?: number; afterRequests?: number }
  /**
   * Look-ups answer an older state of an entry: open and without a fill until its cancel is asked for, then cancelled
   * without a fill for this long (by default for good). Position and stop show the fill at once.
   */
  | { kind: 'staleLookUps'; afterCancelMs?: number }
  /** Look-ups of an entry show another order than the one that was sent, or no order. Lasts until removed. */
  | { kind: 'contradictoryLookUps'; shows: Contradiction }
  /** Ended orders are found only in the history, as after a restart of Bybit's service. */
  | { kind: 'endedOrdersForgotten' }
  /** Set-leverage reports success but changes nothing. */
  | { kind: 'leverageIgnored' }
  | { kind: 'leverageRefused' }
  /** Set-leverage reports success but sets another leverage: this one, or one less. */
  | { kind: 'leverageDiffers'; leverage?: number }
  /** The order is refused for insufficient balance. */
  | { kind: 'balanceRefused' }
  /** Private requests are refused, as with a revoked key. Lasts until removed. */
  | { kind: 'wrongKey' }
  /** Prices are answered with a time this long ago, as by a cache that is not refreshed. Lasts until removed. */
  | { kind: 'oldPrices'; ageMs: number }
  /** The exchange's clock is off by this much. Lasts until removed. */
  | { kind: 'clockOff'; offsetMs: number };

export interface FaultMatch {
  /** The operation of the request; defaults to the operations of the kind, or to any. */
  operation?: VenueOperation;
  /** End of the request path in one dialect, such as 'place-order'. */
  path?: string;
  platform?: ExchangePlatform;
  userId?: string;
  /** The first matching request that the fault affects, counted from 1 (the default). */
  nth?: number;
  /** How many matching requests the fault affects; 1 by default, Infinity for all. */
  times?: number;
}

export type VenueFault = VenueFaultKind & { on?: FaultMatch };

type Kind = VenueFaultKind['kind'];

const PLACEMENTS: readonly VenueOperation[] = ['place-order', 'close-position'];

const OPERATIONS_OF_KIND: Partial<Record<Kind, readonly VenueOperation[]>> = {
  partialFill: PLACEMENTS,
  restFirst: PLACEMENTS,
  stopDropped: PLACEMENTS,
  stopMisplaced: PLACEMENTS,
  protectionKept: PLACEMENTS,
  balanceRefused: ['place-order'],
  lateArrival: ['place-order'],
  closeRefused: ['close-position'],
  stopRefused: ['place-protection'],
  stopIgnored: ['place-protection'],
  cancelLosesToFill: ['cancel-order'],
  cancelAcknowledgedButFilled: ['cancel-order'],
  cancelUnknown: ['cancel-order'],
  lateFill: ['cancel-order'],
  staleLookUps: ['find-order', 'cancel-order'],
  contradictoryLookUps: ['find-order'],
  endedOrdersForgotten: ['find-order', 'open-orders'],
  leverageIgnored: ['set-leverage'],
  leverageRefused: ['set-leverage'],
  leverageDiffers: ['set-leverage'],
  oldPrices: ['ticker'],
};

/** Conditions instead of single events: they last. */
const LASTING: ReadonlySet<Kind> = new Set([
  'wrongKey',
  'clockOff',
  'oldPrices',
  'staleLookUps',
  'contradictoryLookUps',
  'endedOrdersForgotten',
]);

const OF_ACCOUNTS: ReadonlySet<Kind> = new Set(['wrongKey']);

export interface StruckRequest {
  path: string;
  platform: ExchangePlatform;
  operations: readonly VenueOperation[];
  userId: string | null;
}

export interface Faults {
  set(faults: readonly VenueFault[]): void;
  /** The faults that affect this request; each call counts as one request. */
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

/** The size of a marketable order that fills immediately: all of it if the fraction is not readable. */
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
