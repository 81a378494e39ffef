import type { ReactNode } from 'react';
import classes from './cell-button.module.css';

interface CellButtonProps {
  /** Accessible name; says what opens, e.g. 'Trades of signal 1234...5678'. */
  label: string;
  onClick: () => void;
  /** Badges bring their own look. */
  plain?: boolean;
  tip?: string;
  children: ReactNode;
}

export function CellButton({ label, onClick, plain = false, tip, children }: CellButtonProps) {
  return (
    <button
      type="button"
      className={classes.button}
      data-plain={plain || undefined}
      data-tip={tip}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
