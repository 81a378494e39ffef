import { hostname } from 'node:os';
import type { AttentionCondition } from '#contract/attention.ts';
import {
  CLOCK_ATTENTION_MS,
  CLOCK_ENTRY_LIMIT_MS,
  denyClockApart,
  describeClock,
} from '#domain/orders/clock-difference.ts';
import type { AttentionSource, Deps } from '#server/deps.ts';
import { isFresh } from '#server/platform/clock.ts';
import type { ClockWatch } from '#server/platform/watch-clock.ts';

/** A step of the clock is shown this long: nothing else tells that it is over. */
const STEP_SHOWN_MS = 24 * 3_600_000;

/** Exchanges whose clock differs from that of the machine that answers. */
export function clockConditions({ exchanges }: Pick<Deps, 'exchanges'>): AttentionSource {
  return async () =>
    exchanges.supported.flatMap((exchange): AttentionCondition[] => {
      const aheadMs = exchanges.get(exchange).clockAheadMs();
      if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_ATTENTION_MS) return [];
      const isStopped = denyClockApart({ exchange, aheadMs }) !== null;
      const what = isStopped
        ? 'Nothing is opened there until they agree; open positions are protected and closed as ever.'
        : `Above ${CLOCK_ENTRY_LIMIT_MS / 1_000} s nothing is opened there.`;
      return [
        {
          code: 'clock_apart',
          severity: isStopped ? 'critical' : 'warning',
          since: null,
          text: `The clock of ${exchange} is ${describeClock(aheadMs)} the clock of ${hostname()}. ${what} Check the machine's time service.`,
          link: null,
          action: null,
        },
      ];
    });
}

/** The newest step of the clock of the machine that answers. */
export function clockStepConditions({
  clock,
  clockWatch,
}: Pick<Deps, 'clock'> & { clockWatch: Pick<ClockWatch, 'lastStep'> }): AttentionSource {
  return async () => {
    const step = clockWatch.lastStep();
    if (step === null || !isFresh({ at: step.at, maxAgeMs: STEP_SHOWN_MS, now: clock.now() })) return [];
    const { at, byMs } = step;
    const how = `${(Math.abs(byMs) / 1_000).toFixed(1)} s ${byMs < 0 ? 'back' : 'forwards'}`;
    return [
      {
        code: 'clock_stepped',
        severity: 'warning',
        since: at.toISOString(),
        text: `The clock of ${hostname()} went ${how} at once: it was set, or the machine slept. Waits go on, and nothing read before counts as new. Check the machine's time service.`,
        link: null,
        action: null,
      },
    ];
  };
}
