import { Dialog } from '../../ui/dialog.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { SignalDetails } from './signal-details.tsx';
import { SignalUsers } from './signal-users.tsx';
import { SignalWorkflowList } from './signal-workflow-list.tsx';
import { closedDialog, type SignalsSearch } from './signals-search.ts';
import { StopLevels } from './stop-levels.tsx';
import { TradeDetails } from './trade-details.tsx';

/** The page renders the workflow steps dialog, which belongs to the automation feature. */
const DIALOGS = {
  signal: { title: 'Signal Details', size: 860, Content: SignalDetails },
  sltp: { title: 'SL/TP Calculation Details', size: 860, Content: StopLevels },
  workflows: { title: 'Workflows for Signal', size: 'lg', Content: SignalWorkflowList },
  trades: { title: 'Trade Details - Signal', size: 860, Content: TradeDetails },
  users: { title: 'Users for Signal', size: 860, Content: SignalUsers },
} as const;

interface SignalDialogsProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
}

export default function SignalDialogs({ search, onSearch }: SignalDialogsProps) {
  const { dialog, signal: signalId } = search;
  const history = useDialogHistory();
  if (!signalId || !dialog || dialog === 'steps') return null;
  const { title, size, Content } = DIALOGS[dialog];
  return (
    <Dialog
      opened
      onClose={() => history.close(() => onSearch(closedDialog(search)))}
      title={title}
      size={size}
    >
      <Content signalId={signalId} search={search} />
    </Dialog>
  );
}
