import { SUITE_DIALECTS, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import type { TestDatabase } from '../app/test-database.ts';
import type { TestEngine } from '../app/test-engine.ts';
import { createChoice } from './choice.ts';
import { isSameEnd } from './compare-ends.ts';
import { type After, afterOf, chooseExits, strikeExits } from './exits.ts';
import { exitStory } from './judge-exits.ts';
import { type ChosenFaults, chooseFaults, MATRIX_FAULTS, type Waits, waitsFor } from './matrix-faults.ts';
import { judge, judgeRun, type UserEnd } from './oracle.ts';
import { openStage, type Play, type Played, type Stage } from './play.ts';
import { createScenario } from './scenario.ts';

export interface MatrixCase {
  fault: string;
  exchange: SuiteDialect;
  seed: number;
  waits: Waits;
  /** What comes after the entry. */
  after: After;
}

export interface CaseResult extends MatrixCase {
  violations: string[];
  /** The outcome of the user with the fault. */
  outcome: string;
  /** What came of what follows the entry of that user. */
  exit: string;
  /** Private requests per entry order, for every user with an order. */
  callsPerOrder: number[];
  overHttp: boolean;
  died: boolean;
  ms: number;
  /** The scenario and the steps of its trades; only for runs with violations or with `explain`. */
  story: string[] | null;
}

interface Stages {
  open: (stage: { waits: Waits; overHttp: boolean }) => Promise<Stage>;
  /** Adds the story to every result. */
  explain: boolean;
  /** Summaries of the users in the control run of the same exchange and seed, by index. */
  controls: Map<string, Promise<Map<number, string>>>;
}

/** All cases of the given seeds; all faults and exchanges, and the waits of each fault, unless named. */
export function casesOf(chosen: {
  seeds: number[];
  faults?: string[];
  exchanges?: string[];
  waits?: Waits[];
  /** By turns unless named. */
  afters?: readonly After[];
}): MatrixCase[] {
  const { seeds, faults = [], exchanges = [], waits = [], afters = [] } = chosen;
  const dialects = SUITE_DIALECTS.filter((one) => exchanges.length === 0 || exchanges.includes(one));
  return seeds.flatMap((seed) =>
    dialects.flatMap((exchange) =>
      (faults.length > 0 ? faults : MATRIX_FAULTS).flatMap((fault) =>
        (waits.length > 0 ? waits : waitsFor(fault)).flatMap((one) =>
          (afters.length > 0 ? afters : [afterOf(MATRIX_FAULTS.indexOf(fault) + seed)]).map((after) => ({
            fault,
            exchange,
            seed,
            waits: one,
            after,
          })),
        ),
      ),
    ),
  );
}

/**
 * Plays cases on several lanes, each with its own databases: while one lane waits for its database, or for an exchange
 * that never answers, the others continue.
 */
export async function playCases(options: {
  cases: readonly MatrixCase[];
  lanes: number;
  createDatabase: () => Promise<TestDatabase>;
  explain?: boolean;
  onResult(result: CaseResult): void;
}): Promise<void> {
  const { createDatabase, explain = false, onResult } = options;
  const left = [...options.cases];
  const controls = new Map();
  async function work(): Promise<void> {
    const opened = new Map<string, Promise<Stage>>();
    const open: Stages['open'] = ({ waits, overHttp }) => {
      const key = `${waits} ${overHttp}`;
      const stage = opened.get(key) ?? openStage({ createDatabase, overHttp, waits });
      opened.set(key, stage);
      return stage;
    };
    const stages = { open, controls, explain };
    for (let one = left.shift(); one !== undefined; one = left.shift()) onResult(await runCase(stages, one));
    for (const stage of opened.values()) await (await stage).close();
  }
  await Promise.all(Array.from({ length: options.lanes }, work));
}

const CRASH = 0.1;
const HTTP = 0.1;
/** Roughly the number of statements and requests in a run of several users. */
const MOST_POINTS = 700;
const CRASH_IN_EXITS = 0.25;
const MOST_POINTS_OF_EXITS = 200;

/** Plans a run; it depends only on fault, exchange and seed. */
function planCase({ fault, exchange, seed, after }: MatrixCase) {
  const choice = createChoice(`${fault} ${exchange} ${seed}`);
  const overHttp = choice.chance(HTTP);
  const dies = !overHttp && fault !== 'none' && choice.chance(CRASH);
  const diesAt = dies ? choice.integer(1, MOST_POINTS) : null;
  const chosen = chooseFaults(fault, choice);
  const exits = chooseExits(after, seed);
  // Faults that are lifted go on until then.
  const isStruck = exits !== null && chosen.liftedAfterMs === null && after !== 'overtake';
  const exitFaults = isStruck ? strikeExits(chosen.faults, after, choice) : [];
  const diesInExits =
    exits !== null && !overHttp && !dies && after !== 'overtake' && choice.chance(CRASH_IN_EXITS)
      ? choice.integer(1, MOST_POINTS_OF_EXITS)
      : null;
  return {
    overHttp,
    diesAt,
    diesInExits,
    scenario: createScenario(seed, exchange),
    exits,
    exitFaults,
    ...chosen,
  };
}

const SLOW_TRIES = 3;

/** Plays and judges one run; repeats it when violations may come from a slow machine. */
async function runCase(stages: Stages, one: MatrixCase): Promise<CaseResult> {
  for (let tries = 1; ; tries += 1) {
    const { wasSlow, ...result } = await runOnce(stages, one);
    if (result.violations.length === 0 || !wasSlow || tries === SLOW_TRIES) return result;
  }
}

async function runOnce(stages: Stages, one: MatrixCase): Promise<CaseResult & { wasSlow: boolean }> {
  const { exchange, seed, waits } = one;
  const { overHttp, ...plan } = planCase(one);
  const { scenario } = plan;
  const startedMs = performance.now();
  const result: CaseResult & { wasSlow: boolean } = {
    ...one,
    wasSlow: false,
    violations: [],
    outcome: 'broken',
    exit: 'broken',
    callsPerOrder: [],
    overHttp,
    died: plan.diesAt !== null || plan.diesInExits !== null,
    ms: 0,
    story: [JSON.stringify({ overHttp, ...plan })],
  };
  const stage = await stages.open({ waits, overHttp });
  try {
    const played = await stage.play({ exchange, ...plan });
    const ends = await judge(stage.engine, played, played.watch);
    result.died = played.died;
    result.wasSlow = played.wasSlow;
    result.outcome = ends[scenario.struck]?.outcome ?? 'none';
    result.exit = ends[scenario.struck]?.exit ?? 'none';
    result.callsPerOrder = callsPerOrder(played, ends);
    result.violations.push(...(await judgeRun(stage.engine, played, played.watch)));
    if (one.fault === 'none' && ends.every(({ entryOrders }) => entryOrders === 0))
      result.violations.push('Nothing was ordered, although nothing went wrong: such a seed proves nothing');
    ends.forEach((end, index) => {
      const who = index === scenario.struck ? 'the struck user' : `user ${index + 1}`;
      result.violations.push(...end.violations.map((violation) => `${violation} (${who})`));
    });
    // Read now, because the control run below clears the stage.
    result.story?.push(...(await readStory(stage.engine, played)));
    // Not after a crash: the restart takes time, so other users meet a different market than in the control run.
    if (!played.died) {
      const control = await controlOf(stages, {
        exchange,
        seed,
        waits,
        overHttp,
        contract: plan.contract,
        clock: plan.clock,
        steps: plan.steps,
        exits: plan.exits,
      });
      ends.forEach(({ summary }, index) => {
        if (index === scenario.struck || isSameEnd(summary, control.get(index), one.after)) return;
        result.violations.push(
          `I8: user ${index + 1} ended otherwise than without the fault: ${summary}, not ${control.get(index)}`,
        );
      });
    }
  } catch (error) {
    result.violations.push(`I1: the run did not end: ${String(error)}`);
  }
  result.ms = Math.round(performance.now() - startedMs);
  if (result.violations.length === 0 && !stages.explain) result.story = null;
  return result;
}

/** What holds for every user, with or without the fault. */
type ExchangeTerms = Pick<ChosenFaults, 'contract' | 'clock' | 'steps'> & Pick<Play, 'exits'>;

function controlOf(
  { open, controls }: Stages,
  run: Pick<MatrixCase, 'exchange' | 'seed' | 'waits'> & ExchangeTerms & { overHttp: boolean },
): Promise<Map<number, string>> {
  const key = JSON.stringify(run);
  const known = controls.get(key);
  if (known !== undefined) return known;
  const played = open(run).then((stage) => playControl(stage, run));
  controls.set(key, played);
  return played;
}

async function playControl(
  stage: Stage,
  { exchange, seed, contract, clock, steps, exits }: Pick<MatrixCase, 'exchange' | 'seed'> & ExchangeTerms,
): Promise<Map<number, string>> {
  const scenario = createScenario(seed, exchange);
  for (let tries = 1; ; tries += 1) {
    const played = await stage.play({
      exchange,
      scenario,
      contract,
      clock,
      steps,
      exits,
      exitFaults: [],
      faults: [],
      liftedAfterMs: null,
      stopLostAfterMs: null,
      hasUnreadable: false,
      diesAt: null,
      diesInExits: null,
    });
    if (played.wasSlow && tries < SLOW_TRIES) continue;
    const ends = await judge(stage.engine, played, played.watch);
    return new Map(ends.map(({ summary }, index) => [index, summary]));
  }
}

async function readStory(engine: TestEngine, { signals, userIds, ...run }: Played): Promise<string[]> {
  const lines: string[] = [];
  for (const [number, { signalId, workflowId }] of signals.entries()) {
    const trades = await engine.trades(signalId);
    const steps = await engine.steps(workflowId);
    for (const [index, userId] of userIds.entries()) {
      const who = `signal ${number + 1}, user ${index + 1}`;
      const trade = trades.find((one) => one.userId === userId);
      if (trade === undefined) {
        const step = steps.findLast((one) => one.userId === userId && one.errorMessage !== null);
        lines.push(`${who}: no trade: ${step?.errorMessage ?? 'no reason given'}`);
        continue;
      }
      const { timeline } = await engine.events(trade.id);
      lines.push(...timeline.map((text) => `${who}: ${text}`));
    }
  }
  if (!run.hasExits) return lines;
  for (const [index, userId] of userIds.entries()) {
    lines.push(...(await exitStory(engine, run, userId)).map((text) => `user ${index + 1}: ${text}`));
  }
  return lines;
}

function callsPerOrder({ watch }: Played, ends: UserEnd[]): number[] {
  return ends.flatMap(({ userId, entryOrders }) =>
    entryOrders === 0 ? [] : [(watch.requests.get(userId) ?? 0) / entryOrders],
  );
}
