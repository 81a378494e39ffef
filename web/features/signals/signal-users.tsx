import { QueryView } from '../../ui/query-view.tsx';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { useSignalUsers } from './get-signal.ts';

export function SignalUsers({ signalId }: { signalId: string }) {
  return (
    <QueryView query={useSignalUsers(signalId)} errorTitle="Failed to fetch users">
      {(users) => <UserEligibilityList users={users} emptyText="No user data available for this signal" />}
    </QueryView>
  );
}
