import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { clearHalts } from '#server/admin/halts/trading-halts.store.ts';
import { recordClosedPosition } from '#server/engine/protection/positions.store.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { acquireLease, LeaseLostError, releaseLeases } from '#server/platform/jobs/leases.ts';
import { type NoticeEvent, noteEvents } from '#server/platform/notices/note-event.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  ALWAYS,
  sharedTestEngine,
  storeTradedSignal,
  strike,
  takeOver,
} from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { summarizeDay } from './daily-summary.ts';
import { hasNoticesToMake, makeNotices } from './make-notices.ts';

const engine = sharedTestEngine();

interface Row {
  [field: string]: unknown;
  code: string;
  severity: string;
  text: string;
  link: string;
  recipient: string | null;
  subject: Record<string, string>;
  data: Record<string, unknown>;
}

/** What is told; held notices are not. */
const told = async () =>
  (
    await engine.db.execute<Row>(sql`
      select code, severity, text, link, recipient_id as recipient, subject, data from notices
      where held_until is null order by id`)
  ).rows;
const countOf = async (table: string) =>
  Number((await engine.db.execute(sql`select count(*) from ${sql.identifier(table)}`)).rows[0]?.count);
const forAdministrators = async (code: string) =>
  (await told()).filter((row) => row.code === code && row.recipient === null);

beforeEach(async () => {
  await engine.db.execute(sql`delete from notice_events`);
  await engine.db.execute(sql`delete from notices`);
});

async function make() {
  const lease = await acquireLease({ db: engine.db, key: 'notices', holder: 'test' });
  if (lease === null) throw new Error('the lease is taken');
  try {
    while (await makeNotices(engine.deps, lease));
  } finally {
    await releaseLeases(engine.db, [lease]);
  }
}

const note = (...events: Omit<NoticeEvent, 'at'>[]) =>
  noteEvents(
    engine.db,
    events.map((event) => ({ ...event, at: engine.clock.now() })),
  );

describe('a signal', () => {
  // Requirements: additions-alerts-2
  test('informs its user and the administrators of the fill, with side, token, quantity and price', async () => {
    const { userId, token, signalId, workflowId } = await storeTradedSignal(engine);
    await engine.settle();
    await make();
    const [trade] = await engine.trades(signalId);
    const rows = (await told()).filter(({ code }) => code === 'trade_filled');
    expect(rows.map(({ recipient }) => recipient)).toEqual([null, userId]);
    for (const row of rows) {
      expect(row.text).toMatch(
        new RegExp(`^Filled for \\S+: buy ${Number(trade?.filledQuantity)} ${token} at [\\d.]+$`),
      );
      expect(row.subject).toMatchObject({ userId, token, signalId, workflowId, tradeId: trade?.id });
    }
    expect(rows[0]?.link).toBe(`/signals?dialog=users&signal=${signalId}`);
    expect(rows[1]?.link).toBe('/');
    expect(await countOf('notice_events')).toBe(0);
  });

  // Requirements: additions-alerts-3
  test('that fails for many users is one notice for administrators with the three most frequent reasons', async () => {
    const token = nextToken();
    const userIds: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      userIds.push(await engine.createUser({ positionSizingMethod: 'Risk Management' }));
    }
    engine.venue.setFaults([{ kind: 'refuse', code: '40762', on: { path: 'place-order', times: ALWAYS } }]);
    const { workflowId } = await engine.storeSignal({ price: '100', token });
    await engine.settle();
    await make();
    const workflow = await engine.workflow(workflowId);
    expect(workflow).toMatchObject({ status: 'completed', successfulUsersCount: 0, failedUsersCount: 5 });
    const rows = (await told()).filter(({ code }) => code === 'order_not_filled');
    const [first, ...own] = rows;
    expect(first?.text).toMatch(new RegExp(`^Order not filled for 5 users \\(${token} buy\\): 5 × `));
    expect(own.map(({ recipient }) => recipient).toSorted()).toEqual(userIds.toSorted());
    expect(await forAdministrators('signal_filled_nobody')).toHaveLength(1);
  });

  test('that nobody was eligible for is reported to administrators', async () => {
    const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
    await engine.settle();
    await make();
    const [row] = await forAdministrators('signal_filled_nobody');
    expect(row?.subject).toMatchObject({ workflowId });
  });

  test('whose workflow fails is reported as critical', async () => {
    const { workflowId } = await storeTradedSignal(engine);
    engine.clock.advance(30 * 60_000 + 1);
    await engine.settle();
    await make();
    const [row] = await forAdministrators('workflow_failed');
    expect(row).toMatchObject({ severity: 'critical', subject: { workflowId } });
    expect(row?.text).toContain('Signal expired');
    expect(row?.link).toBe(`/automation-workflows?dialog=steps&workflow=${workflowId}`);
  });
});

