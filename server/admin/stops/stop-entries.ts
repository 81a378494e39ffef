import { and, eq, ne, sql } from 'drizzle-orm';
import { describeScope, type StopScope } from '#domain/orders/trading-stop.ts';
import type { Deps } from '#server/deps.ts';
import type { AuditActor, AuditTrail } from '#server/platform/audit/audit-trail.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import { orderAttempts, trades, tradingStops, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { coversTrade, isActive, type StopRow, takeEntriesAlone } from './trading-stops.store.ts';

export interface NewStop {
  scope: StopScope;
  reason: string | null;
  until: Date | null;
  by: AuditActor;
  /** The id of the user who makes it; null for a command. */
  userId: string | null;
}

interface StopDeps {
  db: Queryable;
  clock: Deps['clock'];
  /** Null for a command without the queue: resting orders are cancelled at their next look. */
  jobs: Pick<Deps['jobs'], 'send'> | null;
  /** Null for a command that cannot open the trail. */
  audit: Pick<AuditTrail, 'record'> | null;
}

/** As long as a request may leave after its commit (`place-attempt.ts`), and a little more. */
const ON_THEIR_WAY_MS = 5_200;
const POLL_MS = 25;
const QUERY_CANCELED = '57014';

/**
 * Stops new entries (I9). When it resolves, no entry within the scope leaves any more: it waits until nothing that opens
 * is being committed, then until every request committed before has its answer or may not leave any more. What rests
 * unfilled at the exchange is called up to be cancelled. A second identical stop of the same maker is the first one.
 */
export async function stopEntries(deps: StopDeps, stop: NewStop): Promise<StopRow> {
  const write = () => deps.db.transaction((tx) => writeStop(deps, tx, stop));
  const made = await write().catch((error: unknown) => {
    // An instance is frozen in a transaction that opens something: the database ends that soon.
    if (databaseErrorCode(error) !== QUERY_CANCELED) throw error;
    return write();
  });
  await whenNothingIsOnItsWay(deps, stop.scope);
  return made;
}

/** The part of `stopEntries` that is a transaction: what is on its way may still leave after it. */
export async function writeStop(
  { clock, jobs, audit }: Pick<StopDeps, 'clock' | 'jobs' | 'audit'>,
  tx: Tx,
  stop: NewStop,
): Promise<StopRow> {
  const { scope, reason, until, by, userId } = stop;
  await takeEntriesAlone(tx);
  const now = clock.now();
  const active = await tx.select().from(tradingStops).where(isActive(now));
  const same = active.find(
    (row) =>
      row.scopeKind === scope.kind &&
      row.scopeValue === scope.value &&
      row.createdBy === userId &&
      row.reason === reason &&
      row.until?.getTime() === until?.getTime(),
  );
  if (same !== undefined) return same;
  const row: StopRow = {
    id: timeOrderedId(),
    scopeKind: scope.kind,
    scopeValue: scope.value,
    reason,
    createdAt: now,
    createdBy: userId,
    createdByName: by.name,
    until,
    liftedAt: null,
    liftedByName: null,
  };
  await tx.insert(tradingStops).values(row);
  await audit?.record(tx, {
    actor: by,
    action: 'new entries stopped',
    subject: { kind: 'stop', id: row.id, name: await nameOf(tx, scope) },
    after: { scope: { ...scope }, reason, until: until?.toISOString() ?? null },
  });
  const told = { scope: await nameOf(tx, scope), by: by.name, reason };
  await noteEvents(tx, [{ code: 'stop_set', userId: userOf(scope), data: told, at: now }]);
  if (jobs !== null) {
    const resting = await tx
      .select({ tradeId: trades.id })
      .from(trades)
      .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
      .where(and(eq(trades.state, 'working'), eq(orderAttempts.state, 'open'), coversTrade(scope)));
    // What has not left sees the stop where permission is read, what is just leaving where its answer is written.
    await jobs.send(tx, 'advance-trade', resting, { isUrgent: true });
  }
  return row;
}

/** The user whom a stop concerns alone. */
export const userOf = ({ kind, value }: StopScope): string | null => (kind === 'user' ? value : null);

/** The scope as a subject of the audit trail. */
export async function nameOf(db: Queryable, scope: StopScope): Promise<string> {
  if (scope.kind !== 'user' || scope.value === null) return describeScope(scope, null);
  const [user] = await db.select({ username: users.username }).from(users).where(eq(users.id, scope.value));
  return describeScope(scope, user?.username ?? null);
}

async function whenNothingIsOnItsWay({ db, clock }: StopDeps, scope: StopScope): Promise<void> {
  const deadline = clock.monotonicMs() + ON_THEIR_WAY_MS;
  // Older ones may not leave any more: their worker is dead, or waits for an answer.
  const since = new Date(clock.now().getTime() - 2 * ON_THEIR_WAY_MS).toISOString();
  while (clock.monotonicMs() < deadline) {
    const [leaving] = await db
      .select({ id: orderAttempts.id })
      .from(trades)
      .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
      .where(
        and(
          ne(trades.state, 'done'),
          coversTrade(scope),
          eq(orderAttempts.state, 'submitting'),
          sql`${orderAttempts.submittedAt} > ${since}::timestamptz`,
        ),
      )
      .limit(1);
    if (leaving === undefined) return;
    await clock.sleep(POLL_MS);
  }
}
