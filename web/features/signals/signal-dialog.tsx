import { Dialog } from '../../ui/dialog.tsx';
import { SignalDetails } from './signal-details.tsx';

/** The signal's own dialog, for other pages that name a signal. */
export default function SignalDialog({ signalId, onClose }: { signalId: string; onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Signal Details" size={860}>
      <SignalDetails signalId={signalId} />
    </Dialog>
  );
}
