import { sql } from 'drizzle-orm';
import { afterAll, expect, test, vi } from 'vitest';
import type { Signal } from '#contract/signals.ts';
import { systemClock } from '#server/platform/clock.ts';
import { addUpList } from '#server/platform/db/list-totals/add-up-list.ts';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import { createRowRefusals } from '#test/app/refused-rows.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING } from '#test/world.ts';
import { createDeleteOldRows, type OldRowsDeps } from './delete-old-rows.ts';

const DAY_MS = 24 * 3_600_000;
const KEEP_ALL: OldRowsDeps['config'] = {
  signalHashRetentionDays: 0,
  workflowRetentionDays: 0,
  workflowStepRetentionDays: 0,
  calculationRetentionDays: 0,
  orderEventRetentionDays: 0,
};
const TABLES = [
  'signal_hashes',
  'workflows',
  'workflow_steps',
  'position_generator_logs',
  'trade_events',
] as const;

const TIMED = { time: new Date().toISOString(), price: '65001' };

async function traded(fields: Record<string, unknown>): Promise<string> {
  const { id } = (await sender.signal(fields)).json();
  const read = async () => (await board.admin.get(`/api/signals/${id}`)).json<Signal>().workflowStatus;
  await vi.waitFor(async () => expect(await read()).toBe('completed'), { timeout: 30_000, interval: 25 });
  return id;
}

/** Two traded signals, one with its own time; the order of the other stays unfinished for years. */
const board = await startWorld(TRADING);
afterAll(() => board.close());
const sender = await createSender({ app: board.app, client: board.admin });
for (const oppositeSignal of ['reverse', 'skip']) {
  await board.createTrader({
    signalProcessor: 'Any',
    positionSizingMethod: 'Portfolio Allocation',
    oppositeSignal,
  });
}
const ended = await traded(TIMED);
const unfinished = await traded({ symbol: 'ETHUSDT', price: '3000' });
await board.database.db.execute(sql`
  update trades set state = 'working', due_at = now() + interval '10 years' where signal_id = ${unfinished}`);
// A calculation without an order.
await board.database.db.execute(sql`
  insert into position_generator_logs (id, signal_id, user_id, profile, exchange_platform, token, success, settings, created_at)
  select ${timeOrderedId()}, signal_id, user_id, profile, exchange_platform, token, false, settings, created_at
  from position_generator_logs where signal_id = ${ended} limit 1`);
await addUpList(board.database.db, 'workflows', { marginMs: -60_000 });

async function deleteAfter(days: number, config: Partial<OldRowsDeps['config']> = {}): Promise<void> {
  const deleteOldRows = createDeleteOldRows({
    ...board.deps,
    clock: { ...systemClock, now: () => new Date(Date.now() + days * DAY_MS) },
    config: { ...KEEP_ALL, ...config },
  });
  await deleteOldRows({ connection: board.database.connection });
}

/** Row counts of the ended and the unfinished signal in each table. */
async function counts() {
  const of = async (signalId: string) => {
    const { rows } = await board.database.db.execute<Record<string, number>>(sql`
      select (select count(*)::int from signal_hashes where signal_id = ${signalId}) as signal_hashes,
        (select count(*)::int from workflows where signal_id = ${signalId}) as workflows,
        (select count(*)::int from workflow_steps join workflows on workflows.id = workflow_id
          where signal_id = ${signalId}) as workflow_steps,
        (select count(*)::int from position_generator_logs where signal_id = ${signalId}) as position_generator_logs,
        (select count(*)::int from trade_events join trades on trades.id = trade_id
          where signal_id = ${signalId}) as trade_events`);
    return rows[0] ?? {};
  };
  return { ended: await of(ended), unfinished: await of(unfinished) };
}

async function deletedOf(table: string): Promise<number> {
  const { body } = await board.anonymous.get('/metrics');
  const line = body.split('\n').find((one) => one.includes(`rows_deleted_total{table="${table}"}`));
  return Number(line?.split(' ').at(-1));
}

