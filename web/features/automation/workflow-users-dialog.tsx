import { useSearch } from '@tanstack/react-router';
import type { UserResult } from '#contract/signals.ts';
import { ConsideredUsers } from '#web/lists/considered-users.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { useUsernames, useWorkflowPart } from './workflows-data.ts';

interface WorkflowUsersDialogProps {
  workflowId: string;
  onClose: () => void;
}

export default function WorkflowUsersDialog({ workflowId, onClose }: WorkflowUsersDialogProps) {
  const search = useSearch({ from: '/administrators/automation-workflows' });
  const { close } = useDialogHistory();
  const usernameOf = useUsernames();
  const query = useWorkflowPart<UserResult[]>(workflowId, 'users');
  return (
    <Dialog opened onClose={() => close(onClose)} title="Eligible Users" size={860}>
      <ConsideredUsers
        query={query}
        usernameOf={usernameOf}
        errorTitle="Failed to fetch workflow users"
        emptyText="No user data available for this workflow"
        signalId={search.signal}
        workflowId={workflowId}
        search={search}
      />
    </Dialog>
  );
}
