import type pg from 'pg';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/log.ts';
import {
  doubtWaitMs,
  type Hold,
  holdWaitMs,
  NO_HOLD,
  PROBE_MS,
  PROBE_POLL_MS,
  PROBE_STEP_MS,
  type Refused,
  whenPassed,
  whenProbed,
  whenRefused,
  whenUnanswered,
} from './rate-holds.ts';
import type { BucketSlots, EgressSlots } from './rate-limits.ts';

/*
 * Counts the limits. The table is shared by all instances and uses the database's clock. Without the database each
 * instance counts for itself with a quarter of every limit: up to four instances stay within the whole.
 */

/** A request that wants to leave: it takes a slot of the address and one of its own limit, or neither. */
export interface SlotRequest {
  account: string;
  /** Rank of its priority, 0 first. */
  rank: number;
  egress: EgressSlots;
  bucket: BucketSlots;
}

/** `blockedBy` null: the request may leave now. */
export interface SlotAnswer {
  blockedBy: 'egress' | 'bucket' | null;
  waitMs: number;
  /** Waits because of an earlier refusal by the exchange, not because our own limit is used up. */
  isHeld: boolean;
  /** The holds that the request probes, by their `heldUntilMs`; null where there is no hold. */
  probes: Record<'egress' | 'bucket', number | null>;
}

export interface SlotStore {
  /** Asks for requests through one address, in order; returns one answer per request. */
  take(requests: readonly SlotRequest[]): Promise<SlotAnswer[]>;
  /** The exchange refused a request: all requests counted under the key wait. */
  hold(key: string, refused: Refused): Promise<void>;
  /** A probe was not refused: the hold is over. */
  endHold(key: string, probeOf: number): Promise<void>;
  /** A probe was not sent or not answered: another request may leave as the probe. */
  passProbeOn(key: string, probeOf: number): Promise<void>;
  close(): void;
}

const LOCAL_SHARE = 0.25;
/** A slower database counts as unavailable: a stop must not wait for it. */
const ANSWER_LIMIT_MS = 1_000;
const ASK_AGAIN_MS = 1_000;
const CLEAN_UP_MS = 3_600_000;

