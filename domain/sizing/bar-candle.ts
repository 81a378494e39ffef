import { timeframeMinutes } from '../timeframe.ts';
import { belongsTo, type PriceLogCandidate } from './price-log-match.ts';

/** How long a signal waits for the candle of the bar that just closed, counted from its receipt. */
export const CANDLE_WAIT_MS = 3_000;

/** A series that sent these candles one after the other is expected to send the next one. */
const REGULAR_BARS = 3;
/** With one more, because the bar's own candle may be there. */
const BARS_READ = REGULAR_BARS + 2;
const MINUTE_MS = 60_000;

interface Signal {
  token: string;
  timeframe: string;
  processor: string;
  hookId: string;
  /** What candle times are compared with. */
  signalTime: Date;
  receivedAt: Date;
}

/** The candle times that say whether a candle is missing; null for a timeframe without minutes. */
export function barCandleWindow(signal: Signal): { notBefore: Date; notAfter: Date } | null {
  const minutes = timeframeMinutes(signal.timeframe);
  if (minutes === null) return null;
  const closedBy = latest(signal);
  return { notBefore: new Date(closedBy.getTime() - BARS_READ * minutes * MINUTE_MS), notAfter: closedBy };
}

/**
 * Whether the candle of the bar that just closed is on its way: a series (token, timeframe, processor) has sent the
 * candles of the last three bars before it, each within half a bar of its bar's end, and this one is not there yet.
 */
export function isBarCandleMissing(candles: readonly PriceLogCandidate[], signal: Signal): boolean {
  const minutes = timeframeMinutes(signal.timeframe);
  if (minutes === null) return false;
  const series = Map.groupBy(
    candles.filter((candle) => belongsTo(candle, signal)),
    ({ processor }) => processor?.trim().toLowerCase(),
  );
  return [...series.values()].some((sent) => isMissing(sent, { signal, barMs: minutes * MINUTE_MS }));
}

function isMissing(
  sent: readonly PriceLogCandidate[],
  { signal, barMs }: { signal: Signal; barMs: number },
): boolean {
  const bars = newestBars(sent);
  const [newest] = bars;
  if (newest === undefined || bars.length < REGULAR_BARS) return false;
  if (bars.some(({ at }, index) => at !== newest.at - index * barMs)) return false;
  // A candle is stamped with its bar's beginning or its end; it arrives after the end.
  const lateness = bars.map(({ at, receivedAt }) => receivedAt - at);
  const isStampedAtOpen = lateness.every((ms) => ms >= barMs / 2 && ms < barMs * 1.5);
  if (!isStampedAtOpen && !lateness.every((ms) => Math.abs(ms) < barMs / 2)) return false;
  const newestClose = newest.at + (isStampedAtOpen ? barMs : 0);
  const closedSince = Math.floor((latest(signal).getTime() - newestClose) / barMs);
  // A candle from after the signal's own time would not belong to it.
  return closedSince === 1 && newest.at + barMs <= signal.signalTime.getTime();
}

/** The newest bars of a series. Stamps may have a few seconds; a candle that was sent again keeps its first receipt. */
function newestBars(sent: readonly PriceLogCandidate[]): { at: number; receivedAt: number }[] {
  const receipts = new Map<number, number>();
  for (const { candleTime, receivedAt } of sent) {
    const at = Math.floor(candleTime.getTime() / MINUTE_MS) * MINUTE_MS;
    receipts.set(at, Math.min(receipts.get(at) ?? Number.POSITIVE_INFINITY, receivedAt.getTime()));
  }
  return [...receipts]
    .map(([at, receivedAt]) => ({ at, receivedAt }))
    .sort((one, other) => other.at - one.at)
    .slice(0, REGULAR_BARS);
}

/** The signal's own time may say that the bar has closed when this machine's clock is behind. */
const latest = ({ signalTime, receivedAt }: Signal): Date =>
  signalTime > receivedAt ? signalTime : receivedAt;
