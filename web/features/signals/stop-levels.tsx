import type { StopLevelsAnswer } from '#contract/signals.ts';
import { formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Facts } from '../../ui/facts.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';

export function StopLevels({ signalId }: { signalId: string }) {
  return (
    <QueryView
      query={useSignalPart<StopLevelsAnswer>(signalId, '/sltp')}
      errorTitle="Failed to fetch SL/TP data"
    >
      {({ sltpData }) =>
        sltpData.length > 0 ? (
          <div>
            {sltpData.map((record) => (
              <Record key={record.username} record={record} />
            ))}
          </div>
        ) : (
          <EmptyState>No SL/TP calculation data available for this signal</EmptyState>
        )
      }
    </QueryView>
  );
}

function Record({ record }: { record: StopLevelsAnswer['sltpData'][number] }) {
  return (
    <article className={classes.entry}>
      <div className={classes.entryHead}>
        <strong>{record.username}</strong>
        <span>{record.positionSizingMethod}</span>
      </div>
      <div className={classes.entryBody}>
        <Facts
          facts={[
            ['Entry Price', <ExactDecimals key="entry" value={record.entryPrice} />],
            ['Stop Loss', <ExactDecimals key="stop" value={record.stopLoss} />],
            ['Take Profit', <ExactDecimals key="target" value={record.takeProfit} />],
            ['Investment', formatPrice(record.investment)],
            ['Leverage', formatLeverage(record.leverage)],
            ['Risk %', formatFraction(record.riskPercentage, 2)],
          ]}
        />
      </div>
      <div className={classes.entryBody}>
        <div className={classes.name}>Calculation Reason</div>
        {record.calculationReason}
      </div>
      <details className={classes.entryBody}>
        <summary>Calculation Detail</summary>
        <div className={classes.detail}>{record.calculationDetail}</div>
      </details>
    </article>
  );
}
