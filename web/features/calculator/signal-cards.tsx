import { Button } from '@mantine/core';
import { IconBraces } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { PriceLogDetail } from '#contract/price-logs.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { formatDecimals } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { OriginalTime } from '../../ui/original-time.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { usePriceLog } from './calculator-data.ts';

interface CardProps {
  signal: SignalDetail;
  onRawData: () => void;
}

export function SignalCard({ signal, onRawData }: CardProps) {
  const formatInstant = useFormatInstant();
  const minutes = timeframeMinutes(signal.timeframe);
  return (
    <Panel title="Signal Information" aside={<RawDataButton label="Signal raw data" onClick={onRawData} />}>
      <Facts
        columns={2}
        facts={[
          ['Token', <TokenBadge key="token" token={signal.token} />],
          ['Action', <SideBadge key="action" shout side={signal.action} />],
          ['Price', <FullPrice key="price" price={signal.price} />],
          ['Timeframe', minutes === null ? displayTimeframe(signal.timeframe) : `${minutes} minutes`],
          ['Processor', signal.processor],
          ['Time (TradingView)', <OriginalTime key="original" original={signal.originalTimeTrading} />],
          ['Time (Server)', formatInstant(signal.candleTimeServer ?? signal.receivedAtServer)],
        ]}
      />
    </Panel>
  );
}

export function PriceLogCard({ signal, onRawData }: CardProps) {
  const formatInstant = useFormatInstant();
  return (
    <Panel
      title="Price Log Information"
      aside={
        signal.priceLogHash === null ? null : <RawDataButton label="Price log raw data" onClick={onRawData} />
      }
    >
      <PriceLogView signal={signal}>
        {(log) => (
          <Facts
            columns={2}
            facts={[
              ['Price (Close)', <FullPrice key="price" price={log.close ?? log.price} />],
              ['Symbol', `${log.token}${log.currency}`],
              ['Immediate Trend', parameter(log, 'immediate_trend')],
              ['Mature Trend', parameter(log, 'mature_trend')],
              ['ATR', averageTrueRange(log)],
              ['Candle Time', formatInstant(log.candleTimeServer)],
              ['Received At', formatInstant(log.receivedAt)],
            ]}
          />
        )}
      </PriceLogView>
    </Panel>
  );
}

interface PriceLogViewProps {
  signal: SignalDetail;
  children: (log: PriceLogDetail) => ReactNode;
}

/** The signal's price log, or why it is missing: none was ever received, or logs of that time are no longer kept. */
export function PriceLogView({ signal: { priceLogHash, priceLogsKept }, children }: PriceLogViewProps) {
  const query = usePriceLog(priceLogHash);
  if (priceLogHash !== null) {
    return (
      <QueryView query={query} errorTitle="Failed to fetch price log">
        {children}
      </QueryView>
    );
  }
  return (
    <EmptyState>
      {priceLogsKept
        ? 'No matching price log exists for this signal'
        : 'The price logs of this signal’s time are no longer kept'}
    </EmptyState>
  );
}

function parameter({ parameters }: PriceLogDetail, name: string): string {
  const value = parameters[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}

/** Two decimals, or the whole figure where they would hide it, as with cheap tokens. */
function averageTrueRange(log: PriceLogDetail): string {
  const text = parameter(log, 'atr');
  const rounded = formatDecimals(text, 2);
  if (rounded === '–') return text;
  return Number(rounded) === 0 && Number(text) !== 0 ? `${rounded} (${text})` : rounded;
}

function RawDataButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconBraces size={14} aria-hidden />}
      aria-label={label}
      onClick={onClick}
    >
      Raw data
    </Button>
  );
}
