import { priceLogWindow, selectPriceLog } from '#domain/price-log-match.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { readKeptSince } from '#server/platform/database/partitions.ts';
import { findCandidates, type PriceLogRow } from './price-logs.store.ts';

/** The price log that belongs to a signal (decisions §7); null when there is none. */
export async function matchPriceLog(
  db: Queryable,
  signal: {
    token: string;
    timeframe: string;
    processor: string;
    hookId: string;
    signalTimeServer: Date | null;
    receivedAt: Date;
  },
): Promise<PriceLogRow | null> {
  const { token, timeframe, processor, hookId } = signal;
  const signalTime = signal.signalTimeServer ?? signal.receivedAt;
  const window = priceLogWindow({ signalTime, timeframe });
  const rows = await findCandidates(db, { token, hookId, ...window });
  return selectPriceLog(
    rows.map((row) => ({ ...row, candleTime: row.candleTimeServer })),
    { token, timeframe, processor, signalTime, hookId },
  );
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
