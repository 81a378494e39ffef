import { Alert, Tabs } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { DecisionBasis, SignalUser, SignalWorkflows } from '#contract/signals.ts';
import { Select } from '#web/forms/select.tsx';
import { ExplainUser } from '#web/lists/explain-user.tsx';
import { capitalise, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { UserEligibilityList } from '../../ui/user-eligibility-list.tsx';
import { EligibilityBreakdownView } from './eligibility-breakdown.tsx';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';
import { type SignalsSearch, USERS_TABS } from './signals-search.ts';

const useSignalUsers = (signalId: string) => useSignalPart<SignalUser[]>(signalId, '/users');

interface SignalUsersProps {
  signalId: string;
  search: SignalsSearch;
}

const FIRST_TAB = 'users';

/** A signal's users: the list, the four filter layers, and the explanation for any user. */
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
        <Why signalId={signalId} search={search} />
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

/** Notes that the list was not recorded but shows what would be decided now. */
function DecidedNow({ basis = 'recorded' }: { basis: DecisionBasis | undefined }) {
  if (basis === 'recorded') return null;
  return (
    <Alert color="yellow" icon={<IconInfoCircle aria-hidden />} className={classes.notice}>
      {WITHOUT_RECORD[basis]} As it would be decided now:
    </Alert>
  );
}

function Why({ signalId, search }: SignalUsersProps) {
  const { adjust } = useDialogHistory();
  const listed = useSignalUsers(signalId);
  return (
    <ExplainUser
      signalId={signalId}
      workflowId={search.workflow}
      userId={search.user}
      statuses={new Map(listed.data?.map(({ id, status }) => [id, status]))}
      onChoose={(user) => adjust({ user })}
    >
      <WorkflowChoice
        signalId={signalId}
        workflowId={search.workflow}
        onWorkflow={(workflow) => adjust({ workflow })}
      />
    </ExplainUser>
  );
}

interface WorkflowChoiceProps {
  signalId: string;
  workflowId: string | undefined;
  onWorkflow: (workflowId: string | undefined) => void;
}

/** Selects one of several workflows, each of which decided separately. */
function WorkflowChoice({ signalId, workflowId, onWorkflow }: WorkflowChoiceProps) {
  const formatInstant = useFormatInstant();
  const { data } = useSignalPart<SignalWorkflows>(signalId, '/workflows');
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
