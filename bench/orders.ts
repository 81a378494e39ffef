import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTraders,
  describeGenerator,
  loadedBy,
  measureLoad,
  NO_WAITS,
  post,
  postSignalWithCandle,
  sendLoad,
  TRADING,
  waitForCloses,
  waitForOutcome,
  whyNotTraded,
} from './deliveries.ts';
import { type Bench, median, percentile, sum } from './figures.ts';
import {
  baseline,
  count,
  databaseUrl,
  inRounds,
  memoryMb,
  millisecondsEach,
  type Program,
  pidOf,
  repeat,
  runChild,
  timed,
  waitUntil,
  withProcessorTime,
  withProgram,
} from './harness.ts';

const WORKFLOW_LIMIT_MS = 600_000;

/** Deliveries while the engine trades for all users, beside the same deliveries while it is idle. */
export const trading: Bench = {
  about: 'deliveries while 1,000 users are traded',
  takes: '3 minutes',
  async run(context) {
    const { add, short } = context;
    const sizes = short ? { rounds: 1, users: 40, seconds: 3 } : { rounds: 2, users: 1000, seconds: 30 };

    async function measureRound(program: Program): Promise<void> {
      const { server, hookKey } = program;
      await createTraders(program, sizes.users);
      await sendLoad({ url: server.url, hookKey, kind: 'candle', seconds: 2 });
      const alone = await measureLoad(loadedBy(program), 'candle', sizes.seconds);
      add('candles alone', '/s', alone.rate);
      const signals = repeat(async (number) => {
        const token = `TRADED${number}`;
        const { id } = await postSignalWithCandle(program, { token });
        await waitForOutcome(program, id, { limitMs: WORKFLOW_LIMIT_MS, pollMs: 250 });
      });
      try {
        while ((await countOrders(program)) === 0) await Promise.race([sleep(50), signals.failed]);
        const before = await countOrders(program);
        const measuring = measureLoad(loadedBy(program), 'candle', sizes.seconds);
        const { load, rate, used } = await Promise.race([measuring, signals.failed]);
        const orders = (await countOrders(program)) - before;
        if (orders === 0) throw new Error('Nothing was traded during the load');
        add('candles while trading', '/s', rate);
        add('candles while trading to candles alone', '×', rate / alone.rate, { least: 0.6 });
        add('answer p50 while trading', 'ms', load.p50);
        add('answer p99 while trading', 'ms', load.p99);
        add('slowest answer while trading', 'ms', load.max, { most: 1000, everyRound: true });
        add('orders meanwhile', '/s', orders / load.seconds);
        const what = 'candles while trading (orders included), processor time of the';
        add(`${what} program for each`, 'ms', used.program);
        add(`${what} database for each`, 'ms', used.database);
      } finally {
        // The program ends now, so the signal in progress fails.
        void signals.stop().catch(() => {});
      }
    }

    await inRounds(context, { ...sizes, env: { ...TRADING, ...NO_WAITS } }, measureRound);
    return {
      about: `Candles over 50 connections for ${sizes.seconds} s while every signal is traded for ${sizes.users.toLocaleString('en')} users`,
      notes: [
        await describeGenerator(),
        'Signals, each for a token of its own, follow one another: the next one is sent when all users have had the last one. Paper exchange, waits before checks at 0.',
      ],
    };
  },
};

const countOrders = (program: Program) => count(program, 'select count(*) as count from paper_orders');

/** Many tokens, because the workflows of one token run sequentially. */
const IDLE_TOKENS = Array.from({ length: 20 }, (_, index) => `NOBODY${index + 1}`);
const IDLE_MS = 5_000;

