import { priceLogWindow, selectPriceLog } from '#domain/price-log-match.ts';
import type { Queryable } from '#server/platform/database/database.ts';
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
