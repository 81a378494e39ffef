import type pg from 'pg';
import type { Logger } from '#server/platform/log.ts';
import type { BucketSlots, EgressSlots } from './rate-limits.ts';

/*
 * Where the limits are counted. The table is shared by all instances and runs by the database's clock. Without the
 * database each instance counts for itself, a quarter of everything: up to four of them stay within the whole.
 */

/** A request that wants to leave: a slot of the address, and one of its own limit, or neither. */
export interface SlotRequest {
  egress: EgressSlots;
  bucket: BucketSlots;
}

/** `blockedBy` null: it may leave now. */
export interface SlotAnswer {
  blockedBy: 'egress' | 'bucket' | null;
  waitMs: number;
}

export interface SlotStore {
  /** Requests through one address, in their order; an answer for each. */
  take(requests: readonly SlotRequest[]): Promise<SlotAnswer[]>;
  /** Lets nothing pass for a while, whoever asks. */
  hold(key: string, waitMs: number): Promise<void>;
  close(): void;
}

const LOCAL_SHARE = 0.25;
/** A database that takes longer counts as away: a stop must not wait for it. */
const ANSWER_LIMIT_MS = 1_000;
const PROBE_MS = 1_000;
const CLEAN_UP_MS = 3_600_000;

export function createSharedSlots(options: {
  pool: Pick<pg.Pool, 'query'>;
  log: Pick<Logger, 'warn' | 'info'>;
  /** How long the database has to answer; for tests. */
  answerLimitMs?: number;
}): SlotStore {
  const { pool, log, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const own = createOwnSlots(LOCAL_SHARE);
  let isAway = false;
  let probe: NodeJS.Timeout | undefined;

  async function inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${answerLimitMs} ms`)), answerLimitMs);
    });
    // Whichever loses must not end as an unhandled rejection.
    work.catch(() => undefined);
    return Promise.race([work, limit]).finally(() => clearTimeout(timer));
  }

  function goAway(error: unknown): void {
    if (isAway) return;
    isAway = true;
    log.warn(
      { err: error },
      'the shared request limits cannot be read, a quarter of them is used until they can',
    );
    const ask = () => {
      probe = setTimeout(() => {
        inTime(pool.query('select 1 from exchange_slots limit 1')).then(() => {
          isAway = false;
          log.info('the shared request limits are read again');
        }, ask);
      }, PROBE_MS).unref();
    };
    ask();
  }

  const cleanUp = setInterval(() => {
    const old =
      'delete from exchange_slots where key in (select key from exchange_slots where greatest(next_at_ms, held_until_ms) < extract(epoch from now()) * 1000 - $1 for update skip locked)';
    void pool.query(old, [CLEAN_UP_MS]).catch(() => undefined);
  }, CLEAN_UP_MS).unref();

  return {
    async take(requests) {
      const [first] = requests;
      if (first === undefined) return [];
      if (isAway) return own.take(requests);
      try {
        const { rows } = await inTime(
          pool.query<{ blocked_by: SlotAnswer['blockedBy']; wait_ms: number }>({
            name: 'take-exchange-slots',
            text: 'select blocked_by, wait_ms from take_exchange_slots($1, $2, $3, $4, $5, $6)',
            values: [
              first.egress.key,
              first.egress.intervalMs,
              requests.map(({ egress }) => egress.roomMs),
              requests.map(({ bucket }) => bucket.key),
              requests.map(({ bucket }) => bucket.windowMs),
              requests.map(({ bucket }) => bucket.most),
            ],
          }),
        );
        return rows.map((row) => ({ blockedBy: row.blocked_by, waitMs: row.wait_ms }));
      } catch (error) {
        goAway(error);
        return own.take(requests);
      }
    },
    async hold(key, waitMs) {
      await own.hold(key, waitMs);
      if (isAway) return;
      const text = `insert into exchange_slots as s (key, held_until_ms)
        values ($1, extract(epoch from clock_timestamp()) * 1000 + $2)
        on conflict (key) do update set held_until_ms = greatest(s.held_until_ms, excluded.held_until_ms)`;
      await inTime(pool.query(text, [key, waitMs])).catch(goAway);
    },
    close() {
      clearTimeout(probe);
      clearInterval(cleanUp);
    },
  };
}

/** The same count for one instance, in memory. `share`: how much of each limit it uses. */
export function createOwnSlots(share: number): SlotStore {
  const states = new Map<string, { nextAtMs: number; takenMs: number[]; heldUntilMs: number }>();
  const stateOf = (key: string) => {
    const known = states.get(key);
    if (known) return known;
    const fresh = { nextAtMs: 0, takenMs: [], heldUntilMs: 0 };
    states.set(key, fresh);
    return fresh;
  };
  function egressWait({ key, roomMs }: EgressSlots, atMs: number): number {
    const { nextAtMs, heldUntilMs } = stateOf(key);
    return Math.max(nextAtMs - atMs - roomMs, heldUntilMs - atMs, 0);
  }
  function bucketWait({ key, windowMs, most }: BucketSlots, atMs: number): number {
    const state = stateOf(key);
    state.takenMs = state.takenMs.filter((takenMs) => takenMs > atMs - windowMs / share);
    const first = state.takenMs.at(-most);
    const fullMs = first === undefined ? 0 : first + windowMs / share - atMs;
    return Math.max(fullMs, state.heldUntilMs - atMs, 0);
  }
  return {
    async take(requests) {
      const atMs = performance.now();
      return requests.map(({ egress, bucket }) => {
        const [egressMs, bucketMs] = [egressWait(egress, atMs), bucketWait(bucket, atMs)];
        const waitMs = Math.max(egressMs, bucketMs);
        if (waitMs > 0) return { blockedBy: bucketMs > 0 ? 'bucket' : 'egress', waitMs };
        const address = stateOf(egress.key);
        address.nextAtMs = Math.max(address.nextAtMs, atMs) + egress.intervalMs / share;
        stateOf(bucket.key).takenMs.push(atMs);
        return { blockedBy: null, waitMs: 0 };
      });
    },
    async hold(key, waitMs) {
      const state = stateOf(key);
      state.heldUntilMs = Math.max(state.heldUntilMs, performance.now() + waitMs);
    },
    close() {},
  };
}
