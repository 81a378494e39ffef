import { setTimeout as sleep } from 'node:timers/promises';
import { createLoad } from '../load.ts';
import { concludeLoad, type Scenario, type ScenarioContext, type ScenarioResult } from '../scenario.ts';
import { openStage, type Stage } from '../stage.ts';

interface KillSizes extends Record<string, number | string> {
  alerts: number;
  kills: number;
  perSecond: number;
  /** One alert in so many is traded. Each leaves a position in every account, which the exchange reads with each call. */
  tradeEvery: number;
  database: 'external' | 'embedded';
}

const TRADERS = 2;
const KILLED_WHILE_STARTING = 0.2;

/** kill -9 of the program, also while it starts, as alerts come in and orders are under way. */
export const killApp: Scenario<KillSizes> = {
  about: 'kill -9 of the program under load',
  sizes: { alerts: 10_000, kills: 50, perSecond: 25, tradeEvery: 40, database: 'external' },
  run: (context, sizes) => killUnderLoad(context, sizes, killProgram),
};

/** kill -9 of PostgreSQL. An embedded one is started again by the program, the other one by the harness. */
export const killDatabase: Scenario<KillSizes> = {
  about: 'kill -9 of PostgreSQL under load',
  sizes: { alerts: 3_000, kills: 15, perSecond: 25, tradeEvery: 40, database: 'external' },
  run: (context, sizes) => killUnderLoad(context, sizes, killPostgres),
};

type Kill = (stage: Stage, sizes: KillSizes) => Promise<void>;

async function killUnderLoad(
  context: ScenarioContext,
  sizes: KillSizes,
  kill: Kill,
): Promise<ScenarioResult> {
  const { alerts, kills, perSecond, tradeEvery, database } = sizes;
  const { seed, exchangeDatabase } = context;
  const stage = await openStage({
    seed,
    database,
    traders: TRADERS,
    struckTrader: true,
    tokens: Math.ceil(alerts / tradeEvery) + 1,
    ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
  });
  try {
    const load = createLoad(stage, { tradeEvery });
    const sending = load.run({ count: alerts, perSecond });
    const gapMs = (1_000 * alerts) / perSecond / (kills + 1);
    const startedAt = performance.now();
    let longestMs = 0;
    for (let index = 0; index < kills; index += 1) {
      const dueMs = startedAt + gapMs * (index + stage.random.uniform()) - performance.now();
      // Never so close to the last one that nothing could begin in between.
      await sleep(Math.max(dueMs, 50 + 400 * stage.random.uniform()));
      const since = performance.now();
      await kill(stage, sizes);
      longestMs = Math.max(longestMs, performance.now() - since);
      if ((index + 1) % 10 === 0)
        context.say(`${index + 1} of ${kills} kills, ${load.alerts.length} alerts sent`);
    }
    await sending;
    const { figures, violations, end } = await concludeLoad(stage, load, context);
    return {
      figures: {
        kills,
        ...figures,
        'longest restart (s)': (longestMs / 1_000).toFixed(1),
        'all ended after (s)': end.toFixed(1),
      },
      violations,
    };
  } finally {
    await stage.close();
  }
}

async function killProgram({ instances: [instance], random }: Stage): Promise<void> {
  if (instance === undefined) throw new Error('no instance');
  await instance.kill9();
  const starting = instance.start();
  if (random.uniform() < KILLED_WHILE_STARTING) {
    await sleep(1_500 * random.uniform());
    await instance.kill9();
    await starting;
    await instance.start();
  }
  await starting;
}

async function killPostgres(stage: Stage, { database }: KillSizes): Promise<void> {
  await stage.killDatabase();
  await sleep(1_500 * stage.random.uniform());
  if (database === 'external') await stage.startDatabase();
  await untilReady(stage);
}

const READY_LIMIT_MS = 60_000;

async function untilReady({ instances }: Stage): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (const { url, output } of instances) {
    for (;;) {
      const ready = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) break;
      if (performance.now() > deadline)
        throw new Error(`not ready a minute after the kill:\n${output().slice(-3_000)}`);
      await sleep(50);
    }
  }
}
