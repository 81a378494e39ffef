import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import {
  describeScope,
  findStop,
  type StopScope,
  showSince,
  type TradingStop,
} from '#domain/orders/trading-stop.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Queryable, Statements, Tx } from '#server/platform/db/database.ts';
import { signals, tradingStops } from '#server/platform/db/schema.ts';

export type StopRow = typeof tradingStops.$inferSelect;

/**
 * Arbitrary advisory lock key. What opens a position shares it until its commit, and a new stop takes it alone. A row
 * locked `for share` would do the same, but those who share a row overtake one who waits for it, so that a stop would
 * wait for the end of a fan-out; and a row can be missing.
 */
const ENTRIES = 5_046_219;

/** Keeps new stops away until the transaction ends; for the select list of its first statement. */
export const shareEntries: SQL = sql`pg_advisory_xact_lock_shared(${sql.raw(String(ENTRIES))})::text`;

/** Waits until no transaction that opens something is in progress, and keeps others away until this one ends. */
export async function takeEntriesAlone(tx: Tx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(ENTRIES))})`);
}

/** Stops that are neither lifted nor over. */
export const isActive = (now: Date): SQL =>
  sql`lifted_at is null and (until is null or until > ${now.toISOString()}::timestamptz)`;

/** All active stops as one value of a statement; `readStops` reads it. */
export const activeStopsAsJson = (now: Date): SQL => sql`(
  select json_agg(json_build_object('id', stop.id, 'kind', scope_kind, 'value', scope_value, 'reason', reason,
    'createdAt', stop.created_at, 'by', created_by_name, 'username', covered.username) order by stop.created_at)
  from trading_stops as stop
  left join users as covered on scope_kind = 'user' and covered.id::text = scope_value
  where ${isActive(now)})`;

interface StopAsJson extends StopScope {
  id: string;
  reason: string | null;
  createdAt: string;
  by: string;
  username: string | null;
}

/** Stops as decisions see them, from `activeStopsAsJson`; oldest first. */
export const readStops = (json: unknown, at: { now: Date; timeZone: string }): TradingStop[] =>
  ((json ?? []) as StopAsJson[]).map(({ username, createdAt, ...stop }) => ({
    ...stop,
    covers: describeScope(stop, username),
    since: showSince(new Date(createdAt), at),
  }));

/** The active stops, oldest first. */
export async function listStops(
  db: Pick<Statements, 'execute'>,
  at: { now: Date; timeZone: string },
): Promise<TradingStop[]> {
  const { rows } = await db.execute<{ stops: unknown }>(sql`select ${activeStopsAsJson(at.now)} as stops`);
  return readStops(rows[0]?.stops, at);
}

/** The stop that covers an entry for the signal; null when none does. */
export async function findTradeStop(
  {
    db,
    clock,
    config,
  }: {
    db: Pick<Queryable, 'execute' | 'select'>;
    clock: Clock;
    config: Pick<Config, 'displayTimezone'>;
  },
  { userId, token, signalId }: { userId: string; token: string; signalId: string },
): Promise<TradingStop | null> {
  const stops = await listStops(db, { now: clock.now(), timeZone: config.displayTimezone });
  if (stops.length === 0) return null;
  const [signal] = await db
    .select({ processor: signals.processor })
    .from(signals)
    .where(eq(signals.id, signalId));
  return findStop(stops, { userId, token, processor: signal?.processor ?? '' });
}

/** The rows of the active stops, oldest first. */
export const listStopRows = (db: Queryable, now: Date): Promise<StopRow[]> =>
  db.select().from(tradingStops).where(isActive(now)).orderBy(tradingStops.createdAt, tradingStops.id);

/** An active stop; null when it is unknown, lifted or over. */
export async function findStopRow(
  db: Queryable,
  { id, now }: { id: string; now: Date },
): Promise<StopRow | null> {
  const [row] = await db
    .select()
    .from(tradingStops)
    .where(and(eq(tradingStops.id, id), isActive(now)));
  return row ?? null;
}

/** Lifts a stop; false when another one was faster. */
export async function endStop(
  db: Queryable,
  { id, by, now }: { id: string; by: string; now: Date },
): Promise<boolean> {
  const ended = await db
    .update(tradingStops)
    .set({ liftedAt: now, liftedByName: by })
    .where(and(eq(tradingStops.id, id), isNull(tradingStops.liftedAt)))
    .returning({ id: tradingStops.id });
  return ended.length > 0;
}

/** Whether the scope covers a row of `trades`. */
export const coversTrade = ({ kind, value }: StopScope): SQL => {
  if (kind === 'all') return sql`true`;
  if (kind === 'token') return sql`trades.token = ${value}`;
  if (kind === 'user') return sql`trades.user_id = ${value}::uuid`;
  return sql`exists (select from signals
    where signals.id = trades.signal_id and lower(trim(signals.processor)) = lower(trim(${value})))`;
};

/** Whether an active stop covers a row of `trades`, or of its alias in the statement. */
export const isStoppedTrade = (now: Date, trade: SQL = sql`trades`): SQL<boolean> => sql<boolean>`exists (
  select from trading_stops as stop where ${isActive(now)} and (
    scope_kind = 'all' or (scope_kind = 'token' and scope_value = ${trade}.token)
    or (scope_kind = 'user' and scope_value = ${trade}.user_id::text)
    or (scope_kind = 'strategy' and exists (select from signals
      where signals.id = ${trade}.signal_id and lower(trim(signals.processor)) = lower(trim(scope_value))))))`;
