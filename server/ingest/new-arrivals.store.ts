import { cutText } from '#server/platform/cut-text.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { runNamed } from '#server/platform/db/drizzle-over.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import {
  type Arrival,
  type ArrivedCandle,
  type ArrivedSignal,
  type HookKey,
  inTheirPlaces,
  isSameKey,
} from './arrival.ts';
import { LONGEST_REASON } from './delivery-log.ts';

/** An equal signal without its own time counts as new after this long: the sender retries within 27 s. */
const REPEAT_WINDOW_SECONDS = 60;

/** A PostgreSQL array of values that need no quotes: ids, numbers and instants. */
const listOf = (values: (string | null)[]): string => `{${values.map((value) => value ?? 'null').join(',')}}`;

/** U+001E, which JSON holds only escaped. In an array, each of the many quotes would be escaped and parsed again. */
const BETWEEN_JSON = '\x1e';

// The storing statement checks key, webhook, owner and role: cached webhooks may be stale (docs/decisions/0003).
// Arrays, because reading a row of JSON takes as long as storing it.
const arrived = (more: { types: string; columns: string }) => `
    with keys as materialized (
      select hooks.id as hook_id, hooks.user_id as owner_user_id, users.is_admin as from_admin
      from unnest($1::uuid[], $2::bytea[]) as given (hook_id, key_hash)
      join hooks on hooks.id = given.hook_id and hooks.key_hash = given.key_hash
      join users on users.id = hooks.user_id
      where users.is_active and hooks.suspended_at is null
    ), arrived as materialized (
      select arrived.*, keys.owner_user_id, keys.from_admin
      from unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::numeric[], $8::text[], $9::text[], $10::text[],
        $11::timestamptz(3)[], $12::timestamptz(3)[], $13::text[], $14::text[],
        string_to_array($15, chr(30))::jsonb[]${more.types}) as arrived (
        id, hook_id, token, timeframe, price, currency, processor, time_text,
        time, received_at, source_ip, hash_value, parameters${more.columns})
      join keys on keys.hook_id = arrived.hook_id
    )`;

/** `is true` keeps the planner from joining every row with every other: it expects one row where hundreds may be. */
const IS_CLAIMED = '(id in (select id from claimed)) is true';

const logged = (
  kind: 'signal' | 'candle',
  { reason, more = '' }: { reason: 'null' | 'warning'; more?: string },
) => `
    logged as (
      insert into deliveries (id, hook_id, kind, result, reason, source_ip, record_id, received_at)
      select id, hook_id, '${kind}', 'stored', ${reason}, source_ip, id, received_at from arrived where ${IS_CLAIMED}
    )
    select case when count(*) < $16 then coalesce(array_agg(id::text), '{}') end as some${more} from claimed`;

// Hashes are claimed in order, so that batches that share some wait for each other in the same order. Candles are most
// of the traffic; they wait for this statement only, which commits on its own.
const STORE_CANDLES = {
  name: 'store-new-candles',
  text: `${arrived({ types: ', $17::text[]', columns: ', warning' })}, claimed as (
      insert into price_log_hashes (hash_value, price_log_id)
      select decode(hash_value, 'hex') as hash, id from arrived order by hash
      on conflict do nothing
      returning price_log_id as id
    ), stored as (
      insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
      select id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        time_text, time, received_at, source_ip, hash_value, parameters
      from arrived where ${IS_CLAIMED}
    ), ${logged('candle', { reason: 'warning' })}`,
};

// I2: of equal deliveries, here or in another process, exactly one gets the row in signal_hashes, and only that one is
// stored. The hash of a signal without its own time may be claimed again when its window is over.
const STORE_SIGNALS = {
  name: 'store-new-signals',
  text: `${arrived({ types: ', $17::uuid[], $18::text[]', columns: ', workflow_id, action' })}, claimed as (
      insert into signal_hashes as held (hash_value, signal_id, received_at, lasting)
      select hash_value, id, received_at, time is not null from arrived order by hash_value collate "C"
      on conflict (hash_value) do update set signal_id = excluded.signal_id, received_at = excluded.received_at
      where not held.lasting
        and held.received_at < excluded.received_at - make_interval(secs => ${REPEAT_WINDOW_SECONDS})
      returning signal_id as id
    ), stored as (
      insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, signal_time_tradingview, signal_time_server, received_at, source_ip, hash_value, parameters)
      select id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, time_text, time, received_at, source_ip, hash_value, parameters
      from arrived where ${IS_CLAIMED}
    ), created as (
      insert into workflows (id, signal_id, trigger, status, token, processor, created_at, is_own)
      select workflow_id, id, 'automatic', 'pending', token, processor, received_at, not from_admin
      from arrived where ${IS_CLAIMED}
    ), ${logged('signal', { reason: 'null', more: ', (select array_agg(id::text) from arrived where not from_admin) as own' })}`,
};

/**
 * Stores the new candles, each with its log line, which has the candle's id. Returns the id of each candle, or null
 * where nothing was stored because the key opens nothing any more or the hash is taken.
 */
