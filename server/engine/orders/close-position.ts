import { and, desc, eq, inArray } from 'drizzle-orm';
import { D, toPlain } from '#domain/decimal.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import {
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
} from '#server/exchanges/exchange.ts';
import type { AuditSubject } from '#server/platform/audit/audit-trail.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { positionCloses, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { closingOrderId } from './client-order-id.ts';

const SEND_WITHIN_MS = 5_000;

export interface CloseRequest {
  exchange: Exchange;
  account: ExchangeAccount;
  token: string;
  /** Which position to close; any other is left alone. */
  isMeant: (position: OpenPosition) => boolean;
  /** The quantity that stays open, in units of the token; all is closed without it. */
  keep?: string | null;
  reason: string;
  workflowId?: string | null;
  tradeId?: string | null;
  /** The operator who requested the close. */
  requestedBy?: string;
  /** Why nothing may be closed, read in the transaction that records the first closing order. */
  deny?: (tx: Tx) => Promise<Denial | null>;
  /** Fences the closing order. */
  lease: Lease;
  context?: CallContext;
}

/**
 * `flat`: no position, stop or target is left. `kept`: no more is open than what was to stay. `leftovers`: no position, but its stop or target could not be
 * cancelled. `other`: another position is open. `ended`: the closing order ended, and a position is still open.
 * `pending`: the outcome is not known yet. `refused`: the exchange refused the closing order. Trying again may help.
 * `denied`: nothing was sent.
 */
export type CloseResult =
  | { outcome: 'flat' }
  | { outcome: 'kept'; left: string; message: string }
  | { outcome: 'denied'; denial: Denial; message: string }
  | { outcome: 'leftovers' | 'other' | 'ended' | 'pending' | 'refused'; message: string };

/**
 * Takes one step towards a closed position, or towards the part of it that is to stay open: a reduce-only market order,
 * recorded before it is sent. Safe to repeat, also after a crash: a closing order that may be in progress is looked up
 * before another one is sent, and reduce-only opens nothing. A rest that such an order left open is checked again before
 * it is closed, and the quantity of each order is what the exchange reports as open less what is to stay.
 */
export async function closePosition(deps: EngineDeps, request: CloseRequest): Promise<CloseResult> {
  const { exchange, account, token } = request;
  const context: CallContext = { priority: 'protect', ...request.context };
  // Taken before the read, so a process that was frozen afterwards does not act on stale data.
  const notAfter = new Date(deps.clock.now().getTime() + SEND_WITHIN_MS);
  try {
    const position = await exchange.fetchPosition(account, token, context);
    if (position === null) {
      const problem = await endClosing(deps, { exchange, account, token, context });
      return problem === null ? { outcome: 'flat' } : { outcome: 'leftovers', message: problem };
    }
    const { platform: exchangePlatform } = exchange;
    const unsettled = await findUnsettledClose(deps.db, { userId: account.userId, token, exchangePlatform });
    if (unsettled !== null) {
      const report = await exchange.findOrder(
        account,
        { token, clientOrderId: unsettled.clientOrderId },
        context,
      );
      if (report !== null && (report.state === 'open' || report.state === 'partially-filled')) {
        return { outcome: 'pending', message: 'the closing order is under way' };
      }
      // Read before the order was looked up, the position may still have been larger.
      const now = await exchange.fetchPosition(account, token, context);
      if (now !== null && request.isMeant(now) && isKept(now, request)) {
        return await endWithRest(deps, { closeId: unsettled.id, left: now.quantity });
      }
      const error = 'ended without closing all of it';
      await finishClose(deps, unsettled.id, report === null ? 'refused' : 'closed', error);
      return { outcome: 'ended', message: `the closing order ${error}` };
    }
    if (!request.isMeant(position)) {
      const message = `the ${position.side} position that is open now is another one and is not touched`;
      return { outcome: 'other', message };
    }
    if (isKept(position, request)) return kept(position.quantity);
    return await sendClose(deps, request, { position, notAfter });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { outcome: 'pending', message: error.message };
  }
}

const kept = (left: string): CloseResult => ({ outcome: 'kept', left, message: `${left} stays open` });

const isKept = ({ quantity }: OpenPosition, { keep = null }: CloseRequest): boolean =>
  keep !== null && D(quantity).lte(keep);

async function endWithRest(
  deps: EngineDeps,
  { closeId, left }: { closeId: string; left: string },
): Promise<CloseResult> {
  await deps.db
    .update(positionCloses)
    .set({ state: 'closed', finishedAt: deps.clock.now(), leftQuantity: left })
    .where(eq(positionCloses.id, closeId));
  return kept(left);
}

