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

/** A whole card that is one link. */
export const CardLink = createLink(({ icon, title, text, aside, ...anchor }: CardProps) => (
  <a {...anchor} className={classes.card}>
    <span className={classes.icon}>{icon}</span>
    <span className={classes.words}>
      <span className={classes.title}>{title}</span>
      <span className={classes.text}>{text}</span>
    </span>
    {aside}
  </a>
));
