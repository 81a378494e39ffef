import { Button, Tabs } from '@mantine/core';
import { IconCalculator, IconPlayerPlay } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { Signal, SignalDetail, SignalUser } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { SidePanel } from '#web/lists/side-panel.tsx';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { capitalise, shortId } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { NearScreen } from '../../ui/near-screen.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { useReadableInstants } from '../../ui/use-readable-instants.ts';
import { UserOutcomeBadge, UserOutcomeText } from '../../ui/user-eligibility-list.tsx';
import { WorkflowStatus } from '../../ui/workflow-outcome.tsx';
import { SignalDetails, SignalPrice } from './signal-details.tsx';
import classes from './signal-panel.module.css';
import { SignalUsers } from './signal-users.tsx';
import { SignalWorkflowList } from './signal-workflow-list.tsx';
import { useSignalPart } from './signals-data.ts';
import { CLOSED_PANEL, type PanelTab, type SignalsSearch } from './signals-search.ts';
import { StopLevels } from './stop-levels.tsx';
import { TradeDetails } from './trade-details.tsx';

interface SignalPanelProps {
  signalId: string;
  /** The rows of the list, which J and K walk through. */
  rows: readonly Signal[];
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
  triggersDisabled: boolean;
  onTrigger: (signal: Signal) => void;
}

const TABS: Record<PanelTab, string> = {
  outcome: 'Outcome',
  why: 'Why',
  sizing: 'Sizing',
  runs: 'Runs',
  raw: 'Raw',
};

/** What became of a signal, beside the list of signals. */
export default function SignalPanel(props: SignalPanelProps) {
  const { signalId, rows, search, onSearch, triggersDisabled, onTrigger } = props;
  const { adjust, close } = useDialogHistory();
  const formatInstant = useFormatInstant();
  const readable = useReadableInstants();
  const detail = useSignalPart<SignalDetail>(signalId);
  const signal: Signal | undefined = rows.find(({ id }) => id === signalId) ?? detail.data;
  const tab = search.panel ?? 'outcome';
  const place = rows.findIndex(({ id }) => id === signalId);
  const goTo = (row: Signal | undefined) =>
    row && (() => adjust({ signal: row.id, user: undefined, workflow: undefined }));
  const content: Record<PanelTab, () => ReactNode> = {
    outcome: () => <Outcome signalId={signalId} />,
    why: () => <SignalUsers signalId={signalId} search={search} />,
    sizing: () => <StopLevels signalId={signalId} />,
    runs: () => <SignalWorkflowList signalId={signalId} />,
    raw: () => <SignalDetails signalId={signalId} withChart={false} />,
  };
  return (
    <SidePanel
      title={
        signal
          ? `${signal.token} ${capitalise(signal.action)}, ${formatInstant(signal.receivedAt).slice(-8)}`
          : 'Signal'
      }
      icon={
        signal ? (
          <span className={classes.disc} aria-hidden>
            <TokenBadge token={signal.token} />
          </span>
        ) : null
      }
      subtitle={
        <>
          {signal
            ? `${signal.processor} ${displayTimeframe(signal.timeframe)}, ${formatReceivedPrice(signal.price)}, `
            : null}
          signal{' '}
          <span className="mono" data-tip={signalId}>
            {shortId(signalId, 9)}
          </span>
        </>
      }
      status={
        signal?.workflowStatus && signal.outcome ? (
          <>
            <WorkflowStatus status={signal.workflowStatus} outcome={signal.outcome} />
            {signal.outcome.topReason ? (
              <p className={classes.reason}>{readable(signal.outcome.topReason)}</p>
            ) : null}
          </>
        ) : null
      }
      noun="signal"
      onPrevious={goTo(rows[place - 1])}
      onNext={goTo(rows[place + 1])}
      onClose={() => close(() => onSearch(CLOSED_PANEL))}
      tabs={
        <Tabs
          value={tab}
          onChange={(next) => adjust({ panel: next ?? undefined, tab: undefined, user: undefined })}
        >
          <Tabs.List className={classes.tabs} aria-label="Sections of the signal">
            {Object.entries(TABS).map(([value, title]) => (
              <Tabs.Tab key={value} value={value}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
      }
      foot={
        signal ? (
          <>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlayerPlay size={14} aria-hidden />}
              disabled={triggersDisabled}
              onClick={() => onTrigger(signal)}
            >
              Trigger again…
            </Button>
            <ButtonLink
              to="/position-calculator"
              search={{ signalId }}
              size="xs"
              variant="default"
              leftSection={<IconCalculator size={14} aria-hidden />}
            >
              Calculator
            </ButtonLink>
          </>
        ) : null
      }
    >
      <div key={signalId}>{content[tab]()}</div>
    </SidePanel>
  );
}

function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h3 className={classes.heading}>
        {title}
        {aside}
      </h3>
      {children}
    </section>
  );
}

/** What became of each user, with the price around the signal and the orders. */
function Outcome({ signalId }: { signalId: string }) {
  const { adjust } = useDialogHistory();
  const users = useSignalPart<SignalUser[]>(signalId, '/users');
  return (
    <>
      <Section
        title="What became of each user"
        aside={
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => adjust({ panel: 'why', tab: 'why', user: undefined })}
          >
            Why / why not
          </Button>
        }
      >
        <QueryView query={users} errorTitle="Failed to fetch users">
          {(answer) =>
            answer.length === 0 ? (
              <EmptyState>No user data available for this signal</EmptyState>
            ) : (
              <UserList users={answer} onWhy={(user) => adjust({ panel: 'why', tab: 'why', user })} />
            )
          }
        </QueryView>
      </Section>
      <Section title="Price">
        <NearScreen>
          <SignalPrice signalId={signalId} />
        </NearScreen>
      </Section>
      <Orders signalId={signalId} />
    </>
  );
}

function UserList({ users, onWhy }: { users: readonly SignalUser[]; onWhy: (userId: string) => void }) {
  const eligible = users.filter(({ status }) => status === 'eligible').length;
  return (
    <>
      <p className={classes.summary}>
        {eligible} of {users.length} users eligible
      </p>
      <ul className={classes.users}>
        {users.map((user) => (
          <li key={user.id}>
            <div className={classes.user}>
              <Button
                size="compact-xs"
                variant="transparent"
                px={0}
                aria-label={`Why, ${user.username || user.id}`}
                onClick={() => onWhy(user.id)}
              >
                {user.username || user.id}
              </Button>
              <UserOutcomeBadge user={user} />
            </div>
            <UserOutcomeText user={user} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Fetched when it is opened. */
function Orders({ signalId }: { signalId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <section className={classes.section}>
      <details className={classes.orders} onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>Orders</summary>
        {opened ? <TradeDetails signalId={signalId} /> : null}
      </details>
    </section>
  );
}
