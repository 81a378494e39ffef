import type { ReactNode } from 'react';
import classes from './trigger-button.module.css';

interface TriggerButtonProps {
  icon: ReactNode;
  children: string;
  /** Which row's it is. */
  label: string;
  /** Nothing is triggered by hand in a production deployment; the server refuses it as well. */
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
