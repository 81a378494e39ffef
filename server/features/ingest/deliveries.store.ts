import { inArray, sql } from 'drizzle-orm';
import { findHooksByHash } from '#server/features/hooks/hooks.store.ts';
import type { Db, Tx } from '#server/platform/database/database.ts';
import { deliveries, hooks } from '#server/platform/database/schema.ts';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs.ts';
import { type Arrival, type Hook, hashOf } from './arrival.ts';
import { storeCandles } from './arrived-candles.store.ts';
import { storeSignals } from './arrived-signals.store.ts';
import { type DeliveryLimit, WINDOW_MS } from './delivery-limit.ts';
import type { CandleFields, SignalFields } from './read-delivery.ts';
import type { Payload, Refusal } from './read-payload.ts';

/**
 * I1: an answered delivery is never lost. Signal, its pending workflow and its job, or the candle, and the log line
 * are committed in one transaction before the answer.
 * I2: at most one workflow a delivery. The row in signal_hashes (the unique hash of a price log) decides, across
 * connections and instances, which of several equal deliveries is the first.
 */

const LAST_USED_EVERY_MS = 30_000;

export interface Delivery {
  keyHash: Buffer;
  sourceIp: string;
  receivedAt: Date;
  content: DeliveryContent;
}

export type DeliveryContent =
  | { kind: 'signal'; payload: Payload; fields: SignalFields }
  | { kind: 'candle'; payload: Payload; fields: CandleFields }
  | { kind: 'refused'; deliveredTo: 'signal' | 'candle'; refusal: Refusal };

export type DeliveryOutcome =
  | { outcome: 'unknown-key' }
  | { outcome: 'limited' }
  | { outcome: 'refused'; refusal: Refusal }
  | { outcome: 'stored'; id: string; duplicate: boolean; token: string };

export interface StoreDeliveries {
  db: Db;
  jobs: Pick<Jobs, 'send'>;
  withinLimit: DeliveryLimit;
}

/** Stores a batch in one transaction; outcomes stand in the order of the deliveries. */
export async function storeDeliveries(
  options: StoreDeliveries,
  batch: Delivery[],
): Promise<DeliveryOutcome[]> {
  const { db, jobs, withinLimit } = options;
  return await db.transaction(async (tx) => {
    const hooksByKey = await findHooks(tx, batch);
    await learnTaken(tx, withinLimit, batch, hooksByKey);
    const outcomes: DeliveryOutcome[] = batch.map(() => ({ outcome: 'unknown-key' }));
    const hookIds = new Map<number, string>();
    const arrivedSignals: Arrival<SignalFields>[] = [];
    const arrivedCandles: Arrival<CandleFields>[] = [];
    batch.forEach((delivery, index) => {
      const hook = hooksByKey.get(delivery.keyHash.toString('hex'));
      if (hook === undefined) return;
      hookIds.set(index, hook.id);
      const { content, receivedAt, sourceIp } = delivery;
      if (!withinLimit(hook.id, delivery)) {
        outcomes[index] = { outcome: 'limited' };
        return;
      }
      if (content.kind === 'refused') {
        outcomes[index] = { outcome: 'refused', refusal: content.refusal };
        return;
      }
      const arrival = {
        index,
        id: timeOrderedId(),
        hook,
        receivedAt,
        sourceIp,
        hashValue: hashOf(hook, content),
      };
      if (content.kind === 'signal') arrivedSignals.push({ ...arrival, fields: content.fields });
      else arrivedCandles.push({ ...arrival, fields: content.fields });
    });
    noteStored(outcomes, arrivedSignals, await storeSignals(tx, jobs, arrivedSignals));
    noteStored(outcomes, arrivedCandles, await storeCandles(tx, arrivedCandles));
    await writeLog(tx, batch, outcomes, hookIds);
    await markUsed(tx, batch, [...new Set(hookIds.values())]);
    return outcomes;
  });
}

