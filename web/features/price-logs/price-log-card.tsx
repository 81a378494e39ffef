import { IconChartLine } from '@tabler/icons-react';
import type { PriceLog } from '#contract/price-logs.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { Ago } from '#web/lists/ago.tsx';
import { TwoLines } from '#web/lists/two-lines.tsx';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';

/** A price log on a phone. */
export default function PriceLogCard(props: { log: PriceLog; onView: () => void; onChart: () => void }) {
  const { log, onView, onChart } = props;
  return (
    <TwoLines
      id={log.id}
      token={log.token}
      title={`${log.token} ${displayTimeframe(log.timeframe)}`}
      detail={formatReceivedPrice(log.price)}
      opens={`parameters of ${shortId(log.id, 9)}`}
      onOpen={onView}
      outcome={
        <CellButton
          text="Chart"
          tip="Show chart"
          opens={`candles around ${shortId(log.id, 9)}`}
          onClick={onChart}
        >
          <IconChartLine size={18} aria-hidden />
        </CellButton>
      }
      below={
        <>
          {log.processor ? `${log.processor}, ` : ''}
          <Ago instant={log.receivedAt} />
        </>
      }
      reason={null}
    />
  );
}
