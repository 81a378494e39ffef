import type { ReactNode } from 'react';
import classes from './card-grid.module.css';

export function CardGrid({ children }: { children: ReactNode }) {
  return <div className={classes.grid}>{children}</div>;
}