/** Signals without an eligible user, from the delivery to the end of their workflows. */
export const workflows: Bench = {
  about: 'signals that nobody is traded for, to the end of their workflows',
  takes: '1 minute',
  async run(context) {
    const { add, short } = context;
    const { rounds, signals } = short ? { rounds: 1, signals: 60 } : { rounds: 3, signals: 1000 };

    async function measureRound(program: Program): Promise<void> {
      for (const token of IDLE_TOKENS) await post(program, 'candle', { token });
      // Warm-up: the first workflows run code that is not compiled yet.
      await runSignals(program, IDLE_TOKENS.length);
      const target = loadedBy(program);
      const idle = await withProcessorTime(target, () => sleep(IDLE_MS));
      const busy = await withProcessorTime(target, () => timed(() => runSignals(program, signals)));
      const tookMs = busy.result;
      add('workflows', '/s', (1000 * signals) / tookMs);
      for (const part of ['program', 'database'] as const) {
        const [all, atRest] = [busy.used[part], idle.used[part]];
        const used = all === null || atRest === null ? null : all - (atRest / IDLE_MS) * tookMs;
        const name = `processor time of the ${part} for each signal and its workflow`;
        add(name, 'ms', millisecondsEach(used, signals));
      }
    }

    await inRounds(context, { rounds, env: { ...TRADING, ...NO_WAITS } }, measureRound);
    return {
      about: `${signals.toLocaleString('en')} signals for ${IDLE_TOKENS.length} tokens, no eligible user`,
      notes: [
        'Each workflow goes as far as the selection of users, its price asked of the paper exchange. What the program takes when idle is taken off.',
      ],
    };
  },
};

/** Resolves when the last workflow has completed. */
async function runSignals(program: Program, signals: number): Promise<void> {
  const ended = (status: string) =>
    count(program, `select count(*) as count from workflows where status ${status}`);
  const all = (await ended("= 'completed'")) + signals;
  for (let sent = 0; sent < signals; sent += IDLE_TOKENS.length) {
    const tokens = IDLE_TOKENS.slice(0, signals - sent);
    await Promise.all(tokens.map((token) => post(program, 'signal', { token })));
  }
  async function areEnded(): Promise<boolean> {
    const failed = await ended("in ('failed', 'aborted')");
    if (failed > 0) throw new Error(`${failed} workflows failed`);
    return (await ended("= 'completed'")) >= all;
  }
  await waitUntil(areEnded, { what: 'the workflows ended', limitMs: 120_000, everyMs: 100 });
}

/** Keeps accounts small: the next user takes over after this many positions. */
const SIGNALS_A_USER = 25;
const SHORT_WAITS = { VERIFY_FIRST_MS: '200', VERIFY_SECOND_MS: '200', CANCEL_DELAY_MS: '100' };
/** Lets the program come to rest before each signal. */
const PAUSE_MS = 200;
/** Most orders have arrived by then. */
const ORDER_MS = 150;
const BARE = 'BARE';

