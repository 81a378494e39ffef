import { sameProcessor } from '../eligibility/processor.ts';
import { sameTimeframe, timeframeMinutes } from '../timeframe.ts';
import { PRICE_LOG_DELAY_MINUTES, PRICE_LOG_MAX_CANDLES } from './trading-constants.ts';

export interface PriceLogCandidate {
  id: string;
  token: string;
  timeframe: string;
  processor: string | null;
  candleTime: Date;
  receivedAt: Date;
  hookId: string;
  /** Sent with an administrator's key: the candle serves every user's signals. */
  fromAdmin: boolean;
}

/**
 * The candle times that may belong to a signal: up to its own time, and at most two candles plus 30 minutes old. A
 * timeframe without minutes, such as seconds, gets only the 30 minutes.
 */
export function priceLogWindow({ signalTime, timeframe }: { signalTime: Date; timeframe: string }): {
  notBefore: Date;
  notAfter: Date;
} {
  const minutes = PRICE_LOG_MAX_CANDLES * (timeframeMinutes(timeframe) ?? 0) + PRICE_LOG_DELAY_MINUTES;
  return { notBefore: new Date(signalTime.getTime() - minutes * 60_000), notAfter: signalTime };
}

/** The newest candle that belongs to the signal, by candle time and not by arrival; null when there is none. */
export function selectPriceLog<Candidate extends PriceLogCandidate>(
  candidates: readonly Candidate[],
  signal: { token: string; timeframe: string; processor: string; signalTime: Date; hookId: string },
): Candidate | null {
  const { notBefore, notAfter } = priceLogWindow(signal);
  const matching = candidates.filter(
    (candle) => belongsTo(candle, signal) && candle.candleTime >= notBefore && candle.candleTime <= notAfter,
  );
  return matching.sort(newestFirst)[0] ?? null;
}

/** Whether the candle is of a series that serves the signal, whatever its time. */
export const belongsTo = (
  candle: PriceLogCandidate,
  signal: { token: string; timeframe: string; processor: string; hookId: string },
): boolean =>
  candle.token === signal.token &&
  sameTimeframe(candle.timeframe, signal.timeframe) &&
  (candle.processor === null || sameProcessor(candle.processor, signal.processor)) &&
  (candle.hookId === signal.hookId || candle.fromAdmin);

function newestFirst(a: PriceLogCandidate, b: PriceLogCandidate): number {
  return (
    b.candleTime.getTime() - a.candleTime.getTime() ||
    b.receivedAt.getTime() - a.receivedAt.getTime() ||
    (a.id < b.id ? 1 : -1)
  );
}
