import type { ReactNode } from 'react';
import classes from './panel.module.css';

interface PanelProps {
  title?: ReactNode;
  description?: ReactNode;
  aside?: ReactNode;
  /** No inner spacing, for a table that reaches the border. */
  flush?: boolean;
  children: ReactNode;
}

export function Panel({ title, description, aside, flush = false, children }: PanelProps) {
  return (
    <section className={classes.panel} data-flush={flush || undefined}>
      {title || aside ? (
        <div className={classes.head}>
          <div>
            {title ? <h2 className={classes.title}>{title}</h2> : null}
            {description ? <p className={classes.description}>{description}</p> : null}
          </div>
          {aside ? <div className={classes.aside}>{aside}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}
