import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './order.module.css';

export function OutcomeHead({ success, children }: { success: boolean; children: ReactNode }) {
  const Icon = success ? IconCircleCheck : IconCircleX;
  return (
    <div className={classes.outcome} data-success={success} role="status">
      <Icon size={26} aria-hidden />
      <div>
        <strong>{success ? 'SUCCESS (ORDER FILLED)' : 'FAILED (ORDER FAILED)'}</strong>
        <p>{children}</p>
      </div>
    </div>
  );
}
