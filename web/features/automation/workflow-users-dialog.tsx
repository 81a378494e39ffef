import { Tabs } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { UserPicker } from '#web/ui/user-picker.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { WhyAnswerView } from '../../ui/why-answer.tsx';
import { useAllUsers, useUsernames, useWorkflowUsers, useWorkflowWhy } from './get-workflow.ts';

interface WorkflowUsersDialogProps {
  workflowId: string;
  onClose: () => void;
}

const FIRST_TAB = 'users';

export default function WorkflowUsersDialog({ workflowId, onClose }: WorkflowUsersDialogProps) {
  const { tab, user, signal } = useSearch({ from: '/administrators/automation-workflows' });
  const { adjust, close } = useDialogHistory();
  return (
    <Dialog opened onClose={() => close(onClose)} title="Eligible Users" size={860}>
      {signal === undefined ? (
        <WorkflowUsers workflowId={workflowId} />
      ) : (
        <Tabs
          value={tab ?? FIRST_TAB}
          onChange={(name) => adjust({ tab: name === 'why' ? name : undefined })}
          keepMounted={false}
        >
          <Tabs.List mb={14}>
            <Tabs.Tab value={FIRST_TAB}>Users</Tabs.Tab>
            <Tabs.Tab value="why">Why / why not</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value={FIRST_TAB}>
            <WorkflowUsers workflowId={workflowId} onWhy={(userId) => adjust({ tab: 'why', user: userId })} />
          </Tabs.Panel>
          <Tabs.Panel value="why">
            <WorkflowWhy
              signalId={signal}
              workflowId={workflowId}
              userId={user}
              onChoose={(userId) => adjust({ user: userId })}
            />
          </Tabs.Panel>
        </Tabs>
      )}
    </Dialog>
  );
}

interface WorkflowUsersProps {
  workflowId: string;
  /** Without a signal nothing can be explained. */
  onWhy?: (userId: string) => void;
}

function WorkflowUsers({ workflowId, onWhy }: WorkflowUsersProps) {
  const usernameOf = useUsernames();
  return (
    <QueryView query={useWorkflowUsers(workflowId)} errorTitle="Failed to fetch workflow users">
      {(users) => (
        <UserEligibilityList
          users={users.map((user) => ({ ...user, username: usernameOf(user.userId, user.username) }))}
          emptyText="No user data available for this workflow"
          {...(onWhy ? { onWhy } : {})}
        />
      )}
    </QueryView>
  );
}

interface WorkflowWhyProps {
  signalId: string;
  workflowId: string;
  userId: string | undefined;
  onChoose: (userId: string | undefined) => void;
}

/** Anybody, also those whom the workflow never considered. */
function WorkflowWhy({ signalId, workflowId, userId, onChoose }: WorkflowWhyProps) {
  const considered = useWorkflowUsers(workflowId);
  const statusOf = new Map(considered.data?.map((user) => [user.userId, user.status]));
  return (
    <QueryView query={useAllUsers()} errorTitle="Failed to fetch users">
      {(users) => (
        <>
          <UserPicker
            users={users.map((user) => ({ ...user, status: statusOf.get(user.id) ?? 'Not considered' }))}
            userId={userId}
            onChoose={onChoose}
          />
          {userId ? <Answer signalId={signalId} workflowId={workflowId} userId={userId} /> : null}
        </>
      )}
    </QueryView>
  );
}

function Answer(options: { signalId: string; workflowId: string; userId: string }) {
  return (
    <QueryView query={useWorkflowWhy(options)} errorTitle="Failed to fetch the explanation">
      {(answer) => <WhyAnswerView answer={answer} />}
    </QueryView>
  );
}
