import { and, asc, eq, isNotNull, ne } from 'drizzle-orm';
import type { OrderInDoubt } from '#contract/position-maker.ts';
import { isPositive } from '#domain/decimal.ts';
import { tradeOutcome } from '#domain/orders/order-lifecycle.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { addTimeline, findTrade, listAttempts, type TradeRow } from '#server/engine/records/trades.store.ts';
import { aboutTrade } from '#server/platform/audit/audit-subjects.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { orderAttempts, trades, users } from '#server/platform/db/schema.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { randomId } from '#server/platform/ids.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { sumFilled } from './settle-attempt.ts';
import { openTradeAccount } from './trade-account.ts';

/*
 * Orders that the exchange can no longer be asked about because the key was revoked, or whose doubt its answers do not
 * settle (`order_attempts.doubt`).
 * I6 such an order is never called 'never placed': it ends as unknown, and its signal is not traded again.
 * I7 it stays visible, with who ended it and why.
 */

type DoubtDeps = Pick<Deps, 'accountGuard' | 'clock' | 'config' | 'db' | 'findAccount' | 'log'>;
type WriteOffDeps = DoubtDeps & Pick<Deps, 'audit' | 'jobs'>;

interface WriteOff {
  tradeId: string;
  by: { id: string; username: string };
  actor: AuditActor;
}

const MOST = 100;
/** A worker releases the lease between two steps. */
const LEASE_PATIENCE_MS = 5_000;
const LEASE_POLL_MS = 50;

/** Unsettled orders that cannot be looked up, stay in doubt, or need a key that the exchange refuses; oldest first. */
export async function listOrdersInDoubt(deps: DoubtDeps): Promise<OrderInDoubt[]> {
  const rows = await deps.db
    .select({ trade: trades, username: users.username, doubt: orderAttempts.doubt })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    // Only the attempt in progress can be in doubt.
    .leftJoin(orderAttempts, and(eq(orderAttempts.tradeId, trades.id), isNotNull(orderAttempts.doubt)))
    .where(ne(trades.state, 'done'))
    .orderBy(asc(trades.createdAt))
    .limit(MOST);
  const orders = await Promise.all(
    rows.map(async ({ trade, username, doubt }): Promise<OrderInDoubt[]> => {
      const problem = (await openTradeAccount(deps, trade)).problem ?? doubt;
      if (problem === null) return [];
      const { id: tradeId, userId, exchangePlatform, token, side, plannedQuantity: quantity } = trade;
      const createdAt = trade.createdAt.toISOString();
      return [{ tradeId, userId, username, exchangePlatform, token, side, quantity, createdAt, problem }];
    }),
  );
  return orders.flat();
}

/** Ends an order in doubt. Refused while a look-up may still settle it. */
export async function writeOffOrder(deps: WriteOffDeps, request: WriteOff): Promise<TradeRow> {
  const { tradeId } = request;
  const holder = `${deps.config.instanceId} write-off ${randomId()}`;
  for (let waitedMs = 0; waitedMs <= LEASE_PATIENCE_MS; waitedMs += LEASE_POLL_MS) {
    try {
      const leased = await withLease(
        { db: deps.db, clock: deps.clock, key: `trade:${tradeId}`, holder, log: deps.log },
        (lease) => writeOffUnderLease(deps, lease, request),
      );
      if (leased.held) return leased.result;
    } catch (error) {
      throw error instanceof LeaseLostError ? new AppError('orderBusy', { cause: error }) : error;
    }
    await deps.clock.sleep(LEASE_POLL_MS);
  }
  throw new AppError('orderBusy');
}

async function writeOffUnderLease(
  deps: WriteOffDeps,
  lease: Lease,
  { tradeId, by, actor }: WriteOff,
): Promise<TradeRow> {
  const { db, clock, jobs, log } = deps;
  const trade = await findTrade(db, tradeId);
  if (trade === null) throw new AppError('notFound', { message: 'Order not found' });
  if (trade.state === 'done') throw new AppError('orderSettled');
  const attempts = await listAttempts(db, tradeId);
  const doubt = attempts.at(-1)?.doubt ?? null;
  const problem = (await openTradeAccount(deps, trade)).problem ?? doubt;
  if (problem === null) throw new AppError('orderFollowed');
  const filledQuantity = sumFilled(attempts);
  const now = clock.now();
  const error = `Outcome unknown, written off by ${by.username}: ${problem}`;
  await db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx
      .update(trades)
      .set({
        state: 'done',
        // A trade that was done before its position lost its stop keeps its outcome.
        ...(trade.completedAt === null
          ? { success: false, fillStatus: tradeOutcome(attempts).fillStatus }
          : {}),
        error,
        filledQuantity,
        orderId: attempts.findLast(({ orderId }) => orderId !== null)?.orderId ?? null,
        ...(isPositive(filledQuantity) && trade.protectionStatus === null
          ? { protectionStatus: 'missing' as const }
          : {}),
        completedAt: trade.completedAt ?? now,
        dueAt: null,
        writtenOffBy: by.id,
        writtenOffAt: now,
      })
      .where(eq(trades.id, tradeId));
    await addTimeline(tx, { tradeId, at: now, text: `Ended without being settled: ${error}` });
    const { username } = required(await findUser(tx, trade.userId), 'userNotFound').user;
    await deps.audit.record(tx, {
      actor,
      action: 'order written off',
      subject: aboutTrade(trade, username),
      after: { userId: trade.userId, problem, filledQuantity },
    });
    const { workflowId, userId } = trade;
    if (workflowId !== null) await jobs.send(tx, 'trade-user', { workflowId, userId });
  });
  log.warn({ tradeId, userId: trade.userId, by: by.id, problem }, 'an order was written off');
  return (await findTrade(db, tradeId)) ?? trade;
}
