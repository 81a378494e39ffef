import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { BITGET_LIMITS, BYBIT_LIMITS } from '#server/exchanges/limits/exchange-limits.ts';
import { createTraders, NO_WAITS, PRICE, post, TRADING } from './deliveries.ts';
import { type Bench, type BenchContext, mean, sum } from './figures.ts';
import {
  type Cluster,
  count,
  timed,
  waitUntil,
  withCluster,
  withDatabase,
  withProcessorTime,
  withResource,
} from './harness.ts';
import { type LimitedVenue, openLimitedVenue, type Seen } from './limited-venue.ts';
import { describeKinds, type StatementKind, statementKinds } from './statement-kinds.ts';

const WORKFLOW_LIMIT_MS = 900_000;
/** Rarer statements are not told. */
const FEWEST_OF_USER = 0.1;
/** The venue closes every short at this price: it is beyond all targets. */
const PRICE_AT_TARGET = '50';
const BUDGETS = {
  Bitget: BITGET_LIMITS.egressPerSecond,
  Bybit: BYBIT_LIMITS.egressPerSecond,
} satisfies Record<ExchangePlatform, number>;
const COUNTED = ['shared_preload_libraries=pg_stat_statements'];
/** Each instance calls the exchange from an address of its own. */
const ADDRESSES = 4;
/** As many as one address can read in the seconds before a candle closes. */
const READ_AHEAD_USERS = 100;
/** Requests of a user: up to and with the order, and in all. */
const MOST_REQUESTS = {
  first: { order: 5, all: 6 },
  prepared: { order: 3, all: 4 },
  readAhead: { order: 1.3, all: 2.3 },
};
const MOST_STATEMENTS = 20;
/** The settings of leases and polls add up to this, by `takeover.test.ts`. */
const TAKEOVER_S = 30;
const IDLE_MS = 5_000;
const MINUTE_MS = 60_000;
const QUIET_MS = 3_000;
const QUIET_LIMIT_MS = 300_000;
/** The program looks every half minute which candles bring signals, and reads 7 s before they close. */
const SERIES_KNOWN_MS = 45_000;

interface Trade {
  sentAtMs: number;
  tookMs: number;
  seen: readonly Seen[];
  successful: number;
  /** Why users were not traded, the most frequent reason first. */
  reasons: readonly { users: number; reason: string }[];
  statements: number;
  kinds: readonly StatementKind[];
  /** Seconds of the processors; null where they cannot be told, or a program ended meanwhile. */
  used: { programs: number; exchange: number } | null;
}

export const VENUE_USERS = 1_000;
const SHORT_USERS = 40;

/** One signal for a thousand users at an exchange that enforces its documented limits for each address. */
export const venue: Bench = {
  about: 'one signal for 1,000 users, or --users, at an exchange that enforces its request limits',
  takes: '15 minutes',
  only: 'all',
  async run(context) {
    const users = context.users ?? (context.short ? SHORT_USERS : VENUE_USERS);
    for (const platform of EXCHANGE_PLATFORMS) {
      context.say(platform);
      await withResource(
        { open: () => openLimitedVenue({ addresses: ADDRESSES }), close: ({ close }) => close() },
        (limited) => measure({ context, platform, users, limited }),
      );
    }
    return {
      about: `One signal for ${users.toLocaleString('en')} users at the test venue, which enforces the limits that ${EXCHANGE_PLATFORMS.join(' and ')} document for accounts and for one address`,
      notes: [
        'First in a token: accounts that have traded another token, whose leverage and margin mode are not set for this one. Prepared: the same signal again, after all positions were closed.',
        `Read ahead: ${Math.min(users, READ_AHEAD_USERS)} users whose accounts were read before the candle closed.`,
        `The budget is what the program allows itself for an address: ${EXCHANGE_PLATFORMS.map((platform) => `${BUDGETS[platform]} a second at ${platform}`).join(', ')}.`,
        'Requests are those of the users of the signal that concern the order: audits, which read all positions, and readings of equity and of the movements of an account, which come without an order as well, are left out. The exchange runs in the process of the benchmark.',
        `With ${ADDRESSES} instances each calls from an address of its own, which it has the name of in EXCHANGE_ADDRESS. One killed: the newest instance is killed when half of the orders have been placed, with its requests under way.`,
        'Reading ahead is enabled. Statements are all that the program sends, BEGIN and COMMIT included, by pg_stat_statements, less what it sends when idle for as long.',
      ],
    };
  },
};

