import { Tabs } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import type { UserEligibility } from '#contract/signals.ts';
import { ExplainUser } from '#web/lists/explain-user.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { useUsernames, useWorkflowPart } from './workflows-data.ts';

interface WorkflowUsersDialogProps {
  workflowId: string;
  onClose: () => void;
}

const FIRST_TAB = 'users';

const useWorkflowUsers = (workflowId: string) =>
  useWorkflowPart<(UserEligibility & { userId: string })[]>(workflowId, 'users');

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
  /** Absent without a signal, when there is nothing to explain. */
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

function WorkflowWhy({ signalId, workflowId, userId, onChoose }: WorkflowWhyProps) {
  const considered = useWorkflowUsers(workflowId);
  return (
    <ExplainUser
      signalId={signalId}
      workflowId={workflowId}
      userId={userId}
      statuses={new Map(considered.data?.map((user) => [user.userId, user.status]))}
      onChoose={onChoose}
    />
  );
}
