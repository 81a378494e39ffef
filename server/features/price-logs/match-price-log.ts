import { type PriceLogCandidate, priceLogWindow, selectPriceLog } from '#domain/price-log-match.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { readKeptSince } from '#server/platform/database/partitions.ts';
import { findCandidates, findPriceLog, type PriceLogRow } from './price-logs.store.ts';

/** The first few nearly always hold the one; the rest is read where candles of other timeframes are newer. */
const LOOK_AT = [20, 1_000];

interface MatchedSignal {
  token: string;
  timeframe: string;
  processor: string;
  hookId: string;
  signalTimeServer: Date | null;
  receivedAt: Date;
}

/** Which price log belongs to a signal (decisions §7); null when there is none. */
export async function findMatch(db: Queryable, signal: MatchedSignal): Promise<PriceLogCandidate | null> {
  const { token, timeframe, processor, hookId } = signal;
  const signalTime = signal.signalTimeServer ?? signal.receivedAt;
  const window = priceLogWindow({ signalTime, timeframe });
  for (const limit of LOOK_AT) {
    const candidates = await findCandidates(db, { token, hookId, ...window, limit });
    const match = selectPriceLog(candidates, { token, timeframe, processor, signalTime, hookId });
    if (match !== null || candidates.length < limit) return match;
  }
  return null;
}

/** The price log itself. */
export async function matchPriceLog(db: Queryable, signal: MatchedSignal): Promise<PriceLogRow | null> {
  const match = await findMatch(db, signal);
  return match === null ? null : await findPriceLog(db, match.id);
}

/** Whether all price logs that could belong to the signal are still kept. */
export async function arePriceLogsKept(
  db: Queryable,
  signal: { timeframe: string; signalTimeServer: Date | null; receivedAt: Date },
): Promise<boolean> {
  const signalTime = signal.signalTimeServer ?? signal.receivedAt;
  const { notBefore } = priceLogWindow({ signalTime, timeframe: signal.timeframe });
  const since = await readKeptSince(db, 'price_logs');
  return since === null || notBefore >= since;
}
