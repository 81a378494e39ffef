import { sql } from 'drizzle-orm';
import { findHooksByHash } from '#server/features/hooks/hooks.store.ts';
import type { Db, Tx } from '#server/platform/database/database.ts';
import type { deliveries } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs.ts';
import { type Arrival, type Hook, hashOf } from './arrival.ts';
import { storeCandles } from './arrived-candles.store.ts';
import { storeSignals } from './arrived-signals.store.ts';
import type { DeliveryLimit } from './delivery-limit.ts';
import { type LastUse, learnTaken, markUsed } from './hook-use.store.ts';
import type { HookKey } from './known-keys.ts';
import type { CandleFields, SignalFields } from './read-delivery.ts';
import type { Payload, Refusal } from './read-payload.ts';

/**
 * I1: an answered delivery is never lost. Signal, its pending workflow and its job, or the candle, and the log line
 * are committed in one transaction before the answer.
 * I2: at most one workflow a delivery. The row in signal_hashes (price_log_hashes for a candle) decides, across
 * connections and instances, which of several equal deliveries is the first.
 */

export interface Delivery {
  key: HookKey;
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
  lastUse: LastUse;
}

/** Stores a batch in one transaction; outcomes stand in the order of the deliveries. */
export async function storeDeliveries(
  options: StoreDeliveries,
  batch: Delivery[],
): Promise<DeliveryOutcome[]> {
  const { db, jobs, withinLimit, lastUse } = options;
  const [first] = batch;
  if (first === undefined) return [];
  const now = first.receivedAt;
  return await db.transaction(async (tx) => {
    const hooksByKey = await findHooks(tx, batch);
    const found = [...hooksByKey.values()].map(({ id }) => id);
    await learnTaken(tx, { hookIds: found, limit: withinLimit, now });
    const outcomes: DeliveryOutcome[] = batch.map(() => ({ outcome: 'unknown-key' }));
    const hookIds = new Map<number, string>();
    const arrivedSignals: Arrival<SignalFields>[] = [];
    const arrivedCandles: Arrival<CandleFields>[] = [];
    batch.forEach((delivery, index) => {
      const hook = hooksByKey.get(delivery.key.hash.toString('hex'));
      delivery.key.hookId = hook?.id ?? null;
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
    await markUsed(tx, { hookIds: found, lastUse, now });
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

/** A deactivated administrator's webhook counts as an ordinary user's: nobody but the owner could be traded by it. */
async function findHooks(tx: Tx, batch: Delivery[]): Promise<Map<string, Hook>> {
  const keys = [...new Map(batch.map(({ key }) => [key.hash.toString('hex'), key.hash])).values()];
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
    const { result, reason, recordId } = logEntry(outcome);
    const id = timeOrderedId();
    return [
      { id, hook_id: hookId, kind, result, reason, source_ip: sourceIp, record_id: recordId, at: receivedAt },
    ];
  });
  if (lines.length === 0) return;
  await tx.execute(sql`
    insert into deliveries (id, hook_id, kind, result, reason, source_ip, record_id, received_at)
    select * from json_to_recordset(${JSON.stringify(lines)}::json) as line (
      id uuid, hook_id uuid, kind text, result text, reason text, source_ip text, record_id uuid,
      at timestamptz(3))`);
}

type LogEntry = Pick<typeof deliveries.$inferSelect, 'result' | 'reason' | 'recordId'>;

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