async function measure(options: {
  context: BenchContext;
  platform: ExchangePlatform;
  users: number;
  limited: LimitedVenue;
}): Promise<void> {
  const { context, platform, users, limited } = options;
  const { add, say } = context;
  const { first, prepared, readAhead } = MOST_REQUESTS;
  const env = (number: number) => {
    const url = limited.urls[number - 1] ?? '';
    return {
      ...TRADING,
      ...NO_WAITS,
      READ_AHEAD: 'enabled',
      EXCHANGE_ADDRESS: `address-${number}`,
      BITGET_BASE_URL: url,
      BYBIT_BASE_URL: url,
    };
  };

  async function measureRounds(cluster: Cluster): Promise<void> {
    await createTraders(cluster, users);
    await withDatabase(cluster, async (client) => {
      await client.query('create extension pg_stat_statements');
      await client.query('update user_settings set exchange_platform = $1', [platform]);
    });
    const idle = await countStatements(cluster, () => sleep(IDLE_MS));
    const round = async (
      name: string,
      options: { most: Most; traders?: number; timeframe?: string; killsOne?: boolean },
    ) => {
      const { most, traders = users, timeframe = '15', killsOne = false } = options;
      say(name);
      const meanwhile = (seen: readonly Seen[]) => (killsOne ? killOne(cluster, seen, traders) : null);
      const done = await trade({ cluster, limited, token: 'LIMITED', timeframe, meanwhile });
      if (done.successful === 0)
        throw new Error(`no user of ${traders} traded at ${platform}: ${done.reasons[0]?.reason}`);
      add(`${platform}, ${name}: users not traded`, '', traders - done.successful, { most: 0 });
      for (const { users: concerned, reason } of done.reasons) say(`${concerned} not traded: ${reason}`);
      const idleStatements = (idle.statements / idle.tookMs) * done.tookMs;
      const statements = (done.statements - idleStatements) / traders;
      say(`statements for each user, idle ones included:`);
      for (const line of describeKinds(statementKinds(done.kinds, traders), FEWEST_OF_USER)) say(line);
      return report(context, { name: `${platform}, ${name}`, done, statements, most });
    };

    say('warm-up: every account trades another token');
    await trade({ cluster, limited, token: 'WARM', timeframe: '15' });
    let ofOne = 0;
    for (const [name, most] of [
      ['first in a token', first],
      ['prepared', prepared],
    ] as const) {
      const { requests, lastOrderS } = await round(name, { most });
      ofOne = lastOrderS;
      const reckonedS = (requests * users) / BUDGETS[platform];
      add(`${platform}, ${name}: last order, to all requests ÷ budget`, '×', lastOrderS / reckonedS, {
        most: 1.1,
      });
    }

    await cluster.resize(ADDRESSES);
    const several = `prepared, ${ADDRESSES} addresses`;
    const { lastOrderS } = await round(several, { most: prepared });
    // Where the processor is the limit: half.
    add(`${platform}, ${several}: last order, to that of one address`, '×', lastOrderS / ofOne, {
      most: 0.5,
    });
    const killed = `${several}, one killed`;
    const after = await round(killed, { most: prepared, killsOne: true });
    add(`${platform}, ${killed}: last order later`, 's', Math.max(0, after.lastOrderS - lastOrderS), {
      most: TAKEOVER_S,
    });

    const traders = Math.min(users, READ_AHEAD_USERS);
    await cluster.resize(1);
    await keepTrading(cluster, traders);
    say('waiting until a candle closes');
    await trade({ cluster, limited, token: 'LIMITED', timeframe: '1' });
    await limited.setPrice('LIMITED', PRICE);
    await post(firstOf(cluster), 'candle', { token: 'LIMITED', timeframe: '1' });
    await sleep(untilRead());
    await round('read ahead', { most: readAhead, traders, timeframe: '1' });
  }

  // Before the program starts, because it asks for new contracts once a minute only.
  for (const token of ['WARM', 'LIMITED']) await limited.setPrice(token, PRICE);
  await withCluster({ instances: 1, env, settings: COUNTED }, measureRounds);
}

