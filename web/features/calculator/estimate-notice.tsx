import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import classes from './calculator.module.css';

/** An estimate must not be taken for a calculation with real money. */
export function EstimateNotice({ children }: { children?: string }) {
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle aria-hidden />}
      title="ESTIMATE - cannot be submitted"
      className={classes.estimate}
      role="alert"
    >
      {children ??
        'The real account balance could not be read: these figures rest on a fallback balance and are for orientation only.'}
    </Alert>
  );
}
