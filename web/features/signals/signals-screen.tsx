import { IconWebhook } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { ExportButton } from '#web/lists/export-button.tsx';
import { useSession } from '../../lib/session.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { LiveStatus } from '../../ui/live-status.tsx';
import { Page } from '../../ui/page.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { useRefreshSignals, useSignalFilter, useSignalStats, useSignals } from './get-signals.ts';
import { SignalStatCards } from './signal-stats.tsx';
import type { SignalsSearch } from './signals-search.ts';
import { SignalsTable } from './signals-table.tsx';

const SignalDialogs = lazy(() => import('./signal-dialogs.tsx'));

interface SignalsScreenProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
  triggersDisabled: boolean;
}

export function SignalsScreen({ search, onSearch, triggersDisabled }: SignalsScreenProps) {
  const { displayTimezone } = useSession();
  const signals = useSignals(search);
  const stats = useSignalStats();
  const tokens = useSignalFilter('tokens');
  const processors = useSignalFilter('processors');
  const timeframes = useSignalFilter('timeframes');
  const refresh = useRefreshSignals();

  return (
    <Page
      title="Trading Signals"
      subtitle="Incoming buy and sell signals and what the automation did with them"
      actions={
        <>
          <LiveStatus updatedAt={signals.dataUpdatedAt} />
          <ButtonLink
            to="/configuration"
            variant="default"
            leftSection={<IconWebhook size={16} aria-hidden />}
          >
            Configuration
          </ButtonLink>
          <ExportButton
            name="signals"
            errorTitle="Failed to fetch signals"
            createSource={async () =>
              (await import('./signals-csv.ts')).signalsExport(search, displayTimezone)
            }
          />
          <RefreshButton busy={signals.isFetching} onRefresh={() => void refresh()} />
        </>
      }
    >
      <SignalStatCards stats={stats} />
      <FailedQueries
        queries={[
          { title: 'Failed to fetch tokens', query: tokens },
          { title: 'Failed to fetch processors', query: processors },
          { title: 'Failed to fetch timeframes', query: timeframes },
        ]}
      />
      <SignalsTable
        search={search}
        onSearch={onSearch}
        signals={signals}
        triggersDisabled={triggersDisabled}
        lists={{
          tokens: tokens.data ?? [],
          processors: processors.data ?? [],
          timeframes: timeframes.data ?? [],
        }}
      />
      {search.dialog ? (
        <Suspense fallback={null}>
          <SignalDialogs search={search} onSearch={onSearch} />
        </Suspense>
      ) : null}
    </Page>
  );
}
