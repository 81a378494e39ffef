import type { PriceLog } from '#contract/price-logs.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';

export default function ParametersDialog({ log, onClose }: { log: PriceLog; onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title={`Parameters of ${log.token}`} size="lg">
      <JsonView value={log.parameters} label="Parameters" />
    </Dialog>
  );
}
