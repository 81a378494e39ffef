import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { WhyAnswer } from '#contract/signals.ts';
import { QueryView } from '../ui/query-view.tsx';
import { EligibilityBadge } from '../ui/user-eligibility-list.tsx';
import { UserPicker } from '../ui/user-picker.tsx';
import { WhyAnswerView } from '../ui/why-answer.tsx';
import { RecomputeDecision } from './recompute-decision.tsx';
import { useAllUsers } from './use-all-users.ts';

interface ExplainUserProps {
  signalId: string;
  /** Undefined means the workflow that the signal's row shows. */
  workflowId: string | undefined;
  /** The user in the URL. */
  userId: string | undefined;
  /** Status by id of each user considered. */
  statuses: ReadonlyMap<string, string>;
  onChoose: (userId: string | undefined) => void;
  /** Shown above the explanation. */
  children?: ReactNode;
}

/** Explains why any user did or did not trade a signal, even if the user was not considered. */
export function ExplainUser(props: ExplainUserProps) {
  const { signalId, workflowId, userId, statuses, onChoose, children } = props;
  return (
    <QueryView query={useAllUsers()} errorTitle="Failed to fetch users">
      {(users) => (
        <>
          <UserPicker
            users={users}
            userId={userId}
            onChoose={onChoose}
            badges={({ id }) => <EligibilityBadge status={statuses.get(id) ?? 'Not considered'} />}
          />
          {userId ? (
            <>
              {children}
              <Explanation signalId={signalId} workflowId={workflowId} userId={userId} />
            </>
          ) : null}
        </>
      )}
    </QueryView>
  );
}

function Explanation(props: { signalId: string; workflowId: string | undefined; userId: string }) {
  const { signalId, workflowId, userId } = props;
  const path = `/api/signals/${encodeURIComponent(signalId)}/why/${encodeURIComponent(userId)}`;
  const query = useQuery<WhyAnswer>({ queryKey: [path, { workflowId }], staleTime: 0 });
  return (
    <QueryView query={query} errorTitle="Failed to fetch the explanation">
      {(answer) => (
        <>
          <WhyAnswerView answer={answer} />
          {answer.decidedThen ? <RecomputeDecision key={userId} signalId={signalId} userId={userId} /> : null}
        </>
      )}
    </QueryView>
  );
}
