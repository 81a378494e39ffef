import { and, desc, eq, inArray } from 'drizzle-orm';
import type { EngineDeps } from '#server/deps.ts';
import {
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
} from '#server/exchanges/exchange.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { positionCloses } from '#server/platform/db/schema.ts';
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
  reason: string;
  workflowId?: string | null;
  tradeId?: string | null;
  /** The operator who requested the close. */
  requestedBy?: string;
  /** Fences the closing order. */
  lease: Lease;
  context?: CallContext;
}

/**
 * `flat`: no position, stop or target is left. `leftovers`: no position, but its stop or target could not be
 * cancelled. `other`: another position is open. `ended`: the closing order ended, and a position is still open.
 * `pending`: the outcome is not known yet. `refused`: the exchange refused the closing order. Trying again may help.
 */
export type CloseResult =
  | { outcome: 'flat' }
  | { outcome: 'leftovers' | 'other' | 'ended' | 'pending' | 'refused'; message: string };

/**
 * Takes one step towards a closed position: a reduce-only market order, recorded before it is sent. Safe to repeat,
 * also after a crash: a closing order that may be in progress is looked up before another one is sent, and reduce-only
 * opens nothing. A rest that such an order left open is checked again before it is closed.
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
      const error = 'ended without closing all of it';
      await finishClose(deps, unsettled.id, report === null ? 'refused' : 'closed', error);
      return { outcome: 'ended', message: `the closing order ${error}` };
    }
    if (!request.isMeant(position)) {
      const message = `the ${position.side} position that is open now is another one and is not touched`;
      return { outcome: 'other', message };
    }
    return await sendClose(deps, request, { position, notAfter });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { outcome: 'pending', message: error.message };
  }
}

async function sendClose(
  deps: EngineDeps,
  request: CloseRequest,
  { position, notAfter }: { position: OpenPosition; notAfter: Date },
): Promise<CloseResult> {
  const { exchange, account, token, reason, lease, context = {} } = request;
  const id = timeOrderedId();
  const clientOrderId = closingOrderId(id);
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx.insert(positionCloses).values({
      id,
      userId: account.userId,
      exchangePlatform: exchange.platform,
      token,
      side: position.side,
      quantity: position.quantity,
      reason,
      workflowId: request.workflowId ?? null,
      tradeId: request.tradeId ?? null,
      clientOrderId,
      requestedBy: request.requestedBy ?? null,
      state: 'submitting',
      createdAt: deps.clock.now(),
    });
  });
  const placement = await exchange.closePosition(
    account,
    { token, side: position.side, quantity: position.quantity, clientOrderId },
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
