import { and, eq, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { type PriceReading, readPrice } from '#server/engine/sizing/read-price.ts';
import type { Exchange } from '#server/exchanges/exchange.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import { workflowPrices } from '#server/platform/db/schema.ts';

/*
 * One price of a workflow's token at each exchange serves all its users, in all instances: with many users a price of
 * their own would take as much of the request limits as their accounts do.
 * 1. A price is handed out for a second. Then one instance reads it again, and the others take what it stored.
 * 2. Its age counts from the moment when it was asked for; between instances, by the database's clock.
 * 3. A user has no price only if two readings failed.
 */

const FRESH_MS = 1_000;
/** An instance that reads for longer may be dead: another one reads then. */
const READING_MS = 5_000;
const LOOK_EVERY_MS = 50;
const TRIES_OF_READING = 2;
const MOST_REMEMBERED = 1_000;

export interface WorkflowPrices {
  /** The price at the exchange, at most a second old, or why two tries gave none. */
  read(of: PricedWorkflow, exchange: Exchange): Promise<PriceReading>;
}

export interface PricedWorkflow {
  workflowId: string;
  signal: Pick<SignalRow, 'token' | 'fromAdmin' | 'ownerUserId'>;
  /** Whose price it is where requests cost nothing; null: the one that everyone sees. */
  userId: string | null;
}

/** Whose own signals count for the price of a workflow; null: nobody's. */
export const viewerOf = ({ fromAdmin, ownerUserId }: PricedWorkflow['signal']) =>
  fromAdmin ? null : ownerUserId;

export function createWorkflowPrices({ db, clock }: { db: Db; clock: Clock }): WorkflowPrices {
  const latest = new LRUCache<string, PriceReading>({ max: MOST_REMEMBERED });
  const reading = new Map<string, Promise<PriceReading>>();

  async function readTwice(of: PricedWorkflow, exchange: Exchange): Promise<PriceReading> {
    const first = await readShared(of, exchange);
    return first.livePrice === null ? await readShared(of, exchange) : first;
  }

  /** What another instance has just read, or a reading of this one, which is then stored for the others. */
  async function readShared(of: PricedWorkflow, exchange: Exchange): Promise<PriceReading> {
    for (;;) {
      const askedAtMs = clock.monotonicMs();
      const { price, ageMs, isOurs } = await takeTurn(of, exchange);
      if (price !== null && ageMs !== null && ageMs < FRESH_MS) {
        return { livePrice: price, priceProblem: null, readAtMs: askedAtMs - ageMs };
      }
      if (!isOurs) {
        await clock.sleep(LOOK_EVERY_MS);
        continue;
      }
      const readAtMs = clock.monotonicMs();
      let made: PriceReading = { livePrice: null, priceProblem: null, readAtMs };
      try {
        made = await readPrice({ clock }, exchange, of.signal, viewerOf(of.signal), TRIES_OF_READING);
      } finally {
        await store(of, exchange, made);
      }
      return made;
    }
  }

  async function takeTurn({ workflowId }: PricedWorkflow, { platform }: Exchange) {
    const seconds = (ms: number) => sql`make_interval(secs => ${ms / 1_000}::double precision)`;
    const { rows } = await db.execute<{ price: string | null; ageMs: number | null; isOurs: boolean }>(sql`
      with ours as (
        insert into workflow_prices as known (workflow_id, exchange_platform, reading_until)
        values (${workflowId}, ${platform}, database_time() + ${seconds(READING_MS)})
        on conflict (workflow_id, exchange_platform) do update set reading_until = excluded.reading_until
          where known.reading_until < database_time()
            and coalesce(known.read_at < database_time() - ${seconds(FRESH_MS)}, true)
        returning 1)
      select known.price, extract(epoch from database_time() - known.read_at)::double precision * 1000 as "ageMs",
        exists (select from ours) as "isOurs"
      from (select 1) as one left join workflow_prices as known
        on known.workflow_id = ${workflowId} and known.exchange_platform = ${platform}`);
    return rows[0] ?? { price: null, ageMs: null, isOurs: false };
  }

  /** Ends the turn in any case; without a price, another instance may try. */
  async function store(
    { workflowId }: PricedWorkflow,
    { platform }: Exchange,
    { livePrice, readAtMs }: PriceReading,
  ): Promise<void> {
    const ageSeconds = (clock.monotonicMs() - readAtMs) / 1_000;
    const readAt = sql`database_time() - make_interval(secs => ${ageSeconds}::double precision)`;
    await db
      .update(workflowPrices)
      .set({
        readingUntil: sql`database_time()`,
        ...(livePrice === null ? {} : { price: livePrice, readAt }),
      })
      .where(and(eq(workflowPrices.workflowId, workflowId), eq(workflowPrices.exchangePlatform, platform)));
  }

  return {
    async read(of, exchange) {
      // Where requests are not limited each user asks, because paper prices may differ between users.
      if (!Number.isFinite(exchange.requestsPerSecond)) {
        return await readPrice({ clock }, exchange, of.signal, of.userId);
      }
      const key = `${of.workflowId} ${exchange.platform}`;
      const known = latest.get(key);
      if (known !== undefined && clock.monotonicMs() - known.readAtMs < FRESH_MS) return known;
      const shared =
        reading.get(key) ??
        readTwice(of, exchange)
          .then((made) => {
            if (made.livePrice !== null) latest.set(key, made);
            return made;
          })
          .finally(() => reading.delete(key));
      reading.set(key, shared);
      return await shared;
    },
  };
}
