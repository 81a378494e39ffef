import type { CSSProperties } from 'react';
import classes from './cut-text.module.css';

interface CutTextProps {
  children: string;
  /** In pixels on a screen of 1440; wider screens give it more. */
  maxWidth: number;
}

/** Long text in a table, cut off; the tooltip has all of it. */
export function CutText({ children, maxWidth }: CutTextProps) {
  return (
    <span
      className={classes.cut}
      style={{ '--max-width': `${maxWidth}px` } as CSSProperties}
      data-tip={children}
      data-cut
    >
      {children}
    </span>
  );
}
