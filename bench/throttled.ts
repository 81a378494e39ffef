import { setTimeout as sleep } from 'node:timers/promises';
import type { ClosePositionAnswer } from '#contract/positions.ts';
import { type ProgramClient, signIn } from '#demo/program-client.ts';
import { ADMIN, closeStages, openStage, type Stage, type Trader } from '#test/faults/stage.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { PRICE, post } from './deliveries.ts';
import { type Bench, type BenchContext, percentile, sum } from './figures.ts';
import { atInterruption, requireRunning } from './harness.ts';

const INSTANCES = 2;
/** A calm run before and after the disturbed ones, because the machine's speed varies. */
const RUNS = 4;
const PLATFORM = 'Bitget';
const ASK_EVERY_MS = 250;
const OWN_SIGNAL_EVERY_MS = 5_000;
/** The most that one key may send by default: 600 a minute. */
const BURST_EVERY_MS = 100;
/** More than may wait for one owner. */
const BURST_TOKENS = 60;
/** Of every answer to the account of the burst: below the time limit of a call. */
const SLOW_MS = 1_500;
const CLOSE_EVERY_MS = 1_000;
/** How long to wait for an order. */
const LAST_ORDER_MS = 30_000;
/** How long the workflows of a burst may take to end. */
const ALL_ENDED_MS = 180_000;
/** The last endpoints called for a balance, for the list of positions and before an order. */
const SOME_ENDPOINTS = ['spot/account/assets', 'mix/order/orders-plan-pending', 'mix/account/account'];

interface Sizes {
  accounts: number;
  runMs: number;
  signalEveryMs: number;
}

/** Whether other accounts are affected when the exchange throttles one, or is slow for one that bursts: between two calm runs. */
export const throttled: Bench = {
  about: 'signals and closes of 49 accounts while the exchange throttles the 50th, and while its user bursts',
  takes: '6 minutes',
  async run({ add, say, short }) {
    const sizes: Sizes = short
      ? { accounts: 10, runMs: 12_000, signalEveryMs: 4_000 }
      : { accounts: 50, runMs: 60_000, signalEveryMs: 15_000 };
    requireRunning();
    const forget = atInterruption(closeStages);
    const signals = Math.ceil(sizes.runMs / sizes.signalEveryMs);
    const ownSignals = Math.ceil(sizes.runMs / OWN_SIGNAL_EVERY_MS);
    const stage = await openStage({
      seed: 'throttled',
      database: 'external',
      instances: INSTANCES,
      tokens: 1 + RUNS * (signals + ownSignals) + BURST_TOKENS,
    });
    try {
      say(`${sizes.accounts} accounts`);
      const admins = await Promise.all(stage.instances.map(({ url }) => signIn({ url, ...ADMIN })));
      const victim = await stage.addTrader({ ownHook: true, ownFaults: true, platform: PLATFORM });
      while (stage.traders.length < sizes.accounts) {
        await stage.addTrader({ ownHook: false, ownFaults: false, platform: PLATFORM });
      }
      const others = stage.traders.filter((trader) => trader !== victim);
      const work: Work = { stage, admins, victim, others, sizes, signalled: [] };
      const tokens = [...stage.tokens];
      // Warm-up that opens a position for every account.
      await signalAll(work, tokens.shift() ?? '');

      const burst = tokens.splice(0, BURST_TOKENS);
      const throttle = (paths: readonly (string | undefined)[]) => {
        const times = Number.POSITIVE_INFINITY;
        const faults = paths.map((path): VenueFault => {
          return { kind: 'tooManyRequests', on: { ...(path === undefined ? {} : { path }), times } };
        });
        stage.exchange.setFaults(victim.accountId, faults);
      };
      const runOnce = (what: string, burstTokens: readonly string[] = []) => {
        say(what);
        const [all, own] = [tokens.splice(0, signals), tokens.splice(0, ownSignals)];
        return run(work, { all, own, burst: burstTokens });
      };
      const before = await runOnce('a calm run');
      throttle(SOME_ENDPOINTS);
      const half = setTimeout(() => throttle([undefined]), sizes.runMs / 2);
      const disturbed = await runOnce('a run with an account that is throttled');
      clearTimeout(half);
      const slow: VenueFault = {
        kind: 'delay',
        delayMs: SLOW_MS,
        on: { times: Number.POSITIVE_INFINITY },
      };
      stage.exchange.setFaults(victim.accountId, [slow]);
      const bursting = await runOnce('a run with a slow account whose user bursts', burst);
      stage.exchange.setFaults(victim.accountId, []);
      await allEnded(work);
      const after = await runOnce('another calm run');
      report(add, { calm: together(before, after), disturbed, bursting });
    } finally {
      forget();
      await stage.close();
    }
    return {
      about: `${sizes.accounts} accounts at ${PLATFORM}, one of them throttled for ${sizes.runMs / 1_000} s, ${INSTANCES} instances`,
      notes: [
        'Throttled: every request of the account is answered 429, in the first half of the run at three endpoints, in the second at all. Its user asks for the balance and the positions four times a second and has a webhook that sends a signal every five seconds, in all runs.',
        `Burst: every answer to the account takes ${SLOW_MS / 1_000} s, and its webhook sends ${60_000 / BURST_EVERY_MS} signals a minute, the most that one key may by default, to both instances in turn, in ${BURST_TOKENS} tokens. The calm run after it begins when all its workflows have ended.`,
        `An order's time is from the sending of the signal (one every ${sizes.signalEveryMs / 1_000} s for all accounts) to the arrival of the account's order at the exchange: mostly the wait for the request limit of the address (80 a second). A close is one of an administrator, a second apart, from the request to its answer. What was missing or failed counts with the time that was waited for it.`,
        'The exchange runs in the process of the benchmark, the instances are processes of their own.',
      ],
    };
  },
};

