import type { ReactNode } from 'react';
import classes from './page.module.css';

interface PageProps {
  title: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  back?: ReactNode;
  children: ReactNode;
}

export function Page({ title, subtitle, actions, back, children }: PageProps) {
  return (
    <div className={classes.page}>
      {back}
      <div className={classes.heading}>
        <div>
          <h1 className={classes.title}>{title}</h1>
          {subtitle ? <p className={classes.subtitle}>{subtitle}</p> : null}
        </div>
        {actions ? <div className={classes.actions}>{actions}</div> : null}
      </div>
      {children}
    </div>
  );
}
