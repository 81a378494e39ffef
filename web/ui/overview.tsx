import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import classes from './overview.module.css';

interface CardProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'title'> {
  ref?: Ref<HTMLAnchorElement>;
  icon: ReactNode;
  title: string;
  text: string;
  aside?: ReactNode;
}

/** A card whose whole area is the link; the title is the link's name. */
export const CardLink = createLink(({ icon, title, text, aside, ...anchor }: CardProps) => (
  <div className={classes.card}>
    <span className={classes.icon}>{icon}</span>
    <div className={classes.words}>
      <a {...anchor} className={classes.title}>
        {title}
      </a>
      <p className={classes.text}>{text}</p>
    </div>
    {aside}
  </div>
));

export function CardGrid({ children }: { children: ReactNode }) {
  return <div className={classes.grid}>{children}</div>;
}

export function StatusList({ items }: { items: [name: string, value: string][] }) {
  return (
    <dl className={classes.statuses}>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
