import { IconArrowLeft } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { useSession } from '../../lib/session.ts';
import { settingsPath } from '../../lib/user-paths.ts';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink, Link } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { BalanceCard } from './balance-card.tsx';
import classes from './calculator.module.css';
import { useSignal, useTradingSettings, useTradingUsers } from './calculator-data.ts';
import type { CalculatorSearch } from './calculator-search.ts';
import { prepareChart } from './chart-card.tsx';
import { PriceLogCard, SignalCard } from './signal-cards.tsx';
import { TradingUserCard } from './trading-user-card.tsx';
import { Workbench, type WorkbenchProps } from './workbench.tsx';

const RawDataDialog = lazily(() => import('./raw-data-dialog.tsx'));

interface CalculatorScreenProps {
  search: CalculatorSearch;
  onSearch: (change: CalculatorSearch) => void;
  /** This deployment refuses manual orders. */
  tradingDisabled: boolean;
  /** Undefined while unknown. */
  exchangeMode: ExchangeMode | undefined;
}

export function CalculatorScreen(props: CalculatorScreenProps) {
  const { signalId } = props.search;
  return (
    <Page
      title="Position Calculator"
      subtitle="Calculates one user's position for a signal, and submits its order by hand"
      back={
        signalId === undefined ? null : (
          <Link to="/signals" className={classes.back}>
            Back to Signals
          </Link>
        )
      }
    >
      {signalId === undefined ? (
        <EmptyState
          action={
            <ButtonLink to="/signals" leftSection={<IconArrowLeft size={16} aria-hidden />}>
              Back to Signals
            </ButtonLink>
          }
        >
          No signal ID provided. Please select a signal from the signals page.
        </EmptyState>
      ) : (
        <WithSignal {...props} signalId={signalId} />
      )}
    </Page>
  );
}

function WithSignal(props: CalculatorScreenProps & { signalId: string }) {
  const { user } = useSession();
  useEffect(prepareChart, []);
  const signal = useSignal(props.signalId);
  if (signal.data === undefined) {
    return signal.isError && !signal.isFetching ? (
      <ErrorState
        title="Failed to load signal data. Please try again."
        error={signal.error}
        onRetry={() => void signal.refetch()}
      />
    ) : (
      <LoadingState label="Loading signal data..." />
    );
  }
  const userId = props.search.userId ?? user.id;
  // A new calculator per signal and user, so that nothing carries over from the previous one.
  return (
    <Calculator
      key={`${signal.data.id} ${userId}`}
      {...props}
      signal={signal.data}
      userId={userId}
      ownId={user.id}
    />
  );
}

type CalculatorProps = CalculatorScreenProps & Pick<WorkbenchProps, 'signal' | 'userId'> & { ownId: string };

function Calculator(props: CalculatorProps) {
  const { signal, userId, ownId, search, onSearch } = props;
  const history = useDialogHistory();
  const users = useTradingUsers();
  const isUnknown = users.data?.every(({ id }) => id !== userId) === true;
  // Fetch nothing for another user until the list has shown that the user exists.
  const isAwaited = userId !== ownId && users.isPending;
  return (
    <div className={classes.columns}>
      <div className={classes.column}>
        <TradingUserCard
          userId={userId}
          ownId={ownId}
          onChoose={(id) =>
            onSearch({ userId: id === ownId ? undefined : id, calculation: undefined, dialog: undefined })
          }
        />
        {isUnknown || isAwaited ? null : <BalanceCard userId={userId} />}
        <SignalCard signal={signal} onRawData={() => history.open({ dialog: 'signal' })} />
        <PriceLogCard signal={signal} onRawData={() => history.open({ dialog: 'price-log' })} />
      </div>
      <div className={classes.column}>
        {isUnknown ? (
          <EmptyState>User ID not available - please log in or select a user</EmptyState>
        ) : isAwaited ? (
          <LoadingState />
        ) : (
          <WithSettings {...props} username={users.data?.find(({ id }) => id === userId)?.username} />
        )}
      </div>
      {search.dialog === 'signal' || search.dialog === 'price-log' ? (
        <RawDataDialog
          of={search.dialog}
          signal={signal}
          onClose={() => history.close(() => onSearch({ dialog: undefined }))}
        />
      ) : null}
    </div>
  );
}

function WithSettings(props: CalculatorProps & { username: string | undefined }) {
  const { userId, ownId, username = 'the chosen user' } = props;
  const path = settingsPath(userId === ownId ? null : userId);
  return (
    <QueryView query={useTradingSettings(path)} errorTitle="Failed to fetch settings">
      {(stored) => <Workbench {...props} settingsPath={path} stored={stored} username={username} />}
    </QueryView>
  );
}
