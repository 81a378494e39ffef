import type { ReactNode } from 'react';
import classes from './section.module.css';

/** A part of a dialog or panel, below its heading. */
export function Section({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <section>
      <h3 className={classes.title}>{title}</h3>
      {children}
    </section>
  );
}
