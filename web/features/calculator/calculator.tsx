import { lazy, Suspense } from 'react';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState, LoadingState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { BalanceCard } from './balance-card.tsx';
import classes from './calculator.module.css';
import { useTradingSettings, useTradingUsers } from './get-trading-user.ts';
import { PriceLogCard } from './price-log-card.tsx';
import { SignalCard } from './signal-card.tsx';
import { TradingUserCard } from './trading-user-card.tsx';
import { Workbench, type WorkbenchProps } from './workbench.tsx';

const RawDataDialog = lazy(() => import('./raw-data-dialogs.tsx'));

type CalculatorProps = Omit<WorkbenchProps, 'stored' | 'username'>;

export function Calculator(props: CalculatorProps) {
  const { signal, userId, ownId, search, onSearch } = props;
  const history = useDialogHistory();
  const closeDialog = () => history.close(() => onSearch({ dialog: undefined }));
  const users = useTradingUsers();
  const isUnknown = users.data?.every(({ id }) => id !== userId) === true;
  // Another user is asked about only when the list has told that there is one.
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
        <Suspense fallback={null}>
          <RawDataDialog of={search.dialog} signal={signal} onClose={closeDialog} />
        </Suspense>
      ) : null}
    </div>
  );
}

function WithSettings(props: CalculatorProps & { username: string | undefined }) {
  const { userId, ownId, username } = props;
  const settings = useTradingSettings({ userId, isSelf: userId === ownId });
  return (
    <QueryView query={settings} errorTitle="Failed to fetch settings">
      {(stored) => <Workbench {...props} stored={stored} username={username ?? 'the chosen user'} />}
    </QueryView>
  );
}
