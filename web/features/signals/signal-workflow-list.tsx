import { Button } from '@mantine/core';
import type { SignalWorkflows } from '#contract/signals.ts';
import { formatRelative, plainCount, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/trading-badges.tsx';
import { useSignalWorkflows } from './get-signal.ts';
import classes from './signal-dialogs.module.css';

type SignalWorkflow = SignalWorkflows['automaticWorkflows'][number];

interface SignalWorkflowListProps {
  signalId: string;
  onOpenSteps: (workflowId: string) => void;
}

export function SignalWorkflowList({ signalId, onOpenSteps }: SignalWorkflowListProps) {
  return (
    <QueryView query={useSignalWorkflows(signalId)} errorTitle="Failed to fetch workflows">
      {({ automaticWorkflows, manualWorkflows }) =>
        automaticWorkflows.length + manualWorkflows.length === 0 ? (
          <EmptyState>No workflows found for this signal.</EmptyState>
        ) : (
          <div className={classes.stack}>
            <WorkflowGroup
              title="Automatic Triggers"
              workflows={automaticWorkflows}
              onOpenSteps={onOpenSteps}
            />
            <WorkflowGroup title="Manual Triggers" workflows={manualWorkflows} onOpenSteps={onOpenSteps} />
          </div>
        )
      }
    </QueryView>
  );
}

interface WorkflowGroupProps {
  title: string;
  workflows: SignalWorkflow[];
  onOpenSteps: (workflowId: string) => void;
}

function WorkflowGroup({ title, workflows, onOpenSteps }: WorkflowGroupProps) {
  const formatInstant = useFormatInstant();
  const nowMs = Date.now();
  return (
    <section>
      <h3>
        {title} ({workflows.length})
      </h3>
      {workflows.length === 0 ? <p className={classes.quiet}>None</p> : null}
      {workflows.map((workflow) => (
        <article key={workflow.workflowId} className={classes.entry}>
          <div className={classes.entryHead}>
            <span className="mono" title={workflow.workflowId}>
              {shortId(workflow.workflowId, 9)}
            </span>
            <StatusBadge status={workflow.status} />
          </div>
          <div className="numeric">
            Started {formatRelative(workflow.startedAt, nowMs)} ({formatInstant(workflow.startedAt)})
          </div>
          <div className="numeric">
            {plainCount(workflow.successfulUsersCount)} of {plainCount(workflow.eligibleUsersCount)} users
            successful
          </div>
          {workflow.triggerReason ? <div>Reason: {workflow.triggerReason}</div> : null}
          {workflow.errorMessage ? <p className={classes.failure}>{workflow.errorMessage}</p> : null}
          <Button
            mt={8}
            size="compact-xs"
            variant="default"
            onClick={() => onOpenSteps(workflow.workflowId)}
            aria-label={`Steps of workflow ${shortId(workflow.workflowId, 9)}`}
          >
            Steps
          </Button>
        </article>
      ))}
    </section>
  );
}