interface Work {
  stage: Stage;
  admins: ProgramClient[];
  /** The throttled account. */
  victim: Trader;
  others: Trader[];
  sizes: Sizes;
  /** Tokens of the signals sent to all accounts. */
  signalled: string[];
}

interface Run {
  orderMs: number[];
  closeMs: number[];
  missingOrders: number;
  failedCloses: number;
  /** Requests of the throttled account that reached the exchange. */
  throttledCalls: number;
}

const together = (one: Run, other: Run): Run => ({
  orderMs: [...one.orderMs, ...other.orderMs],
  closeMs: [...one.closeMs, ...other.closeMs],
  missingOrders: one.missingOrders + other.missingOrders,
  failedCloses: one.failedCloses + other.failedCloses,
  throttledCalls: (one.throttledCalls + other.throttledCalls) / 2,
});

function report(
  add: BenchContext['add'],
  { calm, disturbed, bursting }: { calm: Run; disturbed: Run; bursting: Run },
): void {
  for (const [name, { orderMs, closeMs }] of [
    ['calm', calm],
    ['throttled', disturbed],
    ['burst', bursting],
  ] as const) {
    for (const ms of orderMs) add(`signal to order, ${name}`, 'ms', ms);
    add(`signal to order, ${name}, p95`, 'ms', percentile(orderMs, 0.95));
    for (const ms of closeMs) add(`close, ${name}`, 'ms', ms);
    add(`close, ${name}, p95`, 'ms', percentile(closeMs, 0.95));
  }
  const ratio = (of: Run, part: 'orderMs' | 'closeMs') =>
    percentile(of[part], 0.95) / percentile(calm[part], 0.95);
  add('signal to order, throttled to calm, p95', '×', ratio(disturbed, 'orderMs'), { most: 1.5 });
  add('close, throttled to calm, p95', '×', ratio(disturbed, 'closeMs'), { most: 1.5 });
  add('signal to order, burst to calm, p95', '×', ratio(bursting, 'orderMs'), { most: 2 });
  add('close, burst to calm, p95', '×', ratio(bursting, 'closeMs'), { most: 2 });
  add('orders of others missing after 30 s, burst', '', bursting.missingOrders, { most: 0 });
  add('closes of others that failed, burst', '', bursting.failedCloses, { most: 0 });
  add('orders of others missing after 30 s, calm', '', calm.missingOrders);
  add('orders of others missing after 30 s, throttled', '', disturbed.missingOrders, { most: 0 });
  add('closes of others that failed, calm', '', calm.failedCloses);
  add('closes of others that failed, throttled', '', disturbed.failedCloses, { most: 0 });
  add('requests of the throttled account, calm', '', calm.throttledCalls);
  add('requests of the throttled account, throttled', '', disturbed.throttledCalls);
}

