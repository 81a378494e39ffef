import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { CanarySettings } from '#domain/workflow/canary.ts';
import { verifyDecisions } from '#server/console/signals/verify-decisions.ts';
import { auditLog, orderAttempts, strategies, trades } from '#server/platform/db/schema.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, entriesOf, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken, openLongByHand, reasonFor } from '#test/app/token-holders.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { runWorkflow } from './run-workflow.ts';
import { tradeWave } from './trade-wave.ts';

/** The first users of a strategy trade before the others, with the ledger of the exchange as the witness. */
const engine = sharedTestEngine();

const CANARY: CanarySettings = { users: 2, withinSeconds: 20, maxSlippageBps: 50 };

const setCanary = (canary: CanarySettings) =>
  engine.db
    .insert(strategies)
    .values({ strategy: 'tesla', canary, updatedAt: new Date() })
    .onConflictDoUpdate({ target: strategies.strategy, set: { canary } });

beforeEach(() => setCanary(CANARY));
afterEach(() => engine.db.delete(strategies));

/** Users in the order of trading, and a signal for them that is not taken up yet. */
async function fanOut({
  count = 3,
  platform = 'Bitget',
  action = 'buy',
  mark = '100',
}: {
  count?: number;
  platform?: ExchangePlatform;
  action?: 'buy' | 'sell';
  /** Of the exchange; the price of the signal is 100. */
  mark?: string;
} = {}) {
  const userIds: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const tradeOrderSet = String.fromCharCode('A'.charCodeAt(0) + index);
    const settings = { positionSizingMethod: 'Risk Management', exchangePlatform: platform, tradeOrderSet };
    userIds.push(await engine.createUser(settings));
  }
  const token = nextToken();
  const receivedAt = engine.clock.now();
  const signal = await engine.storeSignal({ token, action, price: '100', receivedAt });
  if (mark !== '100') {
    engine.clock.advance(1_000);
    await engine.storeCandle({ token, price: mark });
  }
  return { receivedAt, ...signal, token, userIds };
}
type FanOut = Awaited<ReturnType<typeof fanOut>>;

/** How many entries the exchange has of each user. */
const entriesOfAll = ({ userIds }: FanOut) =>
  Promise.all(userIds.map(async (userId) => (await entriesOf(engine, userId)).length));

const reasonsFor = ({ workflowId, userIds }: FanOut) =>
  Promise.all(userIds.map((userId) => reasonFor(engine, { workflowId, userId })));

/** These users got no order and no request, each with the reason and a decision that can be computed again. */
async function expectNobodyElse(signal: FanOut, { from, what }: { from: number; what: RegExp }) {
  const entries = await entriesOfAll(signal);
  expect(entries.slice(from)).toEqual(signal.userIds.slice(from).map(() => 0));
  for (const reason of (await reasonsFor(signal)).slice(from)) {
    expect(reason).toMatch(/^The canary of the strategy failed, so nobody else is traded: canary \d of \d /);
    expect(reason).toMatch(what);
  }
  const workflow = await engine.workflow(signal.workflowId);
  expect(workflow).toMatchObject({ status: 'completed', canaryState: 'failed' });
  expect(workflow.canaryReason).toMatch(what);
  const audited = await engine.db.select().from(auditLog).where(eq(auditLog.action, 'canary failed'));
  expect(audited.filter(({ after }) => after?.workflowId === signal.workflowId)).toHaveLength(1);
  expect(await verifyDecisions(engine.deps, signal.signalId)).toMatchObject({ differing: [] });
}

/** When each user's first order was sent and when the order was done, in the order of trading. */
async function timesOf({ signalId, userIds }: FanOut) {
  const rows = await engine.db
    .select({ userId: trades.userId, sentAt: orderAttempts.submittedAt, completedAt: trades.completedAt })
    .from(trades)
    .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .where(eq(trades.signalId, signalId));
  return userIds.map((userId) => rows.find((row) => row.userId === userId));
}

const strikeUser = (userId: string | undefined, ...faults: VenueFault[]) =>
  engine.venue.setFaults(
    faults.map((fault) => ({ ...fault, on: { times: ALWAYS, ...fault.on, userId } }) as VenueFault),
  );

