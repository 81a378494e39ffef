import type { ReactNode } from 'react';
import { useDocumentTitle } from '../lib/use-document-title.ts';
import classes from './page.module.css';

interface PageProps {
  title: ReactNode;
  /** The browser's page title, if it differs from the heading. */
  documentTitle?: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  back?: ReactNode;
  children: ReactNode;
}

export function Page({ title, documentTitle, subtitle, actions, back, children }: PageProps) {
  useDocumentTitle(documentTitle ?? (typeof title === 'string' ? title : undefined));
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
