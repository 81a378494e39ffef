import { D, isPositive } from '#domain/decimal.ts';
import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import {
  type CallPriority,
  ExchangeError,
  type OrderMemory,
  type OrderReport,
  UNREADABLE,
} from '#server/exchanges/exchange.ts';
import type { NoticeEvent } from '#server/platform/notices/note-event.ts';
import { sumFilled } from './settle-attempt.ts';
import { later, record, reported, type StepResult, type TradeWork } from './trade-work.ts';

/*
 * Looking orders up, those that no answer settles included.
 *  I2, I6 nothing is sent for an order in doubt: it is looked up until an answer settles it.
 *  I7 an administrator sees why an order stays in doubt, and may write it off.
 */

const LOOK_UP_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
export const UNREACHABLE_WAIT_MS = 2_000;

/** Grows with every miss to spare the user's request limit. */
export const lookUpWaitMs = (misses: number): number =>
  LOOK_UP_WAITS_MS[misses - 1] ?? LOOK_UP_WAITS_MS.at(-1) ?? 0;

/** An answer that is not the order that was sent: nothing is concluded from it. */
export interface Unreadable {
  /** A clause without a full stop. */
  problem: string;
  isOtherSide: boolean;
}
export const isUnreadable = (found: OrderReport | Unreadable): found is Unreadable => 'problem' in found;

/** The answer does not matter: the order is read afterwards. Safe to repeat. */
export async function sendCancel({
  account,
  exchange,
  trade,
  attempt,
  onCall,
}: Pick<TradeWork, 'account' | 'exchange' | 'trade' | 'attempt' | 'onCall'>): Promise<void> {
  if (account === null) return;
  const order = { token: trade.token, clientOrderId: attempt.clientOrderId };
  try {
    await exchange.cancelOrder(account, order, { onCall });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
  }
}

/** 'unreachable' when the exchange gave no answer: nothing is concluded. */
export async function findReport(
  work: TradeWork,
  { priority = 'look-up' }: { priority?: CallPriority } = {},
): Promise<OrderReport | Unreadable | null | 'unreachable'> {
  const { account, exchange, trade, attempt, onCall } = work;
  if (account === null) return 'unreachable';
  try {
    const report = await exchange.findOrder(
      account,
      { token: trade.token, clientOrderId: attempt.clientOrderId },
      { onCall, priority },
    );
    if (report === null) return null;
    // A stop attached to the entry may close the position under the entry's id: that order is not the entry.
    if (report.side !== trade.side) return { problem: 'it is an order of the other side', isOtherSide: true };
    const problem = contradictionOf(work, report);
    return problem === null ? report : { problem, isOtherSide: false };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return isAnsweredUnreadable(error) ? { problem: error.message, isOtherSide: false } : 'unreachable';
  }
}

/** The same question gets the same answer: without a doubt it would be asked for good. */
export const isAnsweredUnreadable = ({ code, kind }: ExchangeError): boolean =>
  code === UNREADABLE || kind === 'refused';

/** Why the report cannot be the order that was sent; null when it can. */
function contradictionOf({ attempt, trade }: TradeWork, report: OrderReport): string | null {
  const { quantity, filledQuantity, state } = report;
  // After a restore of the database only the most that a second attempt may have ordered is known.
  const isExact = attempt.attempt === 1 || trade.restoredAt === null;
  const isOrdered = isExact ? D(quantity).eq(attempt.quantity) : D(quantity).lte(attempt.quantity);
  if (!isOrdered) return `it is an order of ${quantity}, and ${attempt.quantity} was ordered`;
  if (D(filledQuantity).gt(quantity)) return `${filledQuantity} of ${quantity} is filled`;
  return state === 'filled' && D(filledQuantity).lt(quantity)
    ? `it is filled, with ${filledQuantity} of ${quantity}`
    : null;
}

/** A found order in a known state. */
export type KnownReport = OrderReport & { state: Exclude<OrderReport['state'], 'unknown'> };
export const isKnown = (report: OrderReport): report is KnownReport => report.state !== 'unknown';

/** Records what the exchange reports of the order. */
export async function recordFound(
  work: TradeWork,
  report: KnownReport,
  text: string,
  verifyNext: Date,
): Promise<void> {
  const found = { ...reported(report), doubt: null };
  const finishedAt = work.deps.clock.now();
  switch (report.state) {
    case 'open':
    case 'partially-filled':
      await record(work, {
        event: 'found_open',
        lines: [`${text}: open, ${report.filledQuantity} filled`],
        attempt: { ...found, verifyAt: verifyNext, finishedAt: null },
      });
      return;
    case 'filled':
      await record(work, {
        event: 'found_filled',
        lines: [`${text}: filled ${report.filledQuantity} at ${report.averagePrice ?? 'an unknown price'}`],
        attempt: { ...found, finishedAt },
        mayWait: true,
      });
      return;
    case 'cancelled':
      await record(work, {
        event: 'found_closed_unfilled',
        lines: [`${text}: closed with ${report.filledQuantity} filled`],
        attempt: { ...found, finishedAt },
      });
      return;
  }
}

export const UNCLEAR_WAIT_MS = 2_000;
/** How often a long-standing doubt is looked up. */
export const DOUBT_WAIT_MS = 30_000;

