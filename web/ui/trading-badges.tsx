import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { capitalise } from '../lib/format.ts';
import classes from './badge.module.css';
import { Badge, type BadgeTone } from './badge.tsx';

const SIDE_TONES: Readonly<Record<string, BadgeTone>> = {
  buy: 'buy',
  long: 'buy',
  sell: 'sell',
  short: 'sell',
};

/**
 * Buy or sell, long or short: an arrow and a tint, because green and red mean profit and outcome. Another word is shown
 * as received.
 */
export function SideBadge({ side, shout = false }: { side: string; shout?: boolean }) {
  const text = shout ? side.toUpperCase() : capitalise(side);
  return <Badge tone={SIDE_TONES[side] ?? 'neutral'}>{text || '–'}</Badge>;
}

const STATUS_TONES: Readonly<Record<string, BadgeTone>> = {
  pending: 'neutral',
  processing: 'info',
  completed: 'success',
  failed: 'failure',
  aborted: 'warning',
  skipped: 'neutral',
};

export const isKnownStatus = (status: string): boolean => STATUS_TONES[status] !== undefined;

/** An unknown status is shown as received. */
export const statusText = (status: string): string => (isKnownStatus(status) ? capitalise(status) : status);

/** The status of a step. A workflow has the colour of its outcome: `WorkflowStatus`. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={STATUS_TONES[status] ?? 'outline'}>{statusText(status)}</Badge>;
}

const SHORT_NAME = 3;

/** A disc with its first letters and the name; the style sheet lists the tokens that have a colour. */
export function TokenBadge({ token }: { token: string }) {
  const letters = token.slice(0, token.length > SHORT_NAME ? 2 : 1);
  return (
    <span className={classes.token} data-token={token} data-letters={letters}>
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
