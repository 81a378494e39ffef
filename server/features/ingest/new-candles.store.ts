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

// Candles are most of what comes in. What they wait for is this one statement, which commits by itself; everything
// that is not as usual (a key that opens nothing any more, a candle that is known) is left to storeDeliveries. The
// hashes are claimed in their order, as storeCandles claims them: two batches then wait for each other in one order.
const STORE_NEW_CANDLES = {
  name: 'store-new-candles',
  text: `
    with arrived as materialized (
      select arrived.*, hooks.user_id as owner_user_id, users.is_admin and users.is_active as from_admin
      from json_to_recordset($1::json) as arrived (
        id uuid, hook_id uuid, token text, timeframe text, price numeric, currency text, processor text,
        time_text text, time timestamptz(3), received_at timestamptz(3), source_ip text, hash_value text,
        parameters jsonb)
      join unnest($2::uuid[], $3::bytea[]) as key (hook_id, key_hash) on key.hook_id = arrived.hook_id
      join hooks on hooks.id = key.hook_id and hooks.key_hash = key.key_hash
      join users on users.id = hooks.user_id
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
      from arrived join claimed on claimed.price_log_id = arrived.id
    ), logged as (
      insert into deliveries (id, hook_id, kind, result, source_ip, record_id, received_at)
      select id, hook_id, 'candle', 'stored', source_ip, id, received_at
      from arrived join claimed on claimed.price_log_id = arrived.id
    )
    select case when count(*) < $4 then coalesce(array_agg(price_log_id::text), '{}') end as some from claimed`,
};

/**
 * Stores those candles that are new, each with its line in the log (which has the candle's id), in one transaction.
 * Results stand in the order of the candles.
 */
export async function storeNewCandles(pool: pg.Pool, candles: NewCandle[]): Promise<NewCandleResult[]> {
  const keys = new Map<string, Buffer>();
  const taken = new Set<string>();
  const arrived: object[] = [];
  const ids = candles.map(({ hookId, keyHash, payload, fields, receivedAt, sourceIp }) => {
    const hashValue = payloadHash({ hookId, kind: 'candle', payload });
    // The second of two equal ones in a batch is a duplicate of the first. A webhook's old key, just renewed, may
    // come along with its new one.
    if (taken.has(hashValue) || !(keys.get(hookId) ?? keyHash).equals(keyHash)) return null;
    taken.add(hashValue);
    keys.set(hookId, keyHash);
    const id = timeOrderedId();
    arrived.push({
      id,
      hook_id: hookId,
      token: fields.token,
      timeframe: fields.timeframe,
      price: fields.price,
      currency: fields.currency,
      processor: fields.processor,
      time_text: fields.timeText,
      time: fields.time,
      received_at: receivedAt,
      source_ip: sourceIp,
      hash_value: hashValue,
      parameters: fields.parameters,
    });
    return id;
  });
  if (arrived.length === 0) return ids;
  const { rows } = await pool.query<{ some: string[] | null }>({
    ...STORE_NEW_CANDLES,
    values: [JSON.stringify(arrived), [...keys.keys()], [...keys.values()], arrived.length],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the candles were stored without an answer');
  if (row.some === null) return ids;
  const stored = new Set(row.some);
  return ids.map((id) => (id !== null && stored.has(id) ? id : null));
}
