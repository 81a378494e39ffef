import type { CloseAllRun } from '#contract/close-all.ts';
import type { TradingStopView } from '#contract/trading-stops.ts';
import type { StopRequest } from '../../lib/trading-stops.ts';
import { CloseAllDialog } from './close-all-dialog.tsx';
import { StopDialog } from './stop-dialog.tsx';
import { StopNotice } from './stop-notice.tsx';
import { StopPanel } from './stop-panel.tsx';

type StopPartsProps =
  | { part: 'panel'; onClose: () => void }
  | { part: 'dialog'; request: StopRequest; onClose: () => void }
  | { part: 'notice'; stops: readonly TradingStopView[]; runs: readonly CloseAllRun[] };

/** What the Stop button and the banner load when they first show it; one chunk, because every page pays for each. */
export default function StopParts(props: StopPartsProps) {
  if (props.part === 'panel') return <StopPanel onClose={props.onClose} />;
  if (props.part === 'notice') return <StopNotice stops={props.stops} runs={props.runs} />;
  const { request, onClose } = props;
  const scope = { kind: request.kind, value: request.value };
  return request.action === 'stop' ? (
    <StopDialog scope={scope} onClose={onClose} />
  ) : (
    <CloseAllDialog scope={scope} onClose={onClose} />
  );
}
