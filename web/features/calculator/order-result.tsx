import { Button, Loader } from '@mantine/core';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ApiCall, OrderResult } from '#contract/position-maker.ts';
import { formatDuration, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import classes from './order.module.css';
import type { SubmissionFailure } from './submit-order.ts';

/** A running order, stage by stage. */
export function OrderProgress({ order }: { order: OrderResult }) {
  const { verificationJourney: journey } = order;
  return (
    <div className={classes.stack}>
      <OrderRunning message={order.message} />
      <Attempts journey={journey} done={false} />
      <Section title="Timeline">
        <History lines={journey.timeline} />
      </Section>
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
      <Notice look="info">
        Closing this dialog or leaving the page stops nothing: the order goes on, and this address shows how
        it ends.
      </Notice>
    </>
  );
}

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
      <Section title="Verification Journey">
        <Attempts journey={journey} done={order.done} />
        <History lines={journey.timeline} />
      </Section>
      <Section title="API Call Sequence">
        <ApiCalls calls={order.apiCallSequence} />
      </Section>
      <Section title="Technical Details">
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
      </Section>
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

/** A submission that created no order, as far as is known. */
export function FailedSubmission({ failure }: { failure: SubmissionFailure }) {
  return (
    <div className={classes.stack}>
      <OutcomeHead success={false}>{failure.text}</OutcomeHead>
      {failure.inDoubt ? (
        <Notice look="warning" title="The outcome is not known yet">
          The order may be on its way all the same. It appears here as soon as the server tells of it; this
          calculation is never traded twice.
        </Notice>
      ) : (
        <p className={classes.quiet}>No order was sent for this calculation.</p>
      )}
    </div>
  );
}

function OutcomeHead({ success, children }: { success: boolean; children: ReactNode }) {
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

const yesNo = (is: boolean): string => (is ? 'Yes' : 'No');

function ApiCalls({ calls }: { calls: readonly ApiCall[] }) {
  const formatInstant = useFormatInstant();
  if (calls.length === 0) return <p className={classes.quiet}>The exchange was not called</p>;
  return (
    <ol className={classes.calls} aria-label="API Call Sequence">
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls have no identity and keep their order
        <li key={index}>
          <details>
            <summary>
              <span className={classes.callType}>{call.type}</span>
              <span className={`mono ${classes.endpoint}`}>
                {call.method} {call.endpoint}
              </span>
              <span className={classes.quiet}>{formatInstant(call.timestamp)}</span>
              <Badge tone={call.success ? 'success' : 'failure'}>
                {call.status ?? 'no answer'} {call.success ? 'OK' : 'failed'}
              </Badge>
            </summary>
            <JsonView value={call.requestData} label={`Request ${index + 1}`} />
            <JsonView value={call.responseData} label={`Response ${index + 1}`} />
          </details>
        </li>
      ))}
    </ol>
  );
}

type Journey = OrderResult['verificationJourney'];
type Attempt = Journey['attempts'][number];

const STATES: Readonly<Record<string, [label: string, tone: BadgeTone]>> = {
  planned: ['Planned', 'neutral'],
  submitting: ['Submitting', 'info'],
  unknown: ['In doubt, being looked up', 'warning'],
  open: ['Open, waiting for its fill', 'info'],
  cancelling: ['Being cancelled', 'info'],
  filled: ['Filled', 'success'],
  unfilled: ['Not filled', 'warning'],
  refused: ['Refused', 'failure'],
  never_placed: ['Never placed', 'failure'],
};

function Attempts({ journey, done }: { journey: Journey; done: boolean }) {
  const [first, second] = journey.attempts;
  return (
    <div className={classes.attempts}>
      <AttemptCard title="First Attempt" attempt={first} otherwise={done ? 'NOT RUN' : 'Planned'} />
      <AttemptCard
        title="Second Attempt"
        attempt={journey.secondAttemptExecuted || !done ? second : undefined}
        otherwise={done || journey.firstOrderFilled ? 'NOT RUN' : 'Only if the first does not fill'}
        note={notRun(journey, done)}
      />
    </div>
  );
}

/** Why there was no second attempt. */
function notRun(journey: Journey, done: boolean): string | undefined {
  if (journey.firstOrderFilled) return 'The first attempt filled, so it was not needed.';
  return done && !journey.secondAttemptExecuted ? (journey.attempts[1]?.error ?? undefined) : undefined;
}

/** The state of an attempt; a partly filled one shows the filled quantity. */
function stateOf({ state, quantity, filledQuantity }: Attempt): readonly [label: string, tone: BadgeTone] {
  if (state === 'unfilled' && Number(filledQuantity) > 0) {
    return [`Filled ${filledQuantity} of ${quantity}`, 'warning'];
  }
  return STATES[state] ?? [state, 'neutral'];
}

interface AttemptCardProps {
  title: string;
  attempt: Attempt | undefined;
  /** Shown instead of a state. */
  otherwise: string;
  note?: string | undefined;
}

function AttemptCard({ title, attempt, otherwise, note }: AttemptCardProps) {
  const [label, tone] = attempt ? stateOf(attempt) : ([otherwise, 'neutral'] as const);
  return (
    <article className={classes.attempt} aria-label={title}>
      <div className={classes.attemptHead}>
        <strong>{title}</strong>
        <Badge tone={tone}>{label}</Badge>
      </div>
      {attempt ? (
        <Facts
          columns={2}
          facts={[
            ['Price', <ExactDecimals key="price" value={attempt.price} />],
            ['Quantity', attempt.quantity],
            ['Filled Quantity', attempt.filledQuantity],
            ['Average Price', <ExactDecimals key="average" value={attempt.averagePrice} />],
            ['Order ID', attempt.orderId ?? '–'],
          ]}
        />
      ) : null}
      {attempt ? <AttemptRemark attempt={attempt} /> : null}
      {!attempt && note ? <p className={classes.quiet}>{note}</p> : null}
    </article>
  );
}

/** An attempt that ended at the exchange has not failed, whatever is noted of it. */
function AttemptRemark({ attempt: { state, error } }: { attempt: Attempt }) {
  if (error === null) return null;
  if (state !== 'filled' && state !== 'unfilled') return <p className={classes.failure}>{error}</p>;
  return (
    <p className={classes.quiet} role="note">
      Note: {error}
    </p>
  );
}

const History = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? <p className={classes.quiet}>Nothing has happened yet</p> : <Timeline lines={lines} />;