async function sendClose(
  deps: EngineDeps,
  request: CloseRequest,
  { position, notAfter }: { position: OpenPosition; notAfter: Date },
): Promise<CloseResult> {
  const { exchange, account, token, reason, lease, context = {}, keep = null } = request;
  const quantity = keep === null ? position.quantity : toPlain(D(position.quantity).minus(keep));
  const id = timeOrderedId();
  const clientOrderId = closingOrderId(id);
  const denial = await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const denied = (await request.deny?.(tx)) ?? null;
    if (denied !== null) return denied;
    await tx.insert(positionCloses).values({
      id,
      userId: account.userId,
      exchangePlatform: exchange.platform,
      token,
      side: position.side,
      quantity,
      keepQuantity: keep,
      reason,
      workflowId: request.workflowId ?? null,
      tradeId: request.tradeId ?? null,
      clientOrderId,
      requestedBy: request.requestedBy ?? null,
      state: 'submitting',
      createdAt: deps.clock.now(),
    });
    // Operators are recorded with their request, and reversals with the signal.
    if (reason === CLOSE_REASONS.stopMissing) {
      const { userId } = account;
      const { side } = position;
      await deps.audit.record(tx, {
        actor: ENGINE,
        action: 'position close requested',
        subject: await positionSubject(tx, { userId, token }),
        after: { exchangePlatform: exchange.platform, side, quantity, reason },
      });
    }
    return null;
  });
  if (denial !== null) return { outcome: 'denied', denial, message: denial.reason };
  const placement = await exchange.closePosition(
    account,
    { token, side: position.side, quantity, clientOrderId },
    { ...context, notAfter },
  );
  if (placement.outcome === 'refused' || placement.outcome === 'retry-later') {
    await finishClose(deps, id, 'refused', placement.message);
    return {
      outcome: placement.outcome === 'refused' ? 'refused' : 'pending',
      message: placement.message,
    };
  }
  await deps.db
    .update(positionCloses)
    .set({ state: 'sent', orderId: placement.outcome === 'placed' ? placement.orderId : null })
    .where(eq(positionCloses.id, id));
  return { outcome: 'pending', message: 'the closing order was sent' };
}

/** A user's position in a token as a subject of the audit trail. */
export async function positionSubject(
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<AuditSubject> {
  const [user] = await db.select({ username: users.username }).from(users).where(eq(users.id, userId));
  return { kind: 'position', id: userId, name: `${token} (${user?.username ?? userId})` };
}

/** Whether an order to close the trade's position for its missing stop was sent. */
export async function hasClosed(db: Queryable, tradeId: string): Promise<boolean> {
  const [row] = await db
    .select({ id: positionCloses.id })
    .from(positionCloses)
    .where(and(eq(positionCloses.tradeId, tradeId), eq(positionCloses.reason, CLOSE_REASONS.stopMissing)))
    .limit(1);
  return row !== undefined;
}

/** The newest closing order at this exchange with an unknown outcome. */
export async function findUnsettledClose(
  db: Queryable,
  { userId, token, exchangePlatform }: { userId: string; token: string; exchangePlatform: string },
): Promise<typeof positionCloses.$inferSelect | null> {
  const [row] = await db
    .select()
    .from(positionCloses)
    .where(
      and(
        eq(positionCloses.userId, userId),
        eq(positionCloses.token, token),
        eq(positionCloses.exchangePlatform, exchangePlatform),
        inArray(positionCloses.state, ['submitting', 'sent']),
      ),
    )
    .orderBy(desc(positionCloses.id))
    .limit(1);
  return row ?? null;
}

/**
 * Settles the closing orders of a position that is gone, and cancels its stop and target, which would act on the next
 * position. Returns the reason for a failure; null when nothing is left.
 */
export async function endClosing(
  deps: Pick<EngineDeps, 'db' | 'clock' | 'log'>,
  closed: Pick<CloseRequest, 'exchange' | 'account' | 'token' | 'context'>,
): Promise<string | null> {
  const { exchange, account, token, context } = closed;
  const { userId } = account;
  try {
    await exchange.cancelProtection(account, token, context);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    deps.log.error(
      { err: error, userId, token },
      'stop and target of a closed position could not be cancelled',
    );
    return `what is left of its stop and target could not be cancelled: ${error.message}`;
  }
  await deps.db
    .update(positionCloses)
    .set({ state: 'closed', finishedAt: deps.clock.now() })
    .where(
      and(
        eq(positionCloses.userId, userId),
        eq(positionCloses.token, token),
        eq(positionCloses.exchangePlatform, exchange.platform),
        inArray(positionCloses.state, ['submitting', 'sent']),
      ),
    );
  return null;
}

async function finishClose(
  deps: EngineDeps,
  id: string,
  state: 'closed' | 'refused',
  error: string,
): Promise<void> {
  await deps.db
    .update(positionCloses)
    .set({ state, error, finishedAt: deps.clock.now() })
    .where(eq(positionCloses.id, id));
}
