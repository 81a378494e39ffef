import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '#demo/program-client.ts';
import { BITGET_LIMITS } from '#server/exchanges/limits/exchange-limits.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { createTraders, NO_WAITS, PRICE, post, TRADING } from './deliveries.ts';
import { type Bench, type BenchContext, sum } from './figures.ts';
import {
  type Cluster,
  count,
  waitUntil,
  withCluster,
  withDatabase,
  withProcessorTime,
  withResource,
} from './harness.ts';
import { type LimitedVenue, openLimitedVenue } from './limited-venue.ts';
import { firstOf } from './venue.ts';

const LIMIT_MS = 600_000;
const INSTANCES = 2;
/** The orders of a fan-out that have left when it is stopped. */
const STOP_AFTER = 0.3;
const HOLDERS = 20;
const TOKENS = 20;
const IDLE_MS = 10_000;
/** In favour of positions that were opened at 100, and before their target. */
const PRICE_MOVED = '101.5';
const ALWAYS = Number.POSITIVE_INFINITY;

/** Runs programs at an exchange that enforces its limits, each with an address of its own. */
const atLimitedVenue = (
  options: { instances: number; tokens: readonly string[]; env: Record<string, string> },
  work: (cluster: Cluster, venue: LimitedVenue) => Promise<void>,
): Promise<void> =>
  withResource(
    {
      open: () => openLimitedVenue({ addresses: options.instances }),
      close: ({ close }) => close(),
    },
    async (venue) => {
      const env = (number: number) => {
        const url = venue.urls[number - 1] ?? '';
        const own = { EXCHANGE_ADDRESS: `address-${number}`, BITGET_BASE_URL: url, BYBIT_BASE_URL: url };
        return { ...TRADING, ...own, ...options.env };
      };
      // Before the program starts, because it asks for new contracts once a minute only.
      for (const token of options.tokens) await venue.setPrice(token, PRICE);
      await withCluster({ instances: options.instances, env }, (cluster) => work(cluster, venue));
    },
  );

async function send(cluster: Cluster, token: string, action: 'buy' | 'close' = 'buy'): Promise<string> {
  if (action === 'buy') await post(firstOf(cluster), 'candle', { token });
  return (await post(firstOf(cluster), 'signal', { token, action })).id;
}

async function ended(cluster: Cluster, signalId: string): Promise<void> {
  const query = `select count(*) as count from workflows where signal_id = '${signalId}' and completed_at is not null`;
  const isEnded = async () => (await count(cluster, query)) > 0;
  await waitUntil(isEnded, { what: 'the workflow ended', limitMs: LIMIT_MS, everyMs: 250 });
}

const setTrading = (cluster: Cluster, users: readonly string[], activeTrading: boolean) =>
  withDatabase(cluster, (client) =>
    client.query('update user_settings set active_trading = $2 where user_id = any($1)', [
      users,
      activeTrading,
    ]),
  );

/** A stop of new entries while one signal is traded for a thousand users. */
export const stopped: Bench = {
  about: 'a stop of new entries in the middle of one signal for 1,000 users, on two instances',
  takes: '4 minutes',
  only: 'all',
  async run({ add, say, short }: BenchContext) {
    const users = short ? 60 : 1_000;
    // Orders that rest are not cancelled for any other reason.
    const env = { VERIFY_FIRST_MS: '120000', VERIFY_SECOND_MS: '120000', CANCEL_DELAY_MS: '100' };
    await atLimitedVenue(
      { instances: INSTANCES, tokens: ['HELD', 'STOPPED'], env },
      async (cluster, venue) => {
        const traders = await createTraders(cluster, users);
        const others = traders.slice(HOLDERS);
        await setTrading(cluster, others, false);
        await ended(cluster, await send(cluster, 'HELD'));
        await setTrading(cluster, others, true);
        venue.setFaults(traders.flatMap((userId, index) => faultsOf(userId, index)));
        const other = cluster.programs[1];
        if (other === undefined) throw new Error('There is no second instance');
        const { url, adminUsername: username, adminPassword: password } = other;
        const client = await signIn({ url, username, password });
        say('the signal');
        const seen = venue.watch();
        const orders = () => seen.filter(({ isOrder }) => isOrder);
        const signalId = await send(cluster, 'STOPPED');
        await waitUntil(async () => orders().length >= users * STOP_AFTER, {
          what: 'orders left',
          limitMs: LIMIT_MS,
          everyMs: 5,
        });
        const [askedAtMs, askedAt] = [performance.now(), Date.now()];
        const entries = `from paper_orders where token = 'STOPPED' and not reduce_only`;
        const live = `select count(*) as count ${entries} and state in ('live', 'partially_filled')`;
        const loaded = { servers: cluster.programs, postmaster: cluster.postmaster };
        const { result, used } = await withProcessorTime(loaded, async () => {
          await client.post('/api/trading-stops', { scope: { kind: 'all' }, reason: 'the benchmark' });
          const answered = { atMs: performance.now(), at: Date.now() };
          const closing = await send(cluster, 'HELD', 'close');
          await waitUntil(async () => (await venue.count(live)) === 0, {
            what: 'no entry rests',
            limitMs: LIMIT_MS,
            everyMs: 50,
          });
          return { answered, closing };
        });
        const { atMs: answeredAtMs, at: answeredAt } = result.answered;
        await Promise.all([ended(cluster, signalId), ended(cluster, result.closing)]);
        const endedS = (performance.now() - askedAtMs) / 1000;
        const late = orders().filter(({ atMs }) => atMs > answeredAtMs).length;
        const at = `to_timestamp(${answeredAt / 1000})`;
        const rested = `${entries} and state = 'canceled'`;
        add('orders that had left at the answer', '', orders().length);
        add('the answer to the stop', 'ms', answeredAtMs - askedAtMs);
        add('orders that reached the exchange after the answer', '', late, { most: 0 });
        const inLedger = await venue.count(`select count(*) as count ${entries} and created_at > ${at}`);
        add('orders in its ledger after the answer', '', inLedger, { most: 0 });
        add('entries that rested', '', await venue.count(`select count(*) as count ${rested}`), { least: 1 });
        add('entries that still rest', '', await venue.count(live), { most: 0 });
        const last = `select coalesce(max(extract(epoch from updated_at - to_timestamp(${askedAt / 1000}))), 0) as count ${rested}`;
        add(
          'from the request of the stop until the last of them was cancelled',
          's',
          await venue.count(last),
          {
            most: 5,
          },
        );
        for (const part of ['program', 'database'] as const) {
          const name = part === 'program' ? 'both programs' : 'the database';
          add(`processor time of ${name} until then`, 's', used[part]);
        }
        add('from the request of the stop to the end of both workflows', 's', endedS);
        const bare = `select count(*) as count from paper_positions where token = 'STOPPED' and not exists (
        select from paper_trigger_orders as stop where stop.user_id = paper_positions.user_id
          and stop.token = 'STOPPED' and stop.state = 'live' and stop.plan_type in ('pos_loss', 'loss_plan'))`;
        add('positions without a stop at the end', '', await venue.count(bare), { most: 0 });
        const held = `select count(*) as count from paper_positions where token = 'HELD'`;
        add('positions that a signal after the stop left open', '', await venue.count(held), { most: 0 });
      },
    );
    return {
      about: `One signal for ${users.toLocaleString('en')} users on ${INSTANCES} instances; new entries are stopped when ${STOP_AFTER * 100} % of the orders have left`,
      notes: [
        `The exchange is Bitget's test venue with its documented limits, an address for each instance. Every second order rests; the stop of every tenth is dropped, and has to be placed. Right after the stop a signal closes the positions that ${HOLDERS} of the users hold in another token.`,
        'After the answer: by the clock of the benchmark, which runs the exchange.',
      ],
    };
  },
};

