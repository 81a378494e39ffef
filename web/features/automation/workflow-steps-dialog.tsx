import type { WorkflowStep } from '#contract/automation.ts';
import type { UserResult } from '#domain/workflow/workflow-lifecycle.ts';
import { capitalise, formatDuration, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/trading-badges.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { arrangeSteps, type UserSteps } from './arrange-steps.ts';
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
  return (
    <Dialog opened onClose={() => history.close(onClose)} title={title} size={860}>
      <WorkflowSteps workflowId={workflowId} emptyText={emptyText} />
    </Dialog>
  );
}

function WorkflowSteps({ workflowId, emptyText }: { workflowId: string; emptyText: string }) {
  const usernameOf = useUsernames();
  return (
    <QueryView
      query={useWorkflowPart<WorkflowStep[]>(workflowId, 'steps')}
      errorTitle="Failed to fetch workflow steps"
    >
      {(steps) => {
        if (steps.length === 0) return <EmptyState>{emptyText}</EmptyState>;
        const { pipeline, processing, users } = arrangeSteps(steps);
        return (
          <div className={classes.steps}>
            <section>
              <h3>Pipeline</h3>
              <StepList steps={pipeline} username={null} />
            </section>
            {processing.length > 0 ? (
              <section>
                <h3>All Users</h3>
                <StepList steps={processing} username={null} />
              </section>
            ) : null}
            {users.length > 0 ? <UserResults users={users} usernameOf={usernameOf} /> : null}
          </div>
        );
      }}
    </QueryView>
  );
}

const RESULT_TONES: Record<UserResult, BadgeTone> = {
  success: 'success',
  skipped: 'neutral',
  failed: 'failure',
  'in progress': 'info',
};

interface UserResultsProps {
  users: UserSteps[];
  usernameOf: (userId: string) => string;
}

function UserResults({ users, usernameOf }: UserResultsProps) {
  return (
    <section>
      <h3>Users</h3>
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
    </section>
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
