import { and, asc, eq, inArray, ne } from 'drizzle-orm';
import type { EngineDeps } from '#server/deps.ts';
import { OPEN_TO_ALL } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { waitsOf } from '#server/engine/orders/trade-work.ts';
import { type AttemptRow, listAttempts, listUnfinishedTrades } from '#server/engine/records/trades.store.ts';
import { createTransitions } from '#server/engine/records/transitions.ts';
import { listUnfinished } from '#server/engine/records/workflows.store.ts';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import { createCandleWaits } from '#server/engine/workflow/candle-waits.ts';
import { unsettledLimits } from '#server/engine/workflow/follow-trade.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { tradeUser, tradeWave } from '#server/engine/workflow/trade-wave.ts';
import { createUserIntake } from '#server/engine/workflow/user-intake.ts';
import { createWorkflowPrices } from '#server/engine/workflow/workflow-prices.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import { openPaper } from '#server/exchanges/paper/open-paper.ts';
import { paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { createExchangeRegistry } from '#server/exchanges/registry.ts';
import { createAuditTrail } from '#server/platform/audit/audit-trail.ts';
import { createChangeFeed } from '#server/platform/change-feed.ts';
import { type Config, parseConfig } from '#server/platform/config/config.ts';
import {
  orderAttempts,
  tradeEvents,
  trades,
  workflowSteps,
  workflows,
  workflowUsers,
} from '#server/platform/db/schema.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import { releaseAllLeases } from '#server/platform/jobs/leases.ts';
import { createLog } from '#server/platform/log.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { listenVenue } from '#test/venues/server.ts';
import { createVenue, type TestVenue } from '#test/venues/venue.ts';
import { TRADING_KEY, venueCredentials } from '#test/venues/venue-credentials.ts';
import { paperLedger } from '../venues/paper-ledger.ts';
import { type CrashAt, type CrashPoint, crashPoint, openCrashingDatabase } from './crashing-database.ts';
import { fakeClock } from './fake-clock.ts';
import { planUser } from './plan-user.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { testEngineRows } from './test-engine-rows.ts';

type TradeUserTask = Parameters<typeof tradeUser>[1];

const SECRET = 'a secret key of the tests, long enough';

/** Whether the next due step only checks the order's fills. */
function isFillWatch(
  config: Config,
  { dueAt, profile }: typeof trades.$inferSelect,
  attempt: AttemptRow | undefined,
): boolean {
  if (dueAt === null || attempt === undefined) return false;
  if (attempt.state === 'open') return attempt.verifyAt !== null && dueAt < attempt.verifyAt;
  if (attempt.state !== 'cancelling' || attempt.cancelRequestedAt === null) return false;
  return dueAt.getTime() < attempt.cancelRequestedAt.getTime() + waitsOf(config, profile).cancelMs;
}

export interface SettleOptions {
  deps?: EngineDeps;
  maxRounds?: number;
  /** Other events during the run, by the engine's clock. */
  agenda?: Agenda;
}

export interface Agenda {
  /** When the next event is due; null when none is left. */
  nextAt(): Date | null;
  /** Runs all due events. */
  run(): Promise<void>;
  /** Called after each round of the engine's work. */
  onRound?(): Promise<void>;
}

export interface TestEngineOptions {
  config?: Partial<Config>;
  /** A clone of the run's template by default. */
  createDatabase?: () => Promise<TestDatabase>;
  /** Calls the exchange over loopback HTTP instead of in process. */
  overHttp?: boolean;
  /** Limits requests and remembers prepared accounts, as the program does; over HTTP. */
  sharesLimits?: boolean;
  /** Trades in real paper mode, without faults, instead of with the exchange clients at the test venue. */
  paperMode?: boolean;
  /** Called before and after every request to the exchange. */
  watch?: Partial<Record<'before' | 'after', (request: VenueRequest) => Promise<void>>>;
}

export type TestEngine = Awaited<ReturnType<typeof startTestEngine>>;

/**
 * The engine on a real database, with the real clients at the test venue, without job queue and timers. `settle` calls
 * the handlers for unfinished rows and moves the clock to the next due time until nothing is left, which proves that
 * jobs are only wake-up calls.
 */
export async function startTestEngine(options: TestEngineOptions = {}) {
  const { database, passTime, holdTime, close } = await (options.createDatabase ?? createTestDatabase)();
  const { engineDb: db } = database;
  const clock = fakeClock('2026-05-04T10:00:00.000Z');
  const config: Config = {
    ...parseConfig({ APP_ENV: 'production', SECRET_KEY: SECRET }),
    // In process an exchange that does not answer is given up at once, on a socket in real time.
    exchangeTimeoutMs: options.overHttp || options.sharesLimits ? 2_000 : 30_000,
    instanceId: 'first-instance',
    ...options.config,
  };
  const log = createLog({ level: process.env.TEST_LOG === '1' ? 'debug' : 'silent' });
  let venueAheadMs = 0;
  let accountMode: ExchangeCredentials['accountMode'] = 'classic';
  const venueClock = { ...clock, now: () => new Date(clock.now().getTime() + venueAheadMs) };
  const venue = createVenue({
    db,
    clock: venueClock,
    marks: storedMarks(),
    startBalance: config.paperBalance,
    credentialsFor: (userId) => venueCredentials(userId, SECRET),
    keyOf: () => (accountMode === 'unified' ? { ...TRADING_KEY, accountMode } : TRADING_KEY),
  });

  const secretBox = createSecretBox(SECRET);
  const audit = createAuditTrail({ db, clock, secretBox });
  const paper = openPaper({
    db,
    clock,
    marks: storedMarks(),
    startBalance: config.paperBalance,
    onError: (error) => log.error({ err: error }, 'the paper books failed'),
  });

  /** Sent jobs; they survive the process, as in the job queue. */
  const sentTasks: TradeUserTask[] = [];
  const calledWaves: { workflowId: string }[] = [];
  const doubleEntries: string[] = [];
  async function noteDoubleEntries(): Promise<void> {
    const open = await db
      .select({ userId: paperOrders.userId, token: paperOrders.token })
      .from(paperOrders)
      .where(
        and(inArray(paperOrders.state, ['live', 'partially_filled']), eq(paperOrders.reduceOnly, false)),
      );
    const seen = new Set<string>();
    for (const { userId, token } of open) {
      const key = `${userId} ${token}`;
      if (seen.has(key)) doubleEntries.push(key);
      seen.add(key);
    }
  }

  async function take(request: VenueRequest): ReturnType<TestVenue['handle']> {
    await options.watch?.before?.(request);
    const answer = await venue.handle(request);
    if (/\/(place-order|order\/create)$/.test(request.path)) await noteDoubleEntries();
    await options.watch?.after?.(request);
    return answer;
  }
  const server =
    options.overHttp || options.sharesLimits ? await listenVenue({ handle: take }, { port: 0 }) : null;
  const addresses = server === null ? {} : { bitgetBaseUrl: server.url, bybitBaseUrl: server.url };

  const jobs: Jobs = {
    send: async (_db, name, messages) => {
      if (name === 'trade-user') sentTasks.push(...([messages].flat() as TradeUserTask[]));
    },
    sendMissing: async (_db, name, messages, { waitMs } = {}) => {
      if (name !== 'trade-wave' || waitMs !== undefined) return;
      calledWaves.push(...(messages as { workflowId: string }[]));
    },
    start: async () => {},
    stop: async () => {},
    isRunning: () => true,
    activity: () => ({ activeJobs: 0, besideJobs: 0, completedJobs: 0, lastActivityAt: null }),
  };

  const changeFeed = createChangeFeed({ connection: database.connection, clock, log });
  const candleWaits = createCandleWaits({ db, clock, jobs, changeFeed, log });

  function createDeps(overrides: {
    db: EngineDeps['db'];
    instanceId: string;
    point?: CrashPoint;
  }): EngineDeps {
    const { point } = overrides;
    const handle: TestVenue['handle'] = async (request) => {
      point?.pass(request.method !== 'GET');
      const answer = await take(request);
      point?.pass(false);
      return answer;
    };
    const exchanges = createExchangeRegistry({
      ...config,
      ...addresses,
      ...(options.sharesLimits ? { shared: { pool: database.pool, log } } : {}),
      ...(options.paperMode ? { paper } : { venue: { handle } }),
      clock,
    });
    const ownConfig = { ...config, instanceId: overrides.instanceId };
    return {
      db: overrides.db,
      clock,
      config: ownConfig,
      log,
      jobs,
      secretBox,
      audit,
      transitions: createTransitions({
        db: overrides.db,
        clock,
        config: ownConfig,
        exchanges,
        jobs,
        secretBox,
        audit,
      }),
      candleWaits,
      userIntake: createUserIntake({ clock }),
      workflowPrices: createWorkflowPrices({ db, clock }),
      exchanges,
      accountGuard: OPEN_TO_ALL,
      findAccount: async (userId, platform) => ({
        userId,
        environment: 'paper',
        credentials: {
          ...venueCredentials(userId, SECRET),
          accountMode: platform === 'Bitget' ? accountMode : 'unified',
        },
      }),
    };
  }

  const deps = createDeps({ db, instanceId: 'first-instance' });
  let incarnation = 1;

  /** The same dependencies with another view of the database, another clock or queue, or other settings. */
  function depsWith(overrides: Partial<Pick<EngineDeps, 'db' | 'clock' | 'jobs' | 'config'>>): EngineDeps {
    const own = { ...deps, ...overrides };
    return { ...own, transitions: createTransitions(own) };
  }

  async function settle({ deps: by = deps, maxRounds = 400, agenda }: SettleOptions = {}): Promise<void> {
    for (let round = 0; round < maxRounds; round += 1) {
      await agenda?.run();
      const { pipelines, waves, unsettled } = await listUnfinished(by.db, unsettledLimits(clock.now()));
      const tradeIds = await inOrderOfPlanning(db, await listUnfinishedTrades(by.db, null));
      const event = agenda?.nextAt() ?? null;
      if (pipelines.length + waves.length + unsettled.length + tradeIds.length === 0) {
        for (const task of sentTasks.splice(0)) await tradeUser(by, task);
        if (event === null) return;
        if (event > clock.now()) clock.set(event);
      }
      for (const { workflowId } of pipelines) await runWorkflow(by, workflowId);
      // The next wave is called as soon as the orders of one are committed: no time passes in between.
      for (const wave of waves) await tradeWave(by, wave);
      for (let wave = calledWaves.shift(); wave !== undefined; wave = calledWaves.shift()) {
        await tradeWave(by, wave);
      }
      for (const task of unsettled) await tradeUser(by, task);
      for (const id of tradeIds) await advanceTrade(by, id);
      await agenda?.onRound?.();
      const [next] = await by.db
        .select({ dueAt: trades.dueAt })
        .from(trades)
        .where(ne(trades.state, 'done'))
        .orderBy(asc(trades.dueAt))
        .limit(1);
      if (next?.dueAt && next.dueAt > clock.now()) clock.set(earlier(next.dueAt, event));
      else clock.advance(10);
    }
    throw new Error(`work was left after ${maxRounds} rounds`);
  }

  async function trade(id: string) {
    const [row] = await db.select().from(trades).where(eq(trades.id, id));
    if (row === undefined) throw new Error(`no trade ${id}`);
    return row;
  }

  /** The outcome of each user of a workflow. */
  async function outcomes(workflowId: string) {
    const rows = await db
      .select()
      .from(workflowUsers)
      .where(eq(workflowUsers.workflowId, workflowId))
      .orderBy(asc(workflowUsers.position));
    return new Map(rows.map((row) => [row.userId, row]));
  }

  return {
    clock,
    /** Sets the clock of the exchange this far ahead of the engine's; negative: behind. */
    setVenueAhead(ms: number) {
      venueAheadMs = ms;
    },
    /** The kind of all accounts at Bitget; classic at first. */
    setAccountMode(mode: typeof accountMode) {
      accountMode = mode;
    },
    depsWith,
    /** The time of leases and heartbeats, which is not the engine's. */
    databaseTime: { pass: passTime, hold: holdTime },
    /** Every time the exchange had two open entries of one user and token, which I2 forbids. */
    doubleEntries,
    db,
    venue,
    deps,
    ...testEngineRows({ db, clock, settle: (token) => venue.settle(token) }),
    settle,
    trade,
    outcomes,
    /** Runs a workflow only until its users' orders are planned. */
    async plan(workflowId: string, by = deps) {
      await runWorkflow(by, workflowId);
      for (const [userId, { position }] of await outcomes(workflowId)) {
        if (position !== null) await planUser(by, { workflowId, userId });
      }
      return await db
        .select()
        .from(trades)
        .where(eq(trades.workflowId, workflowId))
        .orderBy(asc(trades.createdAt));
    },
    /**
     * Sets the clock to the trade's next due time and advances the trade. Checks for fills that do not change the state
     * of the order are skipped: they count as one step with the next.
     */
    async advance(tradeId: string, by = deps) {
      const look = async () => ({
        row: await trade(tradeId),
        attempt: (await listAttempts(by.db, tradeId)).at(-1),
      });
      for (let before = await look(); ; ) {
        const { row, attempt } = before;
        if (row.dueAt !== null && row.dueAt > clock.now()) clock.set(row.dueAt);
        await advanceTrade(by, tradeId);
        const after = await look();
        // Without the lease nothing was written, and this would loop forever.
        const isStuck = after.row.dueAt?.getTime() === row.dueAt?.getTime();
        if (isStuck || !isFillWatch(by.config, row, attempt) || after.attempt?.state !== attempt?.state)
          return after.row;
        before = after;
      }
    },
    /** A process that dies at its n-th statement or request, or after its n-th change. */
    mortal(at: CrashAt) {
      incarnation += 1;
      const point = crashPoint(at);
      const own = openCrashingDatabase(database, point);
      const mortalDeps = createDeps({ db: own.db, instanceId: `instance-${incarnation}`, point });
      return {
        deps: mortalDeps,
        point,
        /** Works until nothing is left or the process dies. */
        async live(settling?: Omit<SettleOptions, 'deps'>) {
          const life = settle({ ...settling, deps: mortalDeps }).catch((error: unknown) => {
            if (!point.isDead()) throw error;
          });
          await Promise.race([life, point.death]);
        },
        bury: () => own.kill(),
      };
    },
    /** Releases all leases, as a new process does first. */
    restart: () => releaseAllLeases(db),
    trades: (signalId: string) => db.select().from(trades).where(eq(trades.signalId, signalId)),
    steps: (workflowId: string) =>
      db
        .select()
        .from(workflowSteps)
        .where(eq(workflowSteps.workflowId, workflowId))
        .orderBy(asc(workflowSteps.stepNumber)),
    async workflow(id: string) {
      const [row] = await db.select().from(workflows).where(eq(workflows.id, id));
      if (row === undefined) throw new Error(`no workflow ${id}`);
      return row;
    },
    /** Oldest first. */
    attempts: (tradeId: string) => listAttempts(db, tradeId),
    /** The content of the result dialog: the trade's events, and the calls to the exchange by type. */
    async events(tradeId: string) {
      const rows = await db
        .select()
        .from(tradeEvents)
        .where(eq(tradeEvents.tradeId, tradeId))
        .orderBy(asc(tradeEvents.id));
      const texts = (kind: string) => rows.filter((row) => row.kind === kind).map(({ text }) => text);
      return { timeline: texts('timeline'), calls: texts('call') };
    },
    ...paperLedger(db),
    async close() {
      await deps.exchanges.close();
      await server?.close();
      candleWaits.stop();
      await changeFeed.close();
      await close();
    },
  };
}

/** Sorts trades by planning, so a repeated run trades in the same order; the database returns any order. */
async function inOrderOfPlanning(db: EngineDeps['db'], tradeIds: string[]): Promise<string[]> {
  if (tradeIds.length < 2) return tradeIds;
  const rows = await db
    .select({ tradeId: orderAttempts.tradeId })
    .from(orderAttempts)
    .where(and(inArray(orderAttempts.tradeId, tradeIds), eq(orderAttempts.attempt, 1)))
    .orderBy(asc(orderAttempts.id));
  return rows.map(({ tradeId }) => tradeId);
}

const earlier = (due: Date, event: Date | null): Date => (event !== null && event < due ? event : due);
