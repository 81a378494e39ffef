import { displayTimeframe } from '#domain/timeframe.ts';
import { capitalise } from '../lib/format.ts';
import { Badge, type BadgeTone } from './badge.tsx';

export function ActionBadge({ action }: { action: string }) {
  return <Badge tone={action === 'sell' ? 'failure' : 'success'}>{capitalise(action)}</Badge>;
}

const STATUS_TONES: Readonly<Record<string, BadgeTone>> = {
  pending: 'neutral',
  processing: 'info',
  completed: 'success',
  failed: 'failure',
  aborted: 'warning',
  skipped: 'neutral',
};

/** A status that the product does not know is displayed as received (part 2 §4). */
export function StatusBadge({ status, tip }: { status: string; tip?: string }) {
  const tone = STATUS_TONES[status];
  return (
    <Badge tone={tone ?? 'outline'} {...(tip ? { tip } : {})}>
      {tone ? capitalise(status) : status}
    </Badge>
  );
}

export function TimeframeBadge({ timeframe }: { timeframe: string }) {
  return <Badge tone="outline">{displayTimeframe(timeframe)}</Badge>;
}
