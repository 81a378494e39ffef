import type { ReactNode } from 'react';
import classes from './split.module.css';

/** A page, and beside it the side panel of one of its rows. */
export function Split({ children, aside }: { children: ReactNode; aside: ReactNode }) {
  return (
    <div className={classes.split}>
      {children}
      {aside}
    </div>
  );
}
