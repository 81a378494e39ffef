import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { arrangeSteps } from './arrange-steps.ts';
import { useUsernames, useWorkflowSteps } from './get-workflow.ts';
import { UserResults } from './user-results.tsx';
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
