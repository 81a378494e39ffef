import { awaitEnd, judgeEnd } from './ends.ts';
import type { Alert, Load } from './load.ts';
import { checkTrades, judgeAlerts, judgeUnstruck, type Part, readSignals } from './oracle.ts';
import type { Stage, StageOptions } from './stage.ts';

export type Say = (line: string) => void;

export type Figures = Record<string, string | number>;

export interface ScenarioResult {
  figures: Figures;
  violations: string[];
}

/** Sizes are numbers or words, so a run can be repeated from the command line. */
export type Sizes = Record<string, number | string>;

export interface Scenario<Own extends Sizes = Sizes> {
  about: string;
  /** The sizes of the long form. */
  sizes: Own;
  /** The options of the scenario's stage. */
  stage(sizes: Own): Omit<StageOptions, 'seed' | 'exchangeDatabase'>;
  run(stage: Stage, sizes: Own, say: Say): Promise<ScenarioResult>;
}

/** Each scenario has its own sizes; sizes from the command line are checked against them by name and type. */
export const defineScenario = <Own extends Sizes>(scenario: Scenario<Own>): Scenario =>
  scenario as unknown as Scenario;

/**
 * Waits until everything sent has ended, and judges it. Every instance must be running. `isStruck` marks the parts that
 * the scenario itself disturbed.
 */
export async function concludeLoad(
  stage: Stage,
  load: Load,
  say: Say,
  isStruck: (part: { accountId: string; token: string }) => boolean = () => false,
): Promise<ScenarioResult> {
  const { admin, exchange, traders, instances } = stage;
  await load.settled();
  const end = await awaitEnd(admin);
  say(`all workflows ended ${end.seconds.toFixed(1)} s later; reading the results`);
  const signals = await readSignals(admin);
  const violations = [...judgeAlerts(load.alerts, signals), ...judgeEnd(end)];
  const idOf = new Map(signals.map(({ id, parameters }) => [String(parameters.nonce), id]));
  const wanted = load.alerts
    .filter(({ trades }) => trades)
    .map(({ token, nonce }) => ({ token, signalId: idOf.get(nonce) ?? null }));
  const unstruck: Part[] = [];
  let filled = 0;
  for (const trader of traders) {
    const checked = await checkTrades({ admin, exchange, trader, wanted });
    violations.push(...checked.violations);
    filled += checked.filled;
    const { accountId, hasOwnFaults } = trader;
    if (!hasOwnFaults) unstruck.push(...checked.parts.filter(({ token }) => !isStruck({ accountId, token })));
  }
  const spared = judgeUnstruck(unstruck);
  violations.push(...spared.violations);
  for (const { unexpectedEnds } of instances) {
    violations.push(...unexpectedEnds.map((text) => `the program ended unexpectedly: ${text}`));
  }
  return {
    violations,
    figures: {
      ...countAlerts(load.alerts),
      signals: signals.length,
      'filled orders': filled,
      'unfilled for want of an answer': spared.unanswered,
      'all ended after (s)': end.seconds.toFixed(1),
    },
  };
}

function countAlerts(alerts: readonly Alert[]): Figures {
  const acknowledged = alerts.filter(({ acknowledgedId }) => acknowledgedId !== null).length;
  return {
    alerts: alerts.length,
    deliveries: alerts.reduce((sum, { answers }) => sum + answers.length, 0),
    acknowledged,
    'never acknowledged': alerts.length - acknowledged,
    'slowest answer (ms)': Math.round(Math.max(0, ...alerts.map(({ slowestMs }) => slowestMs))),
  };
}

/** The items of `all` named in the space-separated `names`, or all of them for 'all'. */
export function choose<Named extends { name: string }>(all: Named[], names: string): Named[] {
  if (names === 'all') return all;
  return names.split(' ').map((name) => {
    const found = all.find((one) => one.name === name);
    if (found === undefined)
      throw new Error(`${name} is not one of ${all.map((one) => one.name).join(', ')}`);
    return found;
  });
}

/** Picks an item by a random number from 0 up to 1. */
export function pick<Item>(items: readonly Item[], uniform: () => number): Item {
  const item = items[Math.floor(uniform() * items.length)];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
