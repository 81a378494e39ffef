import { inArray } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { priceLogs } from '#server/platform/database/schema.ts';
import { type Arrival, firstOfEachHash } from './arrival.ts';
import type { CandleFields } from './read-delivery.ts';

/** Stores those that are new as price logs; a known hash is a duplicate for good. Answers which log holds each hash. */
export async function storeCandles(
  tx: Tx,
  arrivals: readonly Arrival<CandleFields>[],
): Promise<Map<string, string>> {
  const first = firstOfEachHash(arrivals);
  if (first.length === 0) return new Map();
  const inserted = await tx
    .insert(priceLogs)
    .values(
      first.map(({ id, hook, fields, hashValue, receivedAt, sourceIp }) => ({
        id,
        hookId: hook.id,
        ownerUserId: hook.userId,
        fromAdmin: hook.fromAdmin,
        token: fields.token,
        timeframe: fields.timeframe,
        price: fields.price,
        currency: fields.currency,
        processor: fields.processor,
        candleTimeTradingview: fields.timeText,
        candleTimeServer: fields.time,
        receivedAt,
        sourceIp,
        hashValue,
        parameters: fields.parameters,
      })),
    )
    .onConflictDoNothing({ target: priceLogs.hashValue })
    .returning({ id: priceLogs.id, hashValue: priceLogs.hashValue });
  const holders = new Map(inserted.map(({ hashValue, id }) => [hashValue, id]));
  const known = first.map(({ hashValue }) => hashValue).filter((hash) => !holders.has(hash));
  if (known.length > 0) {
    const rows = await tx
      .select({ id: priceLogs.id, hashValue: priceLogs.hashValue })
      .from(priceLogs)
      .where(inArray(priceLogs.hashValue, known));
    for (const { hashValue, id } of rows) holders.set(hashValue, id);
  }
  return holders;
}
