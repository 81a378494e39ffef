import type pg from 'pg';
import { timeOrderedId } from '#server/platform/ids.ts';
import { payloadHash } from './payload-hash.ts';
import type { CandleFields } from './read-delivery.ts';
import type { Payload } from './read-payload.ts';

/** A usable candle of a webhook that was known a moment ago. */
export interface NewCandle {
  hookId: string;
  keyHash: Buffer;
  sourceIp: string;
  receivedAt: Date;
  payload: Payload;
  fields: CandleFields;
}

/** A log's id; null where nothing was stored, and nothing is said: the key may be gone or the candle be known. */
export type NewCandleResult = string | null;

/** Character 30, which JSON holds only escaped. In an array each of its many quotes would be escaped, and read back. */
const BETWEEN_JSON = '\x1e';

// Candles are most of what comes in. What they wait for is this one statement, which commits by itself; everything
// that is not as usual (a key that opens nothing any more, a candle that is known) is left to storeDeliveries. The
// hashes are claimed in their order, as storeCandles claims them: two batches then wait for each other in one order.
// Arrays, since reading a row of JSON takes as long as storing it. `is true` keeps the planner from joining each with
// each: it expects a row of what may be hundreds.
const STORE_NEW_CANDLES = {
  name: 'store-new-candles',
  text: `
    with keys as materialized (
      select hooks.id as hook_id, hooks.user_id as owner_user_id, users.is_admin and users.is_active as from_admin
      from unnest($1::uuid[], $2::bytea[]) as given (hook_id, key_hash)
      join hooks on hooks.id = given.hook_id and hooks.key_hash = given.key_hash
      join users on users.id = hooks.user_id
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

/** An array of what needs no quotes: ids, figures and instants. */
const listOf = (values: string[]) => `{${values.join(',')}}`;

/**
 * Stores those candles that are new, each with its line in the log (which has the candle's id), in one transaction.
 * Results stand in the order of the candles.
 */
export async function storeNewCandles(pool: pg.Pool, candles: NewCandle[]): Promise<NewCandleResult[]> {
  const keys = new Map<string, Buffer>();
  const taken = new Set<string>();
  const arrived: { id: string; hashValue: string; candle: NewCandle }[] = [];
  const ids = candles.map((candle) => {
    const { hookId, keyHash, payload } = candle;
    const hashValue = payloadHash({ hookId, kind: 'candle', payload });
    // The second of two equal ones in a batch is a duplicate of the first. A webhook's old key, just renewed, may
    // come along with its new one.
    if (taken.has(hashValue) || !(keys.get(hookId) ?? keyHash).equals(keyHash)) return null;
    taken.add(hashValue);
    keys.set(hookId, keyHash);
    const id = timeOrderedId();
    arrived.push({ id, hashValue, candle });
    return id;
  });
  if (arrived.length === 0) return ids;
  const { rows } = await pool.query<{ some: string[] | null }>({
    ...STORE_NEW_CANDLES,
    values: [
      [...keys.keys()],
      [...keys.values()],
      listOf(arrived.map(({ id }) => id)),
      listOf(arrived.map(({ candle }) => candle.hookId)),
      arrived.map(({ candle }) => candle.fields.token),
      arrived.map(({ candle }) => candle.fields.timeframe),
      listOf(arrived.map(({ candle }) => candle.fields.price)),
      arrived.map(({ candle }) => candle.fields.currency),
      arrived.map(({ candle }) => candle.fields.processor),
      arrived.map(({ candle }) => candle.fields.timeText),
      listOf(arrived.map(({ candle }) => candle.fields.time.toISOString())),
      listOf(arrived.map(({ candle }) => candle.receivedAt.toISOString())),
      arrived.map(({ candle }) => candle.sourceIp),
      listOf(arrived.map(({ hashValue }) => hashValue)),
      arrived.map(({ candle }) => JSON.stringify(candle.fields.parameters)).join(BETWEEN_JSON),
      arrived.length,
    ],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the candles were stored without an answer');
  if (row.some === null) return ids;
  const stored = new Set(row.some);
  return ids.map((id) => (id !== null && stored.has(id) ? id : null));
}
