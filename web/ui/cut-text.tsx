import type { CSSProperties, ReactNode } from 'react';
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
      {withBreaks(children)}
    </span>
  );
}

/** Where there is no room for one line, an address breaks before its '@' and not within a word. */
function withBreaks(text: string): ReactNode {
  const at = text.indexOf('@');
  if (at < 1) return text;
  return (
    <>
      {text.slice(0, at)}
      <wbr />
      {text.slice(at)}
    </>
  );
}
