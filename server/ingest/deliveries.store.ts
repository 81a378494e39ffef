import { inArray } from 'drizzle-orm';
import { findHooksByHash, type HookOfKey } from '#server/admin/hooks/hooks.store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { cutText } from '#server/platform/cut-text.ts';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { priceLogHashes, signalHashes } from '#server/platform/db/schema.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import {
  type Arrival,
  type ArrivedCandle,
  type ArrivedSignal,
  arrivalOf,
  type Delivery,
  type HookKey,
  isCandle,
  isSignal,
} from './arrival.ts';
import type { DeliveryLimit } from './delivery-limit.ts';
import { insertLogLines, LONGEST_REASON, type LogEntry, type RefusalLog } from './delivery-log.ts';
import { type LastUse, learnTaken, markUsed } from './hook-use.store.ts';
import { keepBody } from './kept-body.ts';
import { storeNewCandles, storeNewSignals } from './new-arrivals.store.ts';
import type { Refusal } from './read-payload.ts';

/**
 * I1: an answered delivery is never lost. The signal with its pending workflow and job, or the candle, is committed
 * with its log line in one transaction before the answer.
 * I2: at most one workflow per delivery. The row in signal_hashes (price_log_hashes for a candle) decides, across
 * connections and instances, which of several equal deliveries is the first.
 */

export type DeliveryOutcome =
  | { outcome: 'unknown-key' }
  /** Answered like an unknown key; the owner of the webhook sees it in the log. */
  | { outcome: 'suspended'; hookId: string }
  | { outcome: 'limited' }
  | { outcome: 'refused'; refusal: Refusal }
  | { outcome: 'stored'; id: string; duplicate: boolean; token: string; warnings: readonly string[] };

interface StoreDeliveries {
  db: Db;
  jobs: Pick<Jobs, 'send'>;
  clock: Clock;
  withinLimit: DeliveryLimit;
  lastUse: LastUse;
  refusals: Pick<RefusalLog, 'takesLine'>;
}

/** Stores a batch in one transaction; returns the outcomes in the order of the deliveries. */
export async function storeDeliveries(
  options: StoreDeliveries,
  batch: Delivery[],
): Promise<DeliveryOutcome[]> {
  const { db, jobs, clock, withinLimit, lastUse, refusals } = options;
  const [first] = batch;
  if (first === undefined) return [];
  const now = first.receivedAt;
  return await db.transaction(async (tx) => {
    const webhooks = await findWebhooks(tx, batch);
    const open = [...webhooks.values()].filter(({ isOpen }) => isOpen).map(({ id }) => id);
    await learnTaken(tx, { hookIds: open, limit: withinLimit, clock });
    const outcomes: DeliveryOutcome[] = batch.map(() => ({ outcome: 'unknown-key' }));
    const hookIds = new Map<number, string>();
    const signals = new Map<number, ArrivedSignal>();
    const candles = new Map<number, ArrivedCandle>();
    batch.forEach((delivery, index) => {
      const { key, content } = delivery;
      const webhook = webhookOf(webhooks, key);
      key.hookId = webhook?.isOpen ? webhook.id : null;
      outcomes[index] = withoutWebhook(webhook);
      if (!webhook?.isOpen) return;
      const hookId = webhook.id;
      hookIds.set(index, hookId);
      if (!withinLimit(hookId, delivery)) outcomes[index] = { outcome: 'limited' };
      else if (content.kind === 'refused') outcomes[index] = { outcome: 'refused', refusal: content.refusal };
      else if (isSignal(delivery)) signals.set(index, arrivalOf(hookId, delivery));
      else if (isCandle(delivery)) candles.set(index, arrivalOf(hookId, delivery));
    });
    const storedSignals = await storeNewSignals(tx, jobs, [...signals.values()]);
    await noteStored(tx, outcomes, { arrivals: signals, stored: storedSignals, holders: listSignalHolders });
    const storedCandles = await storeNewCandles(tx, [...candles.values()]);
    await noteStored(tx, outcomes, { arrivals: candles, stored: storedCandles, holders: listCandleHolders });
    const written = new Set([...storedSignals, ...storedCandles]);
    await writeLog(tx, { batch, outcomes, hookIds, written, refusals });
    await markUsed(tx, { hookIds: open, lastUse, now });
    return outcomes;
  });
}

/** Arrivals that were not stored are duplicates of the arrivals that hold their hashes. */
async function noteStored(
  tx: Tx,
  outcomes: DeliveryOutcome[],
  options: {
    arrivals: ReadonlyMap<number, Arrival>;
    /** The ids of the stored arrivals, index for index; null for the others. */
    stored: readonly (string | null)[];
    holders: (tx: Tx, hashValues: string[]) => Promise<Map<string, string>>;
  },
): Promise<void> {
  const { arrivals, stored } = options;
  const rest = [...arrivals.values()].filter((_, place) => stored[place] === null);
  const holders = await options.holders(
    tx,
    rest.map(({ hashValue }) => hashValue),
  );
  const homeless = rest.filter(({ hashValue }) => !holders.has(hashValue));
  const webhooks = await findWebhooks(
    tx,
    homeless.map(({ delivery }) => delivery),
  );
  for (const [place, [index, { hashValue, delivery }]] of [...arrivals].entries()) {
    const ownId = stored[place] ?? null;
    const id = ownId ?? holders.get(hashValue);
    if (id !== undefined) outcomes[index] = storedOutcome(delivery, { id, duplicate: ownId === null });
    else {
      // Its webhook was renewed, suspended or deleted concurrently.
      const webhook = webhookOf(webhooks, delivery.key);
      if (webhook?.isOpen) throw new Error(`nothing holds the hash ${hashValue}`);
      outcomes[index] = withoutWebhook(webhook);
    }
  }
}

