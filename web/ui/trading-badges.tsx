import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { capitalise } from '../lib/format.ts';
import { Badge, type BadgeTone } from './badge.tsx';
import classes from './trading-badges.module.css';

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

/** A status that the product does not know is displayed as received. */
export function StatusBadge({ status, tip }: { status: string; tip?: string }) {
  const tone = STATUS_TONES[status];
  return (
    <Badge tone={tone ?? 'outline'} {...(tip ? { tip } : {})}>
      {tone ? capitalise(status) : status}
    </Badge>
  );
}

/** The style sheet knows the tokens that have a colour. */
export function TokenBadge({ token }: { token: string }) {
  return (
    <span className={classes.token} data-token={token}>
      {token}
    </span>
  );
}

/** Coloured by its length, however it is written: '60' looks as '1h' does. */
export function TimeframeBadge({ timeframe }: { timeframe: string }) {
  return (
    <span className={classes.timeframe} data-minutes={timeframeMinutes(timeframe) ?? undefined}>
      {displayTimeframe(timeframe)}
    </span>
  );
}
