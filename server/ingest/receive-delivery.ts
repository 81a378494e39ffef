import type pg from 'pg';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Db } from '#server/platform/db/database.ts';
import { isDataFault } from '#server/platform/db/database-errors.ts';
import { createGroupCommit, type GroupCommit } from '#server/platform/db/group-commit.ts';
import { dropIdleConnections } from '#server/platform/db/pool.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import type { Logger } from '#server/platform/log.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';
import { createDeliveryAnnouncer } from './announce-deliveries.ts';
import {
  type Arrival,
  type ArrivedCandle,
  type ArrivedSignal,
  arrivalOf,
  createKnownKeys,
  type Delivery,
  type DeliveryContent,
  type HookKey,
  inTheirPlaces,
  isCandle,
  isSignal,
} from './arrival.ts';
import { type DeliveryOutcome, storeDeliveries, storedOutcome } from './deliveries.store.ts';
import { createDeliveryLimit } from './delivery-limit.ts';
import { createRefusalLog } from './delivery-log.ts';
import { createLastUse, learnTaken, markUsed } from './hook-use.store.ts';
import { storeNewCandles, storeNewSignals } from './new-arrivals.store.ts';
import { type DeliveryKind, readCandle, readSignal, refuseAhead } from './read-delivery.ts';
import { readPayload, type refusal } from './read-payload.ts';

/** Keys are 32 random bytes in base64url; longer ones are not hashed. */
const LONGEST_KEY = 200;
const MAX_BATCH = 500;
const MAX_WAITING = 20_000;
const LANES = 2;
const BESIDE_AFTER_MS = 50;
/** A larger batch saves little more. */
const ENOUGH = 20;
/** A signal's transaction takes two round trips; other transactions use the database in between. */
const SIGNAL_LANES = { lanes: 4, besideItems: 10 };
/** By then the senders have been asked to send again. */
const LANE_MS = 3_000;
/** Each stuck transaction holds a connection until it is abandoned. */
const MAX_STUCK = 8;

interface Bytes {
  kind: DeliveryKind;
  body: Uint8Array;
  sourceIp: string;
}

export interface Receiver {
  /** Reads and stores one delivery; resolves when it is durably committed. Never waits for trading. */
  receive(delivery: Bytes & { key: unknown }): Promise<DeliveryOutcome>;
  /** The same, by the hashes of the key. */
  receiveByHash(delivery: Bytes & { keyHashes: readonly Buffer[] }): Promise<DeliveryOutcome>;
  /** Resolves when every received delivery has been answered. */
  idle(): Promise<void>;
}

interface ReceiverDeps {
  db: Db;
  pool: pg.Pool;
  jobs: Jobs;
  clock: Clock;
  config: Pick<Config, 'webhookRateLimit'>;
  log: Logger;
  secretBox: SecretBox;
  /** Called when a new price of the token was stored. */
  onPrice: (token: string) => void;
}