describe('events', () => {
  // Requirements: additions-alerts-4
  test('of one kind within a minute become one message when it is over', async () => {
    const reasons = ['no stop', 'no stop', 'no stop', 'surplus', 'lost', 'other', 'no stop'];
    const ids: string[] = [];
    for (const reason of reasons) {
      const userId = await engine.createUser();
      ids.push(userId);
      await note({ code: 'user_halted', userId, data: { reason } });
    }
    await make();
    expect(await forAdministrators('user_halted')).toHaveLength(1);
    // Each user is told at once: there is no storm for them.
    expect((await told()).filter(({ recipient }) => recipient !== null)).toHaveLength(reasons.length);
    expect(await hasNoticesToMake(engine.deps)).toBe(false);
    engine.clock.advance(60_001);
    expect(await hasNoticesToMake(engine.deps)).toBe(true);
    await make();
    const rows = await forAdministrators('user_halted');
    expect(rows.map(({ text }) => text).slice(1)).toEqual([
      'Trading of 6 users is halted: 3 × no stop; surplus; lost; and 1 more',
    ]);
    await note({ code: 'user_halted', userId: ids[0] ?? '', data: { reason: 'again' } });
    await make();
    expect(await forAdministrators('user_halted')).toHaveLength(2);
    engine.clock.advance(60_001);
    await make();
    expect((await forAdministrators('user_halted')).at(-1)?.text).toMatch(
      /^Trading of \S+ is halted: again$/,
    );
  });

  test('about an administrator become one notice, to the administrators', async () => {
    const userId = await engine.createUser();
    await engine.db.execute(sql`update users set is_admin = true where id = ${userId}`);
    await note({ code: 'key_refused', userId, data: { reason: 'it was revoked' } });
    await make();
    expect((await told()).map(({ recipient }) => recipient)).toEqual([null]);
  });

  test('that nothing can be made of are dropped, and the others are reported', async () => {
    await note({
      code: 'position_closed',
      userId: await engine.createUser(),
      data: { closedPositionId: 'x' },
    });
    await note({ code: 'disk_low', data: { percent: '4.0', folder: '/data' } });
    await make();
    expect((await told()).map(({ text }) => text)).toEqual(['Disk almost full: 4.0 % free in /data']);
    expect(await countOf('notice_events')).toBe(0);
  });

  // Requirements: additions-alerts-5
  test('are reported once: an instance that lost its lease writes nothing', async () => {
    await note({ code: 'instance_started', data: { version: '1', mode: 'paper' } });
    const lease = await acquireLease({ db: engine.db, key: 'notices', holder: 'frozen' });
    if (lease === null) throw new Error('the lease is taken');
    await takeOver(engine, 'notices');
    await expect(makeNotices(engine.deps, lease)).rejects.toThrow(LeaseLostError);
    expect(await told()).toEqual([]);
    expect(await countOf('notice_events')).toBe(1);
    await engine.db.execute(sql`update leases set lease_until = '-infinity' where key = 'notices'`);
    await make();
    expect(await told()).toHaveLength(1);
  });

  test('keep any text: NUL and lone surrogates of an exchange fail nothing', async () => {
    await note({ code: 'user_halted', userId: await engine.createUser(), data: { reason: 'a\0b\ud800' } });
    await make();
    expect((await told())[0]?.text).toContain('ab\ufffd');
  });
});