// Requirements: additions-limits-12
test('the others follow when the first users are filled and protected', async () => {
  const signal = await fanOut();
  await engine.settle();
  expect(await entriesOfAll(signal)).toEqual([1, 1, 1]);
  const [first, second, ...others] = await timesOf(signal);
  for (const other of others) {
    for (const canary of [first, second]) {
      expect(other?.sentAt?.getTime()).toBeGreaterThanOrEqual(canary?.completedAt?.getTime() ?? Infinity);
    }
  }
  const { canaryState, canaryDueAt } = await engine.workflow(signal.workflowId);
  expect(canaryState).toBe('passed');
  expect(canaryDueAt?.getTime()).toBe((first?.sentAt?.getTime() ?? 0) + 20_000);
  expect(await verifyDecisions(engine.deps, signal.signalId)).toMatchObject({ differing: [] });
});

const FAULTS: [string, ExchangePlatform, VenueFault[], RegExp][] = [
  ['its stop is dropped', 'Bitget', [{ kind: 'stopDropped' }], /the exchange did not keep the stop/],
  [
    'its stop is dropped for good',
    'Bybit',
    [{ kind: 'stopDropped' }, { kind: 'stopRefused' }],
    /canary 1 of 2 failed: /,
  ],
  ['its entry is refused', 'Bitget', [{ kind: 'balanceRefused' }], /canary 1 of 2 failed: /],
  [
    'its order stays in doubt',
    'Bybit',
    [{ kind: 'lateArrival', afterMs: 40_000 }],
    /not filled and protected within 20 s/,
  ],
];

// Requirements: additions-limits-12
test.each(firstCases(FAULTS))(
  'nobody else is traded when %s at the first user (%s)',
  async (_name, platform, faults, what) => {
    const signal = await fanOut({ platform });
    strikeUser(signal.userIds[0], ...faults);
    await engine.settle();
    await expectNobodyElse(signal, { from: 2, what });
  },
);

test('nobody else is traded when a first user fills too slowly, and the order itself is followed to its end', async () => {
  await setCanary({ ...CANARY, withinSeconds: 6 });
  const signal = await fanOut();
  strikeUser(signal.userIds[1], { kind: 'restFirst' });
  await engine.settle();
  await expectNobodyElse(signal, { from: 2, what: /canary 2 of 2 was not filled and protected within 6 s/ });
  expect((await engine.trades(signal.signalId)).map(({ state }) => state)).toEqual(['done', 'done']);
});

testEveryCase('nobody else is traded when the first user is filled at too bad a price', async () => {
  await setCanary({ users: 1, withinSeconds: 20, maxSlippageBps: 20 });
  const signal = await fanOut({ action: 'sell', mark: '99.6' });
  await engine.settle();
  const what = /bps worse than the signal price 100, the limit is 20 bps/;
  await expectNobodyElse(signal, { from: 1, what });
});

testEveryCase(
  'each wave behind a canary calls the next one, although a call at the end of its time waits',
  async () => {
    await setCanary({ ...CANARY, users: 1 });
    const signal = await fanOut({ count: 11 });
    let isCallWaiting = false;
    let called = 0;
    const jobs: Jobs = {
      ...engine.deps.jobs,
      async send(_db, name, _data, { waitMs } = {}) {
        if (name !== 'trade-wave') return;
        if (waitMs === undefined) called += 1;
        else isCallWaiting = true;
      },
      async sendMissing(_db, name) {
        if (name === 'trade-wave' && !isCallWaiting) called += 1;
      },
    };
    const deps = engine.depsWith({ jobs });
    await runWorkflow(deps, signal.workflowId);
    await tradeWave(deps, signal);
    const [canary] = await engine.trades(signal.signalId);
    while ((await engine.advance(canary?.id ?? '', deps)).state !== 'done');
    expect(isCallWaiting).toBe(true);
    called = 0;
    await tradeWave(deps, signal);
    expect(await engine.trades(signal.signalId)).toHaveLength(9);
    expect(called).toBeGreaterThan(0);
  },
);

testEveryCase('a skipped user passes the role on', async () => {
  const signal = await fanOut({ count: 5 });
  const { token, userIds } = signal;
  for (const userId of userIds.slice(0, 2)) await openLongByHand(engine, { userId: userId ?? '', token });
  strikeUser(userIds[3], { kind: 'balanceRefused' });
  await engine.settle();
  const reasons = await reasonsFor(signal);
  expect(reasons.slice(0, 2).every((reason) => reason?.includes('was not opened here'))).toBe(true);
  expect(reasons[2]).toBeNull();
  await expectNobodyElse(signal, { from: 4, what: /canary 2 of 2 failed: / });
});

