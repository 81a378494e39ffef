import { Button } from '@mantine/core';
import { IconBraces } from '@tabler/icons-react';
import type { SignalDetail } from '#contract/signals.ts';
import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { OriginalTime } from '../../ui/original-time.tsx';
import { Panel } from '../../ui/panel.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';

export function SignalCard({ signal, onRawData }: { signal: SignalDetail; onRawData: () => void }) {
  const formatInstant = useFormatInstant();
  const minutes = timeframeMinutes(signal.timeframe);
  return (
    <Panel title="Signal Information" aside={<RawDataButton label="Signal raw data" onClick={onRawData} />}>
      <Facts
        columns={2}
        facts={[
          ['Token', <TokenBadge key="token" token={signal.token} />],
          ['Action', <SideBadge key="action" action={signal.action} />],
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

const TONES: Readonly<Record<string, BadgeTone>> = {
  buy: 'success',
  long: 'success',
  sell: 'failure',
  short: 'failure',
};

/** An action, or the side of a position. */
export function SideBadge({ action }: { action: string }) {
  return <Badge tone={TONES[action] ?? 'neutral'}>{action.toUpperCase() || '–'}</Badge>;
}

export function RawDataButton({ label, onClick }: { label: string; onClick: () => void }) {
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
