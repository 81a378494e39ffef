import type { UserResult } from '#domain/workflow/workflow-lifecycle.ts';
import { capitalise } from '../../lib/format.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { arrangeSteps, type UserSteps } from './arrange-steps.ts';
import { useUsernames, useWorkflowSteps } from './get-workflow.ts';
import { StepCard } from './workflow-step.tsx';
import classes from './workflow-steps.module.css';

interface WorkflowStepsDialogProps {
  workflowId: string;
  title: string;
  emptyText: string;
  onClose: () => void;
}

export default function WorkflowStepsDialog({
  workflowId,
  title,
  emptyText,
  onClose,
}: WorkflowStepsDialogProps) {
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
    <QueryView query={useWorkflowSteps(workflowId)} errorTitle="Failed to fetch workflow steps">
      {(steps) => {
        if (steps.length === 0) return <EmptyState>{emptyText}</EmptyState>;
        const { pipeline, processing, users } = arrangeSteps(steps);
        return (
          <div className={classes.steps}>
            <section>
              <h3>Pipeline</h3>
              <ol className={classes.list}>
                {pipeline.map((step) => (
                  <StepCard key={step.id} step={step} username={null} />
                ))}
              </ol>
            </section>
            {processing.length > 0 ? (
              <section>
                <h3>All Users</h3>
                <ol className={classes.list}>
                  {processing.map((step) => (
                    <StepCard key={step.id} step={step} username={null} />
                  ))}
                </ol>
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
            <ol className={classes.list}>
              {steps.map((step) => (
                <StepCard key={step.id} step={step} username={username} />
              ))}
            </ol>
          </details>
        );
      })}
    </section>
  );
}
