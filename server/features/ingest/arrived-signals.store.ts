import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { signalHashes, signals, workflows } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs.ts';
import { type Arrival, firstOfEachHash } from './arrival.ts';
import type { SignalFields } from './read-delivery.ts';

/** An equal signal without a time of its own is a new one after this long: the sender repeats within 27 s. */
const REPEAT_WINDOW_SECONDS = 60;

/** Stores those that are new, each with its pending workflow and its job. Answers which signal holds each hash. */
export async function storeSignals(
  tx: Tx,
  jobs: Pick<Jobs, 'send'>,
  arrivals: readonly Arrival<SignalFields>[],
): Promise<Map<string, string>> {
  const first = firstOfEachHash(arrivals);
  if (first.length === 0) return new Map();
  const holders = await claimHashes(tx, first);
  // In the order of arrival: workflows of one token run in the order of their ids.
  const added = first
    .filter(({ hashValue, id }) => holders.get(hashValue) === id)
    .sort((left, right) => left.index - right.index);
  if (added.length === 0) return holders;
  await tx.insert(signals).values(
    added.map(({ id, hook, fields, hashValue, receivedAt, sourceIp }) => ({
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
      receivedAt,
      sourceIp,
      hashValue,
      parameters: fields.parameters,
    })),
  );
  const created = added.map(({ id, fields, receivedAt }) => ({
    id: timeOrderedId(),
    signalId: id,
    trigger: 'automatic' as const,
    status: 'pending' as const,
    token: fields.token,
    processor: fields.processor,
    createdAt: receivedAt,
  }));
  await tx.insert(workflows).values(created);
  const wakeUpCalls = created.map(({ id }) => ({ workflowId: id }));
  await jobs.send(tx, 'run-workflow', wakeUpCalls);
  return holders;
}

/**
 * I2: of equal deliveries, here or in another process, exactly one gets the row. A hash without a time of its own
 * may be claimed anew when its window is over.
 */
async function claimHashes(tx: Tx, first: readonly Arrival<SignalFields>[]): Promise<Map<string, string>> {
  const claimed = await tx
    .insert(signalHashes)
    .values(
      first.map(({ hashValue, id, receivedAt, fields }) => ({
        hashValue,
        signalId: id,
        receivedAt,
        lasting: fields.time !== null,
      })),
    )
    .onConflictDoUpdate({
      target: signalHashes.hashValue,
      set: { signalId: sql`excluded.signal_id`, receivedAt: sql`excluded.received_at` },
      setWhere: sql`not ${signalHashes.lasting} and ${signalHashes.receivedAt} < excluded.received_at - make_interval(secs => ${REPEAT_WINDOW_SECONDS})`,
    })
    .returning({ hashValue: signalHashes.hashValue, signalId: signalHashes.signalId });
  const holders = new Map(claimed.map(({ hashValue, signalId }) => [hashValue, signalId]));
  const known = first.map(({ hashValue }) => hashValue).filter((hash) => !holders.has(hash));
  if (known.length > 0) {
    const rows = await tx.select().from(signalHashes).where(inArray(signalHashes.hashValue, known));
    for (const { hashValue, signalId } of rows) holders.set(hashValue, signalId);
  }
  return holders;
}
