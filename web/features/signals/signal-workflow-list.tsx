import { Button } from '@mantine/core';
import type { SignalWorkflows } from '#contract/signals.ts';
import { formatRelative, plainCount, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { OutcomeReason, WorkflowStatus } from '../../ui/workflow-outcome.tsx';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';

type SignalWorkflow = SignalWorkflows['automaticWorkflows'][number];

export function SignalWorkflowList({ signalId }: { signalId: string }) {
  return (
    <QueryView
      query={useSignalPart<SignalWorkflows>(signalId, '/workflows')}
      errorTitle="Failed to fetch workflows"
    >
      {({ automaticWorkflows, manualWorkflows }) =>
        automaticWorkflows.length + manualWorkflows.length === 0 ? (
          <EmptyState>No workflows found for this signal.</EmptyState>
        ) : (
          <div className={classes.stack}>
            <WorkflowGroup title="Automatic Triggers" workflows={automaticWorkflows} />
            <WorkflowGroup title="Manual Triggers" workflows={manualWorkflows} />
          </div>
        )
      }
    </QueryView>
  );
}

function WorkflowGroup({ title, workflows }: { title: string; workflows: SignalWorkflow[] }) {
  const { open } = useDialogHistory();
  const formatInstant = useFormatInstant();
  const nowMs = Date.now();
  return (
    <Section title={`${title} (${workflows.length})`}>
      {workflows.length === 0 ? <p className={classes.quiet}>None</p> : null}
      {workflows.map((workflow) => (
        <article key={workflow.workflowId} className={classes.entry}>
          <div className={classes.entryHead}>
            <span className="mono" title={workflow.workflowId}>
              {shortId(workflow.workflowId, 9)}
            </span>
            <span>
              <WorkflowStatus status={workflow.status} outcome={workflow.outcome} />
            </span>
          </div>
          <div className="numeric">
            Started {formatRelative(workflow.startedAt, nowMs)} ({formatInstant(workflow.startedAt)})
          </div>
          <div className="numeric">
            {plainCount(workflow.successfulUsersCount)} of {plainCount(workflow.eligibleUsersCount)} users
            successful
          </div>
          {workflow.errorMessage === null ? (
            <OutcomeReason outcome={workflow.outcome} maxWidth={480} />
          ) : null}
          {workflow.triggerReason ? <div>Reason: {workflow.triggerReason}</div> : null}
          {workflow.errorMessage ? <p className={classes.failure}>{workflow.errorMessage}</p> : null}
          <Button
            mt={8}
            size="compact-xs"
            variant="default"
            onClick={() => open({ dialog: 'steps', workflow: workflow.workflowId })}
            aria-label={`Steps of workflow ${shortId(workflow.workflowId, 9)}`}
          >
            Steps
          </Button>
        </article>
      ))}
    </Section>
  );
}