test('keeps everything unless a setting says otherwise, except hashes that no longer matter', async () => {
  const before = await counts();
  for (const table of TABLES) expect(before.ended[table], table).toBeGreaterThan(0);
  await deleteAfter(0.5);
  expect(await counts()).toEqual(before);
  await deleteAfter(5000);
  expect(await counts()).toEqual({ ...before, unfinished: { ...before.unfinished, signal_hashes: 0 } });
  // Only the hash of the signal without its own time is gone, which counted as new after a minute anyway.
  expect((await sender.signal(TIMED)).json()).toMatchObject({ id: ended, duplicate: true });
});

test.each([
  ['workflow_steps', { workflowStepRetentionDays: 30 }, 0],
  ['trade_events', { orderEventRetentionDays: 30 }, 0],
  // Orders keep their calculations.
  ['position_generator_logs', { calculationRetentionDays: 30 }, 2],
] as const)('deletes %s of ended work that are older than the setting', async (table, config, left) => {
  const before = await counts();
  await deleteAfter(29, config);
  expect(await counts()).toEqual(before);
  await deleteAfter(31, config);
  expect(await counts()).toEqual({ ...before, ended: { ...before.ended, [table]: left } });
  expect(await deletedOf(table)).toBe((before.ended[table] ?? 0) - left);
});

test('a table whose rows cannot be deleted keeps no other from being looked after', async () => {
  const before = await counts();
  const id = firstIdOf(new Date(Date.now() - 400 * DAY_MS));
  await board.database.db.execute(sql`
    insert into trade_events (id, trade_id, at, kind, text)
    select ${id}, id, now() - interval '400 days', 'timeline', 'of long ago' from trades where signal_id = ${ended} limit 1`);
  const rows = await createRowRefusals(board.database.pool, 'signal_hashes', { on: 'delete' });
  await rows.refuse(ended);
  const deleting = deleteAfter(5000, { signalHashRetentionDays: 30, orderEventRetentionDays: 5100 });
  await expect(deleting).rejects.toThrow('a row of signal_hashes is refused');
  await rows.allow();
  expect((await counts()).ended.signal_hashes).toBe(before.ended.signal_hashes);
  const left = await board.database.db.execute(sql`select id from trade_events where id = ${id}`);
  expect(left.rows).toEqual([]);
});

test('deletes ended workflows with their rows and subtracts them from the totals', async () => {
  const total = async () => (await board.admin.get('/api/automation-workflows')).json().total;
  const before = await counts();
  expect(await total()).toBe(2);
  await deleteAfter(31, { workflowRetentionDays: 30 });
  expect(await counts()).toEqual({ ...before, ended: { ...before.ended, workflows: 0 } });
  expect(await total()).toBe(1);
  expect((await board.admin.get(`/api/signals/${ended}`)).json()).toMatchObject({ workflowStatus: null });
  expect((await board.admin.get(`/api/signals/${ended}/trades`)).json()).toHaveLength(2);
});

test('deletes the hash of a signal with its own time once the same signal would not be traded', async () => {
  const known = () => board.query('select from signal_hashes where signal_id = $1', [ended]);
  await deleteAfter(400, { signalHashRetentionDays: 400 });
  expect((await known()).length).toBe(1);
  // The signal's own time decides, even years after its receipt.
  await board.query(
    `update signals set signal_time_server = signal_time_server + interval '600 days' where id = $1`,
    [ended],
  );
  await deleteAfter(600, { signalHashRetentionDays: 400 });
  expect((await known()).length).toBe(1);
  await deleteAfter(1002, { signalHashRetentionDays: 400 });
  expect((await known()).length).toBe(0);
});

test('leaves the work to the first of several instances', async () => {
  await Promise.all([1, 2, 3].map(() => deleteAfter(5000, { workflowRetentionDays: 30 })));
  expect((await counts()).unfinished).toMatchObject({ workflows: 1 });
});
