import { eq } from 'drizzle-orm';
import { D, isPositive, toPlain } from '#domain/decimal.ts';
import { tradeOutcome } from '#domain/orders/order-lifecycle.ts';
import { planSecondAttempt } from '#domain/orders/second-attempt.ts';
import { denyHalted } from '#domain/orders/trading-halt.ts';
import { FLATTEN_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { isSignalExpired } from '#domain/workflow/workflow-lifecycle.ts';
import { findHalt } from '#server/admin/halts/trading-halts.store.ts';
import { readLivePrice } from '#server/engine/sizing/generate-position.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { orderAttempts, trades } from '#server/platform/db/schema.ts';
import { together } from '#server/platform/db/together.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, LeaseLostError, withLastTransaction } from '#server/platform/jobs/leases.ts';
import { clientOrderId } from './client-order-id.ts';
import { PROTECTION_RETRY_MS, protectPosition } from './protect-position.ts';
import { endDoubt, newsOfSafety, recordSafe, type SafeFinding, safetyOf } from './record-protection.ts';
import { goOn, later, type StepResult, type TradeWork, underLease } from './trade-work.ts';
import { type AttemptRow, addTimeline } from './trades.store.ts';

/** The slower pace for an exchange that has not answered for long. */
const UNREADABLE_RETRY_MS = 2_000;

/** An attempt has ended: protect its fill, then try once for the rest, or finish. */
export async function settleAttempt(work: TradeWork): Promise<StepResult> {
  const { attempts, attempt } = work;
  const filled = sumFilled(attempts);
  let safe: SafeFinding | null = null;
  if (isPositive(filled)) {
    const protection = await protectPosition(work, filled);
    if (protection === 'again') return later(work, protectionRetryMs(work));
    if (protection === 'unprotected') return startClosing(work);
    safe = protection.safe;
  }
  const mayTryAgain =
    attempt.attempt === 1 &&
    (attempt.state === 'unfilled' || (attempt.state === 'never_placed' && attempt.submittedAt !== null));
  if (!mayTryAgain) return finishTrade(work, null, safe);
  if (safe !== null) await recordSafe(work, safe);
  const planned = await planSecond(work, filled);
  return planned === null ? goOn : finishTrade(work, planned);
}

function protectionRetryMs({ deps, trade: { unprotectedSince } }: TradeWork): number {
  const isLong =
    unprotectedSince !== null &&
    deps.clock.now().getTime() - unprotectedSince.getTime() >= FLATTEN_DEADLINE_MS;
  return isLong ? UNREADABLE_RETRY_MS : PROTECTION_RETRY_MS;
}

/** Null when the second attempt is committed; otherwise the reason for its absence. */
async function planSecond(work: TradeWork, filledQuantity: string): Promise<string | null> {
  const { deps, trade, exchange } = work;
  // I3, I6: after a restore of the database a second attempt may have been sent without a record. Its client order id
  // is known, so commit it as in doubt: it is looked up, adopted if the exchange has it, and never sent.
  if (trade.restoredAt !== null) {
    await insertSecond(work, {
      price: trade.entryPrice,
      quantity: toPlain(D(trade.plannedQuantity).minus(filledQuantity)),
      state: 'unknown',
      submittedAt: deps.clock.now(),
      text: 'The database was restored: looking for a second attempt that may have been sent; none is sent now',
    });
    return null;
  }
  const expired = isSignalExpired({
    receivedAt: trade.createdAt,
    startsAt: deps.clock.now(),
    maxAgeMinutes: deps.config.signalMaxAgeMinutes,
  });
  if (expired) return 'the order is too old for a second attempt';
  const halt = await findHalt(deps.db, trade.userId);
  if (halt !== null) return `no second attempt: ${denyHalted(halt).reason}`;
  const log = await findPositionGeneratorLog(deps.db, trade.positionGeneratorLogId);
  if (log?.position == null) throw new Error(`trade ${trade.id} has no calculation`);
  const freshPrice = await readLivePrice(exchange, trade, trade.userId);
  if (freshPrice === null) return 'no fresh price for a second attempt';
  const position = {
    ...log.position,
    entryPrice: trade.entryPrice,
    stopLoss: trade.stopLoss,
    takeProfit: trade.takeProfit,
    leverage: trade.leverage,
    assetQuantity: trade.plannedQuantity,
  };
  const plan = planSecondAttempt({ position, profile: trade.profile, freshPrice, filledQuantity });
  if (!plan.ok) return `no second attempt: ${plan.denial.reason}`;
  await insertSecond(work, {
    price: plan.entryPrice,
    quantity: plan.assetQuantity,
    state: 'planned',
    text: `Attempt 2 planned: ${plan.assetQuantity} ${trade.token} at ${plan.entryPrice}, fresh price ${freshPrice}`,
  });
  return null;
}

async function insertSecond(
  work: TradeWork,
  second: Pick<AttemptRow, 'price' | 'quantity' | 'state'> & { submittedAt?: Date; text: string },
): Promise<void> {
  const { deps, trade } = work;
  const { text, ...attempt } = second;
  await underLease(work, async (tx) => {
    await tx.insert(orderAttempts).values({
      id: timeOrderedId(),
      tradeId: trade.id,
      attempt: 2,
      clientOrderId: clientOrderId(trade.id, 2),
      ...attempt,
    });
    await addTimeline(tx, { tradeId: trade.id, at: deps.clock.now(), text });
  });
}

/** I4: closes a filled position without a stop at market; the trade fails with that reason. */
export async function startClosing(work: TradeWork): Promise<StepResult> {
  const { deps, trade } = work;
  const text = 'The position has no stop loss: closing it at market';
  await underLease(work, async (tx) => {
    await tx.update(trades).set({ state: 'closing' }).where(eq(trades.id, trade.id));
    await addTimeline(tx, { tradeId: trade.id, at: deps.clock.now(), text });
  });
  return goOn;
}

/** The exchange shows nothing left of the unprotected position. */
export async function endClosed(work: TradeWork): Promise<StepResult> {
  const { trade, attempts } = work;
  const closed = { protectionStatus: 'closed' as const, unprotectedSince: null };
  // The trade was done before its stop was lost: its outcome stays.
  if (trade.completedAt !== null) {
    const { success, fillStatus } = trade;
    const error =
      'The stop loss was lost and could not be placed again, so the position was closed at market';
    return writeEnd(work, { ...closed, success, fillStatus, error });
  }
  const { fillStatus } = tradeOutcome(attempts);
  const error = 'The stop loss could not be placed, so the position was closed at market';
  return writeEnd(work, { ...closed, success: false, fillStatus, error });
}

export async function finishTrade(
  work: TradeWork,
  whyNoSecond: string | null,
  /** The protection found, recorded with the trade's end. */
  safe: SafeFinding | null = null,
): Promise<StepResult> {
  const { attempts } = work;
  const { success, fillStatus } = tradeOutcome(attempts);
  const error = success ? null : describeFailure(attempts, whyNoSecond);
  return writeEnd(work, { success, fillStatus, error }, { note: success ? whyNoSecond : null, safe });
}

function describeFailure(attempts: AttemptRow[], whyNoSecond: string | null): string {
  const last = attempts.at(-1);
  const ownError = last?.state === 'refused' || last?.state === 'never_placed' ? last.error : null;
  const why = whyNoSecond === null ? '' : `; ${whyNoSecond}`;
  if (ownError !== null) return `${ownError}${why}`;
  if (last?.state === 'never_placed') return `The order never reached the exchange${why}`;
  return `The order was not filled after ${attempts.length === 1 ? 'one attempt' : 'two attempts'}${why}`;
}

async function writeEnd(
  work: TradeWork,
  end: Pick<
    typeof trades.$inferInsert,
    'success' | 'fillStatus' | 'error' | 'protectionStatus' | 'unprotectedSince'
  >,
  { note, safe }: { note: string | null; safe: SafeFinding | null } = { note: null, safe: null },
): Promise<StepResult> {
  const { deps, lease, trade, attempts } = work;
  const now = deps.clock.now();
  const filledQuantity = sumFilled(attempts);
  const averagePrice = averageOf(attempts);
  const fee = sumFees(attempts);
  const orderId = attempts.findLast((one) => one.orderId !== null)?.orderId ?? null;
  const { token } = trade;
  const isClosed = end.protectionStatus === 'closed';
  const filled = `Done: filled ${filledQuantity} ${token} at ${averagePrice ?? 'an unknown price'}`;
  const ended = `${isClosed ? 'Closed' : 'Failed'}: ${end.error ?? 'no reason given'}`;
  const text = end.success && !isClosed ? `${filled}${note === null ? '' : `; ${note}`}` : ended;
  const write = async (tx: Tx): Promise<void> => {
    await together(
      assertHeld(tx, lease),
      tx
        .update(trades)
        .set({
          ...(safe === null ? {} : safetyOf(work, safe)),
          ...end,
          state: 'done',
          orderId,
          filledQuantity,
          averagePrice,
          fee,
          exchangeResponse: isPositive(filledQuantity)
            ? { symbol: `${token}USDT`, priceAvg: averagePrice, size: filledQuantity, side: trade.side, fee }
            : null,
          completedAt: trade.completedAt ?? now,
          dueAt: null,
        })
        .where(eq(trades.id, trade.id))
        .execute(),
      safe === null ? undefined : newsOfSafety(work, safe, now)?.addLine(tx),
      safe === null ? undefined : endDoubt(work, tx, safe.text),
      addTimeline(tx, { tradeId: trade.id, at: now, text }),
      isClosed ? endDoubt(work, tx, 'The position is closed') : undefined,
    );
  };
  await writeWithWorkflow(work, write);
  return { next: 'never' };
}

/** Commits the trade's end together with its user's part of the workflow, and releases the lease. */
async function writeWithWorkflow(
  { deps, lease, trade: { id: tradeId, workflowId, userId } }: TradeWork,
  write: (tx: Tx) => Promise<void>,
): Promise<void> {
  const transact = (work: (tx: Tx) => Promise<unknown>) =>
    withLastTransaction(deps.db, lease, async (tx) => ({ isLast: true, result: await work(tx) }));
  if (workflowId === null) return void (await transact(write));
  try {
    await transact((tx) => together(write(tx), deps.onTradeEnd(deps, tx, { workflowId, userId })));
  } catch (error) {
    if (error instanceof LeaseLostError || isDatabaseUnavailable(error)) throw error;
    // A broken workflow must not keep the trade open: a job for the user tries again.
    deps.log.error({ err: error, tradeId, workflowId }, 'the workflow could not record the end of a trade');
    await transact(async (tx) => {
      await write(tx);
      await deps.jobs.send(tx, 'trade-user', { workflowId, userId });
    });
  }
}

export function sumFilled(attempts: readonly Pick<AttemptRow, 'filledQuantity'>[]): string {
  return toPlain(attempts.reduce((sum, { filledQuantity }) => sum.plus(filledQuantity), D(0)));
}

function averageOf(attempts: readonly AttemptRow[]): string | null {
  const filled = attempts.filter((one) => isPositive(one.filledQuantity) && one.averagePrice !== null);
  if (filled.length === 0) return null;
  const value = filled.reduce(
    (sum, one) => sum.plus(D(one.filledQuantity).times(one.averagePrice ?? 0)),
    D(0),
  );
  return toPlain(value.div(sumFilled(filled)).toSignificantDigits(15));
}

function sumFees(attempts: readonly AttemptRow[]): string | null {
  const fees = attempts.flatMap(({ fee }) => (fee === null ? [] : [fee]));
  return fees.length === 0 ? null : toPlain(fees.reduce((sum, fee) => sum.plus(fee), D(0)));
}
