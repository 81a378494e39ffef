import { and, asc, eq, inArray, ne } from 'drizzle-orm';
import { paperCredentials } from '#server/exchanges/paper/paper-credentials.ts';
import { createPaperExchange, type PaperExchange } from '#server/exchanges/paper/paper-exchange.ts';
import { paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { createExchangeRegistry } from '#server/exchanges/registry.ts';
import type { AutomationDeps } from '#server/features/automation/automation-deps.ts';
import { runWorkflow } from '#server/features/automation/run-workflow.ts';
import { tradeUser } from '#server/features/automation/trade-user.ts';
import { listUnfinished } from '#server/features/automation/workflows.store.ts';
import { advanceTrade } from '#server/features/position-maker/advance-trade.ts';
import {
  type AttemptRow,
  listAttempts,
  listUnfinishedTrades,
} from '#server/features/position-maker/trades.store.ts';
import { storedMarks } from '#server/features/price-logs/stored-marks.ts';
import { type Config, parseConfig } from '#server/platform/config.ts';
import {
  tradeEvents,
  trades,
  workflowSteps,
  workflows,
  workflowUsers,
} from '#server/platform/database/schema.ts';
import { releaseAllLeases } from '#server/platform/leases.ts';
import { createLog } from '#server/platform/log.ts';
import { type CrashPoint, crashPoint, openCrashingDatabase } from './crashing-database.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { type PaperLedger, paperLedger } from './paper-ledger.ts';
import { createTestDatabase } from './test-database.ts';
import { type TestEngineRows, testEngineRows } from './test-engine-rows.ts';

const SECRET = 'a secret key of the tests, long enough';

/**
 * The engine over a real database and the paper exchange, without job queue and timers: `settle` calls the handlers
 * for whatever the tables say is unfinished and moves the clock to the next due time, until nothing is left. So it
 * also proves that no job is needed for anything but waking up.
 */
export interface TestEngine extends TestEngineRows, PaperLedger {
  clock: FakeClock;
  db: AutomationDeps['db'];
  paper: PaperExchange;
  deps: AutomationDeps;
  settle(options?: { deps?: AutomationDeps; maxRounds?: number }): Promise<void>;
  /** Runs a workflow until its users' orders are planned, and no further. */
  plan(workflowId: string, deps?: AutomationDeps): Promise<(typeof trades.$inferSelect)[]>;
  /** Sets the clock to the trade's next due time and brings it as far as it goes. */
  advance(tradeId: string, deps?: AutomationDeps): Promise<typeof trades.$inferSelect>;
  trade(id: string): Promise<typeof trades.$inferSelect>;
  /** A process that dies at the n-th thing that it does to the outside. */
  mortal(at: number): Mortal;
  /** What a new process does first. */
  restart(): Promise<void>;
  trades(signalId: string): Promise<(typeof trades.$inferSelect)[]>;
  steps(workflowId: string): Promise<(typeof workflowSteps.$inferSelect)[]>;
  workflow(id: string): Promise<typeof workflows.$inferSelect>;
  /** What became of each user of a workflow. */
  outcomes(workflowId: string): Promise<Map<string, typeof workflowUsers.$inferSelect>>;
  /** Oldest first. */
  attempts(tradeId: string): Promise<AttemptRow[]>;
  /** What the result dialog shows: the trade's own lines, and the calls to the exchange by type. */
  events(tradeId: string): Promise<{ timeline: string[]; calls: string[] }>;
  /** Every moment at which the exchange had two entries of one user and token open. I2: there is none. */
  doubleEntries: string[];
  close(): Promise<void>;
}

export interface Mortal {
  deps: AutomationDeps;
  point: CrashPoint;
  /** Works until nothing is left, or until it dies: what a dead process would still do is not waited for. */
  live(): Promise<void>;
  bury(): Promise<void>;
}

export async function startTestEngine(options: { config?: Partial<Config> } = {}): Promise<TestEngine> {
  const { database, close } = await createTestDatabase();
  const { db } = database;
  const clock = fakeClock('2026-05-04T10:00:00.000Z');
  const config: Config = {
    ...parseConfig({ APP_ENV: 'production', SECRET_KEY: SECRET, EXCHANGE_TIMEOUT_MS: '1000' }),
    instanceId: 'first-instance',
    ...options.config,
  };
  const log = createLog({ level: process.env.TEST_LOG === '1' ? 'debug' : 'silent' });
  const paper = createPaperExchange({
    db,
    clock,
    marks: storedMarks(),
    startBalance: config.paperBalance,
    credentialsFor: (userId) => paperCredentials(userId, SECRET),
  });

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

  function createDeps(overrides: {
    db: AutomationDeps['db'];
    instanceId: string;
    point?: CrashPoint;
  }): AutomationDeps {
    const { point } = overrides;
    const handle: PaperExchange['handle'] = async (request) => {
      point?.pass();
      const answer = await paper.handle(request);
      if (request.path.endsWith('/place-order')) await noteDoubleEntries();
      point?.pass();
      return answer;
    };
    return {
      db: overrides.db,
      clock,
      config: { ...config, instanceId: overrides.instanceId },
      log,
      jobs: {
        send: async () => {},
        start: async () => {},
        stop: async () => {},
        isRunning: () => true,
        activity: () => ({ activeJobs: 0, completedJobs: 0, lastActivityAt: null }),
      },
      exchanges: createExchangeRegistry({ ...config, paper: { handle }, now: () => clock.now() }),
      findAccount: async (userId) => ({
        userId,
        environment: 'paper',
        credentials: paperCredentials(userId, SECRET),
      }),
    };
  }

  const deps = createDeps({ db, instanceId: 'first-instance' });
  let incarnation = 1;

  const engine: TestEngine = {
    clock,
    doubleEntries,
    db,
    paper,
    deps,
    ...testEngineRows({ db, clock, settle: (token) => paper.settle(token) }),
    async settle({ deps: by = deps, maxRounds = 400 } = {}) {
      for (let round = 0; round < maxRounds; round += 1) {
        const { pipelines, waiting } = await listUnfinished(by.db);
        const tradeIds = await listUnfinishedTrades(by.db, null);
        if (pipelines.length === 0 && tradeIds.length === 0) return;
        for (const { workflowId } of pipelines) await runWorkflow(by, workflowId);
        for (const task of waiting) await tradeUser(by, task);
        for (const id of tradeIds) await advanceTrade(by, id);
        const [next] = await by.db
          .select({ dueAt: trades.dueAt })
          .from(trades)
          .where(ne(trades.state, 'done'))
          .orderBy(asc(trades.dueAt))
          .limit(1);
        if (next?.dueAt && next.dueAt > clock.now()) clock.set(next.dueAt);
        else clock.advance(10);
      }
      throw new Error(`work was left after ${maxRounds} rounds`);
    },
    async plan(workflowId, by = deps) {
      await runWorkflow(by, workflowId);
      for (const [userId, { position }] of await engine.outcomes(workflowId)) {
        if (position !== null) await tradeUser(by, { workflowId, userId });
      }
      return await db
        .select()
        .from(trades)
        .where(eq(trades.workflowId, workflowId))
        .orderBy(asc(trades.createdAt));
    },
    async advance(tradeId, by = deps) {
      const { dueAt } = await engine.trade(tradeId);
      if (dueAt !== null && dueAt > clock.now()) clock.set(dueAt);
      await advanceTrade(by, tradeId);
      return await engine.trade(tradeId);
    },
    async trade(id) {
      const [row] = await db.select().from(trades).where(eq(trades.id, id));
      if (row === undefined) throw new Error(`no trade ${id}`);
      return row;
    },
    mortal(at) {
      incarnation += 1;
      const point = crashPoint(at);
      const own = openCrashingDatabase(database, point);
      const mortalDeps = createDeps({ db: own.db, instanceId: `instance-${incarnation}`, point });
      return {
        deps: mortalDeps,
        point,
        async live() {
          const life = engine.settle({ deps: mortalDeps }).catch((error: unknown) => {
            if (!point.isDead()) throw error;
          });
          await Promise.race([life, point.death]);
        },
        bury: () => own.kill(),
      };
    },
    restart: () => releaseAllLeases(db),
    trades: (signalId) => db.select().from(trades).where(eq(trades.signalId, signalId)),
    steps: (workflowId) =>
      db
        .select()
        .from(workflowSteps)
        .where(eq(workflowSteps.workflowId, workflowId))
        .orderBy(asc(workflowSteps.stepNumber)),
    async workflow(id) {
      const [row] = await db.select().from(workflows).where(eq(workflows.id, id));
      if (row === undefined) throw new Error(`no workflow ${id}`);
      return row;
    },
    async outcomes(workflowId) {
      const rows = await db
        .select()
        .from(workflowUsers)
        .where(eq(workflowUsers.workflowId, workflowId))
        .orderBy(asc(workflowUsers.position));
      return new Map(rows.map((row) => [row.userId, row]));
    },
    attempts: (tradeId) => listAttempts(db, tradeId),
    async events(tradeId) {
      const rows = await db
        .select()
        .from(tradeEvents)
        .where(eq(tradeEvents.tradeId, tradeId))
        .orderBy(asc(tradeEvents.id));
      const texts = (kind: string) => rows.filter((row) => row.kind === kind).map(({ text }) => text);
      return { timeline: texts('timeline'), calls: texts('call') };
    },
    ...paperLedger(db),
    close,
  };
  return engine;
}
