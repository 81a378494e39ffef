import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { useUsernames, useWorkflowUsers } from './get-workflow.ts';

interface WorkflowUsersDialogProps {
  workflowId: string;
  onClose: () => void;
}

export default function WorkflowUsersDialog({ workflowId, onClose }: WorkflowUsersDialogProps) {
  return (
    <Dialog opened onClose={onClose} title="Eligible Users" size="lg">
      <WorkflowUsers workflowId={workflowId} />
    </Dialog>
  );
}

function WorkflowUsers({ workflowId }: { workflowId: string }) {
  const usernameOf = useUsernames();
  return (
    <QueryView query={useWorkflowUsers(workflowId)} errorTitle="Failed to fetch workflow users">
      {(users) => (
        <UserEligibilityList
          users={users.map((user) => ({ ...user, username: user.username || usernameOf(user.userId) }))}
          emptyText="No user data available for this workflow"
        />
      )}
    </QueryView>
  );
}
