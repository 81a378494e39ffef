import { D, roundToTick, toPlain } from '#domain/decimal.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { replaceExitPlan } from '#server/engine/exits/exit-plans.store.ts';
import { createExitWatch } from '#server/engine/exits/watch-exits.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { FaultMatch, VenueFault, VenueFaultKind } from '#test/venues/faults.ts';
import type { TestEngine } from '../app/test-engine.ts';
import { type Choice, createChoice } from './choice.ts';
import type { Scenario } from './scenario.ts';

/** What comes after the entry of a run. */
export const AFTERS = ['close', 'reduce', 'part', 'break-even', 'trail', 'time', 'overtake'] as const;
export type After = (typeof AFTERS)[number] | 'none';

/** The part of a run after its entry; it depends only on seed and kind, so it equals the control run's. */
export interface Exits {
  kind: Exclude<After, 'none'>;
  /** Milliseconds from the signal. */
  fromMs: number;
  /** Of the signal that reduces, or of the plan's part. */
  percent: number;
  /** What happens in the end: another signal closes, or the price goes back. */
  goesBack: boolean;
}

/** By turns, so that each fault meets each kind within as many seeds. */
export const afterOf = (turn: number): After => AFTERS[turn % AFTERS.length] ?? 'none';

/** Entries, and the signal the other way, are over by then. */
const AFTER_ENTRY_MS = 150_000;

export function chooseExits(kind: After, seed: number): Exits | null {
  if (kind === 'none') return null;
  const choice = createChoice(`exits ${kind} ${seed}`);
  return {
    kind,
    fromMs:
      kind === 'overtake'
        ? choice.integer(1, 16) * 500 + 237
        : AFTER_ENTRY_MS + choice.integer(0, 40) * 500 + 237,
    percent: choice.oneOf([10, 25, 33, 50, 80]),
    goesBack: choice.chance(0.5),
  };
}

const isMove = (kind: After) => kind === 'break-even' || kind === 'trail';

const WIRE: readonly VenueFaultKind['kind'][] = [
  'acceptThenTimeout',
  'cutAfterAccept',
  'badGatewayBefore',
  'badGatewayAfter',
  'empty200',
  'html200',
  'truncatedBody',
  'tooManyRequests',
];

/** The faults of the entry, as they strike what comes after it. */
export function strikeExits(faults: readonly VenueFault[], kind: After, choice: Choice): VenueFault[] {
  const target: FaultMatch = { operation: isMove(kind) ? 'place-protection' : 'close-position' };
  return faults.flatMap((fault): VenueFault[] => {
    if (WIRE.includes(fault.kind)) {
      const on = choice.chance(0.7)
        ? { ...target, nth: choice.integer(1, 2) }
        : { nth: choice.integer(1, 12) };
      return [{ ...fault, on }];
    }
    if (fault.kind === 'partialFill' || fault.kind === 'restFirst') return [{ ...fault, on: target }];
    if (fault.kind === 'stopDropped') {
      const refusal = isMove(kind) ? 'stopRefused' : 'closeRefused';
      return [{ kind: refusal, on: { times: choice.integer(1, 4) } }];
    }
    if (fault.kind === 'stopMisplaced') return isMove(kind) ? [{ ...fault, on: target }] : [];
    return [fault];
  });
}

const PLANS: Partial<Record<After, (exits: Exits) => ExitPlan>> = {
  part: ({ percent }) => ({ takeProfits: [{ atR: '0.5', percent }] }),
  'break-even': () => ({ takeProfits: [], breakEvenAtR: '0.5' }),
  trail: () => ({ takeProfits: [], trail: { atrMultiple: '1' } }),
  time: () => ({ takeProfits: [], maxHoldingMinutes: 3 }),
};

/** Writes the exit plan of the run, which holds for all users. */
export async function writePlan({ db, clock }: TestEngine, exits: Exits | null): Promise<void> {
  const plan = exits === null ? undefined : PLANS[exits.kind]?.(exits);
  if (plan === undefined) return;
  const scope = { kind: 'strategy', value: 'tesla' } as const;
  await db.transaction((tx) => replaceExitPlan(tx, { scope, plan, now: clock.now() }));
}

export interface ExitSignal {
  signalId: string;
  workflowId: string;
  percent: number;
}

interface Happening {
  /** Milliseconds from the signal. */
  afterMs: number;
  happen: () => Promise<void>;
}

