import { and, eq, sql } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import type { ExecutionLogs, PositionMakerStatus } from '#contract/position-maker.ts';
import { forgetDeadWorkers } from '#server/engine/orders/workers.store.ts';
import { engineWorkers, orderAttempts, trades } from '#server/platform/db/schema.ts';
import { startWorld } from '#test/world.ts';

const board = await startWorld({ exchange: 'paper', engine: true, instances: 2 });
afterAll(() => board.close());

const status = async () => (await board.admin.get('/api/position-maker/status')).json<PositionMakerStatus>();
const logs = async () => (await board.admin.get('/api/position-maker/logs')).json<ExecutionLogs>().logs;

test('there are no execution logs before anything is traded', async () => {
  expect(await logs()).toEqual([]);
  const { threadManager, health } = await status();
  expect(threadManager).toMatchObject({ processingTasks: 0, completedTasks: 0 });
  expect(health).toMatchObject({ queue: 0, endedOrders: 0, errorRate: null, latencyP95Ms: null });
});

describe('the status', () => {
  // Requirements: trading-fields-20, trading-calls-26, additions-order-and-positions-4
  test('shows the workers of all instances, whichever instance is asked', async () => {
    const shown = await status();
    expect(shown.isRunning).toBe(true);
    expect(shown.threadManager).toMatchObject({ activeWorkers: 8, totalWorkers: 8 });
    expect(shown.workers.map(({ instanceId, workerId }) => [instanceId, workerId])).toEqual(
      ['instance-1', 'instance-2'].flatMap((instance) =>
        ['advance-trade', 'run-workflow', 'trade-user', 'trade-wave'].map((worker) => [instance, worker]),
      ),
    );
    const other = await (await board.adminAt(1)).get('/api/position-maker/status');
    expect(other.json<PositionMakerStatus>().threadManager.totalWorkers).toBe(8);
  });

  // Requirements: trading-fields-20
  test('counts work in progress, and then as done', async () => {
    await board.createTrader();
    await board.site.push('BTC', '65200');
    const signalId = await board.signal({ token: 'BTC', price: '65000' });
    await expect
      .poll(async () => (await status()).threadManager.processingTasks, { timeout: 10_000 })
      .toBe(1);
    await board.traded(signalId);
    const done = await status();
    expect(done.threadManager).toMatchObject({ processingTasks: 0, completedTasks: 1 });
    expect(done.health).toEqual({
      queue: 0,
      endedOrders: 1,
      errorRate: 0,
      latencyP95Ms: expect.any(Number),
      instances: 2,
    });
    const processed = async () =>
      (await status()).workers.reduce((sum, { processedTasks }) => sum + processedTasks, 0);
    await expect.poll(processed, { timeout: 5_000 }).toBeGreaterThan(2);
    const worked = (await status()).workers.filter(({ lastActivity }) => lastActivity !== null);
    expect(worked.length).toBeGreaterThan(0);
  });

  test('shows a silent instance as inactive and forgets it after a while', async () => {
    const silentFor = (seconds: number) =>
      board.db
        .insert(engineWorkers)
        .values({
          instanceId: 'crashed',
          workerId: 'advance-trade',
          isActive: true,
          currentTasks: 3,
          maxConcurrent: 4,
          processedTasks: 9,
          startedAt: new Date(),
          heartbeatAt: sql`now() - make_interval(secs => ${seconds})`,
        })
        .onConflictDoUpdate({
          target: [engineWorkers.instanceId, engineWorkers.workerId],
          set: { heartbeatAt: sql`now() - make_interval(secs => ${seconds})` },
        });
    await silentFor(5);
    expect((await status()).threadManager).toMatchObject({ activeWorkers: 9, totalWorkers: 9 });
    await silentFor(30);
    const shown = await status();
    expect(shown.threadManager).toMatchObject({ activeWorkers: 8, totalWorkers: 9 });
    expect(shown.workers.at(-1)).toMatchObject({ instanceId: 'crashed', isActive: false, currentTasks: 0 });
    await silentFor(301);
    await forgetDeadWorkers(board.db);
    expect((await status()).threadManager.totalWorkers).toBe(8);
  });
});

