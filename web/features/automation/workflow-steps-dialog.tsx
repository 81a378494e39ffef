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

/** Users come first: the pipeline's steps are folded, unless one of them failed. */
function WorkflowSteps({ steps: all, usernameOf }: WorkflowStepsProps) {
  const { pipeline, processing, users } = arrangeSteps(all);
  const isPipelineFailed = pipeline.some(isFailed);
  const firstFailed = isPipelineFailed ? undefined : users.find(({ result }) => result === 'failed');
  return (
    <div className={classes.steps}>
      {users.length > 0 ? (
        <Section title="Users">
          {users.map(({ userId, steps, result }) => {
            const username = usernameOf(userId);
            const reason = steps.find((step) => step.errorMessage)?.errorMessage;
            return (
              <details key={userId} className={classes.user} open={userId === firstFailed?.userId}>
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
      <Section title="Pipeline">
        <Strip steps={[...pipeline, ...processing]} />
        <FoldedSteps steps={pipeline} open={isPipelineFailed} />
      </Section>
      {processing.length > 0 ? (
        <Section title="All Users">
          <FoldedSteps steps={processing} open={!isPipelineFailed && processing.some(isFailed)} />
        </Section>
      ) : null}
    </div>
  );
}

const isFailed = ({ status }: WorkflowStep) => status === 'failed' || status === 'aborted';

/** How long each step of the pipeline took, in one line. */
function Strip({ steps }: { steps: readonly WorkflowStep[] }) {
  return (
    <div className={classes.strip}>
      {steps.map(({ id, stepName, status, executionTimeMs }) => (
        <span key={id} data-status={status}>
          {stepName} <b>{formatDuration(executionTimeMs)}</b>
        </span>
      ))}
    </div>
  );
}

function FoldedSteps({ steps, open }: { steps: readonly WorkflowStep[]; open: boolean }) {
  const [first, last] = [steps[0], steps.at(-1)].map((step) => plainCount(step?.stepNumber ?? 0));
  if (steps.length === 0) return null;
  return (
    <details className={classes.folded} open={open}>
      <summary>{first === last ? `Step ${first}` : `Steps ${first} to ${last}`}</summary>
      <StepList steps={steps} username={null} />
    </details>
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
        <span>Started: {formatInstant(step.startedAt)}</span>
        <span>Completed: {formatInstant(step.completedAt)}</span>
      </p>
      <details className={classes.data}>
        <summary>Technical details</summary>
        <p className={classes.meta}>
          <span>Type: {step.stepType}</span>
          {step.processorName ? <span>Processor: {step.processorName}</span> : null}
        </p>
        <Data name="Input data" value={step.inputData} />
        <Data name="Output data" value={step.outputData} />
        <Data name="Metadata" value={step.metadata} />
      </details>
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
