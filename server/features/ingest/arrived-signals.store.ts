import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { signalHashes } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs.ts';
import { type Arrival, firstOfEachHash } from './arrival.ts';
import type { SignalFields } from './read-delivery.ts';

/** An equal signal without a time of its own is a new one after this long: the sender repeats within 27 s. */
const REPEAT_WINDOW_SECONDS = 60;

type ArrivedSignal = Arrival<SignalFields> & { workflowId: string };

/** Stores those that are new, each with its pending workflow and its job. Answers which signal holds each hash. */
export async function storeSignals(
  tx: Tx,
  jobs: Pick<Jobs, 'send'>,
  arrivals: readonly Arrival<SignalFields>[],
): Promise<Map<string, string>> {
  // In the order of arrival: workflows of one token run in the order of their ids.
  const arrived = firstOfEachHash(arrivals.map((one) => ({ ...one, workflowId: timeOrderedId() })));
  if (arrived.length === 0) return new Map();
  const stored = await storeNew(tx, arrived);
  const added = arrived
    .filter(({ id }) => stored.has(id))
    .sort((left, right) => left.index - right.index)
    .map(({ workflowId }) => ({ workflowId }));
  await jobs.send(tx, 'run-workflow', added);
  const holders = new Map<string, string>();
  for (const { id, hashValue } of arrived) if (stored.has(id)) holders.set(hashValue, id);
  const known = arrived.map(({ hashValue }) => hashValue).filter((hash) => !holders.has(hash));
  if (known.length > 0) {
    const rows = await tx.select().from(signalHashes).where(inArray(signalHashes.hashValue, known));
    for (const { hashValue, signalId } of rows) holders.set(hashValue, signalId);
  }
  return holders;
}

/**
 * I2: of equal deliveries, here or in another process, exactly one gets the row in signal_hashes, and only what got
 * it is stored. A hash without a time of its own may be claimed anew when its window is over. The hashes are claimed
 * in their order: two batches then wait for each other in one order. Answers the ids of what was stored.
 */
async function storeNew(tx: Tx, arrived: readonly ArrivedSignal[]): Promise<Set<string>> {
  const rows = arrived.map(({ id, workflowId, hook, fields, hashValue, receivedAt, sourceIp }) => ({
    id,
    workflow_id: workflowId,
    hook_id: hook.id,
    owner_user_id: hook.userId,
    from_admin: hook.fromAdmin,
    token: fields.token,
    action: fields.action,
    price: fields.price,
    currency: fields.currency,
    timeframe: fields.timeframe,
    processor: fields.processor,
    time_text: fields.timeText,
    time: fields.time,
    received_at: receivedAt,
    source_ip: sourceIp,
    hash_value: hashValue,
    parameters: fields.parameters,
  }));
  const stored = await tx.execute<{ id: string }>(sql`
    with arrived as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as arrived (
        id uuid, workflow_id uuid, hook_id uuid, owner_user_id uuid, from_admin boolean, token text, action text,
        price numeric, currency text, timeframe text, processor text, time_text text, time timestamptz(3),
        received_at timestamptz(3), source_ip text, hash_value text, parameters jsonb)
    ), claimed as (
      insert into signal_hashes as held (hash_value, signal_id, received_at, lasting)
      select hash_value, id, received_at, time is not null from arrived order by hash_value collate "C"
      on conflict (hash_value) do update set signal_id = excluded.signal_id, received_at = excluded.received_at
      where not held.lasting
        and held.received_at < excluded.received_at - make_interval(secs => ${REPEAT_WINDOW_SECONDS})
      returning signal_id
    ), stored as (
      insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, signal_time_tradingview, signal_time_server, received_at, source_ip, hash_value, parameters)
      select id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, time_text, time, received_at, source_ip, hash_value, parameters
      from arrived where (id in (select signal_id from claimed)) is true
    ), created as (
      insert into workflows (id, signal_id, trigger, status, token, processor, created_at)
      select workflow_id, id, 'automatic', 'pending', token, processor, received_at
      from arrived where (id in (select signal_id from claimed)) is true
    )
    select signal_id as id from claimed`);
  return new Set(stored.rows.map(({ id }) => id));
}
