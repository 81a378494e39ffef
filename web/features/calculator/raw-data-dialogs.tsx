import type { SignalDetail } from '#contract/signals.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { usePriceLog } from './get-subject.ts';
import { NoPriceLog } from './no-price-log.tsx';

interface RawDataDialogProps {
  of: 'signal' | 'price-log';
  signal: SignalDetail;
  onClose: () => void;
}

export default function RawDataDialog({ of, signal, onClose }: RawDataDialogProps) {
  return of === 'signal' ? (
    <SignalRawDataDialog signal={signal} onClose={onClose} />
  ) : (
    <PriceLogRawDataDialog signal={signal} onClose={onClose} />
  );
}

function SignalRawDataDialog({ signal, onClose }: { signal: SignalDetail; onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Signal Raw Data" size="lg">
      <JsonView value={signal} label="Signal Raw Data" />
    </Dialog>
  );
}

interface PriceLogRawDataDialogProps {
  signal: SignalDetail;
  onClose: () => void;
}

function PriceLogRawDataDialog({ signal, onClose }: PriceLogRawDataDialogProps) {
  const { priceLogHash: hashValue } = signal;
  return (
    <Dialog opened onClose={onClose} title="Price Log Raw Data" size="lg">
      {hashValue === null ? <NoPriceLog signal={signal} /> : <PriceLogData hashValue={hashValue} />}
    </Dialog>
  );
}

function PriceLogData({ hashValue }: { hashValue: string }) {
  return (
    <QueryView query={usePriceLog(hashValue)} errorTitle="Failed to fetch price log">
      {(log) => <JsonView value={log} label="Price Log Raw Data" />}
    </QueryView>
  );
}