/** Ends the newest instance at once when half of the orders have been placed. */
async function killOne(cluster: Cluster, seen: readonly Seen[], traders: number): Promise<void> {
  const isHalf = () => seen.filter(({ isOrder }) => isOrder).length >= traders / 2;
  await waitUntil(async () => isHalf(), {
    what: 'half of the orders are placed',
    limitMs: WORKFLOW_LIMIT_MS,
    everyMs: 50,
  });
  await cluster.programs.pop()?.kill9();
}

type Most = (typeof MOST_REQUESTS)[keyof typeof MOST_REQUESTS];

/** Adds the figures of a round; returns the requests of a user in all, and the seconds until the last order. */
function report(
  { add }: BenchContext,
  round: { name: string; done: Trade; statements: number; most: Most },
): { requests: number; lastOrderS: number } {
  const { name, done, statements, most } = round;
  const { seen, sentAtMs } = done;
  const byUser = [...Map.groupBy(seen, ({ userId }) => userId).values()].flatMap((own) => {
    const order = own.findIndex(({ isOrder }) => isOrder);
    if (order === -1) return [];
    const begin = own.findIndex(({ isBalance, isLookUp }) => !isBalance && !isLookUp);
    const concernsOrder = ({ isLookUp, isBalance }: Seen, index: number) =>
      isLookUp ? index > order : !isBalance || (index > begin && index < order);
    return [own.filter(concernsOrder)];
  });
  const requests = mean(byUser.map(({ length }) => length));
  const untilOrder = mean(byUser.map((own) => own.findIndex(({ isOrder }) => isOrder) + 1));
  const orders = sum(byUser.map((own) => own.filter(({ isOrder }) => isOrder).length));
  const lastOrderMs = Math.max(...seen.filter(({ isOrder }) => isOrder).map(({ atMs }) => atMs));
  const lastOrderS = (lastOrderMs - sentAtMs) / 1000;
  add(`${name}: requests up to and with the order`, '', untilOrder, { most: most.order });
  add(`${name}: requests in all`, '', requests, { most: most.all });
  add(`${name}: orders beyond one for each user`, '', orders - byUser.length, { most: 0 });
  add(`${name}: statements for each user`, '', statements, { most: MOST_STATEMENTS });
  add(`${name}: signal to the last order`, 's', lastOrderS);
  const refused = seen.filter(({ isRefused }) => isRefused).length;
  add(`${name}: refused by the exchange`, '', refused, { most: 0 });
  const percent = (seconds?: number) =>
    seconds === undefined ? null : (100 * seconds) / (availableParallelism() * (done.tookMs / 1000));
  add(`${name}: processors busy with programs and database`, '%', percent(done.used?.programs));
  add(`${name}: processors busy with the exchange`, '%', percent(done.used?.exchange));
  return { requests, lastOrderS };
}

