import type { WorkflowStep } from '#contract/automation.ts';
import type { UserResult } from '#domain/workflow/workflow-lifecycle.ts';
import { capitalise, formatDuration, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/trading-badges.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { arrangeSteps } from './arrange-steps.ts';
import classes from './workflow-steps.module.css';
import { useUsernames, useWorkflowPart } from './workflows-data.ts';

interface WorkflowStepsDialogProps {
  workflowId: string;
  title: string;
  emptyText: string;
  onClose: () => void;
}

export default function WorkflowStepsDialog(props: WorkflowStepsDialogProps) {
  const { workflowId, title, emptyText, onClose } = props;
  const history = useDialogHistory();
  const usernameOf = useUsernames();
  const query = useWorkflowPart<WorkflowStep[]>(workflowId, 'steps');
  return (
    <Dialog opened onClose={() => history.close(onClose)} title={title} size={860}>
      <QueryView query={query} errorTitle="Failed to fetch workflow steps">
        {(steps) =>
          steps.length === 0 ? (
            <EmptyState>{emptyText}</EmptyState>
          ) : (
            <WorkflowSteps steps={steps} usernameOf={usernameOf} />
          )
        }
      </QueryView>
    </Dialog>
  );
}

const RESULT_TONES: Record<UserResult, BadgeTone> = {
  success: 'success',
  skipped: 'neutral',
  failed: 'failure',
  'in progress': 'info',
};

interface WorkflowStepsProps {
  steps: readonly WorkflowStep[];
  usernameOf: (userId: string) => string;
}

function WorkflowSteps({ steps: all, usernameOf }: WorkflowStepsProps) {
  const { pipeline, processing, users } = arrangeSteps(all);
  return (
    <div className={classes.steps}>
      <Section title="Pipeline">
        <StepList steps={pipeline} username={null} />
      </Section>
      {processing.length > 0 ? (
        <Section title="All Users">
          <StepList steps={processing} username={null} />
        </Section>
      ) : null}
      {users.length > 0 ? (
        <Section title="Users">
          {users.map(({ userId, steps, result }) => {
            const username = usernameOf(userId);
            const reason = steps.find((step) => step.errorMessage)?.errorMessage;
            return (
              <details key={userId} className={classes.user}>
                <summary>
                  <strong>{username}</strong>
                  <Badge tone={RESULT_TONES[result]}>{capitalise(result)}</Badge>
                  {reason && result !== 'success' ? <span className={classes.reason}>{reason}</span> : null}
                </summary>
                <StepList steps={steps} username={username} />
              </details>
            );
          })}
        </Section>
      ) : null}
    </div>
  );
}

function StepList({ steps, username }: { steps: readonly WorkflowStep[]; username: string | null }) {
  return (
    <ol className={classes.list}>
      {steps.map((step) => (
        <StepCard key={step.id} step={step} username={username} />
      ))}
    </ol>
  );
}

function StepCard({ step, username }: { step: WorkflowStep; username: string | null }) {
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
