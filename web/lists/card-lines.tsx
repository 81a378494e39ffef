import type { ReactNode } from 'react';
import classes from './card-lines.module.css';

/** A row on a telephone: lines with a text at the left and one at the right. The first line is cut, the others wrap. */
export function CardLines({ lines }: { lines: readonly (readonly [left: ReactNode, right?: ReactNode])[] }) {
  return (
    <div className={classes.card}>
      {lines.map(([left, right], line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
        <div key={line} className={classes.line}>
          <span className={classes.left}>{left}</span>
          <span className={classes.right}>{right}</span>
        </div>
      ))}
    </div>
  );
}
