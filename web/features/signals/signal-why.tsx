import { Select } from '#web/forms/select.tsx';
import { UserPicker } from '#web/ui/user-picker.tsx';
import { capitalise, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { WhyAnswerView } from '../../ui/why-answer.tsx';
import { useAllUsers, useSignalUsers, useSignalWorkflows, useWhy } from './get-signal.ts';
import classes from './signal-dialogs.module.css';

interface SignalWhyProps {
  signalId: string;
  userId: string | undefined;
  workflowId: string | undefined;
  onChoose: (userId: string | undefined) => void;
  onWorkflow: (workflowId: string | undefined) => void;
}

export function SignalWhy({ signalId, userId, workflowId, onChoose, onWorkflow }: SignalWhyProps) {
  const listed = useSignalUsers(signalId);
  const statusOf = new Map(listed.data?.map(({ id, status }) => [id, status]));
  return (
    <QueryView query={useAllUsers()} errorTitle="Failed to fetch users">
      {(users) => (
        <>
          <UserPicker
            users={users.map((user) => ({ ...user, status: statusOf.get(user.id) ?? 'Not considered' }))}
            userId={userId}
            onChoose={onChoose}
          />
          {userId ? (
            <>
              <WorkflowChoice signalId={signalId} workflowId={workflowId} onWorkflow={onWorkflow} />
              <Answer signalId={signalId} userId={userId} workflowId={workflowId} />
            </>
          ) : null}
        </>
      )}
    </QueryView>
  );
}

function Answer(options: { signalId: string; userId: string; workflowId: string | undefined }) {
  return (
    <QueryView query={useWhy(options)} errorTitle="Failed to fetch the explanation">
      {(answer) => <WhyAnswerView answer={answer} />}
    </QueryView>
  );
}

/** Where a signal has several workflows, each decided on its own. */
function WorkflowChoice({
  signalId,
  workflowId,
  onWorkflow,
}: Pick<SignalWhyProps, 'signalId' | 'workflowId' | 'onWorkflow'>) {
  const formatInstant = useFormatInstant();
  const { data } = useSignalWorkflows(signalId);
  if (data === undefined || data.automaticCount + data.manualCount < 2) return null;
  const runs = [
    ...data.manualWorkflows.map((run) => ({ ...run, trigger: 'manual' })),
    ...data.automaticWorkflows.map((run) => ({ ...run, trigger: 'automatic' })),
  ].sort((a, b) => (a.id < b.id ? 1 : -1));
  return (
    <Select
      className={classes.workflowChoice}
      label="Workflow"
      value={workflowId ?? runs[0]?.id ?? ''}
      data={runs.map(({ id, trigger, startedAt, status }) => ({
        value: id,
        label: `${capitalise(trigger)} ${shortId(id, 9)}, ${formatInstant(startedAt)}, ${status}`,
      }))}
      onChange={({ currentTarget: { value } }) => onWorkflow(value === runs[0]?.id ? undefined : value)}
    />
  );
}