const faultsOf = (userId: string, index: number): VenueFault[] => {
  if (index % 2 === 0)
    return [{ kind: 'restFirst', on: { userId, operation: 'place-order', times: ALWAYS } }];
  return index % 10 === 1 ? [{ kind: 'stopDropped', on: { userId, operation: 'place-order' } }] : [];
};

/** How soon stops follow the price, for many positions. */
export const exits: Bench = {
  about: 'stops that follow the price, for 1,000 positions in 20 tokens',
  takes: '6 minutes',
  only: 'all',
  async run({ add, say, short }: BenchContext) {
    const users = short ? 4 : 50;
    const positions = users * TOKENS;
    const tokens = Array.from({ length: TOKENS }, (_, number) => `TRAIL${number}`);
    await atLimitedVenue({ instances: 1, tokens, env: NO_WAITS }, async (cluster, venue) => {
      await createTraders(cluster, users);
      // Break-even first, then the trail: one move each.
      const plan = { takeProfits: [], trail: { percent: '1' } };
      await cluster.client.put('/api/exit-plans/strategies/Tesla', plan);
      say(`${positions} positions`);
      for (const token of tokens) await ended(cluster, await send(cluster, token));
      const planned = 'select count(*) as count from trade_exits where planned is not null and ended is null';
      await waitUntil(async () => (await count(cluster, planned)) === positions, {
        what: 'all plans have prices',
        limitMs: LIMIT_MS,
        everyMs: 250,
      });
      const idleReads = venue.watchPriceReads();
      await sleep(IDLE_MS);
      add('reads of all prices a second, at rest', '', idleReads.length / (IDLE_MS / 1000), { most: 1.1 });
      say('the prices move');
      const reads = venue.watchPriceReads();
      const seen = venue.watch();
      const movedAtMs = performance.now();
      for (const token of tokens) await venue.setPrice(token, PRICE_MOVED);
      const setAtMs = performance.now();
      const decided = `select count(*) as count from trade_exits where best_price = ${PRICE_MOVED}`;
      const moved = `select count(*) as count from protection_moves where state = 'moved'`;
      const until = async (query: string, what: string): Promise<number> => {
        const isDone = async () => (await count(cluster, query)) >= positions;
        await waitUntil(isDone, { what, limitMs: LIMIT_MS, everyMs: 50 });
        return (performance.now() - setAtMs) / 1000;
      };
      add(
        'from the last price to the decision on the last position',
        's',
        await until(decided, 'all are decided'),
        {
          most: 2,
        },
      );
      const movedS = await until(moved, 'all stops are moved');
      add('from the last price to the last stop that was moved', 's', movedS);
      const requests = seen.length;
      add('requests for each stop that was moved', '', requests / positions);
      add('last stop moved, to requests ÷ budget', '×', movedS / (requests / BITGET_LIMITS.egressPerSecond));
      add('refused by the exchange', '', sum(seen.map(({ isRefused }) => Number(isRefused))), { most: 0 });
      const spentS = (performance.now() - movedAtMs) / 1000;
      add('reads of all prices a second, while stops move', '', reads.length / spentS, { most: 1.1 });
      const failures = `select count(*) as count from notice_events where code = 'exit_not_done'`;
      add('moves that failed at first', '', await count(cluster, failures), { most: 0 });
    });
    return {
      about: `${positions.toLocaleString('en')} positions in ${TOKENS} tokens with a trailing stop; all prices move at once`,
      notes: [
        "The exchange is Bitget's test venue with its documented limits, in the process of the benchmark; one instance. A position is decided when its best price, which its new stop is reckoned from, is kept.",
        'Requests are those of the accounts without audits; moves share the budget of the address.',
      ],
    };
  },
};
