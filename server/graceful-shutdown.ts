import { type Clock, timeLimit } from './platform/clock.ts';
import type { Logger } from './platform/log.ts';

export interface ShutdownStep {
  name: string;
  limitMs: number;
  run: () => Promise<unknown>;
}

// A terminal's Ctrl-C and the starter that passes it on arrive as two signals.
const SAME_SIGNAL_MS = 1_000;

/**
 * Ends the program once, in order, each step within its limit: on SIGTERM, SIGINT, SIGHUP, the end of the program
 * that started this one, or a call of `stop`. A second signal ends it immediately.
 */
export function createShutdown(options: { log: Logger; clock: Clock; exit: (code: number) => void }): {
  /** Steps run in reverse order: the last thing opened is closed first. */
  add(step: ShutdownStep): void;
  /** Logs nothing without a reason: a start that failed explains itself in one line. */
  stop(options: { reason?: string; exitCode: number }): Promise<void>;
  isStopping(): boolean;
} {
  const { log, clock, exit } = options;
  const steps: ShutdownStep[] = [];
  let stoppingSince: number | null = null;

  async function stop({ reason, exitCode }: { reason?: string; exitCode: number }): Promise<void> {
    if (stoppingSince !== null) return;
    stoppingSince = clock.monotonicMs();
    if (reason) log.info({ reason }, 'stopping');
    for (const step of steps.toReversed()) {
      try {
        const late = Symbol('late');
        const limit = timeLimit(clock, step.limitMs).then(() => late);
        if ((await Promise.race([step.run(), limit])) === late)
          log.warn({ step: step.name }, 'took too long to stop');
      } catch (error) {
        log.error({ err: error, step: step.name }, 'failed to stop');
      }
    }
    if (reason) log.info({ ms: Math.round(clock.monotonicMs() - stoppingSince) }, 'stopped');
    exit(exitCode);
  }

  function onSignal(signal: string): void {
    if (stoppingSince !== null && clock.monotonicMs() - stoppingSince > SAME_SIGNAL_MS) {
      log.warn('stopped immediately by a second signal');
      exit(1);
    }
    void stop({ reason: signal, exitCode: 0 });
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => onSignal(signal));
  process.on('disconnect', () => onSignal('the starting program ended'));
  return { add: (step) => steps.push(step), stop, isStopping: () => stoppingSince !== null };
}
