import type { Tx } from '#server/platform/db/database.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import { type ArrivedSignal, firstOfEachHash, inTheirPlaces } from './arrival.ts';
import { listOf, listOfJson, storeBatch, WEBHOOKS_OF_KEYS } from './batch-statement.ts';

/** An equal signal without a time of its own is a new one after this long: the sender repeats within 27 s. */
const REPEAT_WINDOW_SECONDS = 60;

// I2: of equal deliveries, here or in another process, exactly one gets the row in signal_hashes, and only what got it is
// stored. A hash without a time of its own may be claimed anew when its window is over. The hashes are claimed in their
// order: two batches that share some then wait for each other in one order. Arrays and `is true` as for candles.
const STORE_NEW_SIGNALS = {
  name: 'store-new-signals',
  text: `
    with keys as materialized (${WEBHOOKS_OF_KEYS}
    ), arrived as materialized (
      select arrived.*, keys.owner_user_id, keys.from_admin
      from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::numeric[], $9::text[], $10::text[],
        $11::text[], $12::text[], $13::timestamptz(3)[], $14::timestamptz(3)[], $15::text[], $16::text[],
        string_to_array($17, chr(30))::jsonb[]) as arrived (
        id, workflow_id, hook_id, token, action, price, currency, timeframe, processor, time_text,
        time, received_at, source_ip, hash_value, parameters)
      join keys on keys.hook_id = arrived.hook_id
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
      insert into workflows (id, signal_id, trigger, status, token, processor, created_at, is_own)
      select workflow_id, id, 'automatic', 'pending', token, processor, received_at, not from_admin
      from arrived where (id in (select signal_id from claimed)) is true
    ), logged as (
      insert into deliveries (id, hook_id, kind, result, source_ip, record_id, received_at)
      select id, hook_id, 'signal', 'stored', source_ip, id, received_at
      from arrived where (id in (select signal_id from claimed)) is true
    )
    select case when count(*) < $18 then coalesce(array_agg(signal_id::text), '{}') end as some from claimed`,
};

/**
 * Stores those signals that are new, each with its pending workflow, that one's job (which goes out with the COMMIT) and
 * its line in the log (which has the signal's id). Answers its id for each, and null where nothing was
 * stored: the key opens nothing any more, or somebody holds the hash.
 */
export async function storeNewSignals(
  tx: Tx,
  jobs: Pick<Jobs, 'sendWithCommit'>,
  arrivals: readonly ArrivedSignal[],
): Promise<(string | null)[]> {
  const { first, keys } = firstOfEachHash(arrivals);
  if (first.length === 0) return arrivals.map(() => null);
  const ids = first.map(() => timeOrderedId());
  const fields = first.map(({ delivery }) => delivery.content.fields);
  // In the order of arrival: workflows of one token run in the order of their ids.
  const workflowIds = first.map(() => timeOrderedId());
  const stored = await storeBatch(tx, {
    ...STORE_NEW_SIGNALS,
    ids,
    values: [
      [...keys.keys()],
      [...keys.values()],
      listOf(ids),
      listOf(workflowIds),
      listOf(first.map(({ hookId }) => hookId)),
      fields.map(({ token }) => token),
      fields.map(({ action }) => action),
      listOf(fields.map(({ price }) => price)),
      fields.map(({ currency }) => currency),
      fields.map(({ timeframe }) => timeframe),
      fields.map(({ processor }) => processor),
      fields.map(({ timeText }) => timeText),
      listOf(fields.map(({ time }) => time?.toISOString() ?? null)),
      listOf(first.map(({ delivery }) => delivery.receivedAt.toISOString())),
      first.map(({ delivery }) => delivery.sourceIp),
      listOf(first.map(({ hashValue }) => hashValue)),
      listOfJson(fields.map(({ parameters }) => parameters)),
      first.length,
    ],
  });
  const added = workflowIds.filter((_, index) => stored[index] !== null);
  await jobs.sendWithCommit(
    tx,
    'run-workflow',
    added.map((workflowId) => ({ workflowId })),
  );
  return inTheirPlaces(arrivals, first, stored);
}
