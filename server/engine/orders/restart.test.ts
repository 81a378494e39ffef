import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { systemClock } from '#server/platform/clock.ts';
import { engineRestartAnswers, engineRestarts, orderAttempts } from '#server/platform/db/schema.ts';
import { randomId } from '#server/platform/ids.ts';
import { createJobs, type JobHandlers, type JobWorkers } from '#server/platform/jobs/jobs.ts';
import { assertHeld, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { createLog } from '#server/platform/log.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { auditTrailOf, OPERATOR } from '#test/app/test-audit.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { type ExchangeWorld, startWorld } from '#test/world.ts';
import { restartSystem } from './restart.ts';
import { createWorkers, type Workers } from './workers.ts';

describe('two instances on one database', () => {
  let board: ExchangeWorld;

  beforeAll(async () => {
    // Every user must trade: on a busy machine an exchange's answer may take a while.
    board = await startWorld({
      exchange: 'paper',
      engine: true,
      instances: 2,
      config: { exchangeTimeoutMs: 20_000 },
    });
  });
  afterAll(() => board.close());

  const restart = (client = board.admin) => client.post('/api/position-maker/restart', {});

  // Requirements: trading-calls-27
  test('are both restarted by a request to one of them', async () => {
    const answer = await restart();
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      success: true,
      message: 'The position maker was restarted on 2 instances',
    });
    const answers = await board.db.select().from(engineRestartAnswers);
    expect(answers.map(({ instanceId, error }) => [instanceId, error]).toSorted()).toEqual([
      ['instance-1', null],
      ['instance-2', null],
    ]);
    const [asked] = await board.db.select().from(engineRestarts);
    expect(asked?.finishedAt).not.toBeNull();
    const status = (await board.admin.get('/api/position-maker/status')).json<PositionMakerStatus>();
    expect(status.isRunning).toBe(true);
  });

  testEveryCase('treat a second request during a restart as the same one', async () => {
    const other = await board.adminAt(1);
    const count = async () => (await board.db.select().from(engineRestarts)).length;
    const before = await count();
    const answers = await Promise.all([restart(), restart(other), restart()]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(await count()).toBe(before + 1);
  });

  // Requirements: order-execution-12
  testEveryCase(
    'place every order once under a restart with load, finish all work, and agree with the exchange',
    async () => {
      // Small positions: margin in doubt counts twice, and must leave enough for the third order.
      const settings = { positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.05' } as const;
      const traders = await Promise.all(Array.from({ length: 3 }, () => board.createTrader(settings)));
      const tokens = ['BTC', 'ETH', 'SOL'] as const;
      const prices = { BTC: ['65000', '65200'], ETH: ['3000', '3010'], SOL: ['150', '150.5'] } as const;
      // The price is a little above the signals': every first attempt rests and is verified.
      for (const token of tokens) await board.site.push(token, prices[token][1]);
      const signalIds = await Promise.all(
        tokens.map((token) => board.signal({ token, price: prices[token][0] })),
      );
      const attempted = async () => (await board.db.select().from(orderAttempts)).length;
      await expect.poll(attempted, { timeout: 20_000, interval: 20 }).toBeGreaterThan(4);
      for (let count = 0; count < 3; count += 1) {
        expect((await restart()).statusCode).toBe(200);
      }
      const done = (await Promise.all(signalIds.map((id) => board.traded(id)))).flat();
      expect(done).toHaveLength(traders.length * tokens.length);
      expect(
        done.every(
          ({ state, success, protectionStatus }) => state === 'done' && success && protectionStatus !== null,
        ),
      ).toBe(true);
      const attempts = await board.db.select().from(orderAttempts);
      for (const { id } of traders) {
        const orders = await board.site.exchangeOrders(id);
        const ids = orders.map(({ clientOrderId }) => clientOrderId);
        expect(new Set(ids).size).toBe(ids.length);
        const own = done.filter(({ userId }) => userId === id);
        const recorded = attempts.filter(({ tradeId }) => own.some((trade) => trade.id === tradeId));
        expect(ids.toSorted()).toEqual(recorded.map(({ clientOrderId }) => clientOrderId).toSorted());
        for (const trade of own) {
          const entries = orders.filter(({ token }) => token === trade.token);
          const filled = entries.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
          expect(toPlain(filled)).toBe(toPlain(trade.filledQuantity));
          expect(filled.lte(trade.plannedQuantity)).toBe(true);
          const held = await board.site.holding(id, trade.token);
          expect(toPlain(held.position?.size ?? 0)).toBe(toPlain(filled));
          expect(held.stopLoss).toBe(toPlain(trade.stopLoss));
        }
      }
    },
    60_000,
  );

  test('do not wait for an instance that died', async () => {
    await board.db.execute(sql`
      insert into engine_workers values ('crashed', 'advance-trade', true, 0, 4, 0, null, now() - interval '1 hour', now() - interval '11 seconds')`);
    expect((await restart()).json()).toMatchObject({ message: expect.stringContaining('2 instances') });
  });

  // Requirements: trading-calls-27
  testEveryCase('name the instance that does not answer in time', async () => {
    await board.db.execute(sql`
      update engine_workers set instance_id = 'stuck', heartbeat_at = now() + interval '1 minute' where instance_id = 'crashed'`);
    const asked = restartSystem(
      { audit: board.deps.audit, clock: systemClock, db: board.db, log: createLog({ level: 'silent' }) },
      { requestedBy: await adminId(), actor: OPERATOR, limitMs: 1_500 },
    );
    await expect(asked).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The restart did not succeed everywhere\. (.*; )?stuck has not answered in time$/,
      ),
    });
    await board.db.execute(sql`delete from engine_workers where instance_id = 'stuck'`);
    expect((await restart()).statusCode).toBe(200);
  });

  async function adminId(): Promise<string> {
    const answer = await board.admin.get('/api/auth/user');
    return answer.json<{ user: { id: string } }>().user.id;
  }
});

