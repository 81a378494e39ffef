import type { Signal } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { Ago } from '#web/lists/ago.tsx';
import { TwoLines } from '#web/lists/two-lines.tsx';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { capitalise, shortId } from '../../lib/format.ts';
import { OutcomeBadge } from '../../ui/workflow-outcome.tsx';

/** A signal on a phone. */
export default function SignalCard({ signal, onPanel }: { signal: Signal; onPanel: () => void }) {
  return (
    <TwoLines
      id={signal.id}
      token={signal.token}
      side={signal.action}
      title={`${signal.token} ${capitalise(signal.action)}`}
      detail={formatReceivedPrice(signal.price)}
      opens={`panel of signal ${shortId(signal.id, 9)}`}
      onOpen={onPanel}
      outcome={
        signal.workflowStatus && signal.outcome ? (
          <OutcomeBadge status={signal.workflowStatus} outcome={signal.outcome} />
        ) : (
          <span>–</span>
        )
      }
      below={
        <>
          {signal.processor} {displayTimeframe(signal.timeframe)}, <Ago instant={signal.receivedAt} />
        </>
      }
      reason={signal.outcome?.topReason ?? null}
    />
  );
}
