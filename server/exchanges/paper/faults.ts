/** What can go wrong, as seen by a client. `Before` and `After` say on which side of being processed it happens. */
export type PaperFaultKind =
  | { kind: 'delay'; delayMs: number }
  | { kind: 'refuse'; code: string; message?: string; status?: number }
  | { kind: 'tooManyRequests' }
  | { kind: 'badGatewayBefore'; status?: number }
  | { kind: 'badGatewayAfter'; status?: number }
  | { kind: 'timeout' }
  | { kind: 'acceptThenTimeout' }
  | { kind: 'cutBeforeAccept' }
  | { kind: 'cutAfterAccept' }
  | { kind: 'stalledBody' }
  | { kind: 'empty200' }
  | { kind: 'html200' }
  /** Of a marketable order only this fraction fills at once, the rest rests until the next mark. */
  | { kind: 'partialFill'; fraction: string }
  /** A marketable order does not fill at once but rests until the next mark. */
  | { kind: 'restFirst' }
  /** The order keeps its stop loss on paper, but the position that it opens has none. */
  | { kind: 'stopDropped' }
  /** An order that closes the position leaves its stop and target behind. */
  | { kind: 'protectionKept' }
  /** The order fills just before the cancel arrives. */
  | { kind: 'cancelLosesToFill' }
  /** The cancel is answered with success, and the order fills nevertheless. */
  | { kind: 'cancelAcknowledgedButFilled' }
  /** Set-leverage is answered with success and changes nothing. */
  | { kind: 'leverageIgnored' };

export interface FaultMatch {
  /** End of the request path, such as 'place-order'; left out: the one the kind belongs to, or any. */
  path?: string;
  userId?: string;
  /** The first matching request that it strikes, counted from 1 (the default). */
  nth?: number;
  /** How many matching requests it strikes; 1 by default, Infinity for all. */
  times?: number;
}

export type PaperFault = PaperFaultKind & { on?: FaultMatch };

const PATH_OF_KIND: Partial<Record<PaperFaultKind['kind'], string>> = {
  partialFill: 'place-order',
  restFirst: 'place-order',
  stopDropped: 'place-order',
  protectionKept: 'place-order',
  cancelLosesToFill: 'cancel-order',
  cancelAcknowledgedButFilled: 'cancel-order',
  leverageIgnored: 'set-leverage',
};

export interface Faults {
  set(faults: PaperFault[]): void;
  /** The faults that strike this request; each call counts as one request. */
  strike(request: { path: string; userId: string | null }): StruckFaults;
}

export interface StruckFaults {
  find<K extends PaperFaultKind['kind']>(kind: K): Extract<PaperFault, { kind: K }> | null;
}

export function createFaults(initial: PaperFault[] = []): Faults {
  let armed = arm(initial);
  return {
    set(faults) {
      armed = arm(faults);
    },
    strike(request) {
      const struck = armed.filter((entry) => strikes(entry, request)).map(({ fault }) => fault);
      return {
        find: <K extends PaperFaultKind['kind']>(kind: K) =>
          struck.find((fault): fault is Extract<PaperFault, { kind: K }> => fault.kind === kind) ?? null,
      };
    },
  };
}

interface ArmedFault {
  fault: PaperFault;
  seen: number;
}

const arm = (faults: PaperFault[]): ArmedFault[] => faults.map((fault) => ({ fault, seen: 0 }));

function strikes(entry: ArmedFault, request: { path: string; userId: string | null }): boolean {
  const { userId, nth = 1, times = 1, path = PATH_OF_KIND[entry.fault.kind] } = entry.fault.on ?? {};
  if (path !== undefined && !request.path.endsWith(path)) return false;
  if (userId !== undefined && userId !== request.userId) return false;
  entry.seen += 1;
  return entry.seen >= nth && entry.seen < nth + times;
}
