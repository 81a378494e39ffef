import { IconWebhook } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { SIGNALS_PAGE_SIZE, SignalsAnswer } from '#contract/signals.ts';
import { type ListFilter, TIMEFRAME_FILTER } from '#web/lists/list-filters.tsx';
import { ListScreen, useList } from '#web/lists/list-screen.tsx';
import { capitalise, formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { SignalStatCards } from './signal-stats.tsx';
import { signalsColumns } from './signals-columns.tsx';
import { signalsPath, useRefreshSignals, useTriggerAutomation } from './signals-data.ts';
import type { SignalsSearch } from './signals-search.ts';

const SignalDialogs = lazily(() => import('./signal-dialogs.tsx'));

interface SignalsScreenProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
  triggersDisabled: boolean;
}

const FILTERS: readonly ListFilter<SignalsSearch>[] = [
  { name: 'token', label: 'Token', list: 'tokens' },
  { name: 'action', label: 'Action', list: 'actions', choices: ['buy', 'sell'], display: capitalise },
  TIMEFRAME_FILTER,
  { name: 'processor', label: 'Processor', list: 'processors' },
];

const PAGE_SIZE: typeof SIGNALS_PAGE_SIZE = 100;

export function SignalsScreen({ search, onSearch, triggersDisabled }: SignalsScreenProps) {
  const formatInstant = useFormatInstant();
  const { open } = useDialogHistory();
  const trigger = useTriggerAutomation();
  const pendingSignalId = trigger.isPending ? trigger.variables : undefined;
  const columns = useMemo(
    () =>
      signalsColumns({
        formatInstant,
        triggersDisabled,
        pendingSignalId,
        onOpen: (dialog, signal) =>
          open({
            dialog,
            signal: signal.id,
            workflow: (dialog === 'steps' && signal.workflowId) || undefined,
          }),
        onTrigger: trigger.mutate,
      }),
    [formatInstant, triggersDisabled, pendingSignalId, open, trigger.mutate],
  );
  const source = { path: signalsPath, filters: FILTERS, pageSize: PAGE_SIZE, search };
  const signals = useList<SignalsAnswer, SignalsSearch>(source);
  const refresh = useRefreshSignals();
  const { data } = signals;
  const loadingText = signals.isError ? '' : 'Loading...';

  return (
    <ListScreen
      name="signals"
      title="Trading Signals"
      subtitle="Incoming buy and sell signals and what the automation did with them"
      links={
        <ButtonLink to="/configuration" variant="default" leftSection={<IconWebhook size={16} aria-hidden />}>
          Configuration
        </ButtonLink>
      }
      above={<SignalStatCards />}
      panelTitle="Signal History"
      description={
        data ? `Showing ${data.signals.length} of ${formatCount(data.total)} signals` : loadingText
      }
      source={source}
      query={signals}
      rowsOf={(answer) => answer.signals}
      columns={columns}
      emptyText="No signals found"
      errorTitle="Failed to fetch signals"
      hasClear
      onSearch={onSearch}
      onRefresh={() => void refresh()}
      loadCsv={async () => (await import('./signals-csv.ts')).signalsCsv}
    >
      {search.dialog ? <SignalDialogs search={search} onSearch={onSearch} /> : null}
    </ListScreen>
  );
}
