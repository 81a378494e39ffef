import { IconWebhook } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import type { SIGNALS_PAGE_SIZE, Signal, SignalsAnswer } from '#contract/signals.ts';
import { IdSearch } from '#web/lists/id-search.tsx';
import { type ListFilter, OUTCOME_FILTER, TIMEFRAME_FILTER } from '#web/lists/list-filters.tsx';
import { ListScreen, useList } from '#web/lists/list-screen.tsx';
import { TIME_FIELDS, TimeRangeChips } from '#web/lists/time-range.tsx';
import { capitalise, formatCount } from '../../lib/format.ts';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { SignalStatCards } from './signal-stats.tsx';
import { signalsColumns } from './signals-columns.tsx';
import { signalsPath, useRefreshSignals } from './signals-data.ts';
import type { PanelTab, SignalDialogName, SignalsSearch } from './signals-search.ts';

const SignalCard = lazily(() => import('./signal-card.tsx'));
const SignalDialogs = lazily(() => import('./signal-dialogs.tsx'));
const SignalPanel = lazily(() => import('./signal-panel.tsx'));
const TriggerDialog = lazily(() => import('./trigger-dialog.tsx'));

interface SignalsScreenProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
  triggersDisabled: boolean;
}

const FILTERS: readonly ListFilter<SignalsSearch>[] = [
  { name: 'token', label: 'Token', list: 'tokens' },
  {
    name: 'action',
    label: 'Action',
    list: 'actions',
    choices: ['buy', 'sell', 'close', 'reduce'],
    display: capitalise,
  },
  TIMEFRAME_FILTER,
  { name: 'processor', label: 'Processor', list: 'processors' },
  OUTCOME_FILTER,
];

const FIELDS = [...TIME_FIELDS, 'id'] as const;
/** The section of the panel that shows what a cell's dialog shows. */
const SECTIONS: Record<Exclude<SignalDialogName, 'steps'>, PanelTab> = {
  signal: 'raw',
  sltp: 'sizing',
  workflows: 'runs',
  trades: 'outcome',
  users: 'why',
};

const PAGE_SIZE: typeof SIGNALS_PAGE_SIZE = 100;

const NO_SIGNALS: readonly Signal[] = [];

export function SignalsScreen({ search, onSearch, triggersDisabled }: SignalsScreenProps) {
  const { open, adjust } = useDialogHistory();
  const isPanelOpen = search.panel !== undefined && search.signal !== undefined;
  const openPanel = useCallback(
    (signal: string) =>
      isPanelOpen ? adjust({ signal, user: undefined }) : open({ panel: 'outcome', signal }),
    [isPanelOpen, open, adjust],
  );
  const [triggering, setTriggering] = useState<Signal | null>(null);
  const columns = useMemo(
    () =>
      signalsColumns({
        triggersDisabled,
        onOpen: (dialog, signal) =>
          isPanelOpen && dialog !== 'steps'
            ? adjust({ panel: SECTIONS[dialog], signal: signal.id, tab: undefined, user: undefined })
            : open({
                dialog,
                signal: signal.id,
                workflow: (dialog === 'steps' && signal.workflowId) || undefined,
              }),
        onPanel: ({ id }) => openPanel(id),
        onTrigger: setTriggering,
      }),
    [triggersDisabled, open, adjust, openPanel, isPanelOpen],
  );
  const card = useCallback(
    (signal: Signal) => <SignalCard signal={signal} onPanel={() => openPanel(signal.id)} />,
    [openPanel],
  );
  const opened = isPanelOpen ? search.signal : undefined;
  const rowPanel = useMemo(
    () => ({ opened, onOpen: ({ id }: Signal) => openPanel(id) }),
    [opened, openPanel],
  );
  const source = { path: signalsPath, filters: FILTERS, fields: FIELDS, pageSize: PAGE_SIZE, search };
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
      range={<TimeRangeChips search={search} onSearch={onSearch} />}
      moreFilters={<IdSearch value={search.id} onSearch={(id) => onSearch({ id, page: undefined })} />}
      sortable
      minWidth={0}
      rowPanel={rowPanel}
      card={card}
      aside={
        isPanelOpen && search.signal ? (
          <SignalPanel
            signalId={search.signal}
            rows={data?.signals ?? NO_SIGNALS}
            search={search}
            onSearch={onSearch}
            triggersDisabled={triggersDisabled}
            onTrigger={setTriggering}
          />
        ) : null
      }
      onSearch={onSearch}
      onRefresh={() => void refresh()}
      loadCsv={async () => (await import('./signals-csv.ts')).signalsCsv}
    >
      {triggering ? <TriggerDialog signal={triggering} onClose={() => setTriggering(null)} /> : null}
      {search.dialog ? <SignalDialogs search={search} onSearch={onSearch} /> : null}
    </ListScreen>
  );
}
