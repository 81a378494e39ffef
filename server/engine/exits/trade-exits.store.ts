import { and, asc, eq, gt, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { PlannedExits } from '#domain/exits/plan-exits.ts';
import type { Position } from '#domain/sizing/position.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import {
  positionCloses,
  positionGeneratorLogs,
  signals,
  tradeExits,
  trades,
  users,
} from '#server/platform/db/schema.ts';

export type TradeExits = typeof tradeExits.$inferSelect;
export type ClosingOrderRow = typeof positionCloses.$inferSelect;

/** A position whose entry is final, with its exit plan. */
export interface ExitTrade {
  trade: TradeRow;
  exits: TradeExits;
  /** When the plan last asked for a move of the stop; null: never. */
  movedAt: Date | null;
  isBreakEvenDone: boolean;
}

export interface ShownExits {
  exits: TradeExits;
  isBreakEvenDone: boolean;
}

const movedAt = sql<string | null>`(
  select max(created_at) from protection_moves as move where move.trade_id = trades.id and move.exit is not null)`;
const isBreakEvenDone = sql<boolean>`exists (
  select from protection_moves as move
  where move.trade_id = trades.id and move.exit = 'break-even' and move.state = 'moved')`;

/** Trades of this mode with an open position on which nothing is at work. */
const isOpen = (mode: ExchangeMode): SQL | undefined =>
  and(
    isNull(trades.positionClosedAt),
    eq(trades.state, 'done'),
    inArray(trades.fillStatus, ['filled', 'partial']),
    gt(trades.filledQuantity, '0'),
    sql`${trades.protectionStatus} is distinct from 'closed'`,
    or(isNull(trades.exchangeMode), eq(trades.exchangeMode, mode)),
  );

/** Positions with an exit plan that has not ended, oldest first. */
export async function listExitTrades(
  db: Queryable,
  { mode, tradeId }: { mode: ExchangeMode; tradeId?: string },
): Promise<ExitTrade[]> {
  const rows = await db
    .select({ trade: trades, exits: tradeExits, movedAt, isBreakEvenDone })
    .from(tradeExits)
    .innerJoin(trades, eq(trades.id, tradeExits.tradeId))
    .where(
      and(isOpen(mode), isNull(tradeExits.ended), tradeId === undefined ? undefined : eq(trades.id, tradeId)),
    )
    .orderBy(asc(trades.createdAt), asc(trades.id));
  return rows.map((row) => ({ ...row, movedAt: row.movedAt === null ? null : new Date(row.movedAt) }));
}

/** Open positions of a scope, with the names of their users and the plan that they follow now; oldest first. */
export async function listScopeTrades(
  db: Queryable,
  { mode, scope }: { mode: ExchangeMode; scope: { kind: 'strategy' | 'user'; value: string } },
) {
  const ofScope =
    scope.kind === 'user'
      ? eq(trades.userId, scope.value)
      : sql`lower(btrim(${signals.processor})) = ${scope.value}`;
  return await db
    .select({ trade: trades, username: users.username, exits: tradeExits, processor: signals.processor })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .innerJoin(signals, eq(signals.id, trades.signalId))
    .leftJoin(tradeExits, eq(tradeExits.tradeId, trades.id))
    .where(and(isOpen(mode), ofScope))
    .orderBy(asc(trades.createdAt), asc(trades.id));
}

export async function findTradeExits(db: Queryable, tradeId: string): Promise<TradeExits | null> {
  const [row] = await db.select().from(tradeExits).where(eq(tradeExits.tradeId, tradeId));
  return row ?? null;
}

/** The calculation that the trade was opened with; null for one that was not kept. */
export async function findCalculation(db: Queryable, trade: TradeRow): Promise<Position | null> {
  const [row] = await db
    .select({ position: positionGeneratorLogs.position })
    .from(positionGeneratorLogs)
    .where(eq(positionGeneratorLogs.id, trade.positionGeneratorLogId));
  return (row?.position as Position | null | undefined) ?? null;
}