export function createReceiver(
  deps: ReceiverDeps,
  /** Called with the number of deliveries that one transaction stored, without duplicates. */
  onStored: (deliveries: number) => void = () => {},
): Receiver {
  const { db, pool, jobs, config, clock, log } = deps;
  const findKey = createKnownKeys(deps.secretBox);
  const withinLimit = createDeliveryLimit({ perMinute: config.webhookRateLimit, nowMs: clock.monotonicMs });
  const lastUse = createLastUse();
  const announcer = createDeliveryAnnouncer({ db, clock, log });
  const refusals = createRefusalLog({
    db,
    clock,
    log,
    onWritten: (hookIds) => announcer.note({ hookIds, candles: false }),
  });

  const group = <Item, Result>(
    commit: (items: Item[]) => Promise<Result[]>,
    { lanes = LANES, besideItems = MAX_BATCH } = {},
  ): GroupCommit<Item, Result> =>
    createGroupCommit({
      clock,
      commit,
      maxItems: MAX_BATCH,
      lanes,
      besideItems,
      besideAfterMs: BESIDE_AFTER_MS,
      enough: ENOUGH,
      laneMs: LANE_MS,
      maxStuck: MAX_STUCK,
      onStuck: () => void dropIdleConnections(pool).catch(() => {}),
      isItemFault: isDataFault,
      refuseAbove: {
        waiting: MAX_WAITING,
        error: () => new AppError('unavailable', { retryAfterSeconds: 1 }),
      },
    });
  // Slow path: everything but the usual case. Finds out the answer and logs it.
  const commits = group<Delivery, DeliveryOutcome>(async (batch) => {
    const outcomes = await storeDeliveries({ db, jobs, clock, withinLimit, lastUse, refusals }, batch);
    onStored(outcomes.filter((one) => one.outcome === 'stored' && !one.duplicate).length);
    batch.forEach((delivery, index) => {
      const outcome = outcomes[index];
      if (outcome?.outcome === 'suspended') refusals.noteSuspended(outcome.hookId, delivery);
    });
    announcer.note({
      hookIds: batch.flatMap(({ key }) => key.hookId ?? []),
      candles: batch.some(isCandle),
    });
    return outcomes;
  });
  // Fast path: new, usable, within the limit, webhook cached.
  const signals = group<ArrivedSignal, string | null>(
    (batch) => commitNew(batch, (within) => db.transaction((tx) => storeNewSignals(tx, jobs, within))),
    SIGNAL_LANES,
  );
  const candles = group<ArrivedCandle, string | null>((batch) =>
    commitNew(batch, (within) => storeNewCandles(db, within)),
  );

  /** Returns the id of each stored arrival; `commits` handles and logs those over the limit. */
  async function commitNew<One extends Arrival>(
    batch: One[],
    storeNew: (within: One[]) => Promise<(string | null)[]>,
  ): Promise<(string | null)[]> {
    const hookIds = [...new Set(batch.map(({ hookId }) => hookId))];
    const now = clock.now();
    await learnTaken(db, { hookIds, limit: withinLimit, clock });
    const within = batch.filter(({ hookId, delivery }) => withinLimit(hookId, delivery));
    const stored = await storeNew(within);
    onStored(stored.filter((id) => id !== null).length);
    announcer.note({ hookIds, candles: within.some(({ delivery }) => isCandle(delivery)) });
    const used = new Set(within.flatMap(({ hookId }, index) => (stored[index] === null ? [] : hookId)));
    // The deliveries are stored: a failed write of the last use must not change their answer.
    markUsed(db, { hookIds: [...used], lastUse, now }).catch((error: unknown) =>
      log.warn({ err: error }, "a webhook's last use could not be written down"),
    );
    return inTheirPlaces(batch, within, stored);
  }

  async function store(delivery: Delivery): Promise<DeliveryOutcome> {
    const { hookId } = delivery.key;
    if (hookId === null) return await commits.add(delivery);
    if (isSignal(delivery)) return await storeNew(signals, arrivalOf(hookId, delivery));
    if (isCandle(delivery)) return await storeNew(candles, arrivalOf(hookId, delivery));
    return await commits.add(delivery);
  }

  async function storeNew<One extends Arrival>(
    group: GroupCommit<One, string | null>,
    arrival: One,
  ): Promise<DeliveryOutcome> {
    const { delivery } = arrival;
    const id = await group.add(arrival);
    if (id === null) return await commits.add(delivery);
    return storedOutcome(delivery, { id, duplicate: false });
  }

  async function receive(key: HookKey, { kind, body, sourceIp }: Bytes): Promise<DeliveryOutcome> {
    const receivedAt = clock.now();
    const content = readContent(kind, { body, receivedAt });
    const outcome = await store({ key, sourceIp, receivedAt, content });
    if (outcome.outcome === 'stored' && !outcome.duplicate) deps.onPrice(outcome.token);
    return outcome;
  }

  return {
    receiveByHash: ({ keyHashes, ...bytes }) => receive({ hashes: keyHashes, hookId: null }, bytes),
    receive({ key, ...bytes }) {
      // A missing, repeated or oversized key causes the same work and answer as an unknown one.
      const given = typeof key === 'string' && key !== '' && key.length <= LONGEST_KEY ? key : ' ';
      return receive(findKey(given), bytes);
    },
    async idle() {
      // Deliveries that `signals` and `candles` do not store go to `commits`.
      await Promise.all([signals.idle(), candles.idle()]);
      await commits.idle();
      await refusals.idle();
      await announcer.idle();
    },
  };
}

function readContent(
  kind: DeliveryKind,
  { body, receivedAt }: { body: Uint8Array; receivedAt: Date },
): DeliveryContent {
  const refused = (reason: ReturnType<typeof refusal>): DeliveryContent => ({
    kind: 'refused',
    deliveredTo: kind,
    refusal: reason,
    body,
  });
  const read = readPayload(body);
  if (!read.ok) return refused(read);
  const { payload, identity } = read;
  if (kind === 'signal') {
    const signal = readSignal(payload);
    if (!signal.ok) return refused(signal);
    const ahead = refuseAhead(kind, { fields: signal.fields, receivedAt });
    return ahead === null ? { kind, identity, fields: signal.fields } : refused(ahead);
  }
  const candle = readCandle(payload);
  if (!candle.ok) return refused(candle);
  const ahead = refuseAhead(kind, { fields: candle.fields, receivedAt });
  return ahead === null ? { kind, identity, fields: candle.fields } : refused(ahead);
}