/** A signal for all accounts every few seconds, a close every second, and extra load by the one account. */
async function run(
  work: Work,
  tokens: { all: readonly string[]; own: readonly string[]; burst: readonly string[] },
): Promise<Run> {
  const { stage, victim, sizes } = work;
  const endsAt = performance.now() + sizes.runMs;
  const isOver = () => performance.now() >= endsAt;
  let throttledCalls = 0;
  const unwatch = stage.exchange.watch(({ accountId }) => {
    if (accountId === victim.accountId) throttledCalls += 1;
  });
  const asking = keepAsking(work, tokens.own, isOver);
  const bursting = burst(work, tokens.burst, isOver);
  const closing = keepClosing(work, isOver);
  const ordered: Promise<{ orderMs: number[]; missing: number }>[] = [];
  for (const token of tokens.all) {
    if (isOver()) break;
    const nextAt = performance.now() + sizes.signalEveryMs;
    ordered.push(signalAll(work, token));
    await sleep(Math.max(0, Math.min(nextAt, endsAt) - performance.now()));
  }
  const orders = await Promise.all(ordered);
  const closes = await closing;
  await Promise.all([asking, bursting]);
  unwatch();
  return {
    orderMs: orders.flatMap(({ orderMs }) => orderMs),
    missingOrders: sum(orders.map(({ missing }) => missing)),
    ...closes,
    throttledCalls,
  };
}

/** Sends a signal for all accounts; resolves with the times of the others' orders when the last one has arrived. */
async function signalAll(
  { stage, others, signalled }: Work,
  token: string,
): Promise<{ orderMs: number[]; missing: number }> {
  signalled.push(token);
  const waiting = new Set(others.map(({ accountId }) => accountId));
  const orderMs: number[] = [];
  const { promise: arrived, resolve: allArrived } = Promise.withResolvers<void>();
  const sentAt = performance.now();
  const unwatch = stage.exchange.watch((call) => {
    if (call.token !== token || !call.operations.includes('place-order')) return;
    if (!waiting.delete(call.accountId ?? '')) return;
    orderMs.push(performance.now() - sentAt);
    if (waiting.size === 0) allArrived();
  });
  const given = new AbortController();
  try {
    const [instance] = stage.instances;
    await post({ server: { url: instance?.url ?? '' }, hookKey: stage.hookKey }, 'signal', { token });
    await Promise.race([arrived, sleep(LAST_ORDER_MS, undefined, { signal: given.signal })]);
  } finally {
    given.abort();
    unwatch();
  }
  // Missing orders count with the full wait; skipping them would make the result look fast.
  for (const _ of waiting) orderMs.push(LAST_ORDER_MS);
  return { orderMs, missing: waiting.size };
}

