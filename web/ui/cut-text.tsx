import type { CSSProperties } from 'react';
import classes from './cut-text.module.css';

interface CutTextProps {
  children: string;
  /** In pixels at a viewport width of 1440 px; wider screens allow more. */
  maxWidth: number;
}

/** Truncates long text in a table; the tooltip has the full text. */
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
