import { D, isPositive, toPlain } from '#domain/decimal.ts';
import { tradeOutcome } from '#domain/orders/order-lifecycle.ts';
import { planSecondAttempt } from '#domain/orders/second-attempt.ts';
import { denyHalted } from '#domain/orders/trading-halt.ts';
import { denyStopped } from '#domain/orders/trading-stop.ts';
import { FLATTEN_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { isSignalExpired } from '#domain/workflow/workflow-lifecycle.ts';
import { findHalt } from '#server/admin/halts/trading-halts.store.ts';
import { findTradeStop } from '#server/admin/stops/trading-stops.store.ts';
import { denyClosedSince, listNewerCloses } from '#server/engine/records/newer-closes.ts';
import { type AttemptRow, newAttempt, type TradeRow } from '#server/engine/records/trades.store.ts';
import { endedStep, processorName, userStep } from '#server/engine/records/workflow-steps.store.ts';
import { readLivePrice } from '#server/engine/sizing/generate-position.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import { denyClock } from '#server/exchanges/exchange-clock.ts';
import type { AuditRecord } from '#server/platform/audit/audit-trail.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { LeaseLostError } from '#server/platform/jobs/leases.ts';
import { haltOnSurplus } from './account-reading.ts';
import { clientOrderId } from './client-order-id.ts';
import { PROTECTION_RETRY_MS, protectPosition } from './protect-position.ts';
import type { ProvenFill } from './proven-fill.ts';
import { newsOfSafety, positionOf, recordSafe, type SafeFinding, safetyOf } from './record-protection.ts';
import {
  later,
  nextNow,
  READ_FROM_POSITION,
  record,
  type StepResult,
  type TradeChange,
  type TradeChanges,
  type TradeWork,
} from './trade-work.ts';

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
    await haltOnSurplus(work, { filled, safe });
  }
  const mayTryAgain =
    attempt.attempt === 1 &&
    (attempt.state === 'unfilled' || (attempt.state === 'never_placed' && attempt.submittedAt !== null));
  if (!mayTryAgain) return finishTrade(work, null, safe);
  if (attempt.error === READ_FROM_POSITION) {
    return finishTrade(work, `no second attempt: ${READ_FROM_POSITION}`, safe);
  }
  if (safe !== null) await recordSafe(work, safe);
  const planned = await planSecond(work, filled);
  return planned === null ? nextNow : finishTrade(work, planned);
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
  const stop = await findTradeStop(deps, trade);
  if (stop !== null) return `no second attempt: ${denyStopped(stop).reason}`;
  const closes = trade.workflowId === null ? [] : await listNewerCloses(deps.db, [trade.workflowId]);
  const closedSince = denyClosedSince(closes, { ...trade, scope: deps.config.exitScope });
  if (closedSince !== null) return `no second attempt: ${closedSince.reason}`;
  const apart = denyClock(exchange);
  if (apart !== null) return `no second attempt: ${apart.reason}`;
  const log = await findPositionGeneratorLog(deps.db, trade.positionGeneratorLogId);
  if (log?.position == null) throw new Error(`trade ${trade.id} has no calculation`);
  const freshPrice = await readLivePrice(deps, exchange, trade, trade.userId);
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
  const { trade } = work;
  const { text, submittedAt = null, ...attempt } = second;
  await record(work, {
    newAttempt: newAttempt({
      id: timeOrderedId(),
      tradeId: trade.id,
      attempt: 2,
      clientOrderId: clientOrderId(trade.id, 2),
      submittedAt,
      ...attempt,
    }),
    lines: [text],
  });
}

/** I4: closes a filled position without a stop at market; the trade fails with that reason. */
export async function startClosing(work: TradeWork): Promise<StepResult> {
  await record(work, {
    trade: { state: 'closing' },
    lines: ['The position has no stop loss: closing it at market'],
  });
  return nextNow;
}

