import type { Scenario, Sizes } from './scenario.ts';
import { crashPoints } from './scenarios/crash-points.ts';
import { databaseRestarts } from './scenarios/database-restarts.ts';
import { duplicates } from './scenarios/duplicates.ts';
import { killApp, killDatabase } from './scenarios/kill-under-load.ts';
import { sigtermUnderLoad } from './scenarios/sigterm-under-load.ts';
import { zombies } from './scenarios/zombies.ts';

const SCENARIOS = {
  'kill-app': killApp,
  'kill-database': killDatabase,
  'crash-points': crashPoints,
  duplicates,
  zombies,
  'database-restarts': databaseRestarts,
  'sigterm-under-load': sigtermUnderLoad,
};

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/** Each reads its own sizes: they are checked against the long form's when they come from the command line. */
export const scenarioOf = (name: ScenarioName): Scenario => SCENARIOS[name] as unknown as Scenario;

/** The long form: what docs/reliability.md reports, about an hour and three quarters in all. */
export const LONG_FORM: { name: ScenarioName; sizes: Sizes }[] = [
  {
    name: 'kill-app',
    sizes: { alerts: 10_000, kills: 50, perSecond: 20, tradeEvery: 100, database: 'external' },
  },
  {
    name: 'kill-app',
    sizes: { alerts: 10_000, kills: 50, perSecond: 20, tradeEvery: 100, database: 'embedded' },
  },
  {
    name: 'kill-database',
    sizes: { alerts: 3_000, kills: 15, perSecond: 20, tradeEvery: 40, database: 'external' },
  },
  {
    name: 'kill-database',
    sizes: { alerts: 3_000, kills: 15, perSecond: 20, tradeEvery: 40, database: 'embedded' },
  },
  { name: 'crash-points', sizes: { seeds: 5, points: 'all', faults: 'all' } },
  { name: 'duplicates', sizes: { repeated: 1_000, bursts: 100, burstOf: 50, instances: 1, apartMs: 5_000 } },
  { name: 'duplicates', sizes: { repeated: 1_000, bursts: 100, burstOf: 50, instances: 3, apartMs: 5_000 } },
  {
    name: 'zombies',
    sizes: { signals: 300, rounds: 10, instances: 3, frozenMs: 40_000, moments: 'all' },
  },
  {
    name: 'database-restarts',
    sizes: {
      minutes: 10,
      everySeconds: 20,
      perSecond: 20,
      instances: 1,
      answerWithinMs: 2_500,
      outages: 'all',
    },
  },
  { name: 'sigterm-under-load', sizes: { times: 50, perSecond: 20, tradeEvery: 40, database: 'external' } },
];

/** What the long form takes on a machine of two processors. */
export const LONG_FORM_MINUTES = 105;

/** Counts that a shorter run has fewer of; everything else is what makes a scenario what it is. */
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

/** The long form in little: the same proportions, none of them empty. */
export function longFormOf(minutes: number): { name: ScenarioName; sizes: Sizes }[] {
  const share = minutes / LONG_FORM_MINUTES;
  return LONG_FORM.map(({ name, sizes }) => ({
    name,
    sizes: Object.fromEntries(
      Object.entries(sizes).map(([key, value]) => [
        key,
        COUNTS.has(key) && typeof value === 'number' ? Math.max(1, Math.round(value * share)) : value,
      ]),
    ),
  }));
}

/** `key=value` texts over a scenario's own sizes. Throws a RangeError for what it has no such size. */
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
