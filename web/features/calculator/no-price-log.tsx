import type { SignalDetail } from '#contract/signals.ts';
import { EmptyState } from '../../ui/states.tsx';

/** Why there is none: none ever came, or those of that time have gone. */
export function NoPriceLog({ signal }: { signal: Pick<SignalDetail, 'priceLogsKept'> }) {
  return (
    <EmptyState>
      {signal.priceLogsKept
        ? 'No matching price log exists for this signal'
        : 'The price logs of this signal’s time are no longer kept'}
    </EmptyState>
  );
}
