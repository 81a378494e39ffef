import { setTimeout as sleep } from 'node:timers/promises';
import type { VenueOperation } from '#test/venues/operations.ts';
import type { SeenCall } from '../fault-exchange.ts';
import { createLoad } from '../load.ts';
import { choose, concludeLoad, defineScenario, pick } from '../scenario.ts';
import type { Stage } from '../stage.ts';

interface Moment {
  name: VenueOperation;
  /** Only a trade in progress makes this call, so another instance must continue the trade, and that is timed. */
  isOfTrade: boolean;
}

/** An instance frozen at `set-leverage` wakes up just before writing its intent and sending the order. */
const MOMENTS: Moment[] = [
  { name: 'positions', isOfTrade: false },
  { name: 'set-leverage', isOfTrade: true },
  { name: 'place-order', isOfTrade: true },
  { name: 'find-order', isOfTrade: false },
  { name: 'protection', isOfTrade: false },
];

/** Limit for another instance to continue the work of a frozen one. */
const TAKEN_OVER_WITHIN_MS = 30_000;

/** Freezes one of several instances during its work until others have taken over, then lets it continue. */
export const zombies = defineScenario({
  about: 'instances frozen past their leases, then woken up',
  sizes: {
    signals: 300,
    rounds: 10,
    instances: 3,
    /** Longer than a lease (20 s) plus polling, so the others have taken over by then. */
    frozenMs: 40_000,
    /** Names of the calls at which to freeze, separated by spaces, or 'all'. */
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

/** Freezes the instance that makes the next call of this kind, during the call. */
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

/** Measures the time until another instance's first call for the same account and token. */
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
