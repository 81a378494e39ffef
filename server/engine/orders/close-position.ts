import { and, asc, eq, inArray } from 'drizzle-orm';
import { D, largest, toPlain } from '#domain/decimal.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { splitClose } from '#domain/orders/split-close.ts';
import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import type { NewClose, Transition } from '#server/engine/records/transitions.ts';
import {
  asExchangeError,
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
  type OrderReport,
} from '#server/exchanges/exchange.ts';
import type { AuditSubject } from '#server/platform/audit/audit-trail.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { positionCloses, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { closingOrderId } from './client-order-id.ts';
import { isAnsweredUnreadable } from './look-up-attempt.ts';

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
 * `flat`: no position, stop or target is left. `kept`: no more is open than what was to stay. `leftovers`: no position,
 * but its stop or target could not be cancelled. `other`: another position is open. `ended`: the closing order ended, or
 * could not be read for long, and a position is still open. `pending`: the outcome is not known yet. `refused`: the
 * exchange refused the closing order. Trying again may help. `denied`: nothing was sent.
 */
export type CloseResult =
  | { outcome: 'flat' }
  | { outcome: 'kept'; left: string; message: string }
  | { outcome: 'denied'; denial: Denial; message: string }
  | { outcome: 'leftovers' | 'other' | 'ended' | 'refused'; message: string }
  /** `isSent`: the closing orders have just been sent, and were not looked up yet. */
  | { outcome: 'pending'; message: string; isSent?: true };

/** What a step has come to, and how much was open when it began; null: not known, or nothing. */
export type CloseStep = { result: CloseResult; open: string | null };

/**
 * Takes one step towards a closed position, or towards the part of it that is to stay open: a reduce-only market order,
 * or several where the contract's largest market order is smaller, all recorded before the first is sent. Safe to
 * repeat, also after a crash: closing orders that may be in progress are looked up before another one is sent, and
 * reduce-only opens nothing. A rest that they left open is checked again before it is closed, and together the orders of
 * a step are what the exchange reports as open less what is to stay.
 */
export async function closePosition(deps: EngineDeps, request: CloseRequest): Promise<CloseResult> {
  return (await stepTowardsClosed(deps, request)).result;
}

/** The position in a token as the exchange has just shown it. */
export interface FoundPosition {
  position: OpenPosition | null;
  /** A closing order that follows from it leaves until then. */
  notAfter: Date;
}

export async function findPosition(
  { clock }: Pick<EngineDeps, 'clock'>,
  { exchange, account, token, context }: Pick<CloseRequest, 'exchange' | 'account' | 'token' | 'context'>,
): Promise<FoundPosition> {
  // Taken before the read, so a process that was frozen afterwards does not act on stale data.
  const notAfter = new Date(clock.now().getTime() + SEND_WITHIN_MS);
  const position = await exchange.fetchPosition(account, token, { priority: 'protect', ...context });
  return { position, notAfter };
}

/** The same, with how much was open when the step began. `found`: instead of another read, just before. */
export async function stepTowardsClosed(
  deps: EngineDeps,
  request: CloseRequest,
  found?: FoundPosition,
): Promise<CloseStep> {
  const context: CallContext = { priority: 'protect', ...request.context };
  let open: string | null = null;
  try {
    const shown = found ?? (await findPosition(deps, { ...request, context }));
    open = shown.position?.quantity ?? null;
    const result = await closeFound(deps, { ...request, context }, shown);
    return { result, open };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { result: { outcome: 'pending', message: error.message }, open };
  }
}

async function closeFound(
  deps: EngineDeps,
  request: CloseRequest,
  { position, notAfter }: FoundPosition,
): Promise<CloseResult> {
  const { exchange, account, token, context = {} } = request;
  if (position === null) {
    const problem = await endClosing(deps, { exchange, account, token, context });
    return problem === null ? { outcome: 'flat' } : { outcome: 'leftovers', message: problem };
  }
  const { platform: exchangePlatform } = exchange;
  const unsettled = await listUnsettledCloses(deps.db, {
    userId: account.userId,
    token,
    exchangePlatform,
  });
  if (unsettled.length > 0) return await settleCloses(deps, request, unsettled);
  if (!request.isMeant(position)) {
    const message = `the ${position.side} position that is open now is another one and is not touched`;
    return { outcome: 'other', message };
  }
  if (isKept(position, request)) return kept(position.quantity);
  return await sendClose(deps, request, { position, notAfter });
}

