import { setTimeout as sleep } from 'node:timers/promises';
import { createLoad } from '../load.ts';
import { concludeLoad, type Scenario } from '../scenario.ts';
import { openStage } from '../stage.ts';

interface StopSizes extends Record<string, number | string> {
  times: number;
  perSecond: number;
  tradeEvery: number;
  database: 'external' | 'embedded';
}

const LIMIT_MS = 10_000;
const BETWEEN_MS = 3_000;

/** SIGTERM in the midst of everything: exit code 0 within ten seconds, and nothing lost or doubled. */
export const sigtermUnderLoad: Scenario<StopSizes> = {
  about: 'SIGTERM under load',
  sizes: { times: 50, perSecond: 20, tradeEvery: 40, database: 'external' },
  async run(context, { times, perSecond, tradeEvery, database }) {
    const { seed, say, exchangeDatabase } = context;
    const stage = await openStage({
      seed,
      database,
      traders: 2,
      // At most the stop's limit and a start between two stops.
      tokens: Math.ceil((times * perSecond * 15) / tradeEvery),
      ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
    });
    try {
      const [instance] = stage.instances;
      if (instance === undefined) throw new Error('no instance');
      const load = createLoad(stage, { tradeEvery });
      let isOver = false;
      const sending = load.run({ count: Number.MAX_SAFE_INTEGER, perSecond, until: () => isOver });
      const violations: string[] = [];
      let slowestMs = 0;
      for (let time = 1; time <= times; time += 1) {
        await sleep(BETWEEN_MS * stage.random.uniform());
        const { code, ms } = await instance.terminate();
        slowestMs = Math.max(slowestMs, ms);
        if (code !== 0) violations.push(`stop ${time}: exit code ${code}`);
        if (ms > LIMIT_MS) violations.push(`stop ${time}: took ${(ms / 1_000).toFixed(1)} s`);
        await instance.start();
        if (time % 10 === 0) say(`${time} of ${times} stops, slowest ${(slowestMs / 1_000).toFixed(1)} s`);
      }
      isOver = true;
      await sending;
      const concluded = await concludeLoad(stage, load, context);
      return {
        figures: {
          stops: times,
          'slowest stop (s)': (slowestMs / 1_000).toFixed(1),
          ...concluded.figures,
          'all ended after (s)': concluded.end.toFixed(1),
        },
        violations: [...violations, ...concluded.violations],
      };
    } finally {
      await stage.close();
    }
  },
};
