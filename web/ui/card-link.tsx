import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import classes from './card-link.module.css';

interface CardProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'title'> {
  ref?: Ref<HTMLAnchorElement>;
  icon: ReactNode;
  title: string;
  text: string;
  aside?: ReactNode;
}

/** The link is named by its title alone and spreads over the whole card. */
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
