import type { WorkflowStep } from '#contract/automation.ts';
import { formatDuration, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { JsonView } from '../../ui/json-view.tsx';
import { StatusBadge } from '../../ui/trading-badges.tsx';
import classes from './workflow-steps.module.css';

export function StepCard({ step, username }: { step: WorkflowStep; username: string | null }) {
  const formatInstant = useFormatInstant();
  return (
    <li className={classes.step}>
      <div className={classes.head}>
        <span className={classes.number}>{plainCount(step.stepNumber)}</span>
        <strong>{step.stepName}</strong>
        <StatusBadge status={step.status} />
        <span className={classes.time}>{formatDuration(step.executionTimeMs)}</span>
      </div>
      {step.errorMessage ? (
        <p className={step.status === 'skipped' ? classes.quiet : classes.failure}>{step.errorMessage}</p>
      ) : null}
      <p className={classes.meta}>
        {username ? <span data-tip={step.userId ?? undefined}>User: {username}</span> : null}
        <span>Type: {step.stepType}</span>
        <span>Started: {formatInstant(step.startedAt)}</span>
        <span>Completed: {formatInstant(step.completedAt)}</span>
        {step.processorName ? <span>Processor: {step.processorName}</span> : null}
      </p>
      <Data name="Input data" value={step.inputData} />
      <Data name="Output data" value={step.outputData} />
      <Data name="Metadata" value={step.metadata} />
    </li>
  );
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

function Data({ name, value }: { name: string; value: unknown }) {
  if (isEmpty(value)) return null;
  return (
    <details className={classes.data}>
      <summary>{name}</summary>
      <JsonView value={value} label={name} />
    </details>
  );
}
