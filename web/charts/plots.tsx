import type { ReactNode } from 'react';
import { formatMoney } from '../lib/figures.ts';
import { linePoints } from './equity-model.ts';
import classes from './picture.module.css';

const WIDTH = 800;
const [LINE_HEIGHT, FALL_HEIGHT] = [190, 70];

interface PlotsProps {
  /** The ends of the time axis. */
  first: string;
  last: string;
  children: ReactNode;
}

/** Plots below each other on one time axis. */
export function Plots({ first, last, children }: PlotsProps) {
  return (
    <figure className={classes.picture}>
      {children}
      <div className={classes.axis} aria-hidden>
        <span>{first}</span>
        <span>{last}</span>
      </div>
    </figure>
  );
}

interface LinePlotProps {
  label: string;
  values: readonly { at: string; value: number }[];
  low: number;
  high: number;
  /** The value that the area under the line stands on. */
  base: number;
  /** Values with a horizontal line. */
  rules: readonly number[];
  /** From top to bottom. */
  scale: ReactNode;
}

export function LinePlot({ label, values, low, high, base, rules, scale }: LinePlotProps) {
  const line = linePoints(values, { width: WIDTH, height: LINE_HEIGHT, low, high });
  const y = (value: number) => LINE_HEIGHT - ((value - low) / (high - low || 1)) * LINE_HEIGHT;
  return (
    <>
      <svg
        viewBox={`0 -4 ${WIDTH} ${LINE_HEIGHT + 8}`}
        preserveAspectRatio="none"
        className={classes.worth}
        role="img"
        aria-label={label}
      >
        {rules.map((value) => (
          <line key={value} x1="0" x2={WIDTH} y1={y(value)} y2={y(value)} className={classes.line} />
        ))}
        <polygon points={`0,${y(base)} ${line} ${WIDTH},${y(base)}`} className={classes.worthFill} />
        <polyline points={line} className={classes.worthLine} />
      </svg>
      <div className={classes.scale} aria-hidden>
        {scale}
      </div>
    </>
  );
}

interface FallPlotProps {
  label: string;
  falls: readonly { at: string; value: number }[];
  deepest: number;
}

/** How far a line is below its highest value, downwards from the top. */
export function FallPlot({ label, falls, deepest }: FallPlotProps) {
  const line = linePoints(
    falls.map(({ at, value }) => ({ at, value: -value })),
    { width: WIDTH, height: FALL_HEIGHT, low: -deepest, high: 0 },
  );
  return (
    <>
      <svg
        viewBox={`0 -2 ${WIDTH} ${FALL_HEIGHT + 4}`}
        preserveAspectRatio="none"
        className={classes.fall}
        role="img"
        aria-label={label}
      >
        <polygon points={`0,0 ${line} ${WIDTH},0`} className={classes.fallFill} />
        <polyline points={line} className={classes.fallLine} />
      </svg>
      <div className={classes.scale} aria-hidden>
        <span>$0.00</span>
        <span>{formatMoney(-deepest)}</span>
      </div>
    </>
  );
}