const kept = (left: string): CloseResult => ({ outcome: 'kept', left, message: `${left} stays open` });

const isKept = ({ quantity }: OpenPosition, { keep = null }: CloseRequest): boolean =>
  keep !== null && D(quantity).lte(keep);

type CloseRow = typeof positionCloses.$inferSelect;

/**
 * Looks the closing orders up. None of them counts as ended while one is under way. One that could not be read for 90 s
 * is cancelled, and the position tells what it has closed: a market order that reduces only rests no longer.
 */
async function settleCloses(
  deps: EngineDeps,
  request: CloseRequest,
  unsettled: CloseRow[],
): Promise<CloseResult> {
  const { exchange, account, token, context } = request;
  const ended: { row: CloseRow; report: OrderReport | 'unreadable' | null }[] = [];
  for (const row of unsettled) {
    const order = { token, clientOrderId: row.clientOrderId };
    const report = await exchange.findOrder(account, order, context).catch(asUnreadable);
    if (report === 'unreadable') {
      const since = row.createdAt;
      if (!hasElapsed({ since, ms: DOUBT_DEADLINE_MS, now: deps.clock.now() })) {
        return { outcome: 'pending', message: 'the closing order cannot be read yet' };
      }
      await exchange.cancelOrder(account, order, context).catch(asExchangeError);
      ended.push({ row, report });
      continue;
    }
    if (report !== null && (report.state === 'open' || report.state === 'partially-filled')) {
      return { outcome: 'pending', message: 'the closing order is under way' };
    }
    ended.push({ row, report });
  }
  // Read before the orders were looked up, the position may still have been larger.
  const now = await exchange.fetchPosition(account, token, context);
  const isDone = now !== null && request.isMeant(now) && isKept(now, request);
  if (isDone) {
    const ids = unsettled.map(({ id }) => id);
    await finishCloses(deps, ids, { state: 'closed', error: null, leftQuantity: now.quantity });
    return kept(now.quantity);
  }
  // The one that was to be closed is gone, because another one is open.
  const isOther = now !== null && !request.isMeant(now);
  const error = 'ended without closing all of it';
  const unread = 'could not be read, and its position is still open';
  const untold = untoldOf(ended, now);
  for (const { row, report } of ended) {
    const isTold = report !== null && report !== 'unreadable';
    const taken = takenOff(row, isTold ? report : { filledQuantity: untold }, isOther ? null : now);
    // One that the exchange knows no longer may have ended with a part of it filled.
    const isRefused = report === null && !(row.keepQuantity !== null && D(untold).gt(0));
    if (isRefused) await finishCloses(deps, [row.id], { state: 'refused', error });
    else {
      const why = isTold ? (isOther ? null : error) : unread;
      await finishCloses(deps, [row.id], { state: 'closed', error: why, ...taken });
    }
  }
  return { outcome: 'ended', message: `the closing order ${error}` };
}

/** The exchange has answered, and its answer is not the order; another failure says nothing and is thrown. */
export function asUnreadable(error: unknown): 'unreadable' {
  if (error instanceof ExchangeError && isAnsweredUnreadable(error)) return 'unreadable';
  throw error;
}

/**
 * What each order that could not be read or found has taken off, as the position shows: what the orders of the step
 * were to take off, and the rest that was to stay, less what is open now and what the others have filled.
 */
function untoldOf(
  ended: readonly { row: CloseRow; report: OrderReport | 'unreadable' | null }[],
  now: OpenPosition | null,
): string {
  const untold = ended.filter(({ report }) => report === null || report === 'unreadable').length;
  const [first] = ended;
  if (first === undefined || untold === 0) return '0';
  const taken = ended.reduce(
    (rest, { row, report }) =>
      rest.plus(row.quantity).minus(report === null || report === 'unreadable' ? 0 : report.filledQuantity),
    D(first.row.keepQuantity ?? 0).minus(now?.quantity ?? 0),
  );
  return toPlain(largest(taken.div(untold), 0));
}

