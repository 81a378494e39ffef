import type { SignalDetail } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { OriginalTime } from '../../ui/original-time.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ActionBadge } from '../../ui/trading-badges.tsx';
import { useSignal } from './get-signal.ts';
import { SignalChart } from './signal-chart.tsx';
import classes from './signal-dialogs.module.css';

export function SignalDetails({ signalId }: { signalId: string }) {
  return (
    <QueryView query={useSignal(signalId)} errorTitle="Failed to fetch signal">
      {(signal) => <Details signal={signal} />}
    </QueryView>
  );
}

function Details({ signal }: { signal: SignalDetail }) {
  const formatInstant = useFormatInstant();
  return (
    <div className={classes.stack}>
      <div>
        <div className={classes.name}>ID</div>
        <div className="mono">{signal.id}</div>
      </div>
      <Facts
        facts={[
          ['Token', signal.token],
          ['Action', <ActionBadge key="action" action={signal.action} />],
          ['Price', <FullPrice key="price" price={signal.price} />],
          ['Currency', signal.currency],
          ['Timeframe', displayTimeframe(signal.timeframe)],
          ['Processor', signal.processor],
          ['Original Time', <OriginalTime key="original" original={signal.originalTimeTrading} />],
          ['Candle Time', formatInstant(signal.candleTimeServer)],
          ['Received Time', formatInstant(signal.receivedAtServer)],
        ]}
      />
      <SignalChart signalId={signal.id} />
      <div>
        <div className={classes.name}>Parameters</div>
        {Object.keys(signal.parameters).length > 0 ? (
          <JsonView value={signal.parameters} label="Parameters" />
        ) : (
          <p className={classes.quiet}>No parameters available</p>
        )}
      </div>
    </div>
  );
}
