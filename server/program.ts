import { sql } from 'drizzle-orm';
import manifest from '../package.json' with { type: 'json' };
import { checkSecretKey, requireUnsealed } from './admin/hooks/check-secret-key.ts';
import { duplicateAccountConditions } from './admin/keys/account-claims.ts';
import { createAccountFinder, createAccountGuard, createKeyWatch } from './admin/keys/find-account.ts';
import { startRetention } from './admin/retention/keep-partitions.ts';
import {
  ensureFirstAdministrator,
  type FirstAdministrator,
} from './admin/users/ensure-first-administrator.ts';
import { startAlerts } from './alerts/start-alerts.ts';
import { createExchangeWatch } from './alerts/watch-exchanges.ts';
import { tellPredecessors } from './alerts/watch-installation.ts';
import { buildApp } from './app.ts';
import { untrustedProxyConditions } from './console/attention/attention.routes.ts';
import { clockConditions, clockStepConditions } from './console/attention/clock-conditions.ts';
import { diskConditions } from './console/attention/disk-conditions.ts';
import { failedClosingConditions } from './console/attention/failed-closings.ts';
import { riskLimitConditions } from './console/limits/limit-conditions.ts';
import { createOverview } from './console/overview/read-overview.ts';
import { createFlattener } from './console/positions/flatten.ts';
import { createScopeFlattener } from './console/positions/flatten-scope.ts';
import { createStatementArchiver } from './console/statements/archive-statements.ts';
import { type Deps, OPEN_TO_ALL, type Readiness } from './deps.ts';
import { createExitWatch } from './engine/exits/watch-exits.ts';
import { startLedgerReads } from './engine/ledger/read-ledgers.ts';
import { startLimitWatch } from './engine/limits/watch-limits.ts';
import { advanceTrade } from './engine/orders/advance-trade.ts';
import { removeWorkers } from './engine/orders/workers.store.ts';
import { createWorkers, STOP_WORKERS_LIMIT_MS } from './engine/orders/workers.ts';
import { startProtectionAudit } from './engine/protection/audit-protection.ts';
import { startEquitySnapshots } from './engine/protection/equity-snapshots.ts';
import { createAccountReader } from './engine/protection/read-account.ts';
import { createTransitions } from './engine/records/transitions.ts';
import { storedMarks } from './engine/sizing/stored-marks.ts';
import { createCandleWaits } from './engine/workflow/candle-waits.ts';
import { startReadAhead } from './engine/workflow/read-ahead.ts';
import { runWorkflow } from './engine/workflow/run-workflow.ts';
import { startSweep, wakeUnfinished } from './engine/workflow/sweep.ts';
import { tradeUser, tradeWave } from './engine/workflow/trade-wave.ts';
import { createUserIntake } from './engine/workflow/user-intake.ts';
import { createWorkflowPrices } from './engine/workflow/workflow-prices.ts';
import { openPaper, paperAccount } from './exchanges/paper/open-paper.ts';
import { settleOnPrice } from './exchanges/paper/price-settlement.ts';
import { createExchangeRegistry, type ExchangeRegistry } from './exchanges/registry.ts';
import { createReceiver } from './ingest/receive-delivery.ts';
import { createAuditTrail, programActor } from './platform/audit/audit-trail.ts';
import { replaceLostAuditKey } from './platform/audit/replace-lost-key.ts';
import { startSealing } from './platform/audit/seal-audit-log.ts';
import { createChangeFeed } from './platform/change-feed.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config/config.ts';
import { findSecretKey, keyPath, loadSecretKeys } from './platform/config/secret-key.ts';
import { startKeepingTotals } from './platform/db/list-totals/keep-totals.ts';
import { type OpenDatabase, openPool } from './platform/db/pool.ts';
import { eachInTurn } from './platform/each-alone.ts';
import { LOW_SPACE, NO_SPACE, type ReadDisk, readFreeSpace } from './platform/free-space.ts';
import type { App } from './platform/http/http-app.ts';
import { createPasswordLimits } from './platform/http/password-limits.ts';
import { createUntrustedProxies } from './platform/http/untrusted-proxies.ts';
import { createJobs, type JobHandlers } from './platform/jobs/jobs.ts';
import { releaseAllLeases } from './platform/jobs/leases.ts';
import { createRightOfWay } from './platform/jobs/right-of-way.ts';
import type { Logger } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { noteEvents } from './platform/notices/note-event.ts';
import { createSecretBox } from './platform/secret-box.ts';
import { createInstanceReport, removeInstances } from './platform/secret-keys/report-instance.ts';
import { createClockWatch } from './platform/watch-clock.ts';