/** Closes a position of one of the other accounts every second, alternating between instances. */
async function keepClosing(
  work: Work,
  isOver: () => boolean,
): Promise<Pick<Run, 'closeMs' | 'failedCloses'>> {
  const { admins, others } = work;
  const closeMs: number[] = [];
  let failedCloses = 0;
  const underWay: Promise<void>[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    const trader = others[turn % others.length];
    const admin = admins[turn % admins.length];
    const token = trader === undefined ? null : await findPosition(work, trader);
    if (trader !== undefined && admin !== undefined && token !== null) {
      underWay.push(
        closeOne(admin, { userId: trader.userId, token }).then(({ ms, isClosed }) => {
          closeMs.push(ms);
          if (!isClosed) failedCloses += 1;
        }),
      );
    }
    await sleep(CLOSE_EVERY_MS);
  }
  await Promise.all(underWay);
  return { closeMs, failedCloses };
}

async function findPosition({ stage, signalled }: Work, { accountId }: Trader): Promise<string | null> {
  for (const token of signalled) {
    const { position, stopLoss } = await stage.exchange.holding(accountId, token);
    if (position !== null && stopLoss !== null) return token;
  }
  return null;
}

/** Closes a position. While its order is being followed it cannot be closed: retries and restarts the timer. */
async function closeOne(
  admin: ProgramClient,
  task: { userId: string; token: string },
): Promise<{ ms: number; isClosed: boolean }> {
  const askedAt = performance.now();
  for (let tries = 0; tries < 20; tries += 1) {
    const startedAt = performance.now();
    const { success, message } = await admin.post<ClosePositionAnswer>('/api/positions/close', task);
    if (success) return { ms: performance.now() - startedAt, isClosed: true };
    if (!/still being worked on|being prepared or closed/.test(message)) break;
    await sleep(200);
  }
  return { ms: performance.now() - askedAt, isClosed: false };
}

/** Sends as many own signals as the key may, to the instances in turn. */
async function burst(
  { stage, victim }: Work,
  tokens: readonly string[],
  isOver: () => boolean,
): Promise<void> {
  const answers: Promise<unknown>[] = [];
  for (let turn = 0; tokens.length > 0 && !isOver(); turn += 1) {
    const server = { url: stage.instances[turn % stage.instances.length]?.url ?? '' };
    const token = tokens[turn % tokens.length] ?? '';
    answers.push(post({ server, hookKey: victim.hookKey ?? '' }, 'signal', { token, price: PRICE }));
    await sleep(BURST_EVERY_MS);
  }
  await Promise.all(answers);
}

/** Waits until no workflow is under way. */
async function allEnded({ admins }: Work): Promise<void> {
  const isUnderWay = async (status: string) => {
    const path = `/api/automation-workflows?status=${status}&limit=1`;
    return ((await admins[0]?.get<{ total: number }>(path))?.total ?? 0) > 0;
  };
  const givesUpAt = performance.now() + ALL_ENDED_MS;
  while ((await isUnderWay('pending')) || (await isUnderWay('processing'))) {
    if (performance.now() > givesUpAt) throw new Error('the workflows of the burst do not end');
    await sleep(ASK_EVERY_MS);
  }
}

/** Polls the screens of the throttled account's user at both instances, and sends that user's own signals. */
async function keepAsking(
  { stage, admins, victim }: Work,
  tokens: readonly string[],
  isOver: () => boolean,
): Promise<void> {
  const asking = admins.map(async (admin) => {
    while (!isOver()) {
      const paths = [`/api/admin/account-balance/${victim.userId}`, `/api/positions?userId=${victim.userId}`];
      // The answer is 503 while throttled.
      await Promise.allSettled(paths.map((path) => admin.get(path)));
      await sleep(ASK_EVERY_MS);
    }
  });
  const [instance] = stage.instances;
  const target = { server: { url: instance?.url ?? '' }, hookKey: victim.hookKey ?? '' };
  for (const token of tokens) {
    if (isOver()) break;
    await post(target, 'signal', { token, price: PRICE });
    await sleep(OWN_SIGNAL_EVERY_MS);
  }
  await Promise.all(asking);
}
