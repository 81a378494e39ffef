import { eq, inArray, sql } from 'drizzle-orm';
import type { Db, Tx } from '#server/platform/database/database.ts';
import {
  deliveries,
  hooks,
  priceLogs,
  signalHashes,
  signals,
  users,
  workflows,
} from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs.ts';
import type { DeliveryLimit } from './delivery-limit.ts';
import { payloadHash } from './payload-hash.ts';
import type { CandleFields, SignalFields } from './read-delivery.ts';
import type { Payload, Refusal } from './read-payload.ts';

/**
 * I1: an answered delivery is never lost. Signal, its pending workflow and its job, or the candle, and the log line
 * are committed in one transaction before the answer.
 * I2: at most one workflow a delivery. The row in signal_hashes (the unique hash of a price log) decides, across
 * connections and instances, which of several equal deliveries is the first.
 */

/** An equal signal without a time of its own is a new one after this long: the sender repeats within 27 s. */
const REPEAT_WINDOW_SECONDS = 60;
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

interface Hook {
  id: string;
  userId: string;
  fromAdmin: boolean;
}

interface Placed {
  index: number;
  delivery: Delivery;
  hook: Hook;
}

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
    const outcomes: DeliveryOutcome[] = batch.map(() => ({ outcome: 'unknown-key' }));
    const accepted: Placed[] = [];
    const hookIds = new Map<number, string>();
    batch.forEach((delivery, index) => {
      const hook = hooksByKey.get(delivery.keyHash.toString('hex'));
      if (hook === undefined) return;
      hookIds.set(index, hook.id);
      if (!withinLimit(hook.id, delivery)) outcomes[index] = { outcome: 'limited' };
      else if (delivery.content.kind === 'refused') {
        outcomes[index] = { outcome: 'refused', refusal: delivery.content.refusal };
      } else accepted.push({ index, delivery, hook });
    });
    await storeSignals(tx, jobs, accepted, outcomes);
    await storeCandles(tx, accepted, outcomes);
    await writeLog(tx, batch, outcomes, hookIds);
    await markUsed(tx, batch, [...new Set(hookIds.values())]);
    return outcomes;
  });
}

/** A deactivated administrator's webhook counts as an ordinary user's: nobody but the owner could be traded by it. */
async function findHooks(tx: Tx, batch: Delivery[]): Promise<Map<string, Hook>> {
  const keys = [...new Map(batch.map(({ keyHash }) => [keyHash.toString('hex'), keyHash])).values()];
  const rows = await tx
    .select({
      id: hooks.id,
      userId: hooks.userId,
      keyHash: hooks.keyHash,
      isAdmin: users.isAdmin,
      isActive: users.isActive,
    })
    .from(hooks)
    .innerJoin(users, eq(users.id, hooks.userId))
    .where(inArray(hooks.keyHash, keys));
  return new Map(
    rows.map((row) => [
      row.keyHash.toString('hex'),
      { id: row.id, userId: row.userId, fromAdmin: row.isAdmin && row.isActive },
    ]),
  );
}

