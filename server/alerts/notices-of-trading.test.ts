import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NOTICES, type NoticeCode } from '#contract/notices.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import { stopEntries } from '#server/admin/stops/stop-entries.ts';
import { insertFlatten } from '#server/console/positions/flatten.store.ts';
import { createFlattener } from '#server/console/positions/flatten.ts';
import type { EngineDeps } from '#server/deps.ts';
import { replaceExitPlan } from '#server/engine/exits/exit-plans.store.ts';
import { createExitWatch } from '#server/engine/exits/watch-exits.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import {
  noticeStates,
  notices,
  notificationChannels,
  userSettings,
  users,
} from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { auditOnce, follow, writeOff } from '#test/app/followed-trades.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { ofUser, setLimits, watchAll } from '#test/app/risk-limits.ts';
import {
  ALWAYS,
  planTrade,
  sharedTestEngine,
  storeTradedSignal,
  strike,
} from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { startReceiver, type TestReceiver } from '#test/app/test-receivers.ts';
import { nextToken, withLong } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { newSigningSecret, sealConfig, shownConfig } from './channel-config.ts';
import { summarizeDay } from './daily-summary.ts';
import { makeNotices } from './make-notices.ts';
import type { Message } from './send-message.ts';
import { createOutbox } from './send-outbox.ts';

/* Each notice of the catalogue is caused by what really happens, and arrives at a receiver. */

const engine = sharedTestEngine({
  config: {
    notifyPrivateAddresses: 'allowed',
    publicUrl: 'https://board.example.com',
    displayTimezone: 'UTC',
  },
});
let receiver: TestReceiver;
let operatorId: string;
const received = () => receiver.received.map(({ body }) => JSON.parse(body) as Message);

beforeAll(async () => {
  receiver = await startReceiver();
  const id = timeOrderedId();
  operatorId = await engine.createUser({}, { username: 'operator@example.com' });
  const ownerUserId = operatorId;
  const config = { kind: 'webhook', url: receiver.url, secret: newSigningSecret() } as const;
  await engine.db.insert(notificationChannels).values({
    id,
    ownerUserId,
    kind: 'webhook',
    name: 'Operations',
    configSealed: sealConfig(engine.deps.secretBox, config, { id, ownerUserId }),
    shown: shownConfig(config),
    minSeverity: 'info',
    enabled: true,
    createdAt: engine.clock.now(),
    updatedAt: engine.clock.now(),
  });
});
beforeEach(async () => {
  receiver.received.length = 0;
  await engine.db.update(users).set({ isAdmin: true, isActive: true }).where(eq(users.id, operatorId));
  await engine.db
    .update(userSettings)
    .set({ activeTrading: false })
    .where(eq(userSettings.userId, operatorId));
});
afterAll(() => receiver.close());

/** Makes and sends what there is, and what was held back to be told together. */
async function deliver(waitsMs = [0, 3_001, 60_001]) {
  for (const waitMs of waitsMs) {
    engine.clock.advance(waitMs);
    await withLease({ db: engine.db, key: 'notices', holder: 'test' }, async (lease) => {
      while (await makeNotices(engine.deps, lease));
    });
    await (await createOutbox(engine.deps).send()).done;
  }
}

/** The one notice of this kind: its severity is that of the catalogue. */
function expectNotice(code: NoticeCode, expected: { text: RegExp; userId?: string | null; link: string }) {
  const found = received().filter((message) => message.code === code);
  expect(
    found.map(({ text }) => text),
    code,
  ).toEqual([expect.stringMatching(expected.text)]);
  const [message] = found;
  expect(message?.severity).toBe(NOTICES[code].severity);
  expect(message?.link).toBe(`https://board.example.com${expected.link}`);
  if (expected.userId !== undefined) expect(message?.subject.userId ?? null).toBe(expected.userId);
}

