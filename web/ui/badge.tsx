import type { ReactNode } from 'react';
import classes from './badge.module.css';

export type BadgeTone =
  | 'success'
  | 'failure'
  | 'warning'
  | 'info'
  | 'accent'
  | 'buy'
  | 'sell'
  | 'neutral'
  | 'outline';

/** A plain span, because a page of signals has three hundred badges. */
export function Badge({ tone, tip, children }: { tone: BadgeTone; tip?: string; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone} data-tip={tip}>
      {children}
    </span>
  );
}
