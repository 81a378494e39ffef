import { hostname } from 'node:os';
import type { AttentionCondition } from '#contract/attention.ts';
import {
  CLOCK_ATTENTION_MS,
  CLOCK_ENTRY_LIMIT_MS,
  denyClockApart,
  describeClock,
} from '#domain/orders/clock-difference.ts';
import type { AttentionSource, Deps } from '#server/deps.ts';

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
