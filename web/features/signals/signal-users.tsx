import { Alert, Tabs } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { DecisionBasis } from '#contract/signals.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { EligibilityBreakdownView } from './eligibility-breakdown.tsx';
import { useSignalUsers } from './get-signal.ts';
import classes from './signal-dialogs.module.css';
import { SignalWhy } from './signal-why.tsx';
import { type SignalsSearch, USERS_TABS } from './signals-search.ts';

interface SignalUsersProps {
  signalId: string;
  search: SignalsSearch;
}

const FIRST_TAB = 'users';

/** The users of a signal: the list, the four layers that it was filtered by, and the explanation for any of them. */
export function SignalUsers({ signalId, search }: SignalUsersProps) {
  const { adjust } = useDialogHistory();
  const openTab = (name: string | null) => adjust({ tab: USERS_TABS.find((tab) => tab === name) });
  return (
    <Tabs value={search.tab ?? FIRST_TAB} onChange={openTab} keepMounted={false}>
      <Tabs.List className={classes.tabs}>
        <Tabs.Tab value={FIRST_TAB}>Users</Tabs.Tab>
        <Tabs.Tab value="breakdown">Eligible Users Breakdown</Tabs.Tab>
        <Tabs.Tab value="why">Why / why not</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value={FIRST_TAB}>
        <UserList signalId={signalId} onWhy={(user) => adjust({ tab: 'why', user })} />
      </Tabs.Panel>
      <Tabs.Panel value="breakdown">
        <EligibilityBreakdownView signalId={signalId} />
      </Tabs.Panel>
      <Tabs.Panel value="why">
        <SignalWhy
          signalId={signalId}
          userId={search.user}
          workflowId={search.workflow}
          onChoose={(user) => adjust({ user })}
          onWorkflow={(workflow) => adjust({ workflow })}
        />
      </Tabs.Panel>
    </Tabs>
  );
}

function UserList({ signalId, onWhy }: { signalId: string; onWhy: (userId: string) => void }) {
  return (
    <QueryView query={useSignalUsers(signalId)} errorTitle="Failed to fetch users">
      {(users) => (
        <>
          <DecidedNow basis={users[0]?.basis} />
          <UserEligibilityList
            users={users}
            emptyText="No user data available for this signal"
            onWhy={onWhy}
          />
        </>
      )}
    </QueryView>
  );
}

const WITHOUT_RECORD = {
  'workflow ended': 'The workflow ended before users were selected.',
  'workflow under way': 'The workflow has not selected its users yet.',
  'no workflow': 'No workflow of the signal has decided.',
} as const satisfies Record<Exclude<DecisionBasis, 'recorded'>, string>;

/** What nobody decided must not be taken for what was. */
function DecidedNow({ basis = 'recorded' }: { basis: DecisionBasis | undefined }) {
  if (basis === 'recorded') return null;
  return (
    <Alert color="yellow" icon={<IconInfoCircle aria-hidden />} className={classes.notice}>
      {WITHOUT_RECORD[basis]} As it would be decided now:
    </Alert>
  );
}
