import type { ReactNode } from 'react';
import classes from './stat-cards.module.css';

interface StatCard {
  label: string;
  value: ReactNode;
  /** Small print below the value. */
  detail?: string;
}

/** The figures at the top of a screen. */
export function StatCards({ cards }: { cards: readonly StatCard[] }) {
  return (
    <dl className={classes.cards}>
      {cards.map(({ label, value, detail }) => (
        <div key={label} className={classes.card}>
          <dt>{label}</dt>
          <dd className={classes.value}>{value}</dd>
          {detail === undefined ? null : <dd className={classes.detail}>{detail}</dd>}
        </div>
      ))}
    </dl>
  );
}
