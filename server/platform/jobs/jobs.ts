import { sql } from 'drizzle-orm';
import pg from 'pg';
import { type Db as BossDatabase, PgBoss, type Clock as QueueClock } from 'pg-boss';
import { type Clock, systemClock } from '../clock.ts';
import { createPreparingClient, createStatementNames } from '../db/clients.ts';
import type { Queryable } from '../db/database.ts';
import { runNamed } from '../db/drizzle-over.ts';
import { createNotificationFeed } from '../db/notification-feed.ts';
import type { OpenDatabase } from '../db/pool.ts';
import { momentOf } from '../ids.ts';
import type { Logger } from '../log.ts';
import { type QueueWorkers, startQueueWorkers } from './queue-workers.ts';

/**
 * Jobs are wake-up calls: tables hold the work, and a handler reads them. A job may come twice, late, or
 * again after a crash. `send` inside a transaction makes the job appear with the transaction's commit.
 */
export interface Jobs {
  send<Name extends JobName>(
    db: Queryable,
    name: Name,
    data: JobData[Name] | JobData[Name][],
    options?: SendOptions<Name>,
  ): Promise<void>;
  /** Sends only calls that do not wait already: the sweep for lost calls must not add to a backlog. */
  sendMissing<Name extends JobName>(
    db: Queryable,
    name: Name,
    data: JobData[Name][],
    options?: SendOptions<Name>,
  ): Promise<void>;
  start(handlers: JobHandlers): Promise<void>;
  /** Waits a second for jobs in progress; `pause` first to wait longer. */
  stop(): Promise<void>;
  isRunning(): boolean;
  activity(): WorkerActivity;
}

/** Of all jobs, or of each. */
interface SendOptions<Name extends JobName> {
  /** The minimum wait, by the database's clock: the instance's may differ. */
  waitMs?: number | ((data: JobData[Name]) => number);
  /** Work of a user's own signal: behind all other, in the order of sending. */
  isOwn?: boolean | ((data: JobData[Name]) => boolean);
  /** Before all other jobs of its kind. */
  isUrgent?: boolean;
}

/** The queue as the program holds it: workers can stop and start again while jobs are still sent. */
export interface JobWorkers extends Jobs {
  /** Takes no more jobs; returns true when all jobs in progress ended within the limit. */
  pause(limitMs: number): Promise<boolean>;
  /** One report for each kind of job; its `activeJobs` are those that hold a worker. */
  workers(): JobWorkerReport[];
}

export interface JobWorkerReport extends WorkerActivity {
  name: JobName;
  maxConcurrent: number;
}

export interface JobData {
  'run-workflow': { workflowId: string };
  /** The next users of a workflow, in the order of trading. */
  'trade-wave': { workflowId: string };
  /** One user of a workflow. */
  'trade-user': { workflowId: string; userId: string };
  /** `isCancelSent`: the order of a stopped trade, which another worker has, was cancelled before. */
  'advance-trade': { tradeId: string; isCancelSent?: true };
}
export type JobName = keyof JobData;
export type JobHandlers = { [Name in JobName]: (data: JobData[Name]) => Promise<void> };

interface WorkerActivity {
  activeJobs: number;
  /** Of these, the jobs that gave their worker to another one and go on beside it. */
  besideJobs: number;
  completedJobs: number;
  lastActivityAt: Date | null;
}

/** Jobs of a kind that wait for slow accounts beside the workers. More of them hold workers, as a bound for memory. */
const MOST_BESIDE = 200;

/** New jobs are announced; polling serves only delayed ones. An order's verification should be on time. */
export const QUEUES: Record<JobName, { concurrency: number; pollSeconds: number; mostBeside: number }> = {
  // Waits for no account.
  'run-workflow': { concurrency: 6, pollSeconds: 2, mostBeside: 0 },
  // A wave is up to 64 users; the next one begins when the orders of the last one are committed.
  'trade-wave': { concurrency: 6, pollSeconds: 1, mostBeside: MOST_BESIDE },
  'trade-user': { concurrency: 8, pollSeconds: 1, mostBeside: MOST_BESIDE },
  'advance-trade': { concurrency: 16, pollSeconds: 0.5, mostBeside: MOST_BESIDE },
};

