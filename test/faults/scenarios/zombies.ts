import { setTimeout as sleep } from 'node:timers/promises';
import type { PaperOperation } from '#server/exchanges/paper/operations.ts';
import { createLoad } from '../load.ts';
import { concludeLoad, type Scenario } from '../scenario.ts';
import { openStage, type Stage } from '../stage.ts';

interface ZombieSizes extends Record<string, number | string> {
  signals: number;
  rounds: number;
  instances: number;
  /** Longer than a lease (30 s), so that the others have taken over by then. */
  frozenMs: number;
}

/** What the program does to the exchange, from the first question to the last. */
const MOMENTS: PaperOperation[] = ['positions', 'set-leverage', 'place-order', 'find-order', 'protection'];

/** One of several instances is stopped in the midst of its work until others have taken it over, and then goes on. */
export const zombies: Scenario<ZombieSizes> = {
  about: 'instances frozen past their leases, then woken up',
  sizes: { signals: 300, rounds: 10, instances: 3, frozenMs: 40_000 },
  async run(context, { signals, rounds, instances, frozenMs }) {
    const { seed, say, exchangeDatabase } = context;
    const stage = await openStage({
      seed,
      database: 'external',
      instances,
      traders: 2,
      tokens: signals,
      ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
    });
    try {
      const load = createLoad(stage, { tradeEvery: 1 });
      let frozen = 0;
      for (let round = 0; round < rounds; round += 1) {
        const moment = MOMENTS[Math.floor(stage.random.uniform() * MOMENTS.length)] ?? 'place-order';
        const share = Math.floor((signals * (round + 1)) / rounds) - Math.floor((signals * round) / rounds);
        const victim = freezeAt(stage, { moment, at: stage.random.uniform() < 0.5 ? 'hold' : 'before' });
        const sending = load.run({ count: share, perSecond: 10 });
        const index = await Promise.race([victim.struck, sleep(20_000, null)]);
        if (index === null) {
          victim.cancel();
          await sending;
          continue;
        }
        frozen += 1;
        say(`round ${round + 1} of ${rounds}: instance ${index + 1} is frozen at ${moment}`);
        await Promise.all([sending, sleep(frozenMs)]);
        stage.instances[index]?.thaw();
        await sleep(1_000);
      }
      const { figures, violations, end } = await concludeLoad(stage, load, context);
      return {
        figures: { instances, 'times frozen': frozen, ...figures, 'all ended after (s)': end.toFixed(1) },
        violations,
      };
    } finally {
      await stage.close();
    }
  },
};

/** Stops whichever instance makes the next call of this kind, in the midst of it. */
function freezeAt(
  stage: Stage,
  { moment, at }: { moment: PaperOperation; at: 'before' | 'hold' },
): { struck: Promise<number>; cancel: () => void } {
  const { promise: struck, resolve } = Promise.withResolvers<number>();
  let instance = 0;
  const cancel = stage.exchange.setTrap({
    at,
    matches(call) {
      if (call.accountId === null || !call.operations.includes(moment)) return false;
      instance = call.instance;
      return true;
    },
    strike() {
      stage.instances[instance]?.freeze();
      resolve(instance);
    },
  });
  return { struck, cancel };
}
