import { and, desc, eq, inArray } from 'drizzle-orm';
import {
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
} from '#server/exchanges/exchange.ts';
import { builtOnce } from '#server/platform/db/built-once.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { positionCloses } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { closingOrderId } from './client-order-id.ts';
import type { TradeDeps } from './trade-work.ts';

const SEND_WITHIN_MS = 5_000;

export interface CloseRequest {
  exchange: Exchange;
  account: ExchangeAccount;
  token: string;
  /** Any other position is not touched, whoever opened it and why. */
  isMeant: (position: OpenPosition) => boolean;
  reason: string;
  workflowId?: string | null;
  tradeId?: string | null;
  /** The operator who asked for it. */
  requestedBy?: string;
  /** Nothing is sent once it was taken over. */
  lease: Lease;
  context?: CallContext;
}

/**
 * `flat`: the exchange says that no position is left, nor a stop or target of it. `leftovers`: no position, but those
 * could not be cancelled. `other`: the position is gone, and another one is open. `ended`: a closing order has ended,
 * and something is open; ask again. `pending`: ask again; nothing is concluded. `refused`: the exchange said no to the
 * closing order; asking again may still help.
 */
export type CloseResult =
  | { outcome: 'flat' }
  | { outcome: 'leftovers' | 'other' | 'ended' | 'pending' | 'refused'; message: string };

/**
 * One step towards a closed position: reduce-only at market, recorded before it is sent. It may be called again and
 * again, after a crash too: an order that may be under way is looked up before another one is sent, and reduce-only
 * keeps a second one from opening anything. What such an order has left, hours later perhaps, is looked at anew before
 * it is closed as well.
 */
export async function closePosition(deps: TradeDeps, request: CloseRequest): Promise<CloseResult> {
  const { exchange, account, token } = request;
  const context: CallContext = { priority: 'protect', ...request.context };
  // From before the reading: what was read is not acted on by a process that was frozen since.
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
  deps: TradeDeps,
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

type ClosePlace = { userId: string; token: string; exchangePlatform: string };

const unsettledCloses = builtOnce<ClosePlace>()((db, value) =>
  db
    .select()
    .from(positionCloses)
    .where(
      and(
        eq(positionCloses.userId, value('userId')),
        eq(positionCloses.token, value('token')),
        eq(positionCloses.exchangePlatform, value('exchangePlatform')),
        inArray(positionCloses.state, ['submitting', 'sent']),
      ),
    )
    .orderBy(desc(positionCloses.id))
    .limit(1),
);

/** The newest closing order at this exchange of which it is not known yet what came of it. */
export async function findUnsettledClose(
  db: Queryable,
  { userId, token, exchangePlatform }: ClosePlace,
): Promise<typeof positionCloses.$inferSelect | null> {
  const [row] = await unsettledCloses(db, { userId, token, exchangePlatform });
  return row ?? null;
}

/**
 * The exchange says that nothing is open: whatever was sent to close it has done so. A stop or target without its
 * position would act on the next one: they are cancelled, and until they are a closing is not settled. Answers why they
 * are not; null when nothing is left.
 */
export async function endClosing(
  deps: Pick<TradeDeps, 'db' | 'clock' | 'log'>,
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
  deps: TradeDeps,
  id: string,
  state: 'closed' | 'refused',
  error: string,
): Promise<void> {
  await deps.db
    .update(positionCloses)
    .set({ state, error, finishedAt: deps.clock.now() })
    .where(eq(positionCloses.id, id));
}
