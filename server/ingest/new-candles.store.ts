import type { Queryable } from '#server/platform/db/database.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { type ArrivedCandle, firstOfEachHash, inTheirPlaces } from './arrival.ts';
import { listOf, listOfJson, storeBatch, WEBHOOKS_OF_KEYS } from './batch-statement.ts';

// Candles are most of what comes in. What they wait for is this one statement, which commits by itself. The hashes are
// claimed in their order: two batches that share some then wait for each other in one order. Arrays, since reading a row
// of JSON takes as long as storing it. `is true` keeps the planner from joining each with each: it expects a row of what
// may be hundreds.
const STORE_NEW_CANDLES = {
  name: 'store-new-candles',
  text: `
    with keys as materialized (${WEBHOOKS_OF_KEYS}
    ), arrived as materialized (
      select arrived.*, keys.owner_user_id, keys.from_admin
      from unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::numeric[], $8::text[], $9::text[], $10::text[],
        $11::timestamptz(3)[], $12::timestamptz(3)[], $13::text[], $14::text[],
        string_to_array($15, chr(30))::jsonb[]) as arrived (
        id, hook_id, token, timeframe, price, currency, processor, time_text,
        time, received_at, source_ip, hash_value, parameters)
      join keys on keys.hook_id = arrived.hook_id
    ), claimed as (
      insert into price_log_hashes (hash_value, price_log_id)
      select decode(hash_value, 'hex') as hash, id from arrived order by hash
      on conflict do nothing
      returning price_log_id
    ), stored as (
      insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
      select id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        time_text, time, received_at, source_ip, hash_value, parameters
      from arrived where (id in (select price_log_id from claimed)) is true
    ), logged as (
      insert into deliveries (id, hook_id, kind, result, source_ip, record_id, received_at)
      select id, hook_id, 'candle', 'stored', source_ip, id, received_at
      from arrived where (id in (select price_log_id from claimed)) is true
    )
    select case when count(*) < $16 then coalesce(array_agg(price_log_id::text), '{}') end as some from claimed`,
};

/**
 * Stores those candles that are new, each with its line in the log (which has the candle's id), in one statement.
 * Answers its id for each, and null where nothing was stored: the key opens nothing any more, or somebody holds the hash.
 */
export async function storeNewCandles(
  db: Queryable,
  arrivals: readonly ArrivedCandle[],
  makeId = timeOrderedId,
): Promise<(string | null)[]> {
  const { first, keys } = firstOfEachHash(arrivals);
  if (first.length === 0) return arrivals.map(() => null);
  const ids = first.map(() => makeId());
  const fields = first.map(({ delivery }) => delivery.content.fields);
  const stored = await storeBatch(db, {
    ...STORE_NEW_CANDLES,
    ids,
    values: [
      [...keys.keys()],
      [...keys.values()],
      listOf(ids),
      listOf(first.map(({ hookId }) => hookId)),
      fields.map(({ token }) => token),
      fields.map(({ timeframe }) => timeframe),
      listOf(fields.map(({ price }) => price)),
      fields.map(({ currency }) => currency),
      fields.map(({ processor }) => processor),
      fields.map(({ timeText }) => timeText),
      listOf(fields.map(({ time }) => time.toISOString())),
      listOf(first.map(({ delivery }) => delivery.receivedAt.toISOString())),
      first.map(({ delivery }) => delivery.sourceIp),
      listOf(first.map(({ hashValue }) => hashValue)),
      listOfJson(fields.map(({ parameters }) => parameters)),
      first.length,
    ],
  });
  return inTheirPlaces(arrivals, first, stored);
}