/** What an order that was to leave something open has taken off: it counts when the rest is closed. */
const takenOff = (
  { keepQuantity }: CloseRow,
  { filledQuantity }: Pick<OrderReport, 'filledQuantity'>,
  now: OpenPosition | null,
): Partial<CloseRow> =>
  keepQuantity === null ? {} : { quantity: filledQuantity, leftQuantity: now?.quantity ?? '0' };

async function sendClose(
  deps: EngineDeps,
  request: CloseRequest,
  { position, notAfter }: { position: OpenPosition; notAfter: Date },
): Promise<CloseResult> {
  const { exchange, account, token, reason, lease, context = {}, keep = null } = request;
  const quantity = keep === null ? position.quantity : toPlain(D(position.quantity).minus(keep));
  const contract = await exchange.fetchContract(token, context);
  const parts = splitClose({
    quantity,
    maximum: contract?.maximumMarketQuantity ?? null,
    step: contract?.quantityStep ?? null,
  }).map((part) => {
    const id = timeOrderedId();
    return { id, clientOrderId: closingOrderId(id), quantity: part };
  });
  const { userId } = account;
  const { side } = position;
  const { platform: exchangePlatform } = exchange;
  const createdAt = deps.clock.now();
  const closes = parts.map((part) => ({
    ...part,
    userId,
    exchangePlatform,
    token,
    side,
    keepQuantity: keep,
    reason,
    workflowId: request.workflowId ?? null,
    tradeId: request.tradeId ?? null,
    requestedBy: request.requestedBy ?? null,
    state: 'submitting' as const,
    createdAt,
  }));
  // Operators are recorded with their request, and reversals with the signal.
  const audit =
    reason === CLOSE_REASONS.stopMissing
      ? {
          actor: ENGINE,
          action: 'position close requested' as const,
          subject: await positionSubject(deps.db, { userId, token }),
          after: { exchangePlatform, side, quantity, reason },
        }
      : undefined;
  const denial = await commitCloses(deps, request, { lease, closes, ...(audit && { audit }) });
  if (denial !== null) return { outcome: 'denied', denial, message: denial.reason };
  for (const [index, { id, ...part }] of parts.entries()) {
    const placement = await exchange.closePosition(
      account,
      { token, side: position.side, ...part },
      { ...context, notAfter },
    );
    const { outcome } = placement;
    if (outcome === 'refused' || outcome === 'retry-later') {
      const { message } = placement;
      const unsent = parts.slice(index).map((one) => one.id);
      await finishCloses(deps, unsent, { state: 'refused', error: message });
      // The orders before it have to be looked up first.
      return { outcome: outcome === 'refused' && index === 0 ? 'refused' : 'pending', message };
    }
    await deps.db
      .update(positionCloses)
      .set({ state: 'sent', orderId: outcome === 'placed' ? placement.orderId : null })
      .where(eq(positionCloses.id, id));
  }
  return { outcome: 'pending', message: 'the closing order was sent', isSent: true };
}

/** Records the orders before the first of them is sent, those of many users together; or why nothing may be closed. */
async function commitCloses(
  deps: EngineDeps,
  { deny }: CloseRequest,
  recorded: Pick<Transition, 'lease' | 'audit'> & { closes: NewClose[] },
): Promise<Denial | null> {
  if (deny === undefined) {
    await deps.transitions.commit(recorded);
    return null;
  }
  return await deps.db.transaction(async (tx) => {
    await assertHeld(tx, recorded.lease);
    const denied = await deny(tx);
    if (denied !== null) return denied;
    await tx.insert(positionCloses).values(recorded.closes);
    if (recorded.audit !== undefined) await deps.audit.record(tx, recorded.audit);
    return null;
  });
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

/** The closing orders at this exchange with an unknown outcome, oldest first. */
export async function listUnsettledCloses(
  db: Queryable,
  { userId, token, exchangePlatform }: { userId: string; token: string; exchangePlatform: string },
): Promise<CloseRow[]> {
  return await db
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
    .orderBy(asc(positionCloses.id));
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

async function finishCloses(
  { db, clock }: Pick<EngineDeps, 'db' | 'clock'>,
  ids: string[],
  ended: Partial<CloseRow> & Pick<CloseRow, 'state' | 'error'>,
): Promise<void> {
  await db
    .update(positionCloses)
    .set({ ...ended, finishedAt: clock.now() })
    .where(inArray(positionCloses.id, ids));
}
