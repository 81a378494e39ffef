import type { ComponentProps, ReactNode } from 'react';
import { outcomeText, type WorkflowOutcome } from '#domain/workflow/workflow-outcome.ts';
import { Badge, type BadgeTone } from './badge.tsx';
import { CutText } from './cut-text.tsx';
import { isKnownStatus, statusText } from './trading-badges.tsx';
import { useReadableInstants } from './use-readable-instants.ts';
import classes from './workflow-outcome.module.css';

/** Green only where somebody traded. */
const TONES: Readonly<Record<string, BadgeTone>> = {
  running: 'info',
  filled: 'success',
  partial: 'warning',
  not_filled: 'failure',
  failed: 'failure',
  skipped: 'neutral',
  aborted: 'neutral',
} satisfies Record<WorkflowOutcome['kind'], BadgeTone>;

const toneOf = ({ kind }: WorkflowOutcome): BadgeTone => TONES[kind] ?? 'outline';

/** What the words beside the badge say: nothing while it runs and nobody has traded, which the spinner says. */
const wordsOf = (outcome: WorkflowOutcome): string =>
  outcome.kind === 'running' && !(outcome.filled > 0) ? '' : outcomeText(outcome);

/** Status and outcome as one text, as shown, for the name of a button. */
export const statusAndOutcome = (status: string, outcome: WorkflowOutcome): string =>
  [statusText(status), wordsOf(outcome)].filter(Boolean).join(' ');

interface WorkflowStatusProps {
  status: string;
  outcome: WorkflowOutcome;
  /** Where the words are. */
  words?: 'beside' | 'below';
}

/** The status of a workflow in the colour of its outcome, and the outcome in words. */
export function WorkflowStatus({ status, outcome, words = 'beside' }: WorkflowStatusProps) {
  const tone = toneOf(outcome);
  const text = wordsOf(outcome);
  return (
    <>
      <Badge tone={isKnownStatus(status) ? tone : 'outline'}>
        {outcome.kind === 'running' ? <span className={classes.spinner} aria-hidden /> : null}
        {statusText(status)}
      </Badge>{' '}
      {text ? (
        <span className={`${classes.words} ${classes[words]}`} data-tone={tone}>
          {text}
        </span>
      ) : null}
    </>
  );
}

/** The outcome in words as a badge, where there is no place for the status: that of a running workflow shows. */
export function OutcomeBadge({ status, outcome }: { status: string; outcome: WorkflowOutcome }) {
  return (
    <Badge tone={isKnownStatus(status) ? toneOf(outcome) : 'outline'}>
      {outcome.kind === 'running' ? <span className={classes.spinner} aria-hidden /> : null}
      {wordsOf(outcome) || statusText(status)}
    </Badge>
  );
}

/** Why users did not trade, in one line below the status. */
export function OutcomeReason({ outcome, maxWidth }: { outcome: WorkflowOutcome; maxWidth: number }) {
  const readable = useReadableInstants();
  if (!outcome.topReason) return null;
  return (
    <span className={classes.reason}>
      <CutText maxWidth={maxWidth}>{readable(outcome.topReason)}</CutText>
    </span>
  );
}

/** A status with the reason below it. */
export function StatusWithReason({
  children,
  ...reason
}: ComponentProps<typeof OutcomeReason> & { children: ReactNode }) {
  return (
    <span className={classes.stack}>
      {children}
      <OutcomeReason {...reason} />
    </span>
  );
}