const LIMIT_CONNECTIONS = 4;
const LIMITS_CLOSE_MS = 1_000;
/** The database must not close under running jobs: longer than all waits of a stop together. */
export const STOP_PROGRAM_LIMIT_MS = STOP_WORKERS_LIMIT_MS + LIMITS_CLOSE_MS + 1_500;

/** What works beside the job queue, on timers of its own. */
export type BackgroundPart =
  | 'sweep'
  | 'protection audit'
  | 'totals'
  | 'equity snapshots'
  | 'ledgers'
  | 'limit watch'
  | 'flattener'
  | 'statement archives'
  | 'exit watch'
  | 'read ahead'
  | 'retention'
  | 'alerts'
  | 'clock watch'
  | 'audit sealing';

export interface Program {
  app: App;
  deps: Deps;
  /**
   * Takes up the work of a predecessor, starts the engine with these background parts, and creates the first
   * administrator. An installation needs all parts; a test names the ones that it is about.
   */
  start(options: {
    background: 'all' | readonly BackgroundPart[];
  }): Promise<{ firstAdministrator: FirstAdministrator | null }>;
  /** Stops taking jobs; jobs in progress finish or are taken up by the next start. */
  stop(): Promise<void>;
}

/** A load balancer asks often and gives up soon. */
const READY_WITHIN_MS = 1_500;

const createPaperAccountFinder =
  (exchanges: Pick<ExchangeRegistry, 'get'>): Deps['findAccount'] =>
  async (userId, platform) =>
    paperAccount(userId, exchanges.get(platform).accountMode);

