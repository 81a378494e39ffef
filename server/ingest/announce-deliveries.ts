import { sql } from 'drizzle-orm';
import type { ChangeTopic } from '#contract/events.ts';
import { CHANGES_CHANNEL } from '#server/platform/change-feed.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import type { Logger } from '#server/platform/log.ts';

/** The interval at which browsers receive hints (event-stream.ts). */
const EVERY_MS = 100;
/** Above this number, webhooks are announced without naming their owners. */
const MOST_HOOKS = 20;
const DELIVERIES: ChangeTopic = 'deliveries';
const CANDLES: ChangeTopic = 'price-logs';

/**
 * Announces deliveries. Other tables announce their changes by triggers; for candles, one notification per commit took
 * a fifth of the database cost (docs/decisions/0011).
 */
interface DeliveryAnnouncer {
  /** Call after the commit. */
  note(delivered: { hookIds: Iterable<string>; candles: boolean }): void;
  /** Resolves when all noted deliveries have been announced. */
  idle(): Promise<void>;
}

export function createDeliveryAnnouncer(options: {
  db: Queryable;
  clock: Clock;
  log: Logger;
  everyMs?: number;
}): DeliveryAnnouncer {
  const { db, clock, log, everyMs = EVERY_MS } = options;
  const hookIds = new Set<string>();
  let candles = false;
  let announcedAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  let announcing = Promise.resolve();

  /** Does not retry: the next announcement and polling screens make up for a lost one. */
  async function tell(): Promise<void> {
    cancel?.();
    cancel = null;
    if (hookIds.size === 0) return;
    const noted = { hookIds: [...hookIds], candles };
    hookIds.clear();
    candles = false;
    announcedAt = clock.monotonicMs();
    await notify(db, noted).catch((error: unknown) =>
      log.warn({ err: error, code: databaseErrorCode(error) }, 'new deliveries could not be announced'),
    );
  }

  /**
   * One at a time, and one more that waits: while the database is slow, connections are reserved for storing. The timer
   * stays set until the announcement begins, so that no third one follows it at once.
   */
  function announce(): Promise<void> {
    announcing = announcing.then(tell);
    return announcing;
  }

  return {
    note(delivered) {
      for (const id of delivered.hookIds) hookIds.add(id);
      candles ||= delivered.candles;
      if (hookIds.size === 0) return;
      cancel ??= clock.after(Math.max(0, announcedAt + everyMs - clock.monotonicMs()), announce);
    },
    idle: announce,
  };
}

async function notify(db: Queryable, noted: { hookIds: string[]; candles: boolean }): Promise<void> {
  const { hookIds } = noted;
  const isNamed = hookIds.length <= MOST_HOOKS;
  const topics: ChangeTopic[] = [...(noted.candles ? [CANDLES] : []), ...(isNamed ? [] : [DELIVERIES])];
  await db.execute(sql`
    select pg_notify(${CHANGES_CHANNEL}, message::text) from (
      select jsonb_build_object('topic', topic) as message from unnest(${sql.param(topics)}::text[]) as topic
      union
      select jsonb_build_object('topic', ${DELIVERIES}::text, 'userId', user_id) from hooks
      where ${isNamed} and id = any(${sql.param(hookIds)}::uuid[])
    ) as news`);
}