const SCHEMA = 'jobs';

/** Shared by all instances in the process, which may share a connection. */
const nameOf = createStatementNames('queue');

/** How a worker looks for jobs: without values, so that its connection would parse and plan it each time. */
const FETCH = /^\s*WITH\s+next AS\b/;

const NAMES = Object.keys(QUEUES) as JobName[];

/** Under load the oldest workflow goes first: its call is sent only when its predecessor ends. */
const PRIORITIES: { [Name in JobName]?: (data: JobData[Name]) => number } = {
  'run-workflow': ({ workflowId }) => -secondsOf(workflowId),
  // Trades the users of one workflow first, instead of many workflows that wait for one user's lease.
  'trade-wave': ({ workflowId }) => -secondsOf(workflowId),
  'trade-user': ({ workflowId }) => -secondsOf(workflowId),
};
/** The queue's priority is a 32-bit integer. */
const FIRST_MOMENT = Date.UTC(2020, 0);
const LAST_SECOND = 2 ** 31 - 1;
function secondsOf(id: string): number {
  const seconds = Math.floor((momentOf(id).getTime() - FIRST_MOMENT) / 1000) || 0;
  return Math.max(0, Math.min(seconds, LAST_SECOND));
}

/**
 * Below all others. The same for all, so that the queue takes them in the order of sending: an owner's next workflow is
 * called when one of the owner's ends, and then stands behind those of all other owners.
 */
const OWN_PRIORITY = -(2 ** 31);
const USUAL_PRIORITY = 0;
/** Above all others. */
const URGENT_PRIORITY = LAST_SECOND;

/** The library counts seconds from the database's now. */
function secondsUntil<Data>(waitMs: number | ((data: Data) => number), data: Data): number {
  const ms = typeof waitMs === 'number' ? waitMs : waitMs(data);
  return Math.max(0, Math.ceil(ms)) / 1_000;
}

const keyOf = (data: object) => JSON.stringify(Object.entries(data).sort());

const POOL_OPTIONS = {
  application_name: 'pgboss',
  max: 10,
  connectionTimeoutMillis: 10_000,
  // Otherwise a poller whose connection is swallowed by the network waits forever.
  query_timeout: 30_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  // The queue's statements are few, long and by keys: planning them took longer than running them.
  Client: createPreparingClient('jobs'),
  options: '-c plan_cache_mode=force_generic_plan',
};

/** A dead worker's job is taken over after this long (pg-boss allows no less). */
export const HEARTBEAT_SECONDS = 10;
/** The interval at which every instance looks for jobs of dead workers. */
export const SUPERVISE_SECONDS = 1;
/** The wait before the first retry; each further one is about twice as long, up to LONGEST_RETRY_SECONDS. */
export const RETRY_SECONDS = 1;
/** A call that waits for its retry counts as sent: work that a failing database held up must not wait much longer. */
const LONGEST_RETRY_SECONDS = 8;

/** The minimum that the library allows. */
const STOP_LIMIT_MS = 1_000;

const QUEUE_OPTIONS = {
  notify: true,
  retryLimit: 10,
  retryDelay: RETRY_SECONDS,
  retryBackoff: true,
  retryDelayMax: LONGEST_RETRY_SECONDS,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: 120,
  deleteAfterSeconds: 3600,
};

interface Supervision {
  /** Resolves when no pass is under way. */
  end(): Promise<void>;
}

/** Takes jobs from dead workers and deletes old ones, each interval by one of the instances. */
function superviseJobs({
  boss,
  clock,
  noteFault,
}: {
  boss: PgBoss;
  clock: Clock;
  noteFault: (error: Error) => void;
}): Supervision {
  const ending = new AbortController();
  const { signal } = ending;
  async function supervise(): Promise<void> {
    // Counted from the end of a pass: the library refuses one that comes within the interval.
    while (!signal.aborted) {
      await clock.sleep(SUPERVISE_SECONDS * 1_000, signal).catch(() => undefined);
      if (!signal.aborted) await boss.supervise().catch(noteFault);
    }
  }
  const ended = supervise();
  return {
    end() {
      ending.abort();
      return ended;
    },
  };
}