export async function storeNewCandles(
  db: Queryable,
  arrivals: readonly ArrivedCandle[],
  makeId = timeOrderedId,
): Promise<(string | null)[]> {
  const { first, keys } = firstOfEachHash(arrivals);
  if (first.length === 0) return arrivals.map(() => null);
  const ids = first.map(() => makeId());
  const warnings = first.map(({ delivery }) => reasonOf(delivery.content.fields.warnings));
  const values = [...valuesOf(first, { keys, ids }), warnings];
  const { stored } = await storeBatch(db, { ...STORE_CANDLES, ids, values });
  return inTheirPlaces(arrivals, first, stored);
}

/** The same for signals, each with its pending workflow and the workflow's job. */
export async function storeNewSignals(
  tx: Tx,
  jobs: Pick<Jobs, 'send'>,
  arrivals: readonly ArrivedSignal[],
): Promise<(string | null)[]> {
  const { first, keys } = firstOfEachHash(arrivals);
  if (first.length === 0) return arrivals.map(() => null);
  const ids = first.map(() => timeOrderedId());
  // In order of arrival: workflows of one token run in the order of their ids.
  const workflowIds = first.map(() => timeOrderedId());
  const actions = first.map(({ delivery }) => delivery.content.fields.action);
  const values = [...valuesOf(first, { keys, ids }), listOf(workflowIds), actions];
  const { stored, own } = await storeBatch(tx, { ...STORE_SIGNALS, ids, values });
  const added = workflowIds.filter((_, index) => stored[index] !== null);
  const ownWorkflows = new Set(workflowIds.filter((_, index) => own.has(ids[index] ?? '')));
  await jobs.send(
    tx,
    'run-workflow',
    added.map((workflowId) => ({ workflowId })),
    { isOwn: ({ workflowId }) => ownWorkflows.has(workflowId) },
  );
  return inTheirPlaces(arrivals, first, stored);
}

/**
 * Returns the arrivals that one statement can store, in order, and the webhooks to look up with their keys. The
 * second of two equal arrivals is a duplicate of the first. A batch may hold a webhook's old key next to its new one;
 * the next statement finds out which of them is valid.
 */
function firstOfEachHash<One extends Arrival>(
  arrivals: readonly One[],
): { first: One[]; keys: Map<string, HookKey> } {
  const keys = new Map<string, HookKey>();
  const taken = new Set<string>();
  const first = arrivals.filter(({ hookId, hashValue, delivery: { key } }) => {
    if (taken.has(hashValue) || !isSameKey(keys.get(hookId) ?? key, key)) return false;
    taken.add(hashValue);
    keys.set(hookId, key);
    return true;
  });
  return { first, keys };
}

/** What the delivery log says of a stored candle. */
const reasonOf = (warnings: readonly string[]): string | null =>
  warnings.length === 0 ? null : cutText(warnings.join('; '), LONGEST_REASON);

/** Parameters $1 to $16 of both statements. */
function valuesOf(
  first: readonly Arrival[],
  { keys, ids }: { keys: Map<string, HookKey>; ids: string[] },
): unknown[] {
  const fields = first.map(({ delivery }) => delivery.content.fields);
  const given = [...keys].flatMap(([hookId, { hashes }]) => hashes.map((hash) => ({ hookId, hash })));
  return [
    given.map(({ hookId }) => hookId),
    given.map(({ hash }) => hash),
    listOf(ids),
    listOf(first.map(({ hookId }) => hookId)),
    fields.map(({ token }) => token),
    fields.map(({ timeframe }) => timeframe),
    listOf(fields.map(({ price }) => price)),
    fields.map(({ currency }) => currency),
    fields.map(({ processor }) => processor),
    fields.map(({ timeText }) => timeText),
    listOf(fields.map(({ time }) => time?.toISOString() ?? null)),
    listOf(first.map(({ delivery }) => delivery.receivedAt.toISOString())),
    first.map(({ delivery }) => delivery.sourceIp),
    listOf(first.map(({ hashValue }) => hashValue)),
    fields.map(({ parameters }) => JSON.stringify(parameters)).join(BETWEEN_JSON),
    first.length,
  ];
}

/**
 * Returns each stored id at its index, and null elsewhere; `some` is null when all were stored. `own`: the ids of signals
 * that are for their owner alone.
 */
async function storeBatch(
  db: Queryable,
  statement: { name: string; text: string; ids: string[]; values: unknown[] },
): Promise<{ stored: (string | null)[]; own: Set<string> }> {
  const { name, text, ids, values } = statement;
  const { rows } = await runNamed<{ some: string[] | null; own?: string[] | null }>(db, {
    name,
    text,
    values,
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`${name} ended without an answer`);
  const own = new Set(row.own);
  if (row.some === null) return { stored: ids, own };
  const some = new Set(row.some);
  return { stored: ids.map((id) => (some.has(id) ? id : null)), own };
}
