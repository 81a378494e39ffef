import { Fragment, type ReactNode } from 'react';
import classes from './card-lines.module.css';

/** A row on a telephone: lines with a text at the left, which is cut where it is too long, and one at the right. */
export function CardLines({ lines }: { lines: readonly (readonly [left: ReactNode, right?: ReactNode])[] }) {
  return (
    <div className={classes.card}>
      {lines.map(([left, right], line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
        <Fragment key={line}>
          <span className={classes.left}>{left}</span>
          <span className={classes.right}>{right}</span>
        </Fragment>
      ))}
    </div>
  );
}