describe('a signal', () => {
  test('that is filled, and its position that the stop closes', async () => {
    const { userId, token, signalId } = await storeTradedSignal(engine);
    await engine.settle();
    await deliver();
    const link = `/signals?dialog=users&signal=${signalId}`;
    expectNotice('trade_filled', {
      text: new RegExp(`^Filled for \\S+: buy [\\d.]+ ${token} at [\\d.]+$`),
      userId,
      link,
    });
    receiver.received.length = 0;
    const [trade] = await engine.trades(signalId);
    await engine.storeCandle({ token, price: String(Number(trade?.stopLoss) * 0.99) });
    await auditOnce(engine);
    await deliver();
    expectNotice('position_closed', {
      text: new RegExp(
        `^Position closed for \\S+: long [\\d.]+ ${token}, net −[\\d.]+ USDT \\(−[\\d.]+ R\\) \\(stop loss\\)$`,
      ),
      userId,
      link: '/positions',
    });
  });

  test('that fills nobody, and one whose workflow fails', async () => {
    const { userId, token, signalId } = await storeTradedSignal(engine);
    engine.venue.setFaults([{ kind: 'refuse', code: '40762', on: { path: 'place-order', times: ALWAYS } }]);
    await engine.settle();
    const late = await engine.storeSignal({ token: nextToken(), price: '100' });
    engine.clock.advance(30 * 60_000 + 1);
    await engine.settle();
    await deliver();
    const link = `/signals?dialog=users&signal=${signalId}`;
    expectNotice('order_not_filled', {
      text: new RegExp(`^Order not filled for \\S+ \\(${token} buy\\): .*40762`),
      userId,
      link,
    });
    expectNotice('signal_filled_nobody', {
      text: new RegExp(`^The signal ${token} buy filled nobody: `),
      link,
    });
    expectNotice('workflow_failed', {
      text: /^The workflow of \S+ buy failed: Signal expired/,
      link: `/automation-workflows?dialog=steps&workflow=${late.workflowId}`,
    });
  });

  testEveryCase('whose order stays in doubt', async () => {
    const { userId, trade } = await planTrade(engine, {
      faults: [
        { kind: 'cutAfterAccept', on: { path: 'place-order' } },
        { kind: 'refuse', code: '40109', on: { path: 'order/detail', times: ALWAYS } },
      ],
    });
    await follow(engine, trade.id, 5 * 60_000);
    await deliver();
    await writeOff(engine, trade.id);
    expectNotice('order_in_doubt', {
      text: new RegExp(`^Order in doubt for \\S+ \\(${trade.token} buy\\): .*does not know the order`),
      userId,
      link: '/position-maker',
    });
  });
});

test('a position without a stop, and the halt of its user', async () => {
  const { userId, token, trade } = await planTrade(engine);
  const on = { times: ALWAYS };
  strike(engine, userId, [
    { kind: 'stopDropped', on },
    { kind: 'stopRefused', on },
    { kind: 'closeRefused', on },
  ]);
  const isHalted = () => received().some(({ code }) => code === 'user_halted');
  for (let step = 0; step < 40 && !isHalted(); step += 1) {
    await engine.advance(trade.id);
    await deliver([1_000]);
  }
  const about = { userId, link: '/positions' };
  expectNotice('position_without_stop', {
    text: new RegExp(`^Position without a stop for \\S+: buy ${token}\\. `),
    ...about,
  });
  expectNotice('user_halted', { text: /^Trading of \S+ is halted: /, ...about });
  engine.venue.setFaults([]);
  await engine.settle();
});

testEveryCase('the halt of a user whose stop cannot be read, and its end when it is seen again', async () => {
  const { userId, token } = await withLong(engine);
  const stops = and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss'));
  await engine.db.update(paperTriggerOrders).set({ state: 'cancelled' }).where(stops);
  const blind = createProtectionAudit(
    answering(engine.deps, () => ({
      fetchHolding: () => Promise.reject(new ExchangeError('unknown', 'the answer has no size')),
    })),
  );
  for (let round = 0; round < 2; round += 1) {
    await auditOnce(engine, blind);
    engine.clock.advance(30_000);
  }
  await deliver();
  const about = { userId, link: '/positions' };
  expectNotice('user_halted', { text: /^Trading of \S+ is halted: /, ...about });
  await auditOnce(engine);
  await engine.settle();
  await auditOnce(engine);
  await deliver();
  expectNotice('user_resumed', {
    text: new RegExp(`^Trading of \\S+ is resumed \\(${token}\\)$`),
    ...about,
  });
});

