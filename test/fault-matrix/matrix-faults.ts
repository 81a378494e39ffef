import { CONTRADICTIONS, type VenueFault, type VenueFaultKind } from '#test/venues/faults.ts';
import type { VenueOperation } from '#test/venues/operations.ts';
import type { Choice } from './choice.ts';

/** The faults for one user in a run; may be several, such as an order that rests and a lost cancel. */
export interface ChosenFaults {
  faults: VenueFault[];
  /** Milliseconds from the signal to the end of the faults; null: they never end. */
  liftedAfterMs: number | null;
  /** What is special about the token's contract, for every user. */
  contract: MatrixContract | null;
  /** The exchange's clock, for every user. */
  clock: MatrixClock | null;
  /** Steps of this machine's clock, in order, for every user. */
  steps: MatrixStep[];
  /** Milliseconds from the signal to the loss of the struck user's stop, seen by an audit a second later; null: none. */
  stopLostAfterMs: number | null;
  /** The struck user holds another position, which the exchange answers without a size. */
  hasUnreadable: boolean;
}

export interface MatrixContract {
  /** It only closes positions from then on; null: it stays open. */
  closesAfterMs: number | null;
  /** USDT: the largest limit and market orders; null: none. */
  largestOrder: number | null;
  largestMarketOrder: number | null;
}

export interface MatrixClock {
  /** How far it is ahead of ours from then on, in milliseconds. */
  aheadMs: number;
  /** Milliseconds from the signal; 0: before it. */
  fromMs: number;
}

export interface MatrixStep {
  /** Positive: forward. */
  byMs: number;
  /** Milliseconds from the signal, as time really passes. */
  afterMs: number;
}

type Chooser = (choice: Choice) => VenueFault[];

const ALWAYS = Number.POSITIVE_INFINITY;
const FIVE_MINUTES_MS = 5 * 60_000;

function struck(
  kind: VenueFaultKind,
  operation?: VenueOperation,
  { nth = 1, times }: { nth?: number; times?: number } = {},
): VenueFault {
  return { ...kind, on: { nth, ...(operation && { operation }), ...(times !== undefined && { times }) } };
}

const rests = () => struck({ kind: 'restFirst' }, 'place-order');

/** A network fault: mostly on the entry, else on the second entry, the cancel, a look-up or any request. */
const onTheWire =
  (kind: VenueFaultKind): Chooser =>
  (choice) => {
    const place = choice.integer(1, 10);
    if (place <= 5) return [struck(kind, 'place-order')];
    if (place === 6) return [rests(), struck(kind, 'place-order', { nth: 2 })];
    if (place === 7) return [rests(), struck(kind, 'cancel-order')];
    if (place === 8) return [struck(kind, 'find-order', { nth: choice.integer(1, 2) })];
    return [struck(kind, undefined, { nth: choice.integer(1, 14) })];
  };

const partly =
  (...fractions: string[]): Chooser =>
  (choice) => {
    const kind: VenueFaultKind = { kind: 'partialFill', fraction: choice.oneOf(fractions) };
    const fill = struck(kind, 'place-order');
    if (choice.chance(0.25)) return [fill, struck({ kind: 'cancelLosesToFill' })];
    return choice.chance(0.25) ? [fill, struck(kind, 'place-order', { nth: 2 })] : [fill];
  };

/** An entry that does not fill immediately: it rests or fills partly. */
const slowEntry: Chooser = (choice) =>
  choice.chance(0.5)
    ? [rests()]
    : [struck({ kind: 'partialFill', fraction: choice.oneOf(['0.01', '0.5', '0.99']) }, 'place-order')];

