import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { OrderResult } from '#contract/position-maker.ts';
import { formatDuration, plainCount } from '../../lib/format.ts';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { ApiCalls } from './api-calls.tsx';
import classes from './order.module.css';
import { OutcomeHead } from './outcome-head.tsx';
import type { SubmissionFailure } from './submit-order.ts';
import { Timeline, VerificationAttempts } from './verification-journey.tsx';

const FILL_LABELS = {
  filled: 'Filled',
  partial: 'Partly filled',
  unfilled: 'Not filled',
  unknown: 'Unknown',
};
const PROTECTION_LABELS = {
  verified: 'Stop loss and take profit verified',
  repaired: 'Placed again after the fill',
  closed: 'Position closed for want of a stop loss',
  missing: 'Missing',
};

export function OrderResultView({ order }: { order: OrderResult }) {
  const { verificationJourney: journey, technicalDetails: technical } = order;
  return (
    <div className={classes.stack}>
      <OutcomeHead success={order.success}>{order.error ?? order.message}</OutcomeHead>
      <Facts
        facts={[
          ['Order ID', order.orderId ?? '–'],
          ['Client Order ID', order.clientOid ?? '–'],
          ['Position', order.positionRef ?? '–'],
          ['Fill Status', order.fillStatus ? FILL_LABELS[order.fillStatus] : '–'],
          ['Protection', order.protectionStatus ? PROTECTION_LABELS[order.protectionStatus] : '–'],
        ]}
      />
      <section>
        <h3>Verification Journey</h3>
        <VerificationAttempts journey={journey} done={order.done} />
        <Timeline lines={journey.timeline} />
      </section>
      <section>
        <h3>API Call Sequence</h3>
        <ApiCalls calls={order.apiCallSequence} />
      </section>
      <section>
        <h3>Technical Details</h3>
        <Facts
          facts={[
            ['First Order Filled', yesNo(technical.firstOrderFilled)],
            ['Second Attempt Executed', yesNo(technical.secondAttemptExecuted)],
            ['Attempts', plainCount(technical.attempts)],
            ['Is Second Attempt', yesNo(technical.isSecondAttempt)],
            ['Execution Time', formatDuration(technical.executionTime)],
            ['Endpoint', technical.endpoint || '–'],
          ]}
        />
      </section>
      <details>
        <summary>Request and response of the last order</summary>
        <div className={classes.stack}>
          <JsonView value={order.requestData} label="Request Data" />
          <JsonView value={order.responseData} label="Response Data" />
        </div>
      </details>
    </div>
  );
}

/** A submission that left no order, as far as is known. */
export function FailedSubmission({ failure }: { failure: SubmissionFailure }) {
  return (
    <div className={classes.stack}>
      <OutcomeHead success={false}>{failure.text}</OutcomeHead>
      {failure.inDoubt ? (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="The outcome is not known yet">
          The order may be on its way all the same. It appears here as soon as the server tells of it; this
          calculation is never traded twice.
        </Alert>
      ) : (
        <p className={classes.quiet}>No order was sent for this calculation.</p>
      )}
    </div>
  );
}

const yesNo = (is: boolean): string => (is ? 'Yes' : 'No');