/** Wires the program: the only place that knows all its parts. */
export async function buildProgram(options: {
  config: Config;
  log: Logger;
  clock: Clock;
  /** The machine's own clock, where `clock` is corrected by the database's. */
  machineClock?: Clock;
  database: OpenDatabase;
  webFolder?: string;
  readDisk?: ReadDisk;
  mostWorkers?: number;
}): Promise<Program> {
  const { config, log, clock, database } = options;
  const { db, pool } = database;
  const isKeyThere = (await findSecretKey(config)) !== null;
  if (!isKeyThere && !config.isNewSecretKey) await requireUnsealed(db, keyPath(config));
  const keys = await loadSecretKeys(config);
  const paper =
    config.exchangeMode === 'paper'
      ? openPaper({
          db: database.engineDb,
          clock,
          marks: storedMarks(),
          startBalance: config.paperBalance,
          onError: (error) => log.error({ err: error }, 'the paper exchange could not settle an account'),
        })
      : null;
  const secretBox = createSecretBox(keys.secretKey, keys.nextKey);
  const report = createInstanceReport({ db, clock, log, instanceId: config.instanceId, keys, secretBox });
  const jobs = await createJobs({
    database,
    log,
    clock,
    ...(options.mostWorkers === undefined ? {} : { mostWorkers: options.mostWorkers }),
  });
  const metrics = createMetrics();
  const audit = createAuditTrail({ db, clock, secretBox });
  const keyDeps = { config, log, clock, db, jobs, secretBox, audit };
  // A separate pool: a stop must not wait behind the statements of a hundred limits.
  const { connection, classFor } = database;
  const limits = openPool({ connection, classFor, log, maxConnections: LIMIT_CONNECTIONS });
  const exchangeWatch = createExchangeWatch({ db, clock, log });
  const exchanges: ExchangeRegistry = createExchangeRegistry({
    ...config,
    paper,
    shared: { pool: limits.pool, log },
    onCall(call) {
      metrics.exchangeCalled(call);
      exchangeWatch.called(call);
    },
    clock,
    ...(paper === null ? { onKeyRefused: createKeyWatch({ ...keyDeps, exchanges: () => exchanges }) } : {}),
  });
  const freeSpace = () => {
    // A network drive that is gone does not answer.
    const late = clock.sleep(READY_WITHIN_MS).then(() => null);
    return Promise.race([readFreeSpace(config.dataDir, options.readDisk).catch(() => null), late]);
  };
  const clockWatch = createClockWatch({ clock, machineClock: options.machineClock ?? clock, log });
  const changeFeed = createChangeFeed({ connection: database.connection, clock, log });
  const untrustedProxies = createUntrustedProxies({ config, clock, log });
  const base = {
    metrics,
    untrustedProxies,
    limitPasswordAttempts: createPasswordLimits({ db, pool, clock }),
    attentionSources: [
      untrustedProxyConditions({ config, untrustedProxies }),
      () => duplicateAccountConditions({ config, db }),
      riskLimitConditions({ db, clock }),
      () => failedClosingConditions({ db }),
      diskConditions({ config, freeSpace }),
      clockConditions({ exchanges }),
      clockStepConditions({ clock, clockWatch }),
    ],
    config,
    log,
    clock,
    db,
    pool,
    enginePool: database.engineDb.$client,
    deliveryPool: database.deliveryDb.$client,
    jobs,
    secretBox,
    audit,
    exchanges,
    findAccount:
      config.exchangeMode === 'paper'
        ? createPaperAccountFinder(exchanges)
        : createAccountFinder({ ...keyDeps, exchanges }),
    accountGuard: paper === null ? createAccountGuard({ ...keyDeps, exchanges }) : OPEN_TO_ALL,
    onPrice:
      paper === null
        ? () => {}
        : settleOnPrice({
            settle: paper.settle,
            onError: (error, token) => log.error({ err: error, token }, 'paper orders could not be settled'),
          }),
    onArchiveRequested: () => statementArchiver.wake(),
    transitions: createTransitions({
      db: database.engineDb,
      clock,
      config,
      exchanges,
      jobs,
      secretBox,
      audit,
    }),
    changeFeed,
    userIntake: createUserIntake({ clock }),
    workflowPrices: createWorkflowPrices({ db: database.engineDb, clock }),
    candleWaits: createCandleWaits({ db: database.engineDb, clock, jobs, changeFeed, log }),
    readiness: () => readReadiness(),
    freeSpace,
  };
  const statementArchiver = createStatementArchiver(base);
  const rightOfWay = createRightOfWay({ clock });
  const receiver = createReceiver(
    { ...base, db: database.deliveryDb, pool: database.deliveryDb.$client },
    rightOfWay.noteStored,
  );
  const deps: Deps = { ...base, rightOfWay, receiver };
  const app = await buildApp(deps, options.webFolder === undefined ? {} : { webFolder: options.webFolder });
  const engine = () => ({ ...deps, db: database.engineDb });
  const [besideWorkflows, besideUsers] = [rightOfWay.createLane(), rightOfWay.createLane()];
  const handlers: JobHandlers = {
    'run-workflow': ({ workflowId }) => besideWorkflows(() => runWorkflow(engine(), workflowId)),
    'trade-wave': (wave) => besideUsers(() => tradeWave(engine(), wave)),
    'trade-user': (task) => besideUsers(() => tradeUser(engine(), task)),
    // Never delayed, because it may concern a position without its stop.
    'advance-trade': ({ tradeId, ...known }) => advanceTrade(engine(), tradeId, known),
  };
  const workers = createWorkers({
    deps,
    jobs,
    handlers,
    wakeUnfinished: () => wakeUnfinished(deps, { all: true }),
  });
  const stops: (() => void | Promise<void>)[] = [];
  // Started and stopped in this order, except the last, which is stopped after everything that may add an entry.
  const backgroundParts: Record<
    Exclude<BackgroundPart, 'audit sealing'>,
    () => () => void | Promise<void>
  > = {
    sweep: () => startSweep(deps),
    'clock watch': () => clockWatch.start(),
    'protection audit': () => startProtectionAudit(deps),
    totals: () => startKeepingTotals(deps),
    'equity snapshots': () => startEquitySnapshots(deps),
    ledgers: () => startLedgerReads(deps),
    'limit watch': () => startLimitWatch({ ...deps, flattener: createScopeFlattener(deps) }),
    flattener: () => createFlattener(engine(), createAccountReader(engine())).start(),
    'statement archives': () => statementArchiver.start(),
    'exit watch': () => createExitWatch(engine(), createAccountReader(engine())).start(),
    'read ahead': () => (config.readAhead ? startReadAhead(engine()) : () => {}),
    retention: () => startRetention({ deps, connection: database.connection }),
    alerts: () => startAlerts(deps, { exchangeWatch, readOverview: createOverview(deps) }).stop,
  };
  let stopSealing: (() => Promise<void>) | null = null;

  async function readReadiness(): Promise<Readiness> {
    const answered = db.execute(sql`select 1`).then(
      () => true,
      () => false,
    );
    const [database, free] = await Promise.all([
      Promise.race([answered, clock.sleep(READY_WITHIN_MS).then(() => false)]),
      freeSpace(),
    ]);
    const positionMaker = jobs.isRunning();
    // While anything can be committed, alerts are taken. A database elsewhere has another disk.
    const isFull = config.databaseUrl === null && free !== null && free < NO_SPACE;
    return {
      ready: database && positionMaker && !isFull,
      checks: { database, positionMaker, disk: free !== null && free >= LOW_SPACE },
    };
  }

  return {
    app,
    deps,
    async start({ background }) {
      const isWanted = (part: string) => background === 'all' || background.some((one) => one === part);
      // An embedded database has one program: other lease holders, workers and instances are dead.
      if (database.embedded) {
        await releaseAllLeases(db);
        await removeWorkers(db, 'all');
        await tellPredecessors(deps);
        await removeInstances(db);
      }
      await report.register();
      const checked = await checkSecretKey({ db, keys, replace: config.isNewSecretKey, log });
      await report.start();
      const isNewSecretKey = checked !== 'known' || config.isNewSecretKey;
      const isReplaced = await replaceLostAuditKey({ db, clock, log, secretBox, isNewSecretKey });
      // Loads the key before any transaction needs it.
      await audit.seal();
      const installation = { kind: 'installation', id: config.instanceId, name: null } as const;
      const actor = programActor('Signal Board');
      if (checked === 'replaced' && !isReplaced) {
        await audit.record(db, { actor, action: 'secret key replaced', subject: installation });
      }
      await workers.start();
      // Last of all steps that may fail, so that a failed start has not used up the only display of the password.
      const firstAdministrator = await ensureFirstAdministrator(deps);
      await audit.record(db, {
        actor,
        action: 'program started',
        subject: installation,
        after: { version: manifest.version, mode: config.exchangeMode, environment: config.appEnv },
      });
      const started = { version: manifest.version, mode: config.exchangeMode };
      await noteEvents(db, [{ code: 'instance_started', data: started, at: clock.now() }]);
      for (const [part, startPart] of Object.entries(backgroundParts)) {
        if (isWanted(part)) stops.push(startPart());
      }
      if (isWanted('audit sealing')) stopSealing = startSealing({ audit, clock, log });
      return { firstAdministrator };
    },
    async stop() {
      const steps: (() => unknown)[] = [
        ...stops,
        () => workers.stop(),
        () => deps.candleWaits.stop(),
        () => deps.changeFeed.close(),
        () => deps.receiver.idle(),
        () => jobs.stop(),
        () => base.exchanges.close(),
        // Last of all that may add an entry.
        () => stopSealing?.(),
        // A stop does not wait for a query that hangs.
        () => Promise.race([Promise.all([limits.close(), report.stop()]), clock.sleep(LIMITS_CLOSE_MS)]),
      ];
      await eachInTurn(steps);
    },
  };
}