/** How far the price goes in the direction of the last signal, in multiples of the ATR, seconds after the start. */
const PRICES: Partial<Record<After, [seconds: number, atr: number][]>> = {
  part: [[3, 1.7]],
  'break-even': [[3, 1.7]],
  trail: [
    [3, 0.7],
    [14, 1.2],
    [25, 1.9],
    [36, 1.5],
    [47, 2.2],
  ],
};
const LOOK_SECONDS = 60;
/** The time of a position opened by the signal the other way is over then, too. */
const LAST_LOOK_OF_TIME_MS = 330_000;

/** Signals, prices and looks at the prices after the entry. */
export function exitEvents(
  exits: Exits | null,
  world: {
    engine: TestEngine;
    scenario: Scenario;
    signals: ExitSignal[];
    /** When the faults end; null: they stay. */
    liftedAfterMs: number | null;
    /** The process that is alive. */
    deps: () => EngineDeps;
    price: () => string;
    move: (price: string) => Promise<void>;
    /** Called when it begins. */
    begin: () => void;
  },
): Happening[] {
  if (exits === null) return [];
  const { engine, scenario, signals, liftedAfterMs, deps, price, move, begin } = world;
  const { kind, fromMs, percent, goesBack } = exits;
  const { token } = scenario;
  const signal = (action: 'close' | 'reduce') => async () => {
    const parameters = action === 'reduce' ? { action, reduce_percent: String(percent) } : { action };
    const stored = await engine.storeSignal({ token, action, price: price(), parameters });
    signals.push({ ...stored, percent: action === 'reduce' ? percent : 100 });
  };
  const firstMs = fromMs + 10;
  const start = { afterMs: fromMs, happen: async () => begin() };
  if (kind === 'close' || kind === 'overtake') return [start, { afterMs: firstMs, happen: signal('close') }];
  if (kind === 'reduce') {
    const last = signal(goesBack ? 'close' : 'reduce');
    return [
      start,
      { afterMs: firstMs, happen: signal('reduce') },
      { afterMs: fromMs + 40_000, happen: last },
    ];
  }
  const side = scenario.action === (scenario.oppositeAfterMs === null ? 'buy' : 'sell') ? 1 : -1;
  const { tickSize } = paperContract(token);
  const priceAt = (atr: number) =>
    toPlain(
      roundToTick(
        D(scenario.candle.atr)
          .times(side * atr)
          .plus(scenario.price),
        tickSize,
        'down',
      ),
    );
  const at = (seconds: number, atr: number): Happening => ({
    afterMs: fromMs + seconds * 1_000 - 400,
    happen: () => move(priceAt(atr)),
  });
  let watch: { of: EngineDeps; look: () => Promise<void> } | null = null;
  async function look(): Promise<void> {
    const now = deps();
    if (watch?.of !== now) watch = { of: now, look: lookerOf(now) };
    await watch.look().catch((error: unknown) => {
      // A process that died in the middle: the next one goes on.
      if (deps() !== now || (error as Error).name === 'Crash') return;
      throw error;
    });
  }
  const lastLookMs = kind === 'time' ? LAST_LOOK_OF_TIME_MS : fromMs + LOOK_SECONDS * 1_000;
  const everyMs = kind === 'time' ? 2_000 : 1_000;
  const looks = Array.from({ length: Math.ceil((lastLookMs - fromMs) / everyMs) }, (_, index) => index)
    .map((index) => firstMs + index * everyMs)
    .concat(liftedAfterMs === null ? [] : [5_000, 16_000, 30_000].map((ms) => liftedAfterMs + ms))
    .map((afterMs): Happening => ({ afterMs, happen: look }));
  const prices = (PRICES[kind] ?? []).map(([seconds, atr]) => at(seconds, atr));
  return [start, ...prices, ...(goesBack ? [at(56, -0.3)] : []), ...looks];
}

function lookerOf(deps: EngineDeps): () => Promise<void> {
  const watch = createExitWatch(deps, createAccountReader(deps));
  return async () => {
    await watch.run();
    await watch.idle();
  };
}

/** Reads every account twice, so that all ended positions are recorded. */
export async function recordEnds(
  engine: TestEngine,
  { userIds, exchangePlatform }: { userIds: string[]; exchangePlatform: ExchangePlatform },
): Promise<void> {
  const reader = createAccountReader(engine.deps);
  for (let reading = 0; reading < 2; reading += 1) {
    engine.clock.advance(2_000);
    for (const userId of userIds) await reader.read({ userId, exchangePlatform }, 0);
  }
}