/** A delivery that is stored, now or before. */
export function storedOutcome(
  { content: { fields } }: Arrival['delivery'],
  { id, duplicate }: { id: string; duplicate: boolean },
): DeliveryOutcome {
  const warnings = 'warnings' in fields ? fields.warnings : [];
  return { outcome: 'stored', id, duplicate, token: fields.token, warnings };
}

const withoutWebhook = (webhook: HookOfKey | undefined): DeliveryOutcome =>
  webhook === undefined ? { outcome: 'unknown-key' } : { outcome: 'suspended', hookId: webhook.id };

async function listSignalHolders(tx: Tx, hashValues: string[]): Promise<Map<string, string>> {
  if (hashValues.length === 0) return new Map();
  const rows = await tx.select().from(signalHashes).where(inArray(signalHashes.hashValue, hashValues));
  return new Map(rows.map(({ hashValue, signalId }) => [hashValue, signalId]));
}

/** Covers all partitions: the row in price_log_hashes decides. */
async function listCandleHolders(tx: Tx, hashValues: string[]): Promise<Map<string, string>> {
  if (hashValues.length === 0) return new Map();
  const hashes = hashValues.map((hashValue) => Buffer.from(hashValue, 'hex'));
  const rows = await tx.select().from(priceLogHashes).where(inArray(priceLogHashes.hashValue, hashes));
  return new Map(rows.map(({ hashValue, priceLogId }) => [hashValue.toString('hex'), priceLogId]));
}

/** The webhooks of the keys, open or not, keyed by the hash of the key. */
async function findWebhooks(tx: Tx, batch: readonly Delivery[]): Promise<Map<string, HookOfKey>> {
  const keys = new Map(
    batch.flatMap(({ key }) => key.hashes.map((hash) => [hash.toString('hex'), hash] as const)),
  );
  if (keys.size === 0) return new Map();
  const found = await findHooksByHash(tx, [...keys.values()]);
  return new Map(found.map((webhook) => [webhook.keyHash.toString('hex'), webhook]));
}

const webhookOf = (webhooks: ReadonlyMap<string, HookOfKey>, key: HookKey): HookOfKey | undefined =>
  key.hashes.map((hash) => webhooks.get(hash.toString('hex'))).find((webhook) => webhook !== undefined);

/** Writes the lines of deliveries to open webhooks that were not stored with the delivery and are not only counted. */
async function writeLog(
  tx: Tx,
  options: {
    batch: Delivery[];
    outcomes: DeliveryOutcome[];
    hookIds: ReadonlyMap<number, string>;
    written: ReadonlySet<string | null>;
    refusals: Pick<RefusalLog, 'takesLine'>;
  },
): Promise<void> {
  const { batch, outcomes, hookIds, written, refusals } = options;
  const lines = batch.flatMap((delivery, index) => {
    const hookId = hookIds.get(index);
    const outcome = outcomes[index];
    if (hookId === undefined || outcome === undefined || !isLogged(outcome)) return [];
    if (outcome.outcome === 'stored') {
      if (!outcome.duplicate && written.has(outcome.id)) return [];
    } else if (!refusals.takesLine(hookId, delivery, outcome.outcome)) return [];
    return [{ hookId, delivery, entry: logEntry(outcome, delivery) }];
  });
  await insertLogLines(tx, lines);
}

/** Refusals of suspended webhooks are logged later (delivery-log.ts): their answer must not wait for the write. */
type LoggedOutcome = Exclude<DeliveryOutcome, { outcome: 'unknown-key' | 'suspended' }>;

const isLogged = (outcome: DeliveryOutcome): outcome is LoggedOutcome =>
  outcome.outcome !== 'unknown-key' && outcome.outcome !== 'suspended';

function logEntry(outcome: LoggedOutcome, { content }: Delivery): LogEntry {
  switch (outcome.outcome) {
    case 'stored':
      return { result: outcome.duplicate ? 'duplicate' : 'stored', reason: null, recordId: outcome.id };
    case 'limited':
      return { result: 'limited', reason: 'Over the limit of deliveries a minute', recordId: null };
    case 'refused':
      return {
        result: 'refused',
        reason: cutText(outcome.refusal.message, LONGEST_REASON),
        recordId: null,
        refusedBody: content.kind === 'refused' ? keepBody(content.body) : null,
        faultLine: outcome.refusal.fault?.line ?? null,
        faultColumn: outcome.refusal.fault?.column ?? null,
      };
  }
}
