import { setTimeout as sleep } from 'node:timers/promises';
import { createLoad } from '../load.ts';
import { concludeLoad, defineScenario, type Say, type ScenarioResult } from '../scenario.ts';
import type { Stage, StageOptions } from '../stage.ts';

type Database = StageOptions['database'];

interface KillSizes {
  alerts: number;
  kills: number;
  perSecond: number;
  /** One alert in this many is traded. Each leaves a position in every account, which slows down the exchange. */
  tradeEvery: number;
  database: Database;
}

const KILLED_WHILE_STARTING = 0.2;
const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;
const BETWEEN_STOPS_MS = 3_000;

const killStage = ({ database, alerts, tradeEvery }: KillSizes) => ({
  database,
  traders: 2,
  struckTrader: true,
  tokens: Math.ceil(alerts / tradeEvery) + 1,
});

/** kill -9 of the program, also during its start, while alerts arrive and orders are in progress. */
export const killApp = defineScenario({
  about: 'kill -9 of the program under load',
  sizes: { alerts: 10_000, kills: 50, perSecond: 20, tradeEvery: 100, database: 'external' as Database },
  stage: killStage,
  run: (stage, sizes, say) => killUnderLoad(stage, sizes, say, killProgram),
});

/** kill -9 of PostgreSQL. The program restarts an embedded server, the harness an external one. */
export const killDatabase = defineScenario({
  about: 'kill -9 of PostgreSQL under load',
  sizes: { alerts: 3_000, kills: 15, perSecond: 20, tradeEvery: 40, database: 'external' as Database },
  stage: killStage,
  run: (stage, sizes, say) => killUnderLoad(stage, sizes, say, killPostgres),
});

async function killUnderLoad(
  stage: Stage,
  sizes: KillSizes,
  say: Say,
  kill: (stage: Stage, sizes: KillSizes) => Promise<void>,
): Promise<ScenarioResult> {
  const { alerts, kills, perSecond, tradeEvery } = sizes;
  const { uniform } = stage.random;
  const load = createLoad(stage, { tradeEvery });
  const sending = load.run({ count: alerts, perSecond });
  const gapMs = (1_000 * alerts) / perSecond / (kills + 1);
  const startedAt = performance.now();
  let longestMs = 0;
  for (let index = 0; index < kills; index += 1) {
    const dueMs = startedAt + gapMs * (index + uniform()) - performance.now();
    // Leave time for some work to begin between two kills.
    await sleep(Math.max(dueMs, 50 + 400 * uniform()));
    const since = performance.now();
    await kill(stage, sizes);
    longestMs = Math.max(longestMs, performance.now() - since);
    if ((index + 1) % 10 === 0) say(`${index + 1} of ${kills} kills, ${load.alerts.length} alerts sent`);
  }
  await sending;
  const { figures, violations } = await concludeLoad(stage, load, say);
  const longest = (longestMs / 1_000).toFixed(1);
  return { figures: { kills, 'longest restart (s)': longest, ...figures }, violations };
}

async function killProgram({ first, random }: Stage): Promise<void> {
  await first.kill9();
  const starting = first.start();
  if (random.uniform() < KILLED_WHILE_STARTING) {
    await sleep(1_500 * random.uniform());
    await first.kill9();
    await starting;
    await first.start();
  }
  await starting;
}

async function killPostgres(stage: Stage, { database }: KillSizes): Promise<void> {
  await stage.killDatabase();
  await sleep(1_500 * stage.random.uniform());
  if (database === 'external') await stage.startDatabase();
  const deadline = performance.now() + READY_LIMIT_MS;
  const { url, output } = stage.first;
  const isReady = () =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (performance.now() > deadline)
      throw new Error(`not ready a minute after the kill:\n${output().slice(-3_000)}`);
    await sleep(50);
  }
}

/** SIGTERM under load: exit code 0 within ten seconds, and nothing lost or duplicated. */
export const sigterm = defineScenario({
  about: 'SIGTERM under load',
  sizes: { times: 50, perSecond: 20, tradeEvery: 40, database: 'external' as Database },
  stage: ({ database, times, perSecond, tradeEvery }) => ({
    database,
    traders: 2,
    // The time between two stops is at most the stop's limit plus a start.
    tokens: Math.ceil((times * perSecond * 15) / tradeEvery),
  }),
  async run(stage, { times, perSecond, tradeEvery }, say) {
    const { first, random } = stage;
    const load = createLoad(stage, { tradeEvery });
    let isOver = false;
    const sending = load.run({ count: Number.MAX_SAFE_INTEGER, perSecond, until: () => isOver });
    const late: string[] = [];
    let slowestMs = 0;
    for (let time = 1; time <= times; time += 1) {
      await sleep(BETWEEN_STOPS_MS * random.uniform());
      const { code, ms } = await first.terminate();
      slowestMs = Math.max(slowestMs, ms);
      if (code !== 0) late.push(`stop ${time}: exit code ${code}`);
      if (ms > STOP_LIMIT_MS) late.push(`stop ${time}: took ${(ms / 1_000).toFixed(1)} s`);
      await first.start();
      if (time % 10 === 0) say(`${time} of ${times} stops, slowest ${(slowestMs / 1_000).toFixed(1)} s`);
    }
    isOver = true;
    await sending;
    const { figures, violations } = await concludeLoad(stage, load, say);
    const slowest = (slowestMs / 1_000).toFixed(1);
    return {
      figures: { stops: times, 'slowest stop (s)': slowest, ...figures },
      violations: [...late, ...violations],
    };
  },
});