function noteStored(
  outcomes: DeliveryOutcome[],
  arrivals: readonly Arrival<{ token: string }>[],
  holders: Map<string, string>,
): void {
  for (const { index, id: ownId, hashValue, fields } of arrivals) {
    const id = holders.get(hashValue);
    if (id === undefined) throw new Error(`nothing holds the hash ${hashValue}`);
    outcomes[index] = { outcome: 'stored', id, duplicate: id !== ownId, token: fields.token };
  }
}

/** The limit is that of all instances together: what the others have taken stands in their log. */
async function learnTaken(
  tx: Tx,
  limit: DeliveryLimit,
  [first]: Delivery[],
  hooksByKey: Map<string, Hook>,
): Promise<void> {
  const hookIds = limit.outdated([...hooksByKey.values()].map(({ id }) => id));
  if (first === undefined || hookIds.length === 0) return;
  const since = firstIdOf(new Date(first.receivedAt.getTime() - WINDOW_MS));
  const { rows } = await tx.execute<{ hook_id: string; taken: string }>(sql`
    select hook_id, count(*) as taken
    from unnest(${sql.param(hookIds)}::uuid[]) as hook_id
    cross join lateral (
      select from deliveries where deliveries.hook_id = hook_id.hook_id and id >= ${since} and result <> 'limited'
      limit ${limit.perMinute + 1}
    ) as log
    group by hook_id`);
  const taken = new Map(rows.map((row) => [row.hook_id, Number(row.taken)]));
  for (const hookId of hookIds) limit.learn(hookId, taken.get(hookId) ?? 0);
}

/** A deactivated administrator's webhook counts as an ordinary user's: nobody but the owner could be traded by it. */
async function findHooks(tx: Tx, batch: Delivery[]): Promise<Map<string, Hook>> {
  const keys = [...new Map(batch.map(({ keyHash }) => [keyHash.toString('hex'), keyHash])).values()];
  const found = await findHooksByHash(tx, keys);
  return new Map(
    found.map(({ id, userId, keyHash, ownerIsAdmin, ownerIsActive }) => [
      keyHash.toString('hex'),
      { id, userId, fromAdmin: ownerIsAdmin && ownerIsActive },
    ]),
  );
}

async function writeLog(
  tx: Tx,
  batch: Delivery[],
  outcomes: DeliveryOutcome[],
  hookIds: Map<number, string>,
) {
  const lines = batch.flatMap((delivery, index) => {
    const hookId = hookIds.get(index);
    const outcome = outcomes[index];
    if (hookId === undefined || outcome === undefined || outcome.outcome === 'unknown-key') return [];
    const { content } = delivery;
    const kind = content.kind === 'refused' ? content.deliveredTo : content.kind;
    const { sourceIp, receivedAt } = delivery;
    return [{ id: timeOrderedId(), hookId, kind, sourceIp, receivedAt, ...logEntry(outcome) }];
  });
  if (lines.length > 0) await tx.insert(deliveries).values(lines);
}

type LogEntry = Pick<typeof deliveries.$inferInsert, 'result' | 'reason' | 'recordId'>;

function logEntry(outcome: Exclude<DeliveryOutcome, { outcome: 'unknown-key' }>): LogEntry {
  switch (outcome.outcome) {
    case 'stored':
      return { result: outcome.duplicate ? 'duplicate' : 'stored', reason: null, recordId: outcome.id };
    case 'limited':
      return { result: 'limited', reason: 'Over the limit of deliveries a minute', recordId: null };
    case 'refused':
      return { result: 'refused', reason: outcome.refusal.message.slice(0, 500), recordId: null };
  }
}

/** Seldom and without waiting: a busy webhook's row must not become what all deliveries queue at. */
async function markUsed(tx: Tx, batch: Delivery[], hookIds: string[]) {
  const [delivery] = batch;
  if (delivery === undefined || hookIds.length === 0) return;
  const stale = new Date(delivery.receivedAt.getTime() - LAST_USED_EVERY_MS);
  await tx.execute(sql`
    update hooks set last_used_at = ${delivery.receivedAt}
    where id in (
      select id from hooks
      where ${inArray(hooks.id, hookIds)} and (last_used_at is null or last_used_at < ${stale})
      for update skip locked
    )`);
}
