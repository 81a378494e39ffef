import { IconArrowLeft } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { useSession } from '../../lib/session.ts';
import { ButtonLink, Link } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import classes from './calculator.module.css';
import { Calculator } from './calculator.tsx';
import type { CalculatorSearch } from './calculator-search.ts';
import { prepareChart } from './chart-card.tsx';
import { useSignal } from './get-subject.ts';

interface CalculatorScreenProps {
  search: CalculatorSearch;
  onSearch: (change: CalculatorSearch) => void;
  /** Nothing is submitted by hand here. */
  tradingDisabled: boolean;
  /** Undefined while it is not known. */
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
      {signalId === undefined ? <NoSignal /> : <WithSignal {...props} signalId={signalId} />}
    </Page>
  );
}

function NoSignal() {
  return (
    <EmptyState
      action={
        <ButtonLink to="/signals" leftSection={<IconArrowLeft size={16} aria-hidden />}>
          Back to Signals
        </ButtonLink>
      }
    >
      No signal ID provided. Please select a signal from the signals page.
    </EmptyState>
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
  // Another signal or another user is another calculator: nothing of the former one may be seen in it.
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