describe('the execution logs', () => {
  // Requirements: trading-fields-21, trading-calls-26
  test('include an order that was filled by its second attempt, with the order that filled', async () => {
    const [trade] = await board.db.select().from(trades);
    const [log, ...more] = await logs();
    expect(more).toEqual([]);
    expect(log).toMatchObject({
      taskId: trade?.id,
      userId: trade?.userId,
      username: 'user1@example.com',
      token: 'BTC',
      exchangePlatform: 'Bitget',
      success: true,
      error: null,
      orderId: trade?.orderId,
    });
    expect(log?.id).not.toBe(log?.taskId);
  });

  test('include a failed order, newest first, and nothing in progress', async () => {
    const refuse = {
      kind: 'refuse',
      code: '40762',
      message: 'The order amount exceeds the balance',
    } as const;
    board.site.setFaults([{ ...refuse, on: { path: 'place-order' } }]);
    await board.site.push('ETH', '3000');
    const [failed] = await board.traded(await board.signal({ token: 'ETH', price: '3000' }));
    board.site.setFaults([]);
    const told = await logs();
    expect(told.map(({ token, success }) => [token, success])).toEqual([
      ['ETH', false],
      ['BTC', true],
    ]);
    expect(told[0]).toMatchObject({ taskId: failed?.id, orderId: null });
    expect(told[0]?.error).toContain('exceeds the balance');
    await board.db
      .update(trades)
      .set({ state: 'working' })
      .where(eq(trades.id, failed?.id ?? ''));
    expect((await logs()).map(({ token }) => token)).toEqual(['BTC']);
    await board.db
      .update(trades)
      .set({ state: 'done' })
      .where(eq(trades.id, failed?.id ?? ''));
  });

  // Requirements: position-maker-2
  test('are sorted by the submission time that they show, not by the creation of the trade', async () => {
    const [early] = await board.db.select().from(trades).where(eq(trades.token, 'BTC'));
    const told = await logs();
    expect(told.map(({ token }) => token)).toEqual(['ETH', 'BTC']);
    const submitted = (submittedAt: Date) =>
      board.db
        .update(orderAttempts)
        .set({ submittedAt })
        .where(
          and(eq(orderAttempts.tradeId, early?.id ?? ''), eq(orderAttempts.orderId, early?.orderId ?? '')),
        );
    const later = new Date(Date.parse(told[0]?.submittedAt ?? '') + 1_000);
    await submitted(later);
    const then = await logs();
    expect(then.map(({ token }) => token)).toEqual(['BTC', 'ETH']);
    expect(then[0]?.submittedAt).toBe(later.toISOString());
    await submitted(new Date(told[1]?.submittedAt ?? ''));
  });

  // Requirements: position-maker-2
  test('are limited to the fifty newest', async () => {
    await board.db.execute(sql`
      with copies as (
        insert into position_generator_logs
        select gen_random_uuid(), signal_id, price_log_id, user_id, null, profile, exchange_platform, token, success,
          is_estimate, error, position, settings, calculation_reason, calculation_detail, created_at
        from position_generator_logs, generate_series(1, 55) where token = 'BTC' returning id)
      insert into trades (id, position_generator_log_id, signal_id, user_id, trigger_type, profile, exchange_platform,
        token, side, planned_quantity, entry_price, stop_loss, take_profit, leverage, planned_margin, state, success, created_at)
      select gen_random_uuid(), copies.id, signal_id, user_id, trigger_type, profile, exchange_platform, 'OLD', side,
        planned_quantity, entry_price, stop_loss, take_profit, leverage, planned_margin, 'done', true,
        trades.created_at - interval '1 day'
      from trades, copies where token = 'BTC'`);
    const told = await logs();
    expect(told).toHaveLength(50);
    expect(told.slice(0, 3).map(({ token }) => token)).toEqual(['ETH', 'BTC', 'OLD']);
    // Created before fifty others, and submitted after them.
    await board.db.execute(sql`
      with late as (select id, created_at from trades where token = 'OLD' order by id limit 1),
        made as (update trades set created_at = late.created_at - interval '1 minute', token = 'LATE'
          from late where trades.id = late.id)
      insert into order_attempts (id, trade_id, attempt, client_order_id, price, quantity, state, submitted_at)
      select gen_random_uuid(), id, 1, 'late', 1, 1, 'unfilled', created_at + interval '1 minute' from late`);
    expect((await logs()).map(({ token }) => token).slice(0, 3)).toEqual(['ETH', 'BTC', 'LATE']);
  });
});
