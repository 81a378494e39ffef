import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { capitalise } from '../lib/format.ts';
import classes from './badge.module.css';
import { Badge, type BadgeTone } from './badge.tsx';

const ACTION_TONES: Readonly<Record<string, BadgeTone>> = { buy: 'success', sell: 'failure' };

export function ActionBadge({ action }: { action: string }) {
  return <Badge tone={ACTION_TONES[action] ?? 'neutral'}>{capitalise(action) || '–'}</Badge>;
}

const STATUS_TONES: Readonly<Record<string, BadgeTone>> = {
  pending: 'neutral',
  processing: 'info',
  completed: 'success',
  failed: 'failure',
  aborted: 'warning',
  skipped: 'neutral',
};

/** Shows an unknown status as received. */
export function StatusBadge({ status, tip }: { status: string; tip?: string }) {
  const tone = STATUS_TONES[status];
  return (
    <Badge tone={tone ?? 'outline'} {...(tip ? { tip } : {})}>
      {tone ? capitalise(status) : status}
    </Badge>
  );
}

/** The style sheet lists the tokens that have a colour. */
export function TokenBadge({ token }: { token: string }) {
  return (
    <span className={classes.token} data-token={token}>
      {token}
    </span>
  );
}

/** Coloured by length: '60' looks like '1h'. */
export function TimeframeBadge({ timeframe }: { timeframe: string }) {
  return (
    <span className={classes.timeframe} data-minutes={timeframeMinutes(timeframe) ?? undefined}>
      {displayTimeframe(timeframe)}
    </span>
  );
}