describe('one instance', () => {
  const log = createLog({ level: 'silent' });
  const idle: JobHandlers = {
    'run-workflow': async () => {},
    'trade-wave': async () => {},
    'trade-user': async () => {},
    'advance-trade': async () => {},
  };
  let own: TestDatabase;
  let jobs: JobWorkers;
  let workers: Workers | null = null;
  let requestedBy: string;

  beforeAll(async () => {
    own = await createTestDatabase();
    const { rows } = await own.database.db.execute<{ id: string }>(sql`
      insert into users (id, username, username_key, password_hash, is_admin, is_test_user, created_at, updated_at)
      values (gen_random_uuid(), 'a@example.com', 'a@example.com', 'none', true, true, now(), now()) returning id`);
    requestedBy = rows[0]?.id ?? '';
  });
  afterEach(async () => {
    await workers?.stop();
    workers = null;
    await jobs.stop();
  });
  afterAll(() => own.close());

  async function startWorkers(
    options: Partial<Omit<Parameters<typeof createWorkers>[0], 'handlers'>> & {
      handlers?: Partial<JobHandlers>;
    } = {},
  ) {
    const { db } = own.database;
    jobs = await createJobs({ database: own.database, log });
    workers = createWorkers({
      deps: { clock: systemClock, db, log, config: { instanceId: 'only' } },
      jobs,
      wakeUnfinished: async () => {},
      drainLimitMs: 5_000,
      stopDrainLimitMs: 5_000,
      beatMs: 50,
      ...options,
      handlers: { ...idle, ...options.handlers },
    });
    await workers.start();
    return {
      db,
      restart: () =>
        restartSystem(
          { audit: auditTrailOf(db), clock: systemClock, db, log },
          { requestedBy, actor: OPERATOR },
        ),
    };
  }

  test('hands over work that does not end while it stops, so that the work writes nothing more', async () => {
    const { promise: hanging, resolve: finish } = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Parameters<typeof assertHeld>[1]>();
    const { db } = await startWorkers({
      stopDrainLimitMs: 100,
      handlers: {
        'run-workflow': async () => {
          await withLease({ db: own.database.db, key: 'hanging', holder: 'only' }, async (lease) => {
            held.resolve(lease);
            await hanging;
          });
        },
      },
    });
    await jobs.send(db, 'run-workflow', { workflowId: randomId() });
    const lease = await held.promise;
    await workers?.stop();
    await expect(db.transaction((tx) => assertHeld(tx, lease))).rejects.toThrow(LeaseLostError);
    finish();
  });

  test('lets work in progress end before it starts again', async () => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    const ended: string[] = [];
    let wakes = 0;
    const { db, restart } = await startWorkers({
      handlers: {
        'advance-trade': async ({ tradeId }) => {
          await finished;
          ended.push(tradeId);
        },
      },
      wakeUnfinished: async () => {
        wakes += 1;
        if (wakes > 1) ended.push('started again');
      },
    });
    await jobs.send(db, 'advance-trade', { tradeId: 'slow' });
    await expect.poll(() => jobs.activity().activeJobs, { timeout: 5_000 }).toBe(1);
    const restarted = restart();
    await expect.poll(() => jobs.isRunning(), { timeout: 5_000 }).toBe(false);
    await jobs.send(db, 'advance-trade', { tradeId: 'sent meanwhile' });
    expect(jobs.activity().activeJobs).toBe(1);
    finish();
    expect((await restarted).message).toBe('The position maker was restarted on one instance');
    await expect.poll(() => ended, { timeout: 5_000 }).toEqual(['slow', 'started again', 'sent meanwhile']);
  });

  // Requirements: order-execution-12
  test('hands over work that does not end: it writes nothing more, and is resumed immediately', async () => {
    const fates: unknown[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { db, restart } = await startWorkers({
      drainLimitMs: 300,
      handlers: {
        'advance-trade': async () => {
          const key = 'trade:hanging';
          const work = await withLease({ db, key, holder: 'only' }, async (lease) => {
            await released;
            return await db.transaction((tx) => assertHeld(tx, lease)).catch((error: unknown) => error);
          });
          fates.push(work.held ? work.result : 'not held');
        },
      },
    });
    await jobs.send(db, 'advance-trade', { tradeId: 'hanging' });
    await expect.poll(() => jobs.activity().activeJobs, { timeout: 5_000 }).toBe(1);
    await restart();
    const successor = await withLease({ db, key: 'trade:hanging', holder: 'only' }, async () => 'taken up');
    expect(successor).toEqual({ held: true, result: 'taken up' });
    release();
    await expect.poll(() => fates, { timeout: 5_000 }).toHaveLength(1);
    expect(fates[0]).toBeInstanceOf(LeaseLostError);
  });

  testEveryCase('reports that its engine could not be started, and tries again until it runs', async () => {
    let failures = 0;
    let isBroken = false;
    const { db, restart } = await startWorkers({
      wakeUnfinished: async () => {
        if (!isBroken) return;
        failures += 1;
        throw new Error('no');
      },
    });
    isBroken = true;
    await expect(restart()).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'The restart did not succeed everywhere. only: The engine could not be started; it is tried again',
    });
    expect(jobs.isRunning()).toBe(false);
    await expect.poll(() => failures, { timeout: 8_000 }).toBeGreaterThan(1);
    isBroken = false;
    await expect.poll(() => jobs.isRunning(), { timeout: 8_000 }).toBe(true);
    const [open] = await db.select().from(engineRestarts).where(sql`finished_at is null`);
    expect(open).toBeUndefined();
    expect((await restart()).success).toBe(true);
  });

  testEveryCase('ignores a restart requested before it started', async () => {
    await own.database.db.insert(engineRestarts).values({ requestedBy, requestedAt: new Date(0) });
    let wakes = 0;
    const { db, restart } = await startWorkers({
      wakeUnfinished: async () => {
        wakes += 1;
      },
    });
    // Each beat reports the workers after it has looked for a restart.
    const beats = new Set<string>();
    const noteBeat = async () => {
      const { rows } = await db.execute<{ at: string }>(
        sql`select max(heartbeat_at)::text as at from engine_workers`,
      );
      return beats.add(rows[0]?.at ?? '').size;
    };
    await expect.poll(noteBeat, { interval: 10 }).toBeGreaterThan(3);
    expect(wakes).toBe(1);
    // The ignored request does not block the next one.
    expect((await restart()).success).toBe(true);
    const asked = db
      .select()
      .from(engineRestarts)
      .where(eq(engineRestarts.requestedAt, new Date(0)));
    expect(await asked).toMatchObject([{ finishedAt: expect.any(Date) }]);
  });

  test('leaves nothing to restart after it has stopped', async () => {
    const { restart } = await startWorkers();
    await workers?.stop();
    await expect(restart()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'No position maker is running that could be restarted',
    });
  });
});
