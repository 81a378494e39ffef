import type { CSSProperties } from 'react';
import classes from './cut-text.module.css';

interface CutTextProps {
  children: string;
  /** In pixels, on a screen of 1440; on a wider one it has its share of the room. */
  maxWidth: number;
}

/** Text of others in a table, as long as they like: it takes nothing else off the screen, and its tooltip has it all. */
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
