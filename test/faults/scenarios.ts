import type { OpenDatabase } from '#server/platform/db/pool.ts';
import type { Scenario, ScenarioResult, Sizes } from './scenario.ts';
import { crashPoints } from './scenarios/crash-points.ts';
import { databaseRestarts } from './scenarios/database-restarts.ts';
import { duplicates } from './scenarios/duplicates.ts';
import { killApp, killDatabase, sigterm } from './scenarios/under-load.ts';
import { zombies } from './scenarios/zombies.ts';
import { openStage } from './stage.ts';

const SCENARIOS = {
  'kill-app': killApp,
  'kill-database': killDatabase,
  'crash-points': crashPoints,
  duplicates,
  zombies,
  'database-restarts': databaseRestarts,
  'sigterm-under-load': sigterm,
};

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

export const scenarioOf = (name: ScenarioName): Scenario => SCENARIOS[name];

/** A scenario with the sizes that differ from its defaults. */
export interface ScenarioRun {
  name: ScenarioName;
  sizes?: Sizes;
}

/** The long form, reported in docs/reliability.md: about an hour and three quarters in total. */
export const LONG_FORM: ScenarioRun[] = [
  { name: 'kill-app' },
  { name: 'kill-app', sizes: { database: 'embedded' } },
  { name: 'kill-database' },
  { name: 'kill-database', sizes: { database: 'embedded' } },
  { name: 'crash-points' },
  { name: 'duplicates', sizes: { instances: 1 } },
  { name: 'duplicates' },
  { name: 'zombies' },
  { name: 'database-restarts' },
  { name: 'sigterm-under-load' },
];

/** Duration of the long form on two processors. */
export const LONG_FORM_MINUTES = 105;

/** Counts that a shorter run reduces; the other sizes are part of the scenario. */
const COUNTS = new Set([
  'alerts',
  'kills',
  'seeds',
  'repeated',
  'bursts',
  'signals',
  'rounds',
  'minutes',
  'times',
]);

/** A scaled-down long form with the same proportions, where every count is at least one. */
export function longFormOf(minutes: number): Required<ScenarioRun>[] {
  const share = minutes / LONG_FORM_MINUTES;
  return LONG_FORM.map(({ name, sizes }) => ({
    name,
    sizes: Object.fromEntries(
      Object.entries({ ...scenarioOf(name).sizes, ...sizes }).map(([key, value]) => [
        key,
        COUNTS.has(key) && typeof value === 'number' ? Math.max(1, Math.round(value * share)) : value,
      ]),
    ),
  }));
}

/** Applies `key=value` texts to a scenario's sizes. Throws a RangeError for an unknown size. */
export function withSizes(sizes: Sizes, given: readonly string[]): Sizes {
  const changed = { ...sizes };
  for (const text of given) {
    const [key = '', value = ''] = text.split(/=(.*)/s);
    const known = sizes[key];
    const read = typeof known === 'number' ? Number(value) : value;
    if (known === undefined || value === '' || (typeof read === 'number' && !(read >= 0))) {
      throw new RangeError(`--set takes ${Object.keys(sizes).join('=, ')}=; it got ${text}`);
    }
    changed[key] = read;
  }
  return changed;
}

/** Runs a scenario: reports progress, then the result in one line; with violations also the command to repeat it. */
export async function runScenario(
  context: {
    seed: string;
    say(line: string): void;
    /** The database for the exchange's books; a new server by default. */
    exchangeDatabase?: OpenDatabase;
  },
  { name, sizes: given }: ScenarioRun,
): Promise<ScenarioResult> {
  const { say, ...stageContext } = context;
  const scenario = scenarioOf(name);
  const sizes = { ...scenario.sizes, ...given };
  const startedAt = performance.now();
  const label = `${name}${sizes.database === undefined ? '' : ` (${sizes.database})`}`;
  say(`${label}: ${scenario.about}`);
  const stage = await openStage({ ...stageContext, ...scenario.stage(sizes) });
  try {
    const result = await scenario.run(stage, sizes, (line) => say(`  ${label}: ${line}`));
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const figures = Object.entries({ ...result.figures, seconds }).map(([what, value]) => `${value} ${what}`);
    const { violations } = result;
    say(`${label}, seed ${context.seed}: ${violations.length} violations; ${figures.join(', ')}`);
    for (const text of violations.slice(0, 40)) say(`  VIOLATION ${text}`);
    if (violations.length > 0) say(`  again: ${replayCommand({ seed: context.seed, name, sizes })}`);
    return result;
  } finally {
    await stage.close();
  }
}

export function replayCommand({ seed, name, sizes = {} }: ScenarioRun & { seed: string }): string {
  const given = Object.entries(sizes).map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  return `npm run faults -- --scenario ${name} --seed ${seed} ${given.join(' ')}`;
}

const quoted = (text: string) => (/\s/.test(text) ? `'${text}'` : text);
