import type { SignalDetail } from '#contract/signals.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { PriceLogView } from './signal-cards.tsx';

interface RawDataDialogProps {
  of: 'signal' | 'price-log';
  signal: SignalDetail;
  onClose: () => void;
}

export default function RawDataDialog({ of, signal, onClose }: RawDataDialogProps) {
  const title = of === 'signal' ? 'Signal Raw Data' : 'Price Log Raw Data';
  return (
    <Dialog opened onClose={onClose} title={title} size="lg">
      {of === 'signal' ? (
        <JsonView value={signal} label={title} />
      ) : (
        <PriceLogView signal={signal}>{(log) => <JsonView value={log} label={title} />}</PriceLogView>
      )}
    </Dialog>
  );
}