const CHOOSERS: Record<string, Chooser> = {
  none: () => [],
  'no-answer-after-acceptance': onTheWire({ kind: 'acceptThenTimeout' }),
  'cut-after-acceptance': onTheWire({ kind: 'cutAfterAccept' }),
  '502-before-acceptance': onTheWire({ kind: 'badGatewayBefore' }),
  '502-after-acceptance': onTheWire({ kind: 'badGatewayAfter' }),
  'empty-200': onTheWire({ kind: 'empty200' }),
  'html-200': onTheWire({ kind: 'html200' }),
  'truncated-body': onTheWire({ kind: 'truncatedBody' }),
  '429-once': onTheWire({ kind: 'tooManyRequests' }),
  '500-on-look-up': (choice) => {
    const error: VenueFaultKind = { kind: 'internalError', envelope: choice.chance(0.5) };
    const times = choice.integer(1, 7);
    if (choice.chance(0.4)) {
      return [struck({ kind: 'cutAfterAccept' }, 'place-order'), struck(error, 'find-order', { times })];
    }
    if (choice.chance(0.5)) return [...slowEntry(choice), struck(error, 'find-order', { nth: 2, times })];
    return [struck(error, 'find-order', { times })];
  },
  'late-fill': (choice) => {
    const afterMs = choice.integer(1, 12) * 500;
    // The order itself may arrive late: the request is cut off, look-ups find nothing, then the order appears.
    if (choice.chance(0.3)) return [struck({ kind: 'lateArrival', afterMs: afterMs * 8 })];
    return [...slowEntry(choice), struck({ kind: 'lateFill', afterMs })];
  },
  'stale-look-ups': (choice) => {
    const afterCancelMs = choice.oneOf([500, 2_500, 8_000, 30_000, ALWAYS]);
    const stale = struck({ kind: 'staleLookUps', afterCancelMs });
    return choice.chance(0.4) ? [stale] : [...slowEntry(choice), stale];
  },
  'contradictory-look-ups': (choice) => {
    const contradicts = struck({ kind: 'contradictoryLookUps', shows: choice.oneOf(CONTRADICTIONS) });
    const entry = choice.oneOf<VenueFault[]>([
      [],
      [struck({ kind: 'cutAfterAccept' }, 'place-order')],
      slowEntry(choice),
    ]);
    return [...entry, contradicts];
  },
  'cancel-loses-to-fill': (choice) => {
    const kind = choice.oneOf(['cancelLosesToFill', 'cancelAcknowledgedButFilled'] as const);
    return [...slowEntry(choice), struck({ kind })];
  },
  'unknown-cancel': (choice) => [
    ...slowEntry(choice),
    struck({ kind: 'cancelUnknown' }, undefined, { times: choice.integer(1, 3) }),
  ],
  'partial-1-percent': partly('0.01'),
  'partial-50-percent': partly('0.5'),
  'partial-99-percent': partly('0.99'),
  'partial-below-minimum': partly('one step', 'all but one step'),
  'stop-dropped': (choice) => {
    const drop: VenueFault[] = choice.oneOf([
      [struck({ kind: 'stopDropped' }, 'place-order')],
      [struck({ kind: 'stopDropped' }, 'place-order')],
      [rests(), struck({ kind: 'stopDropped' }, 'place-order', { nth: 2 })],
      [
        struck({ kind: 'stopDropped', when: 'while partly filled' }, 'place-order'),
        struck({ kind: 'partialFill', fraction: '0.5' }, 'place-order'),
      ],
    ]);
    if (choice.chance(0.4)) drop.push(struck({ kind: 'stopRefused' }, undefined, { times: ALWAYS }));
    if (choice.chance(0.3)) drop.push(struck({ kind: 'closeRefused' }, undefined, { times: 3 }));
    return drop;
  },
  'close-only-contract': (choice) => [
    struck({ kind: 'stopDropped' }, 'place-order'),
    ...(choice.chance(0.5) ? [struck({ kind: 'stopRefused' }, undefined, { times: ALWAYS })] : []),
    ...(choice.chance(0.3) ? [rests()] : []),
  ],
  'maximum-sizes': (choice) => {
    if (choice.chance(0.3)) return [];
    const drop = [
      struck({ kind: 'stopDropped' }, 'place-order'),
      struck({ kind: 'stopRefused' }, undefined, { times: ALWAYS }),
    ];
    if (choice.chance(0.3)) drop.push(struck({ kind: 'tooManyRequests' }, 'close-position', { nth: 2 }));
    if (choice.chance(0.3))
      drop.push(struck({ kind: 'cutAfterAccept' }, 'close-position', { nth: choice.integer(1, 3) }));
    return drop;
  },
  'plans-outlive-their-position': (choice) => {
    const kept = struck({ kind: 'protectionKept' }, undefined, { times: ALWAYS });
    const faults = choice.chance(0.5)
      ? [
          struck({ kind: 'stopDropped' }, 'place-order'),
          struck({ kind: 'stopRefused' }, undefined, { times: ALWAYS }),
        ]
      : [];
    const times = choice.integer(1, 3);
    if (choice.chance(0.4)) faults.push(struck({ kind: 'badGatewayBefore' }, 'cancel-protection', { times }));
    return [kept, ...faults];
  },
  'unreadable-position-beside': (choice) => (choice.chance(0.3) ? slowEntry(choice) : []),
  'stop-misplaced': (choice) => {
    const ticks = choice.oneOf(['most', 'most', 6, 50] as const);
    const far = struck({ kind: 'stopMisplaced', ticks }, 'place-order');
    const faults: VenueFault[] = choice.oneOf([
      [far],
      [struck({ kind: 'stopMisplaced', covers: '0.5' }, 'place-order')],
      [rests(), struck({ kind: 'stopMisplaced', ticks }, 'place-order', { nth: 2 })],
      [far, struck({ kind: 'partialFill', fraction: '0.5' }, 'place-order')],
    ]);
    if (choice.chance(0.3)) {
      const times = choice.oneOf([1, ALWAYS]);
      faults.push(struck({ kind: 'stopMisplaced', ticks }, 'place-protection', { times }));
    }
    if (choice.chance(0.3)) faults.push(struck({ kind: 'stopRefused' }, undefined, { times: ALWAYS }));
    if (choice.chance(0.3)) faults.push(struck({ kind: 'closeRefused' }, undefined, { times: 3 }));
    return faults;
  },
  'leverage-refused': () => [struck({ kind: 'leverageRefused' }, undefined, { times: ALWAYS })],
  'leverage-differs': (choice) => [
    struck({ kind: choice.oneOf(['leverageIgnored', 'leverageDiffers'] as const) }, undefined, {
      times: ALWAYS,
    }),
  ],
  'balance-refused': (choice) =>
    choice.chance(0.5)
      ? [struck({ kind: 'balanceRefused' }, undefined, { times: ALWAYS })]
      : [struck({ kind: 'internalError', envelope: choice.chance(0.5) }, 'balance', { times: ALWAYS })],
  'wrong-key': (choice) => [struck({ kind: 'wrongKey' }, undefined, { nth: nthOfARun(choice) })],
  'clock-5-minutes-off': (choice) => {
    const offsetMs = choice.oneOf([FIVE_MINUTES_MS, -FIVE_MINUTES_MS]);
    return [struck({ kind: 'clockOff', offsetMs }, undefined, { nth: nthOfARun(choice) })];
  },
  'clocks-apart': (choice) => restingOrBare(choice),
  'clock-steps': (choice) => restingOrBare(choice),
};

