import type { ReactNode } from 'react';
import classes from './trigger-button.module.css';

interface TriggerButtonProps {
  icon: ReactNode;
  children: string;
  /** Accessible name, with the row. */
  label: string;
  /** In a production deployment, where the server refuses manual triggers too. */
  triggersDisabled: boolean;
  pending: boolean;
  onTrigger: () => void;
}

/** Starts a workflow by hand, in a row of a table. */
export function TriggerButton(props: TriggerButtonProps) {
  const { icon, children, label, triggersDisabled, pending, onTrigger } = props;
  return (
    <span data-tip={triggersDisabled ? 'Manual triggers disabled in production' : undefined}>
      <button
        type="button"
        className={classes.trigger}
        disabled={triggersDisabled || pending}
        aria-label={label}
        onClick={onTrigger}
      >
        {icon}
        {children}
      </button>
    </span>
  );
}