/** The exchange shows nothing left of the unprotected position. */
export async function endClosed(work: TradeWork, audit?: AuditRecord): Promise<StepResult> {
  const { trade, attempts } = work;
  const closed = { protectionStatus: 'closed' as const, unprotectedSince: null };
  // The trade was done before its stop was lost: its outcome stays.
  if (trade.completedAt !== null) {
    const { success, fillStatus } = trade;
    const error =
      'The stop loss was lost and could not be placed again, so the position was closed at market';
    return writeEnd(work, { ...closed, success, fillStatus, error }, { audit });
  }
  const { fillStatus } = tradeOutcome(attempts);
  const error = 'The stop loss could not be placed, so the position was closed at market';
  return writeEnd(work, { ...closed, success: false, fillStatus, error }, { audit });
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

/** One reading has proven fill and protection: the attempt and its trade end together. */
export async function finishFilled(work: TradeWork, proven: ProvenFill): Promise<StepResult> {
  const end = { success: true, fillStatus: 'filled' as const, error: null };
  return writeEnd(work, end, { proven, safe: proven.safe });
}

function describeFailure(attempts: AttemptRow[], whyNoSecond: string | null): string {
  const last = attempts.at(-1);
  const ownError = last?.state === 'refused' || last?.state === 'never_placed' ? last.error : null;
  const why = whyNoSecond === null ? '' : `; ${whyNoSecond}`;
  if (ownError !== null) return `${ownError}${why}`;
  if (last?.state === 'never_placed') return `The order never reached the exchange${why}`;
  return `The order was not filled after ${attempts.length === 1 ? 'one attempt' : 'two attempts'}${why}`;
}

/** A done trade as the result of its user's part of the workflow. */
export const resultOf = (trade: TradeRow) => ({
  outcome: trade.success === true ? ('success' as const) : ('failed' as const),
  outputData: {
    tradeId: trade.id,
    orderId: trade.orderId,
    fillStatus: trade.fillStatus,
    filledQuantity: trade.filledQuantity,
    averagePrice: trade.averagePrice,
    fee: trade.fee,
    protection: trade.protectionStatus,
  },
  errorMessage: trade.success === true ? null : (trade.error ?? 'The order failed'),
});

type End = Pick<TradeRow, 'success' | 'fillStatus' | 'error'> &
  Partial<Pick<TradeRow, 'protectionStatus' | 'unprotectedSince'>>;

/** Commits the trade's end together with its user's part of the workflow, and releases the lease. */
async function writeEnd(
  work: TradeWork,
  end: End,
  {
    note = null,
    safe = null,
    proven = null,
    audit,
  }: {
    note?: string | null;
    safe?: SafeFinding | null;
    /** Of the last attempt, which ends with its trade. */
    proven?: ProvenFill | null;
    audit?: AuditRecord | undefined;
  },
): Promise<StepResult> {
  const { deps, trade, attempt } = work;
  const fill = proven?.fill ?? null;
  const attempts = work.attempts.map((one) => (one.id === attempt.id ? { ...one, ...fill } : one));
  const now = deps.clock.now();
  const filledQuantity = sumFilled(attempts);
  const averagePrice = averageOf(attempts);
  const fee = sumFees(attempts);
  const { token } = trade;
  const isClosed = end.protectionStatus === 'closed';
  const filled = `Done: filled ${filledQuantity} ${token} at ${averagePrice ?? 'an unknown price'}`;
  const ended = `${isClosed ? 'Closed' : 'Failed'}: ${end.error ?? 'no reason given'}`;
  const text = end.success && !isClosed ? `${filled}${note === null ? '' : `; ${note}`}` : ended;
  const changes: TradeChanges = {
    ...(safe === null ? {} : safetyOf(work, safe)),
    ...end,
    state: 'done',
    orderId: attempts.findLast((one) => one.orderId !== null)?.orderId ?? null,
    filledQuantity,
    averagePrice,
    fee,
    exchangeResponse: isPositive(filledQuantity)
      ? { symbol: `${token}USDT`, priceAvg: averagePrice, size: filledQuantity, side: trade.side, fee }
      : null,
    completedAt: trade.completedAt ?? now,
    dueAt: null,
  };
  const fillText =
    proven === null
      ? null
      : `Attempt ${attempt.attempt}: filled ${proven.fill.filledQuantity} at ${proven.fill.averagePrice}, as the ${proven.shownBy} shows`;
  const safeText = safe === null ? null : newsOfSafety(work, safe);
  const how = isClosed ? 'The position is closed' : safe?.text;
  const change: TradeChange = {
    trade: changes,
    lines: [fillText, safeText, text].filter((line) => line !== null),
    ...(fill === null
      ? {}
      : { event: 'found_filled' as const, attempt: { ...fill, doubt: null, finishedAt: now } }),
    ...(how === undefined ? {} : { clears: { ...positionOf(work), how } }),
    releases: true,
    ...(audit === undefined ? {} : { audit }),
    mayWait: true,
  };
  await recordWithUserEnd(work, change, { ...trade, ...changes });
  return { next: 'never' };
}

async function recordWithUserEnd(work: TradeWork, change: TradeChange, ended: TradeRow): Promise<void> {
  const { deps, trade, position } = work;
  const { workflowId, userId } = trade;
  if (workflowId === null) {
    // A closing after the trade was done is told as the end of its position.
    const isEnd = work.trade.completedAt === null;
    const notices = isEnd
      ? [{ code: 'trade_ended' as const, userId, tradeId: trade.id, at: deps.clock.now() }]
      : [];
    await record(work, { ...change, notices });
    return;
  }
  const calls = { workflowId, userId };
  // The workflow has not come that far.
  if (position === null) {
    await record(work, { ...change, calls });
    return;
  }
  const at = deps.clock.now();
  const { outcome, ...result } = resultOf(ended);
  const step = userStep(
    'order_submission',
    { workflowId, userId, position },
    { inputData: null, processorName: processorName(deps), at },
  );
  const steps = [endedStep(step, { ...result, status: outcome === 'success' ? 'completed' : 'failed', at })];
  try {
    await record(work, { ...change, steps, userEnd: { workflowId, userId, outcome, orCall: true } });
  } catch (error) {
    if (error instanceof LeaseLostError || isDatabaseUnavailable(error)) throw error;
    // A broken workflow must not keep the trade open: a job for the user tries again.
    deps.log.error(
      { err: error, tradeId: trade.id, workflowId },
      'the workflow could not record the end of a trade',
    );
    await record(work, { ...change, calls });
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
