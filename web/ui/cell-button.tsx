import type { ReactNode } from 'react';
import classes from './cell-button.module.css';

interface CellButtonProps {
  text: string;
  /** The dialog it opens, e.g. 'trades of signal 1234...5678'; the accessible name is the text and this. */
  opens: string;
  onClick: () => void;
  tip?: string;
  /** The id of the row whose panel it opens. */
  row?: string;
  /** Shown instead of the text, such as a badge. */
  children?: ReactNode;
}

export function CellButton({ text, opens, onClick, tip, row, children }: CellButtonProps) {
  return (
    <button
      type="button"
      className={classes.button}
      data-plain={children ? true : undefined}
      data-tip={tip}
      data-row-open={row}
      aria-label={`${text}, ${opens}`}
      onClick={onClick}
    >
      {children ?? text}
    </button>
  );
}