describe('an exit plan', () => {
  async function withPlan(plan: Partial<ExitPlan>) {
    const token = nextToken();
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const scope = { kind: 'user', value: userId } as const;
    await engine.db.transaction((tx) =>
      replaceExitPlan(tx, { scope, plan: { takeProfits: [], ...plan }, now: engine.clock.now() }),
    );
    await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    await look();
    return { userId, token };
  }
  async function look(deps: EngineDeps = engine.deps) {
    const watch = createExitWatch(deps, createAccountReader(deps));
    engine.clock.advance(1_000);
    await watch.run();
    await watch.idle();
  }
  async function priceOf(token: string, price: string) {
    engine.clock.advance(1_000);
    await engine.storeCandle({ token, price });
    await look();
  }

  test('closes a part, moves the stop, and closes the rest after its longest holding', async () => {
    const { userId, token } = await withPlan({
      takeProfits: [{ atR: '1', percent: 50 }],
      breakEvenAtR: '1',
      maxHoldingMinutes: 60,
    });
    await priceOf(token, '102');
    await look();
    engine.clock.advance(60 * 60_000);
    await priceOf(token, '101');
    await deliver();
    const about = { userId, link: '/positions' };
    expectNotice('exit_part_closed', {
      text: new RegExp(`^Part 1 of the exit plan closed for \\S+: [\\d.]+ ${token} at 1 R \\(`),
      ...about,
    });
    expectNotice('exit_stop_moved', { text: new RegExp(`^Stop moved for \\S+ \\(${token}, `), ...about });
    expectNotice('exit_time_closed', {
      text: new RegExp(`^Position closed for \\S+ after 6\\d minutes: [\\d.]+ ${token}$`),
      ...about,
    });
  });

  testEveryCase('that cannot be carried out', async () => {
    const { userId, token } = await withPlan({ breakEvenAtR: '1' });
    strike(engine, userId, [
      { kind: 'refuse', code: '40020', message: 'no', on: { path: 'modify-tpsl-order', times: 1_000 } },
      { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-tpsl-order', times: 1_000 } },
    ]);
    await priceOf(token, '102');
    await engine.settle();
    await deliver();
    expectNotice('exit_not_done', {
      text: new RegExp(`^Exit plan of \\S+ not carried out \\(${token}, `),
      userId,
      link: '/positions',
    });
  });
});

testEveryCase('a risk limit that is reached, a stop, and the closing of all positions', async () => {
  const { userId, token } = await withLong(engine);
  await setLimits(engine, ofUser(userId), { maxDailyLoss: '100' });
  await watchAll(engine);
  await engine.storeCandle({ token, price: '99' });
  engine.clock.advance(60_000);
  await watchAll(engine);
  const scope = { kind: 'user', value: userId } as const;
  await stopEntries(engine.deps, { scope, reason: 'the news', until: null, by: OPERATOR, userId: null });
  const flatten = {
    id: timeOrderedId(),
    scopeKind: scope.kind,
    scopeValue: scope.value,
    requestedBy: null,
    actor: OPERATOR,
    createdAt: engine.clock.now(),
    endsStopId: null,
    endedAt: null,
  };
  await engine.db.transaction((tx) => insertFlatten(tx, flatten, 'paper'));
  await createFlattener(engine.deps, createAccountReader(engine.deps)).run();
  await deliver();
  expectNotice('limit_reached', {
    text: /^Risk limit of .*\S+@example\.com.* reached: maxDailyLoss is .*, the limit is 100 USDT$/,
    userId,
    link: '/',
  });
  expectNotice('stop_set', {
    text: new RegExp(`^New entries are stopped by ${OPERATOR.name}: `),
    userId,
    link: '/',
  });
  expectNotice('flatten_done', {
    text: new RegExp(`^All positions are closed, as ${OPERATOR.name} asked$`),
    link: '/positions',
  });
});

testEveryCase('the day before is summed up when the display time zone has its midnight', async () => {
  await engine.db.delete(noticeStates);
  await summarizeDay(engine.deps);
  engine.clock.advance(24 * 60 * 60_000);
  await summarizeDay(engine.deps);
  await deliver();
  receiver.received.length = 0;
  const { userId } = await storeTradedSignal(engine);
  await engine.settle();
  const midnight = new Date(engine.clock.now());
  midnight.setUTCHours(24, 0, 0, 0);
  engine.clock.set(new Date(midnight.getTime() - 1));
  await summarizeDay(engine.deps);
  await deliver([0]);
  expect(received().map(({ code }) => code)).not.toContain('daily_summary');
  engine.clock.set(midnight);
  await summarizeDay(engine.deps);
  await deliver([0]);
  expectNotice('daily_summary', {
    text: /^\d{4}-\d\d-\d\d: 1 filled, 0 not filled, 0 closed, net \+0\.00 USDT \(1 user\)$/,
    link: '/positions',
  });
  const own = await engine.db.select().from(notices).where(eq(notices.recipientId, userId));
  expect(own.map(({ text }) => text)).toContainEqual(expect.stringMatching(/\(your account\)$/));
});
