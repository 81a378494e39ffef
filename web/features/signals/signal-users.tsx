import type { DecisionBasis, SignalUser, SignalWorkflows } from '#contract/signals.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import { Select } from '#web/forms/select.tsx';
import { ConsideredUsers } from '#web/lists/considered-users.tsx';
import { capitalise, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { EligibilityBreakdownView } from './eligibility-breakdown.tsx';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';
import type { SignalsSearch } from './signals-search.ts';

const ExecutionWaterfall = lazily<{ signalId: string }>(() => import('./execution-waterfall.tsx'));

/** A signal's users: the list, the four filter layers, and the explanation for any user. */
export function SignalUsers({ signalId, search }: { signalId: string; search: SignalsSearch }) {
  const query = useSignalPart<SignalUser[]>(signalId, '/users');
  const workflowId = search.workflow ?? query.data?.[0]?.workflowId ?? undefined;
  return (
    <ConsideredUsers
      query={query}
      errorTitle="Failed to fetch users"
      emptyText="No user data available for this signal"
      signalId={signalId}
      workflowId={workflowId}
      search={search}
      note={([first]) => <DecidedNow basis={first?.basis} />}
      middle={[
        {
          tab: 'breakdown',
          title: 'Eligible Users Breakdown',
          content: <EligibilityBreakdownView signalId={signalId} />,
        },
        { tab: 'execution', title: 'Execution', content: <ExecutionWaterfall signalId={signalId} /> },
      ]}
    >
      <WorkflowChoice signalId={signalId} workflowId={workflowId} />
    </ConsideredUsers>
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
  return <Notice look="warning">{WITHOUT_RECORD[basis]} As it would be decided now:</Notice>;
}

/** Selects one of several workflows, which decide separately. */
function WorkflowChoice({ signalId, workflowId }: { signalId: string; workflowId: string | undefined }) {
  const { adjust } = useDialogHistory();
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
      data={runs.map(({ id, trigger, startedAt, status, outcome }) => ({
        value: id,
        label: `${capitalise(trigger)} ${shortId(id, 9)}, ${formatInstant(startedAt)}, ${status}: ${outcomeText(outcome)}`,
      }))}
      onChange={({ currentTarget: { value } }) => adjust({ workflow: value })}
    />
  );
}
