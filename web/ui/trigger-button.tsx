import type { ReactNode } from 'react';
import classes from './trigger-button.module.css';

interface TriggerButtonProps {
  icon: ReactNode;
  children: string;
  /** Accessible name, including the row. */
  label: string;
  /** True in a production deployment, where the server also refuses manual triggers. */
  triggersDisabled: boolean;
  pending?: boolean;
  onTrigger: () => void;
}

/** Starts a workflow manually, from a table row. */
export function TriggerButton(props: TriggerButtonProps) {
  const { icon, children, label, triggersDisabled, pending = false, onTrigger } = props;
  return (
    <span data-tip={triggersDisabled ? 'Manual triggers disabled in production' : label}>
      <button
        type="button"
        className={classes.trigger}
        disabled={triggersDisabled || pending}
        aria-label={label}
        onClick={onTrigger}
      >
        {icon}
        <span>{children}</span>
      </button>
    </span>
  );
}
