import type { Deps } from '#server/deps.ts';
import type { JobHandlers, JobWorkers } from '#server/platform/jobs/jobs.ts';
import { handOverLeases } from '#server/platform/jobs/leases.ts';
import { answerRestart, findNewestRestart } from './restart.ts';
import { forgetDeadWorkers, removeWorkers, reportWorkers } from './workers.store.ts';

const BEAT_MS = 1_000;
/** A step waits at most ten seconds for one exchange, and never for many. */
const DRAIN_LIMIT_MS = 25_000;
const RESTART_LIMIT_MS = 1_000;
/** Shorter than for a restart: a program that was asked to stop is killed after a while. */
const STOP_DRAIN_LIMIT_MS = 5_000;
/** Includes time for the workers' own statements. */
export const STOP_WORKERS_LIMIT_MS = RESTART_LIMIT_MS + STOP_DRAIN_LIMIT_MS + 500;
const BEATS_BETWEEN_CLEANINGS = 60;

/** This instance's workers: starts them, reports them to other instances, and restarts them on request. */
export interface Workers {
  start(): Promise<void>;
  /** Takes no more jobs; resolves when work in progress has ended or was handed over. */
  stop(): Promise<void>;
}

/**
 * A restart takes no more jobs, lets work in progress end, and starts again. Work that does not end in time is handed
 * over: its leases are released with a new version, so that it writes nothing more (I2, I6), and other workers resume
 * it from the tables.
 */
export function createWorkers(options: {
  deps: Pick<Deps, 'clock' | 'db' | 'log'> & { config: Pick<Deps['config'], 'instanceId'> };
  jobs: JobWorkers;
  handlers: JobHandlers;
  /** Sends a job for everything unfinished. */
  wakeUnfinished: () => Promise<void>;
  drainLimitMs?: number;
  stopDrainLimitMs?: number;
  beatMs?: number;
}): Workers {
  const { deps, jobs, handlers, wakeUnfinished } = options;
  const { drainLimitMs = DRAIN_LIMIT_MS, stopDrainLimitMs = STOP_DRAIN_LIMIT_MS, beatMs = BEAT_MS } = options;
  const { clock, db, log } = deps;
  const { instanceId } = deps.config;
  let stopBeating = () => {};
  let beating: Promise<void> | null = null;
  let restarting: Promise<void> | null = null;
  let newestRestart = 0;
  let beats = 0;
  let isStopping = false;

  async function startEngine(): Promise<void> {
    await wakeUnfinished();
    await jobs.start(handlers);
  }

  async function restart(restartId: number): Promise<void> {
    log.info({ restartId }, 'the position maker restarts');
    const failure = await restartEngine().then(
      () => null,
      (error: unknown) => error,
    );
    if (failure !== null) log.error({ err: failure, restartId }, 'the position maker could not be restarted');
    const error = failure === null ? null : 'The engine could not be started; it is tried again';
    await answerRestart(db, { restartId, instanceId, error });
  }

  async function restartEngine(): Promise<void> {
    if (jobs.isRunning()) await drain(drainLimitMs);
    if (!isStopping) await startEngine();
  }

  async function drain(limitMs: number): Promise<void> {
    if (await jobs.pause(limitMs)) return;
    log.warn('work did not end in time, handing it over');
    await handOverLeases(db, instanceId);
  }

  async function beat(): Promise<void> {
    await reportWorkers(db, { instanceId, isRunning: jobs.isRunning(), workers: jobs.workers() });
    beats += 1;
    if (beats % BEATS_BETWEEN_CLEANINGS === 0) await forgetDeadWorkers(db);
    if (restarting !== null || isStopping) return;
    const announced = await findNewestRestart(db);
    const isAnnounced = announced > newestRestart;
    if (!isAnnounced && jobs.isRunning()) return;
    newestRestart = announced;
    // Not awaited: the beats go on, so an instance that drains for long is not taken for dead.
    restarting = (isAnnounced ? restart(announced) : restartEngine())
      .catch((error: unknown) => log.error({ err: error }, 'the position maker is not running'))
      .finally(() => {
        restarting = null;
      });
  }

  function beatOnce(): void {
    beating ??= beat()
      .catch((error: unknown) => log.warn({ err: error }, 'the workers could not be reported'))
      .finally(() => {
        beating = null;
      });
  }

  return {
    async start() {
      newestRestart = await findNewestRestart(db);
      await startEngine();
      await removeWorkers(db, instanceId);
      await beat();
      stopBeating = clock.every(beatMs, beatOnce);
    },
    async stop() {
      isStopping = true;
      stopBeating();
      await beating;
      await Promise.race([restarting, clock.sleep(RESTART_LIMIT_MS)]);
      await drain(stopDrainLimitMs).catch((error: unknown) =>
        log.warn({ err: error }, 'work could not be handed over'),
      );
      await removeWorkers(db, instanceId).catch(() => undefined);
    },
  };
}
