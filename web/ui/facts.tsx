import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** Name-value pairs in columns. */
export function Facts({
  facts,
  columns = 4,
}: {
  facts: [name: string, value: ReactNode][];
  columns?: 1 | 2 | 4;
}) {
  return (
    <dl className={classes.facts} data-columns={columns}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="numeric">{value === '' ? '–' : value}</dd>
        </div>
      ))}
    </dl>
  );
}
