import type { ReactNode } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { SignalDetails } from './signal-details.tsx';
import { SignalUsers } from './signal-users.tsx';
import { SignalWorkflowList } from './signal-workflow-list.tsx';
import { CLOSED_DIALOG, type SignalDialogName, type SignalsSearch } from './signals-search.ts';
import { StopLevels } from './stop-levels.tsx';
import { TradeDetails } from './trade-details.tsx';

type OwnDialogName = Exclude<SignalDialogName, 'steps'>;

/** The steps of a workflow are shown by the page, which composes them from the automation feature. */
const DIALOGS: Record<OwnDialogName, { title: string; size: 'lg' | 'xl' | number }> = {
  signal: { title: 'Signal Details', size: 860 },
  sltp: { title: 'SL/TP Calculation Details', size: 860 },
  workflows: { title: 'Workflows for Signal', size: 'lg' },
  trades: { title: 'Trade Details - Signal', size: 860 },
  users: { title: 'Users for Signal', size: 860 },
};

interface SignalDialogsProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
}

export default function SignalDialogs({ search, onSearch }: SignalDialogsProps) {
  const { dialog, signal: signalId } = search;
  const history = useDialogHistory();
  const close = () => history.close(() => onSearch(CLOSED_DIALOG));
  if (!signalId || !dialog || dialog === 'steps') return null;
  const contents: Record<OwnDialogName, () => ReactNode> = {
    signal: () => <SignalDetails signalId={signalId} />,
    sltp: () => <StopLevels signalId={signalId} />,
    workflows: () => (
      <SignalWorkflowList
        signalId={signalId}
        onOpenSteps={(workflow) => history.open({ dialog: 'steps', workflow })}
      />
    ),
    trades: () => <TradeDetails signalId={signalId} />,
    users: () => <SignalUsers signalId={signalId} search={search} />,
  };
  return (
    <Dialog opened onClose={close} title={DIALOGS[dialog].title} size={DIALOGS[dialog].size}>
      {contents[dialog]()}
    </Dialog>
  );
}