async function storeSignals(
  tx: Tx,
  jobs: StoreDeliveries['jobs'],
  accepted: Placed[],
  outcomes: DeliveryOutcome[],
) {
  const rows = accepted.flatMap(({ index, delivery, hook }) => {
    const { content } = delivery;
    if (content.kind !== 'signal') return [];
    const hashValue = payloadHash({ hookId: hook.id, kind: 'signal', payload: content.payload });
    return [{ index, delivery, hook, fields: content.fields, hashValue, id: timeOrderedId() }];
  });
  if (rows.length === 0) return;
  const firstByHash = new Map<string, (typeof rows)[number]>();
  for (const row of rows) if (!firstByHash.has(row.hashValue)) firstByHash.set(row.hashValue, row);
  // Sorted, so that two batches that share hashes wait for each other in one order.
  const first = [...firstByHash.values()].sort((left, right) => (left.hashValue < right.hashValue ? -1 : 1));
  const taken = await tx
    .insert(signalHashes)
    .values(
      first.map(({ hashValue, id, delivery, fields }) => ({
        hashValue,
        signalId: id,
        receivedAt: delivery.receivedAt,
        lasting: fields.time !== null,
      })),
    )
    .onConflictDoUpdate({
      target: signalHashes.hashValue,
      set: { signalId: sql`excluded.signal_id`, receivedAt: sql`excluded.received_at` },
      setWhere: sql`not ${signalHashes.lasting} and ${signalHashes.receivedAt} < excluded.received_at - make_interval(secs => ${REPEAT_WINDOW_SECONDS})`,
    })
    .returning({ hashValue: signalHashes.hashValue });
  const isNew = new Set(taken.map(({ hashValue }) => hashValue));
  const stored = first.filter(({ hashValue }) => isNew.has(hashValue));
  const idByHash = new Map(stored.map(({ hashValue, id }) => [hashValue, id]));
  const known = first.filter(({ hashValue }) => !isNew.has(hashValue));
  if (known.length > 0) {
    const found = await tx
      .select()
      .from(signalHashes)
      .where(
        inArray(
          signalHashes.hashValue,
          known.map(({ hashValue }) => hashValue),
        ),
      );
    for (const { hashValue, signalId } of found) idByHash.set(hashValue, signalId);
  }
  if (stored.length > 0) {
    await tx.insert(signals).values(
      stored.map(({ id, delivery, hook, fields, hashValue }) => ({
        id,
        hookId: hook.id,
        ownerUserId: hook.userId,
        fromAdmin: hook.fromAdmin,
        token: fields.token,
        action: fields.action,
        price: fields.price,
        currency: fields.currency,
        timeframe: fields.timeframe,
        processor: fields.processor,
        signalTimeTradingview: fields.timeText,
        signalTimeServer: fields.time,
        receivedAt: delivery.receivedAt,
        sourceIp: delivery.sourceIp,
        hashValue,
        parameters: fields.parameters,
      })),
    );
    const created = stored.map(({ id, delivery, fields }) => ({
      id: timeOrderedId(),
      signalId: id,
      trigger: 'automatic' as const,
      status: 'pending' as const,
      token: fields.token,
      processor: fields.processor,
      createdAt: delivery.receivedAt,
    }));
    await tx.insert(workflows).values(created);
    await jobs.send(
      tx,
      'run-workflow',
      created.map(({ id }) => ({ workflowId: id })),
    );
  }
  for (const row of rows) {
    const id = idByHash.get(row.hashValue);
    if (id === undefined) throw new Error(`no signal holds the hash ${row.hashValue}`);
    outcomes[row.index] = { outcome: 'stored', id, duplicate: id !== row.id, token: row.fields.token };
  }
}

async function storeCandles(tx: Tx, accepted: Placed[], outcomes: DeliveryOutcome[]) {
  const rows = accepted.flatMap(({ index, delivery, hook }) => {
    const { content } = delivery;
    if (content.kind !== 'candle') return [];
    const hashValue = payloadHash({ hookId: hook.id, kind: 'candle', payload: content.payload });
    return [{ index, delivery, hook, fields: content.fields, hashValue, id: timeOrderedId() }];
  });
  if (rows.length === 0) return;
  const firstByHash = new Map<string, (typeof rows)[number]>();
  for (const row of rows) if (!firstByHash.has(row.hashValue)) firstByHash.set(row.hashValue, row);
  const first = [...firstByHash.values()].sort((left, right) => (left.hashValue < right.hashValue ? -1 : 1));
  const inserted = await tx
    .insert(priceLogs)
    .values(
      first.map(({ id, delivery, hook, fields, hashValue }) => ({
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
        receivedAt: delivery.receivedAt,
        sourceIp: delivery.sourceIp,
        hashValue,
        parameters: fields.parameters,
      })),
    )
    .onConflictDoNothing({ target: priceLogs.hashValue })
    .returning({ id: priceLogs.id, hashValue: priceLogs.hashValue });
  const idByHash = new Map(inserted.map(({ hashValue, id }) => [hashValue, id]));
  const known = first.filter(({ hashValue }) => !idByHash.has(hashValue));
  if (known.length > 0) {
    const found = await tx
      .select({ id: priceLogs.id, hashValue: priceLogs.hashValue })
      .from(priceLogs)
      .where(
        inArray(
          priceLogs.hashValue,
          known.map(({ hashValue }) => hashValue),
        ),
      );
    for (const { hashValue, id } of found) idByHash.set(hashValue, id);
  }
  for (const row of rows) {
    const id = idByHash.get(row.hashValue);
    if (id === undefined) throw new Error(`no price log holds the hash ${row.hashValue}`);
    outcomes[row.index] = { outcome: 'stored', id, duplicate: id !== row.id, token: row.fields.token };
  }
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