testEveryCase('all who would go first are skipped: everybody had the turn', async () => {
  const signal = await fanOut({ count: 3 });
  for (const userId of signal.userIds) await openLongByHand(engine, { userId, token: signal.token });
  await engine.settle();
  const workflow = await engine.workflow(signal.workflowId);
  expect(workflow).toMatchObject({ status: 'completed', skippedUsersCount: 3 });
});

testEveryCase('fewer users than go first all trade at once', async () => {
  const signal = await fanOut({ count: 2 });
  strikeUser(signal.userIds[0], { kind: 'balanceRefused' });
  await engine.settle();
  expect(await entriesOfAll(signal)).toEqual([0, 1]);
  expect((await engine.workflow(signal.workflowId)).canaryState).toBeNull();
});

testEveryCase('those who follow read the age of the signal again', async () => {
  const signal = await fanOut({ count: 2 + 1 });
  const { workflowId, userIds } = signal;
  await engine.db.update(strategies).set({ maxSignalAgeSeconds: 10 });
  strikeUser(userIds[1], { kind: 'restFirst' });
  await engine.settle({
    agenda: {
      nextAt: () => null,
      run: async () => {},
      // The price comes when the signal has become too old.
      async onRound() {
        if (engine.clock.now().getTime() - signal.receivedAt.getTime() > 10_000)
          await engine.storeCandle({ token: signal.token, price: '100' });
      },
    },
  });
  expect(await reasonFor(engine, { workflowId, userId: userIds[2] ?? '' })).toMatch(/^Signal expired: /);
  expect((await engine.workflow(workflowId)).canaryState).toBe('passed');
});

/** Changes to the database and requests to the exchange after which the process dies. */
const POINTS = [8, 20];

test.each(firstCases(POINTS))(
  'a process killed at its change %i leaves the decision to its successor',
  async (afterChanges) => {
    const signal = await fanOut({ count: 3, platform: afterChanges === 8 ? 'Bybit' : 'Bitget' });
    await setCanary({ ...CANARY, users: 1 });
    strikeUser(signal.userIds[0], { kind: 'stopDropped' });
    const { live, bury } = engine.mortal({ afterChanges });
    await live();
    await bury();
    await engine.restart();
    await engine.settle();
    await expectNobodyElse(signal, { from: 1, what: /the exchange did not keep the stop|within 20 s/ });
  },
);

testEveryCase('the time of the first users runs on while no process lives', async () => {
  const signal = await fanOut();
  strikeUser(signal.userIds[0], { kind: 'restFirst' });
  await runWorkflow(engine.deps, signal.workflowId);
  await tradeWave(engine.deps, signal);
  const { canaryDueAt } = await engine.workflow(signal.workflowId);
  expect(canaryDueAt).not.toBeNull();
  engine.clock.advance(60_000);
  await engine.restart();
  await engine.settle();
  await expectNobodyElse(signal, { from: 2, what: /within 20 s|later than 20 s/ });
  expect((await engine.workflow(signal.workflowId)).canaryDueAt).toEqual(canaryDueAt);
});

// Requirements: results-rotation-2
testEveryCase(
  'users of the same trading order take turns at being first, where their strategy says so',
  async () => {
    await engine.db.update(strategies).set({ canary: null, rotation: true });
    const userIds = [await engine.createUser(), await engine.createUser(), await engine.createUser()];
    const first = await engine.createUser({ tradeOrderSet: 'A' });
    const orders: (string | undefined)[][] = [];
    for (let signal = 0; signal < 4; signal += 1) {
      const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
      await runWorkflow(engine.deps, workflowId);
      const parts = [...(await engine.outcomes(workflowId)).values()];
      const inOrder = parts.flatMap(({ userId, position }) => (position === null ? [] : [userId]));
      expect(inOrder[0]).toBe(first);
      expect(new Set(inOrder.slice(1))).toEqual(new Set(userIds));
      orders.push(inOrder.slice(1));
    }
    const [one = [], two, three] = orders;
    const [a, b, c] = one;
    expect(two).toEqual([c, b, a]);
    expect(three).toEqual([b, c, a]);
  },
);
