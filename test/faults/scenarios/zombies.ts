import { setTimeout as sleep } from 'node:timers/promises';
import type { VenueOperation } from '#test/venues/operations.ts';
import type { SeenCall } from '../fault-exchange.ts';
import { createLoad } from '../load.ts';
import { choose, concludeLoad, type Scenario } from '../scenario.ts';
import { openStage, type Stage } from '../stage.ts';

interface ZombieSizes extends Record<string, number | string> {
  signals: number;
  rounds: number;
  instances: number;
  /** Longer than a lease (20 s) and the polls behind it, so that the others have taken over by then. */
  frozenMs: number;
  /** Names of the calls at which to freeze, separated by blanks; 'all' for all of them. */
  moments: string;
}

interface Moment {
  name: VenueOperation;
  /** A trade under way makes it, and nobody else: others have to go on with that trade, which is seen and timed. */
  isOfTrade: boolean;
}

/**
 * What the program does to the exchange, from the first question to the last. The one just before an order is announced
 * is `set-leverage`: who is frozen there wakes up with nothing left to do but to write its intent and send.
 */
const MOMENTS: Moment[] = [
  { name: 'positions', isOfTrade: false },
  { name: 'set-leverage', isOfTrade: true },
  { name: 'place-order', isOfTrade: true },
  { name: 'find-order', isOfTrade: false },
  { name: 'protection', isOfTrade: false },
];

/** What a frozen instance was doing is gone on with by another. */
export const TAKEN_OVER_WITHIN_MS = 30_000;

/** One of several instances is stopped in the midst of its work until others have taken it over, and then goes on. */
export const zombies: Scenario<ZombieSizes> = {
  about: 'instances frozen past their leases, then woken up',
  sizes: { signals: 300, rounds: 10, instances: 3, frozenMs: 40_000, moments: 'all' },
  async run(context, { signals, rounds, instances, frozenMs, moments: names }) {
    const { seed, say, exchangeDatabase } = context;
    const moments = choose(MOMENTS, names);
    const stage = await openStage({
      seed,
      database: 'external',
      instances,
      traders: 2,
      struckTrader: true,
      tokens: signals,
      ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
    });
    try {
      const load = createLoad(stage, { tradeEvery: 1 });
      const late: string[] = [];
      const takeoversMs: number[] = [];
      const struck: SeenCall[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const moment = moments[Math.floor(stage.random.uniform() * moments.length)];
        if (moment === undefined) throw new Error('no moment to freeze at');
        const share = Math.floor((signals * (round + 1)) / rounds) - Math.floor((signals * round) / rounds);
        const victim = freezeAt(stage, {
          moment: moment.name,
          at: stage.random.uniform() < 0.5 ? 'hold' : 'before',
        });
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
            const when = ms === null ? 'not at all' : `after ${(ms / 1_000).toFixed(1)} s`;
            late.push(`round ${round + 1}: the trade in ${call.token} was gone on with ${when}`);
          }
        }
        stage.instances[call.instance]?.thaw();
        await sleep(1_000);
      }
      const { figures, violations, end } = await concludeLoad(stage, load, context, ({ accountId, token }) =>
        struck.some((call) => call.accountId === accountId && (call.token ?? token) === token),
      );
      return {
        figures: {
          instances,
          'times frozen': struck.length,
          'slowest takeover (s)':
            takeoversMs.length === 0 ? 'none' : (Math.max(...takeoversMs) / 1_000).toFixed(1),
          ...figures,
          'all ended after (s)': end.toFixed(1),
        },
        violations: [...late, ...violations],
      };
    } finally {
      await stage.close();
    }
  },
};

/** Stops whichever instance makes the next call of this kind, in the midst of it. */
function freezeAt(
  stage: Stage,
  { moment, at }: { moment: VenueOperation; at: 'before' | 'hold' },
): { struck: Promise<SeenCall>; cancel: () => void } {
  const { promise: struck, resolve } = Promise.withResolvers<SeenCall>();
  let made: SeenCall | null = null;
  const cancel = stage.exchange.setTrap({
    at,
    matches(call) {
      if (call.accountId === null || !call.operations.includes(moment)) return false;
      made = call;
      return true;
    },
    strike() {
      if (made === null) return;
      stage.instances[made.instance]?.freeze();
      resolve(made);
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
