import { setTimeout as sleep } from 'node:timers/promises';
import type { VenueOperation } from '#test/venues/operations.ts';
import type { SeenCall } from '../fault-exchange.ts';
import { createLoad } from '../load.ts';
import { choose, concludeLoad, defineScenario, pick } from '../scenario.ts';
import type { Stage } from '../stage.ts';

interface Moment {
  name: VenueOperation;
  /** Only a trade under way makes this call: others have to go on with that trade, which is seen and timed. */
  isOfTrade: boolean;
}

/** An instance frozen at `set-leverage` wakes up with nothing left to do but to write its intent and send. */
const MOMENTS: Moment[] = [
  { name: 'positions', isOfTrade: false },
  { name: 'set-leverage', isOfTrade: true },
  { name: 'place-order', isOfTrade: true },
  { name: 'find-order', isOfTrade: false },
  { name: 'protection', isOfTrade: false },
];

/** Another instance goes on with what a frozen one was doing. */
const TAKEN_OVER_WITHIN_MS = 30_000;

/** One of several instances is stopped in the middle of its work until others have taken over, and then goes on. */
export const zombies = defineScenario({
  about: 'instances frozen past their leases, then woken up',
  sizes: {
    signals: 300,
    rounds: 10,
    instances: 3,
    /** Longer than a lease (20 s) and the polls behind it: the others have taken over by then. */
    frozenMs: 40_000,
    /** Names of the calls at which to freeze, separated by blanks; 'all' for all of them. */
    moments: 'all',
  },
  stage: ({ instances, signals }) => ({
    database: 'external',
    instances,
    traders: 2,
    struckTrader: true,
    tokens: signals,
  }),
  async run(stage, { signals, rounds, instances, frozenMs, moments: names }, say) {
    const { uniform } = stage.random;
    const moments = choose(MOMENTS, names);
    const load = createLoad(stage, { tradeEvery: 1 });
    const late: string[] = [];
    const takeoversMs: number[] = [];
    const struck: SeenCall[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const moment = pick(moments, uniform);
      const share = Math.floor((signals * (round + 1)) / rounds) - Math.floor((signals * round) / rounds);
      const victim = freezeAt(stage, moment.name, uniform() < 0.5 ? 'hold' : 'before');
      const sending = load.run({ count: share, perSecond: 10 });
      const call = await Promise.race([victim.struck, sleep(20_000, null)]);
      if (call === null) {
        victim.cancel();
        await sending;
        continue;
      }
      struck.push(call);
      say(`round ${round + 1} of ${rounds}: instance ${call.instance + 1} is frozen at ${moment.name}`);
      const takeover = moment.isOfTrade ? watchTakeover(stage, call) : null;
      await Promise.all([sending, sleep(frozenMs)]);
      if (takeover !== null) {
        const ms = takeover.end();
        if (ms !== null) takeoversMs.push(ms);
        if (frozenMs > TAKEN_OVER_WITHIN_MS && (ms === null || ms > TAKEN_OVER_WITHIN_MS)) {
          const when = ms === null ? 'never taken over' : `taken over after ${(ms / 1_000).toFixed(1)} s`;
          late.push(`round ${round + 1}: the trade in ${call.token} was ${when}`);
        }
      }
      stage.instances[call.instance]?.thaw();
      await sleep(1_000);
    }
    const { figures, violations } = await concludeLoad(stage, load, say, ({ accountId, token }) =>
      struck.some((call) => call.accountId === accountId && (call.token ?? token) === token),
    );
    const slowest = takeoversMs.length === 0 ? 'none' : (Math.max(...takeoversMs) / 1_000).toFixed(1);
    return {
      figures: { instances, 'times frozen': struck.length, 'slowest takeover (s)': slowest, ...figures },
      violations: [...late, ...violations],
    };
  },
});

/** Stops the instance that makes the next call of this kind, in the middle of it. */
function freezeAt(
  { exchange, instances }: Stage,
  moment: VenueOperation,
  at: 'before' | 'hold',
): { struck: Promise<SeenCall>; cancel: () => void } {
  const { promise: struck, resolve } = Promise.withResolvers<SeenCall>();
  const cancel = exchange.setTrap({
    at,
    matches: ({ accountId, operations }) => accountId !== null && operations.includes(moment),
    strike(call) {
      instances[call.instance]?.freeze();
      resolve(call);
    },
  });
  return { struck, cancel };
}

/** Until the first call that another instance makes for the same account and token. */
function watchTakeover(
  { exchange }: Stage,
  { accountId, token, instance }: SeenCall,
): { end: () => number | null } {
  const since = performance.now();
  let takenOverMs: number | null = null;
  const stop = exchange.watch((call) => {
    if (call.accountId !== accountId || call.token !== token || call.instance === instance) return;
    takenOverMs ??= performance.now() - since;
  });
  return {
    end() {
      stop();
      return takenOverMs;
    },
  };
}