/** An entry that may rest, and may have no stop. */
function restingOrBare(choice: Choice): VenueFault[] {
  const drop = choice.chance(0.3) ? [struck({ kind: 'stopDropped' }, 'place-order')] : [];
  return choice.chance(0.5) ? [...drop, ...slowEntry(choice)] : drop;
}

/** The request with which a fault begins: the first, or one in the middle of an order. */
const nthOfARun = (choice: Choice) => (choice.chance(0.5) ? 1 : choice.integer(2, 12));

/** These faults must end, or an affected order could never be settled. */
const LASTING_FAULTS = ['contradictory-look-ups', 'wrong-key', 'clock-5-minutes-off'];
/** Contracts of faults that are the exchange's terms. */
const CONTRACTS: Record<string, (choice: Choice) => MatrixContract> = {
  'close-only-contract': (choice) => ({
    closesAfterMs: choice.integer(1, 60) * 500 + 137,
    largestOrder: null,
    largestMarketOrder: null,
  }),
  'maximum-sizes': (choice) => ({
    closesAfterMs: null,
    largestOrder: choice.chance(0.25) ? choice.integer(3_000, 8_000) : null,
    largestMarketOrder: choice.integer(1_000, 5_000),
  }),
};

/** How far the clock of the exchange is apart: with less than 30 s entries go on. */
const APART_MS = [8_000, 25_000, 90_000, 20 * 60_000].flatMap((ms) => [ms, -ms]);

