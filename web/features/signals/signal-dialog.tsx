import { Dialog } from '../../ui/dialog.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { SignalDetails } from './signal-details.tsx';

/** The signal's own dialog, for other pages that name a signal. */
export default function SignalDialog({ signalId, onClose }: { signalId: string; onClose: () => void }) {
  const history = useDialogHistory();
  return (
    <Dialog opened onClose={() => history.close(onClose)} title="Signal Details" size={860}>
      <SignalDetails signalId={signalId} />
    </Dialog>
  );
}