/** The time from a signal's answer to its order at the exchange, beside an order sent by the client library. */
export const firstOrder: Bench = {
  about: "from a signal's answer to its first order",
  takes: '3 minutes',
  async run({ add, say, short }) {
    const { signals, warmUp } = short ? { signals: 10, warmUp: 2 } : { signals: 120, warmUp: 10 };
    const all = signals + warmUp;

    async function measure(program: Program, token: string): Promise<number> {
      await post(program, 'candle', { token });
      await sleep(PAUSE_MS);
      const { id, answeredAt } = await post(program, 'signal', { token });
      // Polling would take the program's processor time, so wait until the order has probably arrived.
      await sleep(ORDER_MS);
      const outcome = await waitForOutcome(program, id, { limitMs: 60_000, pollMs: 50 });
      if (outcome.successful !== 1) throw new Error(`${outcome.successful} of 1 users were successful`);
      return outcome.firstOrderAt - answeredAt;
    }

    await withProgram({ ...TRADING, ...SHORT_WAITS }, async (program) => {
      const setTrading = (userId: string | undefined, activeTrading: boolean) =>
        program.client.put(`/api/admin/user/${userId}/active-trading`, { activeTrading });
      const users = await createTraders(program, Math.ceil(all / SIGNALS_A_USER));
      for (const user of users.slice(1)) await setTrading(user, false);
      say(`${signals} orders by the client library`);
      const bareMs = (await placeBareOrders(program, all)).ordersMs.slice(warmUp);
      // As for traded tokens: with a candle, the list of contracts includes them.
      const tokens = Array.from({ length: all }, (_, number) => `FIRST${number}`);
      for (const token of tokens) await post(program, 'candle', { token });
      say(`${signals} signals`);
      const firstMs: number[] = [];
      for (const [number, token] of tokens.entries()) {
        if (number > 0 && number % SIGNALS_A_USER === 0) {
          const turn = number / SIGNALS_A_USER;
          await setTrading(users[turn - 1], false);
          await setTrading(users[turn], true);
        }
        const ms = await measure(program, token);
        if (number >= warmUp) firstMs.push(ms);
      }
      for (const ms of bareMs) add('one order by the library alone', 'ms', ms);
      for (const ms of firstMs) add('200 to the order at the exchange', 'ms', ms);
      const more = median(firstMs) - median(bareMs);
      add('200 to the order, median less that of the library alone', 'ms', more, { most: 40 });
      add('200 to the order at the exchange, p99', 'ms', percentile(firstMs, 0.99), { most: 250 });
      add('one order by the library alone, p99', 'ms', percentile(bareMs, 0.99));
    });
    return {
      about: "From the answer to a signal until the paper exchange has one eligible user's order",
      notes: [
        "The order's time is the paper exchange's own. The program works in whole milliseconds.",
        'By the library alone: the real client and transport against the test venue in their own process, on the same books and database, without the engine; the whole round trip of an order.',
        `One signal at a time, each for a token of its own that has had candles before; a new user after ${SIGNALS_A_USER} positions.`,
      ],
    };
  },
};

/** Milliseconds of each order placed by the client library, and of each order that closes one of their positions. */
async function placeBareOrders(
  program: Program,
  orders: number,
): Promise<{ ordersMs: number[]; closesMs: number[] }> {
  await post(program, 'candle', { token: BARE });
  const output = await runChild(process.execPath, baseline('orders', BARE, String(orders)), {
    env: { DATABASE_URL: databaseUrl(program.postmaster) },
    limitMs: 300_000,
  });
  return JSON.parse(output) as { ordersMs: number[]; closesMs: number[] };
}

const LOOK_EVERY_MS = 250;

