import type { CSSProperties } from 'react';
import type { OpenPositionView } from '#contract/positions.ts';
import { formatFullPrice } from '../../lib/figures.ts';
import classes from './stop-target-bar.module.css';
import { distanceText, stopTargetBar } from './stop-target-model.ts';

/** The way from the stop at the left to the target at the right, with the entry as a tick and the mark as a dot. */
export function StopTargetBar({ position }: { position: OpenPositionView }) {
  const { stopLoss, takeProfit, markPrice } = position;
  const bar = stopTargetBar(position);
  // A position without a stop must stand out.
  if (stopLoss === null) return <strong className="sell">No stop</strong>;
  if (bar === null) return <span>–</span>;
  const { entry, mark } = bar;
  const away = [distanceText(stopLoss, markPrice), distanceText(takeProfit, markPrice)];
  const places = {
    '--entry': entry,
    '--mark': mark ?? entry,
    '--from': Math.min(entry, mark ?? entry),
    '--length': Math.abs((mark ?? entry) - entry),
  } as CSSProperties;
  const label = `Stop ${formatFullPrice(stopLoss)}${away[0] ? ` (${away[0]})` : ''}, target ${
    takeProfit === null ? 'none' : formatFullPrice(takeProfit)
  }${away[1] ? ` (${away[1]})` : ''}`;
  return (
    <span className={classes.levels} title={label}>
      <span
        className={classes.bar}
        style={places}
        role="img"
        aria-label={label}
        data-wins={mark !== null && mark >= entry}
      >
        <span className={classes.way} />
        <span className={classes.entry} />
        {mark === null ? null : <span className={classes.mark} />}
      </span>
      <span className={classes.prices} aria-hidden>
        <span>{formatFullPrice(stopLoss)}</span>
        <span>{takeProfit === null ? '–' : formatFullPrice(takeProfit)}</span>
      </span>
    </span>
  );
}
