import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '#test/app/test-receivers.ts';
import {
  CONNECTIONS,
  createTraders,
  describeGenerator,
  loadedBy,
  measureLoad,
  NO_WAITS,
  postSignalWithCandle,
  sendLoad,
  TRADING,
  waitForOutcome,
} from './deliveries.ts';
import { type Bench, type BenchContext, median, percentile } from './figures.ts';
import {
  inRounds,
  type ProcessorTime,
  type Program,
  UNLIMITED,
  waitUntil,
  withDatabase,
  withProgram,
  withResource,
} from './harness.ts';

/** Twice, in both orders, so a drift of the machine affects both equally. */
const WATCHED = [false, true, true, false];

/** What the feed watch adds to a candle: it reads all that came from the price logs, three times a minute. */
export const feeds: Bench = {
  about: 'candles with the feed watch on and off',
  takes: '6 minutes',
  async run(context) {
    const { add, say, short } = context;
    // A phase holds two sweeps.
    const { rounds, seconds } = short ? { rounds: 1, seconds: 22 } : { rounds: 2, seconds: 42 };
    await inRounds(context, { rounds, env: UNLIMITED }, async (program) => {
      const { server, hookKey } = program;
      await sendLoad({ url: server.url, hookKey, kind: 'candle', seconds: 3 });
      const costs = { on: [] as number[], off: [] as number[] };
      const rates = { on: [] as number[], off: [] as number[] };
      for (const isOn of WATCHED) {
        const state = isOn ? 'on' : 'off';
        say(`the feed watch ${state}`);
        await forgetUnswept(program);
        await switchFeedWatch(program, isOn);
        const { rate, used } = await measureLoad(loadedBy(program), 'candle', seconds);
        rates[state].push(rate);
        const cost = together(used);
        if (cost !== null) costs[state].push(cost);
      }
      add('candles with the feed watch to candles without it', '×', median(rates.on) / median(rates.off));
      if (costs.on.length === 0) return;
      add('cost of a candle without the feed watch', 'ms', median(costs.off));
      add('cost of a candle with the feed watch', '×', median(costs.on) / median(costs.off), { most: 1.03 });
    });
    return {
      about: `Candles over ${CONNECTIONS} connections, ${seconds} s each with the feed watch off, on, on and off`,
      notes: [
        await describeGenerator(),
        'The cost is the processor time of program and database for each candle. A sweep runs every 20 s and reads each candle three times. Off: the benchmark holds the lease of the watch.',
      ],
    };
  },
};

const together = ({ program, database }: ProcessorTime): number | null =>
  program === null || database === null ? null : program + database;

/** Only the holder of its lease sweeps. */
const switchFeedWatch = (program: Program, isOn: boolean) =>
  withDatabase(program, (client) =>
    client.query(
      `insert into leases (key, holder, lease_until) values ('feed watch', 'the benchmark', $1)
       on conflict (key) do update set holder = excluded.holder, version = default, lease_until = excluded.lease_until`,
      [isOn ? '-infinity' : 'infinity'],
    ),
  );

/** What came while the watch was off is not swept later: that would count twice. */
const forgetUnswept = (program: Program) =>
  withDatabase(program, (client) =>
    client.query('update feed_sweeps set swept_to = (select id from price_logs order by id desc limit 1)'),
  );

const MANY = 1_000;
const WORKFLOW_LIMIT_MS = 300_000;

/** From the commit that makes something true to its message at a receiver; and a failure of many users. */
export const messages: Bench = {
  about: 'from a commit to its message, and a signal that fails for 1,000 users',
  takes: '3 minutes',
  async run(context) {
    const { say, short } = context;
    const sizes = short ? { signals: 10, users: 50 } : { signals: 100, users: MANY };
    await withProgram({ ...TRADING, ...NO_WAITS, ...OPEN }, async (program) => {
      say(`${sizes.signals} signals that are filled`);
      await measureTimes(context, program, sizes.signals);
    });
    await withProgram({ ...TRADING, ...NO_WAITS, ...OPEN, PAPER_BALANCE: '1' }, async (program) => {
      say(`a signal that fails for ${sizes.users} users`);
      await countMessages(context, program, sizes.users);
    });
    return {
      about:
        'Messages at a webhook on this machine: from the end of a workflow in the database to the arrival of what it tells',
      notes: [
        'One user, paper exchange, signals one after another, each for a token of its own. Both times are by the clock of this machine.',
        `The signal that fails: ${sizes.users.toLocaleString('en')} users whose balance is too small for an order, one channel of an administrator.`,
      ],
    };
  },
};

const OPEN = { NOTIFY_PRIVATE_ADDRESSES: 'allowed' };
const BETWEEN_MS = 1_000;
const MESSAGE_LIMIT_MS = 30_000;

interface Arrived {
  code: string;
  signalId: string | undefined;
  at: number;
}

/** Runs `work` with a receiver that is the administrator's channel, and what has arrived there. */
function withChannel<Result>(
  { client }: Program,
  work: (arrived: readonly Arrived[]) => Promise<Result>,
): Promise<Result> {
  const open = startReceiver;
  return withResource({ open, close: (receiver) => receiver.close() }, async (receiver) => {
    const arrived: Arrived[] = [];
    receiver.answerAlways((response, { body }) => {
      const { code, subject } = JSON.parse(body) as { code: string; subject: { signalId?: string } };
      arrived.push({ code, signalId: subject.signalId, at: Date.now() });
      response.writeHead(204).end();
    });
    await client.post('/api/notification-channels', {
      kind: 'webhook',
      name: 'Benchmark',
      config: { url: receiver.url },
    });
    return await work(arrived);
  });
}

async function measureTimes({ add }: BenchContext, program: Program, signals: number): Promise<void> {
  await createTraders(program, 1);
  await withChannel(program, async (arrived) => {
    const waits: number[] = [];
    for (let number = 0; number < signals; number += 1) {
      const token = `TOLD${number}`;
      const { id } = await postSignalWithCandle(program, { token });
      const { endedAt } = await waitForOutcome(program, id, { limitMs: WORKFLOW_LIMIT_MS, pollMs: 20 });
      const find = () => arrived.find((one) => one.code === 'trade_filled' && one.signalId === id);
      const what = `the message of signal ${number + 1}`;
      await waitUntil(async () => find() !== undefined, { what, limitMs: MESSAGE_LIMIT_MS, everyMs: 10 });
      waits.push((find()?.at ?? 0) - endedAt);
      // Not in step with the timer of the alerts.
      await sleep(BETWEEN_MS * Math.random());
    }
    add('commit to receipt, median', 'ms', median(waits));
    add('commit to receipt, p95', 'ms', percentile(waits, 0.95), { most: 2_000 });
  });
}

async function countMessages({ add }: BenchContext, program: Program, users: number): Promise<void> {
  await createTraders(program, users);
  await withChannel(program, async (arrived) => {
    const { id } = await postSignalWithCandle(program, { token: 'NONE' });
    const isThere = async () => arrived.some((one) => one.signalId === id);
    await waitUntil(isThere, { what: 'the message', limitMs: WORKFLOW_LIMIT_MS, everyMs: 100 });
    // Others would come within a minute, when those of a kind are put together.
    await sleep(65_000);
    const about = arrived.filter(({ signalId }) => signalId === id);
    add(`messages about a signal that fails for ${users} users`, '', about.length, { most: 1 });
  });
}
