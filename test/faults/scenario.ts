import type { OpenDatabase } from '#server/platform/db/pool.ts';
import { awaitEnd, judgeEnd } from './ends.ts';
import type { Alert, Load } from './load.ts';
import { checkTrades, judgeAlerts, judgeUnstruck, type Part, readSignals } from './oracle.ts';
import type { Stage } from './stage.ts';

export interface ScenarioContext {
  seed: string;
  say(line: string): void;
  /** Where the exchange keeps its books, when there is a server already. */
  exchangeDatabase?: OpenDatabase;
}

export type Figures = Record<string, string | number>;

export interface ScenarioResult {
  figures: Figures;
  violations: string[];
}

/** Sizes are numbers or words, so that a run can be repeated from the command line. */
export type Sizes = Record<string, number | string>;

export interface Scenario<Own extends Sizes = Sizes> {
  about: string;
  /** Of the long form; a share of them makes shorter ones. */
  sizes: Own;
  run(context: ScenarioContext, sizes: Own): Promise<ScenarioResult>;
}

/**
 * Waits for the end of everything that was sent, and judges it. Every instance must run. `isStruck` names the parts
 * that the scenario has struck by more than what befalls everybody.
 */
export async function concludeLoad(
  stage: Stage,
  load: Load,
  context: ScenarioContext,
  isStruck: (part: { accountId: string; token: string }) => boolean = () => false,
): Promise<ScenarioResult & { end: number }> {
  const { admin, exchange, traders, instances } = stage;
  await load.settled();
  const end = await awaitEnd(admin);
  context.say(`everything ended ${end.seconds.toFixed(1)} s later; reading it all`);
  const signals = await readSignals(admin);
  const violations = judgeAlerts(load.alerts, signals);
  violations.push(...judgeEnd(end));
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
  for (const instance of instances) {
    for (const text of instance.unexpectedEnds) violations.push(`the program ended by itself: ${text}`);
  }
  return {
    end: end.seconds,
    violations,
    figures: {
      ...countAlerts(load.alerts),
      signals: signals.length,
      'filled orders': filled,
      'unfilled for want of an answer': spared.unanswered,
    },
  };
}

export function countAlerts(alerts: readonly Alert[]): Figures {
  const acknowledged = alerts.filter(({ acknowledgedId }) => acknowledgedId !== null).length;
  const slowest = Math.max(0, ...alerts.map(({ slowestMs }) => slowestMs));
  return {
    alerts: alerts.length,
    deliveries: alerts.reduce((sum, { answers }) => sum + answers.length, 0),
    acknowledged,
    'never acknowledged': alerts.length - acknowledged,
    'slowest answer (ms)': Math.round(slowest),
  };
}

/** Of what there is, what `names` says: 'all', or names separated by blanks. */
export function choose<Named extends { name: string }>(all: Named[], names: string): Named[] {
  if (names === 'all') return all;
  return names.split(' ').map((name) => {
    const found = all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${name} is none of ${all.map((one) => one.name).join(', ')}`);
    return found;
  });
}