const chooseClock = (choice: Choice): MatrixClock => ({
  aheadMs: choice.oneOf(APART_MS),
  fromMs: choice.chance(0.3) ? 0 : choice.integer(1, 60) * 500 + 137,
});

const STEP_MS = 10 * 60_000;

/** Ten minutes back or forward, in one case of three set right a while later. */
function chooseSteps(choice: Choice): MatrixStep[] {
  const byMs = choice.oneOf([STEP_MS, -STEP_MS, -STEP_MS]);
  const afterMs = choice.integer(1, 60) * 500 + 137;
  const back = { byMs: -byMs, afterMs: afterMs + choice.integer(2, 120) * 500 };
  return choice.chance(1 / 3) ? [{ byMs, afterMs }, back] : [{ byMs, afterMs }];
}

/** The last one is longer than a workflow waits for an order. */
const LIFTED_AFTER_MS = [20_000, 60_000, 330_000];

/** Whose stop has closed what stale look-ups do not show stays in doubt until they end. */
const AT_LAST_MS: Record<string, number> = { 'stale-look-ups': 330_000 };

export const MATRIX_FAULTS = Object.keys(CHOOSERS);

/** How long an order waits before it is verified: as by default, or as short as the settings allow. */
export const WAITS = ['default', 'short'] as const;
export type Waits = (typeof WAITS)[number];

/** Faults that depend on these waits are played with both. */
const BOTH_WAITS = [
  'stale-look-ups',
  'contradictory-look-ups',
  'stop-misplaced',
  'clocks-apart',
  'clock-steps',
];
export const waitsFor = (fault: string): readonly Waits[] =>
  BOTH_WAITS.includes(fault) ? WAITS : ['default'];

const SECOND_FAULT = 0.1;

export function chooseFaults(fault: string, choice: Choice): ChosenFaults {
  const chooseFor = CHOOSERS[fault];
  if (chooseFor === undefined) throw new RangeError(`There is no fault "${fault}"`);
  const contractOf = Object.hasOwn(CONTRACTS, fault) ? CONTRACTS[fault] : undefined;
  const faults = chooseFor(choice);
  if (fault !== 'none' && choice.chance(SECOND_FAULT)) {
    const kind = choice.oneOf(['cutAfterAccept', 'badGatewayBefore', 'badGatewayAfter', 'empty200'] as const);
    faults.push(...onTheWire({ kind })(choice));
  }
  const hasUnreadable = fault === 'unreadable-position-beside';
  const isApart = fault === 'clocks-apart';
  const isStepped = fault === 'clock-steps';
  const losesStop = hasUnreadable || ((isApart || isStepped) && choice.chance(0.5));
  return {
    faults,
    liftedAfterMs: LASTING_FAULTS.includes(fault)
      ? choice.oneOf(LIFTED_AFTER_MS)
      : (AT_LAST_MS[fault] ?? null),
    contract: contractOf?.(choice) ?? null,
    clock: isApart ? chooseClock(choice) : null,
    steps: isStepped ? chooseSteps(choice) : [],
    stopLostAfterMs: losesStop ? choice.integer(120, 180) * 500 + 137 : null,
    hasUnreadable,
  };
}
