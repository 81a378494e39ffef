import type { Deps } from '#server/deps.ts';
import { hashHookKey } from '#server/features/hooks/hook-keys.ts';
import { isDataFault } from '#server/platform/database/database-errors.ts';
import { dropIdleConnections } from '#server/platform/database/pool.ts';
import { AppError } from '#server/platform/errors.ts';
import {
  type Delivery,
  type DeliveryContent,
  type DeliveryOutcome,
  storeDeliveries,
} from './deliveries.store.ts';
import { createDeliveryLimit } from './delivery-limit.ts';
import { createGroupCommit } from './group-commit.ts';
import { type DeliveryKind, readCandle, readSignal } from './read-delivery.ts';
import { readPayload, type refusal } from './read-payload.ts';

/** Keys are 32 random bytes in base64url; anything longer is no key and not worth hashing. */
const LONGEST_KEY = 200;
const MAX_BATCH = 500;
const MAX_WAITING = 20_000;
const COMMIT_LANES = 2;
/** By then its senders have been told to send again; what comes next must not wait behind it. */
const LANE_MS = 3_000;
/** Each of them holds a connection until it is given up. */
const MAX_STUCK = 8;

interface Bytes {
  kind: DeliveryKind;
  body: Uint8Array;
  sourceIp: string;
}

export interface Receiver {
  /** Reads and stores one delivery; resolves when it is durably committed. Never waits for trading. */
  receive(delivery: Bytes & { key: unknown }): Promise<DeliveryOutcome>;
  /** The same for a webhook whose key the caller need not know: its stored hash names it. */
  receiveByHash(delivery: Bytes & { keyHash: Buffer }): Promise<DeliveryOutcome>;
  /** Resolves when all that was received has been answered. */
  idle(): Promise<void>;
}

export function createReceiver(
  deps: Pick<Deps, 'db' | 'pool' | 'jobs' | 'clock' | 'config' | 'secretBox' | 'onPrice'>,
): Receiver {
  const { config, clock } = deps;
  const withinLimit = createDeliveryLimit({ perMinute: config.webhookRateLimit });
  const commits = createGroupCommit<Delivery, DeliveryOutcome>({
    commit: (batch) => storeDeliveries({ db: deps.db, jobs: deps.jobs, withinLimit }, batch),
    maxItems: MAX_BATCH,
    lanes: COMMIT_LANES,
    laneMs: LANE_MS,
    maxStuck: MAX_STUCK,
    onStuck: () => void dropIdleConnections(deps.pool).catch(() => {}),
    isItemFault: isDataFault,
    maxWaiting: MAX_WAITING,
    tooMany: () => new AppError('unavailable', { retryAfterSeconds: 1 }),
  });
  async function receiveByHash({ kind, keyHash, body, sourceIp }: Bytes & { keyHash: Buffer }) {
    const outcome = await commits.add({
      keyHash,
      sourceIp,
      receivedAt: clock.now(),
      content: readContent(kind, body),
    });
    if (outcome.outcome === 'stored' && !outcome.duplicate) deps.onPrice(outcome.token);
    return outcome;
  }

  return {
    receiveByHash,
    async receive({ key, ...bytes }) {
      // A missing, repeated or absurd key goes the same way as an unknown one: same work, same answer.
      const given = typeof key === 'string' && key !== '' && key.length <= LONGEST_KEY ? key : ' ';
      return await receiveByHash({ ...bytes, keyHash: hashHookKey(deps.secretBox, given) });
    },
    idle: () => commits.idle(),
  };
}

function readContent(kind: DeliveryKind, body: Uint8Array): DeliveryContent {
  const refused = (reason: ReturnType<typeof refusal>): DeliveryContent => ({
    kind: 'refused',
    deliveredTo: kind,
    refusal: reason,
  });
  const read = readPayload(body);
  if (!read.ok) return refused(read);
  const { payload } = read;
  if (kind === 'signal') {
    const signal = readSignal(payload);
    return signal.ok ? { kind, payload, fields: signal.fields } : refused(signal);
  }
  const candle = readCandle(payload);
  return candle.ok ? { kind, payload, fields: candle.fields } : refused(candle);
}
