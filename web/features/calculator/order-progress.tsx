import { Alert, Button, Loader } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { OrderResult } from '#contract/position-maker.ts';
import classes from './order.module.css';
import { Timeline, VerificationAttempts } from './verification-journey.tsx';

/** An order on its way, each stage as it happens. */
export function OrderProgress({ order }: { order: OrderResult }) {
  const { verificationJourney: journey } = order;
  return (
    <div className={classes.stack}>
      <OrderRunning message={order.message} />
      <VerificationAttempts journey={journey} done={false} />
      <section>
        <h3>Timeline</h3>
        <Timeline lines={journey.timeline} />
      </section>
      <div>
        <Button disabled>Submitting Order...</Button>
      </div>
    </div>
  );
}

export function OrderRunning({ message }: { message?: string }) {
  return (
    <>
      <div className={classes.running} role="status">
        <Loader size="sm" aria-hidden />
        <strong>{message ?? 'The order is on its way to the exchange'}</strong>
      </div>
      <Alert color="indigo" icon={<IconInfoCircle aria-hidden />}>
        Closing this dialog or leaving the page stops nothing: the order goes on, and this address shows how
        it ends.
      </Alert>
    </>
  );
}