/** The exchange reports an unknown state: it knows the order, so the look-up counts no miss. */
export async function holdUnclear(work: TradeWork, report: OrderReport): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  const since = attempt.submittedAt ?? trade.createdAt;
  const isLong = deps.clock.now().getTime() - since.getTime() >= DOUBT_DEADLINE_MS;
  const text = `${trade.exchangePlatform} names the order in a state that is not known here`;
  const doubt = isLong ? text : null;
  const isNews =
    attempt.orderId !== report.orderId ||
    attempt.doubt !== doubt ||
    !D(attempt.filledQuantity).eq(report.filledQuantity);
  if (isNews) {
    await record(work, {
      event: 'found_unclear',
      lines: [`Attempt ${attempt.attempt}: ${isLong ? 'in doubt: ' : ''}${text}`],
      attempt: { ...reported(report), doubt },
      ...(doubt === null ? {} : { notices: newsOfDoubt(work, doubt) }),
    });
  }
  return later(work, isLong ? DOUBT_WAIT_MS : UNCLEAR_WAIT_MS);
}

/** The order is not found but may exist. */
export async function leaveInDoubt(
  work: TradeWork,
  { doubt, misses }: { doubt: string; misses: number },
): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  if (attempt.doubt !== doubt) {
    await record(work, {
      event: 'lookup_missed',
      lines: [`Attempt ${attempt.attempt}: in doubt: ${doubt}`],
      attempt: { doubt, lookupMisses: misses },
      notices: newsOfDoubt(work, doubt),
    });
    deps.log.warn({ tradeId: trade.id, userId: trade.userId, reason: doubt }, 'an order stays in doubt');
  }
  return later(work, DOUBT_WAIT_MS);
}

/** Told when an order comes into doubt, not with every further reason. */
export const newsOfDoubt = ({ attempt, deps, trade }: TradeWork, reason: string): NoticeEvent[] =>
  attempt.doubt === null
    ? [
        {
          code: 'order_in_doubt',
          userId: trade.userId,
          tradeId: trade.id,
          data: { reason },
          at: deps.clock.now(),
        },
      ]
    : [];

/** `open`: among the open orders. `doubt`: why it may have filled. `unreachable`: what the exchange did not answer. */
type Trace =
  | { trace: 'none' | 'open' }
  | { trace: 'unreachable'; asked: Asked }
  | { trace: 'doubt'; doubt: string };

/** What an exchange is asked about an order, by the type of the call. */
export type Asked = 'find-order' | 'open-orders' | 'positions';

/**
 * Looks for traces of an order that the exchange does not know (I3, I6): 'not found' is no proof. A position larger
 * than the trade's known fills may come from this order, and exchanges forget old orders. `isAccepted`: the exchange
 * confirmed the order earlier.
 */
export async function findTrace(work: TradeWork, { isAccepted }: { isAccepted: boolean }): Promise<Trace> {
  const { account, attempt, deps, exchange, onCall, trade } = work;
  let asked: Asked = 'positions';
  if (account === null) return { trace: 'unreachable', asked };
  const { platform, orderMemory } = exchange;
  const memoryMs = memoryOf(orderMemory, isAccepted);
  // Counted from planning: after a restore of the database the time of sending is unknown.
  if (deps.clock.now().getTime() - trade.createdAt.getTime() > memoryMs) {
    const hours = memoryMs / 3_600_000;
    return inDoubt(`${platform} does not know the order, and remembers orders for ${hours} hours only`);
  }
  try {
    if (isAccepted) {
      asked = 'open-orders';
      const open = await exchange.fetchOpenOrders(account, trade.token, { onCall });
      if (open.some(({ clientOrderId }) => clientOrderId === attempt.clientOrderId)) return { trace: 'open' };
    }
    asked = 'positions';
    const position = await exchange.fetchPosition(account, trade.token, { onCall });
    const held =
      position !== null && position.side === sideOpenedBy(work.trade.side) ? position.quantity : '0';
    const doubt = unaccounted(work, held);
    return doubt === null ? { trace: 'none' } : inDoubt(doubt);
  } catch (error) {
    if (error instanceof ExchangeError) return { trace: 'unreachable', asked };
    throw error;
  }
}

const inDoubt = (doubt: string): Trace => ({ trace: 'doubt', doubt });

/** For a confirmed order only a forgotten fill matters; for any other also a forgotten end without a fill. */
const memoryOf = ({ withFillsMs, withoutFillsMs }: OrderMemory, isAccepted: boolean): number =>
  isAccepted ? withFillsMs : withoutFillsMs;

/** Counts a position seen earlier: its stop may have closed it by now. */
function unaccounted({ attempts, exchange: { platform }, trade }: TradeWork, held: string): string | null {
  const { protectedQuantity, protectionStatus, token } = trade;
  const filled = sumFilled(attempts);
  const known = `, and only ${filled} of it is known to be filled`;
  if (D(held).gt(filled)) {
    return `${platform} does not know the order, but holds a position of ${held} ${token}${known}`;
  }
  const wasSeen = D(protectedQuantity ?? 0).gt(filled) || (!isPositive(filled) && protectionStatus !== null);
  return wasSeen ? `${platform} does not know the order, but has shown a position in ${token}${known}` : null;
}
