import type { PriceLogDetail } from '#contract/price-logs.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { formatDecimals } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { usePriceLog } from './get-subject.ts';
import { NoPriceLog } from './no-price-log.tsx';
import { RawDataButton } from './signal-card.tsx';

interface PriceLogCardProps {
  signal: Pick<SignalDetail, 'priceLogHash' | 'priceLogsKept'>;
  onRawData: () => void;
}

export function PriceLogCard({ signal, onRawData }: PriceLogCardProps) {
  const { priceLogHash: hashValue } = signal;
  return (
    <Panel
      title="Price Log Information"
      aside={hashValue === null ? null : <RawDataButton label="Price log raw data" onClick={onRawData} />}
    >
      {hashValue === null ? <NoPriceLog signal={signal} /> : <Loaded hashValue={hashValue} />}
    </Panel>
  );
}

function Loaded({ hashValue }: { hashValue: string }) {
  const formatInstant = useFormatInstant();
  return (
    <QueryView query={usePriceLog(hashValue)} errorTitle="Failed to fetch price log">
      {(log) => (
        <Facts
          columns={2}
          facts={[
            ['Price (Close)', <FullPrice key="price" price={log.close ?? log.price} />],
            ['Symbol', `${log.token}${log.currency}`],
            ['Immediate Trend', parameter(log, 'immediate_trend')],
            ['Mature Trend', parameter(log, 'mature_trend')],
            ['ATR', atr(log)],
            ['Candle Time', formatInstant(log.candleTimeServer)],
            ['Received At', formatInstant(log.receivedAt)],
          ]}
        />
      )}
    </QueryView>
  );
}

function parameter({ parameters }: PriceLogDetail, name: string): string {
  const value = parameters[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}

/** Two decimals; where they hide it, as with cheap tokens, the whole figure. */
function atr(log: PriceLogDetail): string {
  const text = parameter(log, 'atr');
  const rounded = formatDecimals(text, 2);
  if (rounded === '–') return text;
  return Number(rounded) === 0 && Number(text) !== 0 ? `${rounded} (${text})` : rounded;
}