export async function createJobs(options: {
  database: OpenDatabase;
  log: Logger;
  clock?: Clock;
  /** The library's own, for tests that move the time of the queue. */
  queueClock?: QueueClock;
  /** The most workers of each kind, and connections for all. Each of them asks the database at its start. */
  mostWorkers?: number;
}): Promise<JobWorkers> {
  const { database, log, clock = systemClock, queueClock, mostWorkers = Number.POSITIVE_INFINITY } = options;
  const concurrencyOf = (name: JobName) => Math.min(QUEUES[name].concurrency, mostWorkers);
  const max = Math.min(POOL_OPTIONS.max, mostWorkers);
  let sessionStatements: string[] = [];
  const pool = new pg.Pool({
    ...database.connection,
    ...POOL_OPTIONS,
    max,
    Client: database.classFor(POOL_OPTIONS.Client),
    async onConnect(client) {
      if (sessionStatements.length > 0) await client.query(sessionStatements.join(';'));
    },
  });
  const executeSql = (text: string, values?: unknown[]) =>
    FETCH.test(text) ? pool.query({ name: nameOf(text), text }) : pool.query(text, values);
  const boss = new PgBoss({
    db: { executeSql, listen, setSessionStatements },
    ...(queueClock === undefined ? {} : { clock: queueClock }),
    useListenNotify: true,
    schema: SCHEMA,
    schedule: false,
    // Between `start` and `pause` only: nothing writes in the background of a program that works on no jobs.
    supervise: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  // The library reports plain objects with the message, not Errors.
  const noteFault = ({ message }: { message: string }) =>
    log.warn({ reason: message }, 'the job queue reports a fault');
  boss.on('error', noteFault);
  pool.on('error', noteFault);
  boss.on('warning', noteFault);
  const idle = (): WorkerActivity => ({
    activeJobs: 0,
    besideJobs: 0,
    completedJobs: 0,
    lastActivityAt: null,
  });
  const activities: Record<JobName, WorkerActivity> = {
    'run-workflow': idle(),
    'trade-wave': idle(),
    'trade-user': idle(),
    'advance-trade': idle(),
  };
  const working = new Map<JobName, QueueWorkers>();
  let running = false;

  async function work<Name extends JobName>(name: Name, handle: (data: JobData[Name]) => Promise<void>) {
    const activity = activities[name];
    const workers = await startQueueWorkers<JobData[Name]>({
      boss,
      clock,
      name,
      ...QUEUES[name],
      concurrency: concurrencyOf(name),
      gaveWay(working) {
        activity.besideJobs += 1;
        const end = () => {
          activity.besideJobs -= 1;
        };
        void working.then(end, end);
      },
      async handle(data) {
        activity.activeJobs += 1;
        activity.lastActivityAt = clock.now();
        try {
          await handle(data);
          activity.completedJobs += 1;
        } catch (error) {
          log.error({ err: error, job: name, data }, 'job failed');
          throw error;
        } finally {
          activity.activeJobs -= 1;
        }
      },
    });
    working.set(name, workers);
  }

  /** The library gives them before its first statement. */
  async function setSessionStatements(statements: string[]): Promise<void> {
    sessionStatements = statements;
  }

  /** Wakes one worker for each announced job; the library would make all workers of the queue look for it. */
  async function listen(channel: string): ReturnType<NonNullable<BossDatabase['listen']>> {
    const announcements = createNotificationFeed({
      connection: database.connection,
      clock,
      channel,
      what: 'jobs',
      read: (queue) => queue,
      log,
    });
    await announcements.subscribe({
      // Another version may have queues that this one does not know.
      onMessage: (queue) => working.get(queue as JobName)?.wakeOne(),
      onGap() {
        for (const workers of working.values()) workers.wakeOne();
      },
      // Workers poll until the connection is back.
      onAway: () => {},
    });
    return announcements;
  }

  let supervision: Supervision | null = null;

  /** Resolves when all jobs in progress have ended; a handler that hangs delays it. */
  const takeNoMore = async (): Promise<true> => {
    const supervised = supervision?.end();
    supervision = null;
    const stopping = [...working.values()];
    for (const workers of stopping) workers.stop();
    working.clear();
    await Promise.allSettled([supervised, ...NAMES.map((name) => boss.offWork(name, { wait: true }))]);
    await Promise.all(stopping.map((workers) => workers.idle()));
    return true;
  };

  async function send<Name extends JobName>(
    db: Queryable,
    name: Name,
    data: JobData[Name] | JobData[Name][],
    { waitMs, isOwn = false, isUrgent = false }: SendOptions<Name> = {},
  ): Promise<void> {
    const list = Array.isArray(data) ? data : [data];
    if (list.length === 0) return;
    const isLast = (one: JobData[Name]) => (typeof isOwn === 'boolean' ? isOwn : isOwn(one));
    const priorityOf = PRIORITIES[name] ?? (() => USUAL_PRIORITY);
    const jobs = list.map((one) => ({
      data: one,
      priority: isUrgent ? URGENT_PRIORITY : isLast(one) ? OWN_PRIORITY : priorityOf(one),
      ...(waitMs === undefined ? {} : { startAfter: secondsUntil(waitMs, one) }),
    }));
    const inTransaction = (text: string, values: unknown[] = []) =>
      runNamed(db, { name: nameOf(text), text, values });
    await boss.insert(name, jobs, { db: { executeSql: inTransaction } });
  }

  await boss.start();
  for (const name of NAMES) {
    await boss.createQueue(name, QUEUE_OPTIONS);
    // createQueue keeps the options of a queue that an earlier version created.
    await boss.updateQueue(name, QUEUE_OPTIONS);
  }

  return {
    send,
    async sendMissing(db, name, data, options) {
      if (data.length === 0) return;
      // Compared by the database, so that a long backlog is not read here.
      const { rows } = await db.execute<{ data: object }>(sql`
        select data from jsonb_array_elements(${JSON.stringify(data)}::jsonb) as wanted (data)
        except select data from jobs.job where name = ${name} and state in ('created', 'retry')`);
      const missing = new Set(rows.map((row) => keyOf(row.data)));
      if (missing.size === 0) return;
      await send(
        db,
        name,
        data.filter((one) => missing.has(keyOf(one))),
        options,
      );
    },
    async start(handlers) {
      try {
        await work('run-workflow', handlers['run-workflow']);
        await work('trade-wave', handlers['trade-wave']);
        await work('trade-user', handlers['trade-user']);
        await work('advance-trade', handlers['advance-trade']);
        supervision ??= superviseJobs({ boss, clock, noteFault });
      } catch (error) {
        // All or none: another start would add to the workers that started.
        void takeNoMore();
        throw error;
      }
      running = true;
    },
    async pause(limitMs) {
      running = false;
      return await Promise.race([takeNoMore(), clock.sleep(limitMs).then(() => false)]);
    },
    workers: () =>
      NAMES.map((name) => {
        const activity = activities[name];
        const heldWorkers = activity.activeJobs - activity.besideJobs;
        return { name, ...activity, activeJobs: heldWorkers, maxConcurrent: concurrencyOf(name) };
      }),
    async stop() {
      running = false;
      void supervision?.end();
      for (const workers of working.values()) workers.stop();
      await boss.stop({ graceful: true, timeout: STOP_LIMIT_MS });
      if (!pool.ending) await pool.end();
    },
    isRunning: () => running,
    activity() {
      const all = Object.values(activities);
      const times = all.flatMap(({ lastActivityAt }) => (lastActivityAt === null ? [] : [lastActivityAt]));
      return {
        activeJobs: all.reduce((sum, { activeJobs }) => sum + activeJobs, 0),
        besideJobs: all.reduce((sum, { besideJobs }) => sum + besideJobs, 0),
        completedJobs: all.reduce((sum, { completedJobs }) => sum + completedJobs, 0),
        lastActivityAt: times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null,
      };
    },
  };
}
