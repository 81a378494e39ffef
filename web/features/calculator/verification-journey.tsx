import type { OrderResult } from '#contract/position-maker.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ExactDecimals } from './exact-decimals.tsx';
import classes from './order.module.css';

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

export function VerificationAttempts({ journey, done }: { journey: Journey; done: boolean }) {
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

/** An attempt that ended before all of it was filled says how much was. */
function stateOf({ state, quantity, filledQuantity }: Attempt): readonly [label: string, tone: BadgeTone] {
  if (state === 'unfilled' && Number(filledQuantity) > 0) {
    return [`Filled ${filledQuantity} of ${quantity}`, 'warning'];
  }
  return STATES[state] ?? [state, 'neutral'];
}

interface AttemptCardProps {
  title: string;
  attempt: Attempt | undefined;
  /** What stands there in place of a state. */
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
            ['Price', <ExactDecimals key="price" value={attempt.price} decimals={4} />],
            ['Quantity', attempt.quantity],
            ['Filled Quantity', attempt.filledQuantity],
            ['Average Price', <ExactDecimals key="average" value={attempt.averagePrice} decimals={4} />],
            ['Order ID', attempt.orderId ?? '–'],
          ]}
        />
      ) : null}
      {attempt?.error ? <p className={classes.failure}>{attempt.error}</p> : null}
      {!attempt && note ? <p className={classes.quiet}>{note}</p> : null}
    </article>
  );
}

export function Timeline({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return <p className={classes.quiet}>Nothing has happened yet</p>;
  return (
    <ol className={classes.timeline} aria-label="Timeline">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
        <li key={index}>{line}</li>
      ))}
    </ol>
  );
}