/** One signal for a thousand users, beside the same number of orders sent by the client library in a loop. */
export const fanOut: Bench = {
  about: 'one signal for 1,000 users',
  takes: '3 minutes',
  async run(context) {
    const { add, short } = context;
    const { users, rounds } = short ? { users: 50, rounds: 1 } : { users: context.users ?? 1000, rounds: 2 };

    async function measureRound(program: Program): Promise<void> {
      const { server, client } = program;
      await createTraders(program, users);
      const bare = await placeBareOrders(program, users);
      const [loopMs, closingLoopMs] = [sum(bare.ordersMs), sum(bare.closesMs)];
      add(`${users} orders by the library alone, in a loop`, 's', loopMs / 1000);
      add(`${users} closing orders by the library alone, in a loop`, 's', closingLoopMs / 1000);
      const token = 'MANY';
      await post(program, 'candle', { token });
      await sleep(1000);
      const callsBefore = await countExchangeCalls(program);
      const [signalsMs, healthMs, programMb]: [number[], number[], (number | null)[]] = [[], [], []];
      // Polls as an operator's screens and a load balancer do.
      const looking = repeat(async () => {
        const tookMs = await timed(async () => {
          signalsMs.push(await timed(() => client.get('/api/signals')));
          healthMs.push(await timed(async () => (await fetch(`${server.url}/healthz`)).text()));
          programMb.push(await memoryMb([pidOf(server)]));
        });
        await sleep(Math.max(0, LOOK_EVERY_MS - tookMs));
      });
      const { result, used } = await withProcessorTime(loadedBy(program), async () => {
        const { id, answeredAt } = await post(program, 'signal', { token });
        const outcome = await waitForOutcome(program, id, { limitMs: WORKFLOW_LIMIT_MS, pollMs: 250 });
        await looking.stop();
        return { ...outcome, id, answeredAt };
      });
      const { id, successful, answeredAt, firstOrderAt, lastOrderAt, endedAt } = result;
      const calls = (await countExchangeCalls(program)) - callsBefore;
      if (successful !== users) {
        const reasons = await whyNotTraded(program, id);
        throw new Error(`${successful} of ${users} users were successful; the others: ${reasons}`);
      }
      const endMs = endedAt - answeredAt;
      add('200 to the first order', 'ms', firstOrderAt - answeredAt);
      add('200 to the last order', 's', (lastOrderAt - answeredAt) / 1000);
      add('200 to the end of the workflow', 's', endMs / 1000);
      add('end of the workflow to the loop', '×', endMs / loopMs, { most: 4 });
      add('requests to the exchange for each user', '', calls / users);
      add('last order to the loop', '×', (lastOrderAt - answeredAt) / loopMs);
      const greatest = programMb.includes(null) ? null : Math.max(...programMb.map(Number));
      add('greatest memory of the program', 'MB', greatest, { most: 500, everyRound: true });
      add('GET /api/signals meanwhile, p95', 'ms', percentile(signalsMs, 0.95), { most: 250 });
      add('GET /healthz meanwhile, p95', 'ms', percentile(healthMs, 0.95), { most: 100 });
      for (const part of ['program', 'database'] as const) {
        add(`processor time of the ${part} for each user`, 'ms', millisecondsEach(used[part], users));
      }
      await measureClosing(program, { token, closingLoopMs });
    }

    /** One signal closes what the one before has opened. */
    async function measureClosing(
      program: Program,
      { token, closingLoopMs }: { token: string; closingLoopMs: number },
    ): Promise<void> {
      await sleep(1000);
      const callsBefore = await countExchangeCalls(program);
      const { result, used } = await withProcessorTime(loadedBy(program), async () => {
        const { id, answeredAt } = await post(program, 'signal', { token, action: 'close' });
        const closed = await waitForCloses(program, id, { limitMs: WORKFLOW_LIMIT_MS, pollMs: 250 });
        return { ...closed, answeredAt };
      });
      const { answeredAt, lastCloseAt, endedAt, successful } = result;
      if (successful !== users) throw new Error(`${successful} of ${users} users were closed`);
      const calls = (await countExchangeCalls(program)) - callsBefore;
      add('closed by one signal: 200 to the last closing order', 's', (lastCloseAt - answeredAt) / 1000);
      add('closed by one signal: 200 to the end of the workflow', 's', (endedAt - answeredAt) / 1000);
      add(
        'closed by one signal: last closing order to the loop',
        '×',
        (lastCloseAt - answeredAt) / closingLoopMs,
      );
      add(
        'closed by one signal: end of the workflow to the loop',
        '×',
        (endedAt - answeredAt) / closingLoopMs,
        {
          most: 3,
        },
      );
      add('closed by one signal: requests for each user', '', calls / users);
      for (const part of ['program', 'database'] as const) {
        const name = `closed by one signal: processor time of the ${part} for each user`;
        add(name, 'ms', millisecondsEach(used[part], users));
      }
    }

    await inRounds(context, { rounds, env: { ...TRADING, ...NO_WAITS } }, measureRound);
    return {
      about: `One signal, ${users.toLocaleString('en')} eligible users, paper exchange, waits before checks at 0`,
      notes: [
        'The end is that of the workflow: every order is filled, read back, and its stop and target are seen at the exchange. The loop only places orders.',
        'Closed by one signal: the end is that of its workflow, when every position was read as gone and its leftover stop and target are cancelled. The loop only sends the orders that close.',
        'Memory is the proportional set size of the program; screens are asked every quarter of a second meanwhile.',
      ],
    };
  },
};

async function countExchangeCalls({ server }: Program): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const counters = text.matchAll(/^signal_board_exchange_calls_total(?:\{.*\})? (\d+)/gm);
  return sum([...counters].map(([, value]) => Number(value)));
}