/** Sends a signal and waits for its workflow; then closes all positions, and waits until they are booked. */
async function trade(options: {
  cluster: Cluster;
  limited: LimitedVenue;
  token: string;
  timeframe: string;
  /** Begins when the signal is sent. */
  meanwhile?: (seen: readonly Seen[]) => Promise<void> | null;
}): Promise<Trade> {
  const { cluster, limited, token, timeframe, meanwhile = () => null } = options;
  await limited.setPrice(token, PRICE);
  await post(firstOf(cluster), 'candle', { token, timeframe });
  await sleep(1_000);
  const seen = limited.watch();
  const sentAtMs = performance.now();
  let signalId = '';
  async function follow(): Promise<void> {
    ({ id: signalId } = await post(firstOf(cluster), 'signal', { token, timeframe, action: 'sell' }));
    const disturbed = meanwhile(seen);
    const ended = `select count(*) as count from workflows where signal_id = '${signalId}' and completed_at is not null`;
    await waitUntil(async () => (await count(cluster, ended)) > 0, {
      what: `the workflow of ${token} ended`,
      limitMs: WORKFLOW_LIMIT_MS,
      everyMs: 250,
    });
    await disturbed;
  }
  const servers = [...cluster.programs];
  const exchangeBefore = await limited.processorTime();
  const { result, used } = await withProcessorTime({ ...cluster, servers }, () =>
    countStatements(cluster, follow),
  );
  const exchangeAfter = await limited.processorTime();
  const areAllAlive = servers.length === cluster.programs.length;
  const successful = await count(
    cluster,
    `select successful_users_count as count from workflows where signal_id = '${signalId}'`,
  );
  const reasons = await listReasons(cluster, signalId);
  const requests = [...seen];
  await limited.setPrice(token, PRICE_AT_TARGET);
  // What these trades still need is no part of the next signal.
  const open = 'select count(*) as count from trades where success and position_closed_at is null';
  await waitUntil(async () => limited.quietMs() >= QUIET_MS && (await count(cluster, open)) === 0, {
    what: 'the closed positions are booked',
    limitMs: QUIET_LIMIT_MS,
    everyMs: 500,
  });
  const [program, database] = areAllAlive ? [used.program, used.database] : [null, null];
  const areTold = program !== null && database !== null && exchangeBefore !== null && exchangeAfter !== null;
  return {
    ...result,
    sentAtMs,
    seen: requests,
    successful,
    reasons,
    used: areTold ? { programs: program + database, exchange: exchangeAfter - exchangeBefore } : null,
  };
}

export const firstOf = ({ programs, ...cluster }: Cluster) => {
  const [server] = programs;
  if (server === undefined) throw new Error('The cluster has no instance');
  return { ...cluster, server };
};

/** The statements that the programs send meanwhile. */
async function countStatements(
  cluster: Cluster,
  work: () => Promise<unknown>,
): Promise<{ statements: number; kinds: StatementKind[]; tookMs: number }> {
  await withDatabase(cluster, (client) => client.query('select pg_stat_statements_reset()'));
  const tookMs = await timed(work);
  const { rows } = await withDatabase(cluster, (client) =>
    client.query<{ text: string; calls: string }>(
      // Not those of the benchmark itself.
      `select query as text, calls from pg_stat_statements where query not like '%as count from workflows%'
         and query not like '%pg_stat_statements%'`,
    ),
  );
  const kinds = rows.map(({ text, calls }) => ({ text, calls: Number(calls) }));
  return { statements: sum(kinds.map(({ calls }) => calls)), kinds, tookMs };
}

/** Switches trading off for all but the first users in the order of trading. */
function keepTrading(cluster: Cluster, traders: number): Promise<unknown> {
  return withDatabase(cluster, (client) =>
    client.query(
      `update user_settings set active_trading = false where active_trading and user_id not in (
         select user_id from user_settings where active_trading order by user_id limit $1)`,
      [traders],
    ),
  );
}

/** Milliseconds until the close of the next minute candle whose series the program knows by then. */
function untilRead(): number {
  const now = Date.now();
  return Math.ceil((now + SERIES_KNOWN_MS) / MINUTE_MS) * MINUTE_MS - now;
}

/** Numbers differ from user to user: those with the same words count together. */
async function listReasons(cluster: Cluster, signalId: string): Promise<Trade['reasons']> {
  const { rows } = await withDatabase(cluster, (client) =>
    client.query<{ reason: string; users: string }>(
      `select regexp_replace(steps.error_message, '[0-9]+', 'N', 'g') as reason, count(distinct steps.user_id) as users
       from workflow_steps as steps join workflows on workflows.id = steps.workflow_id
       where workflows.signal_id = $1 and steps.user_id is not null and steps.error_message is not null
       group by 1 order by 2 desc`,
      [signalId],
    ),
  );
  return rows.map(({ reason, users }) => ({ reason, users: Number(users) }));
}