describe('a position without a stop', () => {
  test('is reported only if the stop is still missing after three seconds', async () => {
    const { userId, signalId } = await storeTradedSignal(engine);
    await engine.settle();
    const [trade] = await engine.trades(signalId);
    const tradeId = trade?.id ?? '';
    await note({ code: 'position_without_stop', userId, tradeId, data: { reason: 'gone' } });
    await make();
    expect(await countOf('notice_events')).toBeGreaterThan(0);
    engine.clock.advance(3_001);
    await make();
    expect(await forAdministrators('position_without_stop')).toEqual([]);
    await engine.db.execute(sql`update trades set unprotected_since = now() where id = ${tradeId}`);
    await note({ code: 'position_without_stop', userId, tradeId, data: { reason: 'gone' } });
    engine.clock.advance(3_001);
    await make();
    expect(await forAdministrators('position_without_stop')).toHaveLength(1);
    await engine.db.execute(sql`update trades set unprotected_since = null where id = ${tradeId}`);
  });

  testEveryCase(
    'that cannot be placed or closed is reported, like the halt of its user and the end of that',
    async () => {
      const { userId, workflowId, token } = await storeTradedSignal(engine);
      const on = { times: ALWAYS };
      strike(engine, userId, [
        { kind: 'stopDropped', on },
        { kind: 'stopRefused', on },
        { kind: 'closeRefused', on },
      ]);
      const [trade] = await engine.plan(workflowId);
      for (let step = 0; step < 60 && (await forAdministrators('user_halted')).length === 0; step += 1) {
        await engine.advance(trade?.id ?? '');
        engine.clock.advance(1_000);
        await make();
      }
      const [missing] = await forAdministrators('position_without_stop');
      expect(missing).toMatchObject({ severity: 'critical', subject: { userId, token, tradeId: trade?.id } });
      expect(await forAdministrators('user_halted')).toHaveLength(1);
      engine.venue.setFaults([]);
      await engine.settle();
      const positions = [{ userId, exchangePlatform: 'Bitget', token, how: 'closed' }];
      await engine.db.execute(
        sql`update trading_halts set kind = 'unverified', cleared_at = null, ended_at = null where user_id = ${userId}`,
      );
      await engine.db.transaction((tx) =>
        clearHalts(tx, { ...engine.deps, positions, now: engine.clock.now() }),
      );
      await make();
      expect((await forAdministrators('user_resumed'))[0]?.text).toMatch(
        new RegExp(`resumed \\(${token}\\)$`),
      );
    },
  );
});

// Requirements: additions-alerts-6
test('a closed position is reported with its net profit and in multiples of the planned loss', async () => {
  const { userId, token, signalId } = await storeTradedSignal(engine);
  await engine.settle();
  const [trade] = await engine.trades(signalId);
  if (trade === undefined) throw new Error('nothing was traded');
  const quantity = trade.filledQuantity;
  const risk = D(trade.averagePrice ?? 0)
    .minus(trade.stopLoss)
    .abs()
    .times(quantity);
  const at = engine.clock.now();
  await recordClosedPosition(engine.deps.db, {
    id: timeOrderedId(),
    tradeId: trade.id,
    userId,
    exchangePlatform: trade.exchangePlatform,
    exchangePositionId: `of ${trade.id}`,
    token,
    side: 'long',
    quantity,
    entryPrice: trade.averagePrice ?? '0',
    closePrice: '110',
    realisedProfit: risk.times(2).plus('1.5').toString(),
    fees: '1.5',
    closedBy: 'take profit',
    openedAt: at,
    closedAt: at,
    recordedAt: at,
  });
  await make();
  const [row] = await forAdministrators('position_closed');
  expect(row?.text).toBe(
    `Position closed for ${row?.subject.username}: long ${Number(quantity)} ${token}, net +${risk.times(2).toFixed(2)} USDT (2.00 R) (take profit)`,
  );
});

// Requirements: additions-alerts-7
testEveryCase('the day before is summed up once, for its users and the administrators', async () => {
  await engine.db.execute(sql`delete from notice_states`);
  await summarizeDay(engine.deps);
  await make();
  expect(await forAdministrators('daily_summary'), 'the first day has no day before it').toEqual([]);
  engine.clock.advance(24 * 3_600_000);
  await summarizeDay(engine.deps);
  await make();
  const { userId } = await storeTradedSignal(engine);
  await engine.settle();
  engine.clock.advance(24 * 3_600_000);
  await engine.db.execute(sql`delete from notices`);
  await summarizeDay(engine.deps);
  await summarizeDay(engine.deps);
  await make();
  const rows = (await told()).filter(({ code }) => code === 'daily_summary');
  expect(rows.map(({ recipient }) => recipient)).toEqual([null, userId]);
  for (const { text } of rows) expect(text).toMatch(/: 1 filled, 0 not filled, 0 closed, net \+0\.00 USDT/);
});
