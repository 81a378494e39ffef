import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { priceLogHashes } from '#server/platform/database/schema.ts';
import { type Arrival, firstOfEachHash } from './arrival.ts';
import type { CandleFields } from './read-delivery.ts';

/**
 * Stores those that are new as price logs; a known hash is a duplicate for good, also of a month whose partition is
 * another one (I2: the row in price_log_hashes decides). Answers which log holds each hash.
 */
export async function storeCandles(
  tx: Tx,
  arrivals: readonly Arrival<CandleFields>[],
): Promise<Map<string, string>> {
  const first = firstOfEachHash(arrivals);
  if (first.length === 0) return new Map();
  const arrived = first.map(({ id, hook, fields, hashValue, receivedAt, sourceIp }) => ({
    id,
    hook_id: hook.id,
    owner_user_id: hook.userId,
    from_admin: hook.fromAdmin,
    token: fields.token,
    timeframe: fields.timeframe,
    price: fields.price,
    currency: fields.currency,
    processor: fields.processor,
    candle_time_tradingview: fields.timeText,
    candle_time_server: fields.time,
    received_at: receivedAt,
    source_ip: sourceIp,
    hash_value: hashValue,
    parameters: fields.parameters,
  }));
  // One statement, since every candle pays for it. The hashes are claimed in their order.
  const { rows } = await tx.execute<{ id: string }>(sql`
    with arrived as materialized (
      select * from json_to_recordset(${JSON.stringify(arrived)}::json) as arrived (
        id uuid, hook_id uuid, owner_user_id uuid, from_admin boolean, token text, timeframe text, price numeric,
        currency text, processor text, candle_time_tradingview text, candle_time_server timestamptz(3),
        received_at timestamptz(3), source_ip text, hash_value text, parameters jsonb)
    ), claimed as (
      insert into price_log_hashes (hash_value, price_log_id)
      select decode(hash_value, 'hex'), id from arrived
      on conflict do nothing
      returning price_log_id
    ), stored as (
      insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
      select * from arrived where (id in (select price_log_id from claimed)) is true
    )
    select price_log_id as id from claimed`);
  const stored = new Set(rows.map(({ id }) => id));
  const holders = new Map<string, string>();
  const known: Buffer[] = [];
  for (const { id, hashValue } of first) {
    if (stored.has(id)) holders.set(hashValue, id);
    else known.push(Buffer.from(hashValue, 'hex'));
  }
  if (known.length > 0) {
    const holding = await tx.select().from(priceLogHashes).where(inArray(priceLogHashes.hashValue, known));
    for (const { hashValue, priceLogId } of holding) holders.set(hashValue.toString('hex'), priceLogId);
  }
  return holders;
}