/** Keeps the prices and quantities of a plan; false when they are kept already, or the plan is another one. */
export async function keepPlanned(
  tx: Tx,
  { exits, planned, enteredAt }: { exits: TradeExits; planned: PlannedExits; enteredAt: Date },
): Promise<boolean> {
  const kept = await tx
    .update(tradeExits)
    .set({ planned, enteredAt, problem: null })
    .where(and(isRevision(exits), isNull(tradeExits.planned)))
    .returning({ tradeId: tradeExits.tradeId });
  return kept.length > 0;
}

const isRevision = ({ tradeId, revision }: Pick<TradeExits, 'tradeId' | 'revision'>) =>
  and(eq(tradeExits.tradeId, tradeId), eq(tradeExits.revision, revision));

/** Keeps the best prices of several positions in one statement. */
export async function keepBestPrices(
  db: Queryable,
  best: readonly { tradeId: string; price: string }[],
): Promise<void> {
  if (best.length === 0) return;
  await db.execute(sql`
    update trade_exits set best_price = seen.price
    from json_to_recordset(${JSON.stringify(best)}::json) as seen ("tradeId" uuid, price numeric)
    where trade_id = seen."tradeId"`);
}

/** The next part counts as closed; false when it does already, or the plan is another one. */
export async function notePartDone(tx: Tx, exits: TradeExits, part: number): Promise<boolean> {
  const noted = await tx
    .update(tradeExits)
    .set({ partsDone: part + 1, problem: null })
    .where(and(isRevision(exits), eq(tradeExits.partsDone, part)))
    .returning({ tradeId: tradeExits.tradeId });
  return noted.length > 0;
}

/** Notes why a step failed; false when that is known already. */
export async function noteProblem(tx: Tx, exits: TradeExits, problem: string): Promise<boolean> {
  const noted = await tx
    .update(tradeExits)
    .set({ problem })
    .where(and(isRevision(exits), sql`${tradeExits.problem} is distinct from ${problem}`))
    .returning({ tradeId: tradeExits.tradeId });
  return noted.length > 0;
}

/** Gives a position a plan in place of the one that it follows. Its parts are those of what is still open. */
export async function replaceTradeExits(
  tx: Tx,
  plan: { tradeId: string; plan: ExitPlan; scopeKind: 'strategy' | 'user'; scopeValue: string },
): Promise<void> {
  const fresh = { plan: plan.plan, scopeKind: plan.scopeKind, scopeValue: plan.scopeValue };
  await tx
    .insert(tradeExits)
    .values(plan)
    .onConflictDoUpdate({
      target: tradeExits.tradeId,
      set: {
        ...fresh,
        revision: sql`${tradeExits.revision} + 1`,
        planned: null,
        partsDone: 0,
        bestPrice: null,
        problem: null,
        ended: null,
      },
    });
}

/** The closing orders that were recorded for this reason, oldest first: the first one says what was to stay open. */
export const listClosesFor = (
  db: Queryable,
  { trade, reason }: { trade: TradeRow; reason: string },
): Promise<ClosingOrderRow[]> =>
  db
    .select()
    .from(positionCloses)
    .where(
      and(
        eq(positionCloses.userId, trade.userId),
        eq(positionCloses.token, trade.token),
        isNotNull(positionCloses.tradeId),
        eq(positionCloses.tradeId, trade.id),
        eq(positionCloses.reason, reason),
      ),
    )
    .orderBy(asc(positionCloses.id));

/** The plans of these trades that have ended, or have prices and quantities; by trade. */
export async function listShownExits(
  db: Queryable,
  tradeIds: readonly string[],
): Promise<Map<string, ShownExits>> {
  if (tradeIds.length === 0) return new Map();
  const rows = await db
    .select({ exits: tradeExits, isBreakEvenDone })
    .from(tradeExits)
    .innerJoin(trades, eq(trades.id, tradeExits.tradeId))
    .where(inArray(tradeExits.tradeId, [...tradeIds]));
  return new Map(
    rows
      .filter(({ exits }) => exits.planned !== null || exits.ended !== null)
      .map((shown) => [shown.exits.tradeId, shown]),
  );
}
