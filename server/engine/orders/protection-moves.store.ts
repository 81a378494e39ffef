import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import type { EngineDeps } from '#server/deps.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import type { AuditRecord } from '#server/platform/audit/audit-trail.ts';
import type { Db, Queryable, Tx } from '#server/platform/db/database.ts';
import { protectionMoves, tradeExits, trades } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';

export type MoveRow = typeof protectionMoves.$inferSelect;

/** Prices as decimal strings; null leaves one where it is. */
export interface RequestedMove {
  tradeId: string;
  stopLoss: string | null;
  takeProfit: string | null;
  /** What the exchange held just before. */
  oldStopLoss: string | null;
  oldTakeProfit: string | null;
  /** Null for an exit plan. */
  requestedBy: string | null;
  /** What of an exit plan moves the stop. */
  exit?: NonNullable<MoveRow['exit']>;
}

/** The sweep finds the trade if the requester dies before it has advanced the trade itself. */
const WAKE_AFTER_MS = 2_000;
const UNFINISHED: MoveRow['state'][] = ['requested', 'sent'];

/**
 * Records the request and hands the trade to the workers, in one commit, before anything is sent. Null when the trade is
 * in work: its own steps come first.
 */
export async function requestMove(
  deps: Pick<EngineDeps, 'db' | 'clock' | 'jobs' | 'audit'>,
  move: RequestedMove,
  audit: AuditRecord,
): Promise<string | null> {
  const now = deps.clock.now();
  const { tradeId } = move;
  return await deps.db.transaction(async (tx) => {
    const reopened = await tx
      .update(trades)
      .set({ state: 'protecting', dueAt: now })
      .where(and(eq(trades.id, tradeId), eq(trades.state, 'done')))
      .returning({ id: trades.id });
    if (reopened.length === 0) return null;
    // A trade that is done works on no move any more, whatever an older version of the program left.
    await tx
      .update(protectionMoves)
      .set({ state: 'failed', finishedAt: now, message: 'Not moved: it was interrupted' })
      .where(isUnfinished(tradeId));
    const id = timeOrderedId();
    await tx.insert(protectionMoves).values({ id, ...move, state: 'requested', createdAt: now });
    await deps.audit.record(tx, audit);
    await deps.jobs.send(tx, 'advance-trade', { tradeId }, { waitMs: WAKE_AFTER_MS });
    return id;
  });
}

const isUnfinished = (tradeId: string) =>
  and(eq(protectionMoves.tradeId, tradeId), inArray(protectionMoves.state, UNFINISHED));

export async function findUnfinishedMove(db: Queryable, tradeId: string): Promise<MoveRow | null> {
  const [row] = await db
    .select()
    .from(protectionMoves)
    .where(isUnfinished(tradeId))
    .orderBy(desc(protectionMoves.id))
    .limit(1);
  return row ?? null;
}

export async function findMove(db: Queryable, id: string): Promise<MoveRow | null> {
  const [row] = await db.select().from(protectionMoves).where(eq(protectionMoves.id, id));
  return row ?? null;
}

/** Commits that a request is about to leave. False when the move has ended meanwhile: then nothing may be sent. */
export async function markSent(db: Db, { id, lease }: { id: string; lease: Lease }): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const sent = await tx
      .update(protectionMoves)
      .set({ state: 'sent', tries: sql`${protectionMoves.tries} + 1` })
      .where(and(eq(protectionMoves.id, id), inArray(protectionMoves.state, UNFINISHED)))
      .returning({ id: protectionMoves.id });
    return sent.length > 0;
  });
}

/** Ends a move of which nothing was sent; false when something was. */
export async function withdrawMove(
  deps: Pick<EngineDeps, 'db' | 'clock'>,
  { id, message }: { id: string; message: string },
): Promise<boolean> {
  const withdrawn = await deps.db
    .update(protectionMoves)
    .set({ state: 'failed', message, finishedAt: deps.clock.now() })
    .where(and(eq(protectionMoves.id, id), eq(protectionMoves.state, 'requested')))
    .returning({ id: protectionMoves.id });
  return withdrawn.length > 0;
}

/** What the exchange holds now, where it is what was asked for. */
interface MovedPrices {
  movedStopLoss?: string;
  movedTakeProfit?: string;
}

/**
 * Ends a move, fenced by the trade's lease. `moved`: from then on the protection watches these prices, also where only
 * one of two could be moved.
 */
export async function endMove(
  deps: Pick<EngineDeps, 'db' | 'clock' | 'audit'>,
  {
    move,
    lease,
    ...end
  }: {
    move: MoveRow;
    lease: Lease;
    state: 'moved' | 'failed';
    message: string;
    moved: MovedPrices;
    audit: AuditRecord | null;
  },
): Promise<void> {
  const { state, message, moved, audit } = end;
  const now = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const ended = await tx
      .update(protectionMoves)
      .set({ state, message, finishedAt: now })
      .where(and(eq(protectionMoves.id, move.id), inArray(protectionMoves.state, UNFINISHED)))
      .returning({ id: protectionMoves.id });
    if (ended.length === 0) return;
    if (Object.keys(moved).length > 0) {
      await tx.update(trades).set(moved).where(eq(trades.id, move.tradeId));
    }
    const isNew = move.exit === null || (await noteExitMove(tx, { move, state, message, at: now }));
    if (isNew) await addTimeline(tx, { tradeId: move.tradeId, at: now, text: message });
    if (audit !== null) await deps.audit.record(tx, audit);
  });
}

/** Nobody waits for the answer to a move by an exit plan: a notice reports it. False for a failure that is known already. */
async function noteExitMove(
  tx: Tx,
  { move, state, message, at }: { move: MoveRow; state: 'moved' | 'failed'; message: string; at: Date },
): Promise<boolean> {
  const { tradeId } = move;
  const problem = state === 'moved' ? null : message;
  const changed = await tx
    .update(tradeExits)
    .set({ problem })
    .where(and(eq(tradeExits.tradeId, tradeId), sql`${tradeExits.problem} is distinct from ${problem}`))
    .returning({ tradeId: tradeExits.tradeId });
  if (problem !== null && changed.length === 0) return false;
  const [trade] = await tx.select({ userId: trades.userId }).from(trades).where(eq(trades.id, tradeId));
  const code = state === 'moved' ? 'exit_stop_moved' : 'exit_not_done';
  const data = { what: move.exit === 'trail' ? 'trailing stop' : 'break-even', reason: message };
  await noteEvents(tx, [{ code, userId: trade?.userId ?? null, tradeId, data, at }]);
  return true;
}
