import type { ReactNode } from 'react';
import classes from './section.module.css';

/** A part of a dialog or panel, below its heading. */
export function Section(props: {
  title: ReactNode;
  /** With a line above it, where nothing else separates it from the part before. */
  spaced?: boolean;
  children: ReactNode;
}) {
  const { title, spaced = false, children } = props;
  return (
    <section data-spaced={spaced || undefined} className={classes.section}>
      <h3 className={classes.title}>{title}</h3>
      {children}
    </section>
  );
}