export function createSharedSlots(options: {
  pool: Pick<pg.Pool, 'query'>;
  clock: Clock;
  log: Pick<Logger, 'warn' | 'info'>;
  /** Time limit for the database; for tests. */
  answerLimitMs?: number;
}): SlotStore {
  const { pool, clock, log, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const own = createOwnSlots(LOCAL_SHARE, clock);
  let isAway = false;
  let stopAsking = () => {};

  async function inTime<T>(work: Promise<T>): Promise<T> {
    let cancel = () => {};
    const limit = new Promise<never>((_, reject) => {
      cancel = clock.after(answerLimitMs, () => reject(new Error(`no answer within ${answerLimitMs} ms`)));
    });
    // The loser of the race must not end as an unhandled rejection.
    work.catch(() => undefined);
    return Promise.race([work, limit]).finally(() => cancel());
  }

  function goAway(error: unknown): void {
    if (isAway) return;
    isAway = true;
    log.warn(
      { err: error },
      'the shared request limits cannot be read, a quarter of them is used until they can',
    );
    const ask = () => {
      stopAsking = clock.after(ASK_AGAIN_MS, () => {
        inTime(pool.query('select 1 from exchange_slots limit 1')).then(() => {
          isAway = false;
          log.info('the shared request limits are read again');
        }, ask);
      });
    };
    ask();
  }

  async function write(text: string, values: unknown[]): Promise<void> {
    if (!isAway) await inTime(pool.query(text, values)).catch(goAway);
  }

  const stopCleaning = clock.every(CLEAN_UP_MS, () => {
    const old =
      'delete from exchange_slots where key in (select key from exchange_slots where greatest(next_at_ms, held_until_ms) < extract(epoch from now()) * 1000 - $1 for update skip locked)';
    void pool.query(old, [CLEAN_UP_MS]).catch(() => undefined);
  });

  return {
    async take(requests) {
      const [first] = requests;
      if (first === undefined) return [];
      if (isAway) return own.take(requests);
      try {
        const { rows } = await inTime(
          pool.query<TurnRow>({
            name: 'take-exchange-turns',
            text: 'select * from take_exchange_turns($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
            values: [
              first.egress.key,
              first.egress.intervalMs,
              requests.map(({ egress }) => egress.roomMs),
              requests.map(({ rank }) => rank),
              requests.map(({ account }) => account),
              requests.map(({ bucket }) => bucket.key),
              requests.map(({ bucket }) => bucket.windowMs),
              requests.map(({ bucket }) => bucket.most),
              PROBE_STEP_MS,
              PROBE_POLL_MS,
              PROBE_MS,
            ],
          }),
        );
        return rows.map((row) => ({
          blockedBy: row.blocked_by,
          waitMs: row.wait_ms,
          isHeld: row.is_held,
          probes: { egress: row.egress_probe, bucket: row.bucket_probe },
        }));
      } catch (error) {
        goAway(error);
        return own.take(requests);
      }
    },
    async hold(key, refused) {
      await own.hold(key, refused);
      const { account, isNamed, askedMs, terms, probeOf } = refused;
      await write('select hold_exchange_key($1, $2, $3, $4, $5, $6, $7, $8)', [
        key,
        account,
        isNamed,
        askedMs,
        terms.firstMs,
        terms.longestMs,
        terms.longestAskedMs,
        probeOf,
      ]);
    },
    async endHold(key, probeOf) {
      await own.endHold(key, probeOf);
      const text = `update exchange_slots
        set held_until_ms = 0, hold_ms = 0, hold_named = false, probe_until_ms = 0, doubted_by = null
        where key = $1 and held_until_ms = $2`;
      await write(text, [key, probeOf]);
    },
    async passProbeOn(key, probeOf) {
      await own.passProbeOn(key, probeOf);
      const text = `update exchange_slots set probe_until_ms = least(probe_until_ms, extract(epoch from clock_timestamp()) * 1000)
        where key = $1 and held_until_ms = $2`;
      await write(text, [key, probeOf]);
    },
    close() {
      stopAsking();
      stopCleaning();
    },
  };
}

interface TurnRow {
  blocked_by: SlotAnswer['blockedBy'];
  wait_ms: number;
  is_held: boolean;
  egress_probe: number | null;
  bucket_probe: number | null;
}

/** The same count for one instance, in memory. `share`: the part of each limit that it uses. */
export function createOwnSlots(share: number, { monotonicMs }: Clock): SlotStore {
  const states = new Map<string, { nextAtMs: number; takenMs: number[]; hold: Hold }>();
  const stateOf = (key: string) => {
    const known = states.get(key);
    if (known) return known;
    const fresh = { nextAtMs: 0, takenMs: [], hold: NO_HOLD };
    states.set(key, fresh);
    return fresh;
  };
  function takeOne({ account, rank, egress, bucket }: SlotRequest, atMs: number): SlotAnswer {
    const [address, own] = [stateOf(egress.key), stateOf(bucket.key)];
    own.takenMs = own.takenMs.filter((takenMs) => takenMs > atMs - bucket.windowMs / share);
    const isExempt = rank === 0 && address.hold.holdMs > 0 && !address.hold.isNamed;
    const addressHeldMs = isExempt ? 0 : holdWaitMs(address.hold, { rank, atMs });
    const egressMs = Math.max(address.nextAtMs - atMs - egress.roomMs, addressHeldMs, 0);
    const doubtMs = rank > 0 ? doubtWaitMs(address.hold, { account, atMs }) : 0;
    const ownHeldMs = Math.max(holdWaitMs(own.hold, { rank, atMs }), doubtMs);
    const first = own.takenMs.at(-bucket.most);
    const fullMs = first === undefined ? 0 : first + bucket.windowMs / share - atMs;
    const bucketMs = Math.max(fullMs, ownHeldMs);

    const waitMs = Math.max(egressMs, bucketMs);
    if (waitMs > 0) {
      const none = { egress: null, bucket: null };
      if (bucketMs > 0) return { blockedBy: 'bucket', waitMs, isHeld: ownHeldMs > 0, probes: none };
      return { blockedBy: 'egress', waitMs, isHeld: addressHeldMs > 0, probes: none };
    }
    const probeOf = ({ hold }: typeof own) => (hold.holdMs > 0 ? hold.heldUntilMs : null);
    const probes = { egress: probeOf(address), bucket: probeOf(own) };
    address.nextAtMs = Math.max(address.nextAtMs, atMs) + egress.intervalMs / share;
    address.hold = whenProbed(address.hold, atMs);
    own.takenMs.push(atMs);
    own.hold = whenProbed(own.hold, atMs);
    return { blockedBy: null, waitMs: 0, isHeld: false, probes };
  }
  function change(key: string, next: (hold: Hold, atMs: number) => Hold): void {
    const state = stateOf(key);
    state.hold = next(state.hold, monotonicMs());
  }
  return {
    async take(requests) {
      const atMs = monotonicMs();
      return requests.map((request) => takeOne(request, atMs));
    },
    async hold(key, refused) {
      change(key, (hold, atMs) => whenRefused(hold, refused, atMs));
    },
    async endHold(key, probeOf) {
      change(key, (hold) => whenPassed(hold, probeOf));
    },
    async passProbeOn(key, probeOf) {
      change(key, (hold, atMs) => whenUnanswered(hold, probeOf, atMs));
    },
    close() {},
  };
}
