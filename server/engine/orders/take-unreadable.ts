import { D } from '#domain/decimal.ts';
import { type AdoptedFill, surplusOf } from '#domain/orders/surplus.ts';
import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { findLastAnswerAt } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import { isOfTrade } from './check-protection.ts';
import {
  type Asked,
  DOUBT_WAIT_MS,
  newsOfDoubt,
  UNCLEAR_WAIT_MS,
  type Unreadable,
} from './look-up-attempt.ts';
import { AGREES_WITHIN_MS, adopt } from './take-found.ts';
import { later, record, type StepResult, type TradeWork } from './trade-work.ts';

/*
 * Look-ups whose answer is not the order that was sent, and look-ups without an answer.
 *  I6 nothing is concluded from such an answer, and nothing is sent for the order but its cancel.
 *  I7 after 90 s the order is in doubt: visible, and may be written off.
 */

/** Leaves the order in doubt when no look-up could be read for long; one of the other side is settled by its position. */
export async function takeUnreadable(work: TradeWork, found: Unreadable): Promise<StepResult> {
  const { deps, trade } = work;
  const elapsedMs = deps.clock.now().getTime() - waitedSince(work).getTime();
  // A position without its stop is closed within seconds (I4), so its order cannot be looked up for a minute.
  const isUrgent = trade.unprotectedSince !== null;
  if (found.isOtherSide && (elapsedMs >= AGREES_WITHIN_MS || isUrgent)) {
    const explained = await findExplained(work);
    if (explained !== null) return adopt(work, { report: null, ...explained });
  }
  if (elapsedMs < DOUBT_DEADLINE_MS) return later(work, UNCLEAR_WAIT_MS);
  return leaveUnread(
    work,
    `${trade.exchangePlatform} does not show the order in a way that can be read: ${found.problem}`,
  );
}

const UNANSWERED: Record<Asked, string> = {
  'find-order': `has answered no look-up of the order for ${DOUBT_DEADLINE_MS / 1_000} seconds`,
  'open-orders': 'does not know the order, and its open orders cannot be read',
  positions: 'does not know the order, and its position cannot be read',
};

/**
 * The exchange did not answer, or not what can be read. Leaves the order in doubt after a while: of look-ups only when
 * none was answered for long. 'Not found' is no proof without the position, as look-ups may lag behind and exchanges
 * forget orders. A doubt of another reason stays.
 */
export async function takeUnreachable(
  work: TradeWork,
  { waitMs, asked }: { waitMs: number; asked: Asked },
): Promise<StepResult> {
  const { account, attempt, deps, trade } = work;
  // Without an account nothing was asked, and the order is shown with that reason.
  if (account === null) return later(work, waitMs);
  if (attempt.doubt !== null) return later(work, DOUBT_WAIT_MS);
  const isLong = (since: Date) => hasElapsed({ since, ms: DOUBT_DEADLINE_MS, now: deps.clock.now() });
  if (!isLong(waitedSince(work))) return later(work, waitMs);
  if (asked === 'find-order') {
    const answeredAt = await findLastAnswerAt(deps.db, { tradeId: trade.id, type: asked });
    if (answeredAt !== null && !isLong(answeredAt)) return later(work, waitMs);
  }
  return leaveUnread(work, `${trade.exchangePlatform} ${UNANSWERED[asked]}`);
}

async function leaveUnread(work: TradeWork, doubt: string): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  if (attempt.doubt !== doubt) {
    await record(work, {
      event: 'found_unclear',
      lines: [`Attempt ${attempt.attempt}: in doubt: ${doubt}`],
      attempt: { doubt },
      notices: newsOfDoubt(work, doubt),
    });
    deps.log.warn({ tradeId: trade.id, userId: trade.userId, reason: doubt }, 'an order stays in doubt');
  }
  return later(work, DOUBT_WAIT_MS);
}

/** From when on the order should have been read: its sending, the end of its wait, or its first cancel. */
const waitedSince = ({ attempt, trade }: TradeWork): Date =>
  (attempt.state === 'unknown' ? null : attempt.verifyAt) ?? attempt.submittedAt ?? trade.createdAt;

/**
 * The entry's fill where look-ups show an order of the other side, such as the stop that closed its position: what the
 * position holds, or held before it was closed, if nothing of the order is open. Null while that explains no fill.
 */
async function findExplained(work: TradeWork): Promise<{ adopted: AdoptedFill; text: string } | null> {
  const { account, attempt, exchange, onCall, trade } = work;
  // Nobody looked whether the token was flat after an account was read ahead: the position may be the owner's.
  if (account === null || trade.accountReadAt !== null) return null;
  try {
    const open = await exchange.fetchOpenOrders(account, trade.token, { onCall });
    if (open.some(({ clientOrderId }) => clientOrderId === attempt.clientOrderId)) return null;
    const position = await exchange.fetchPosition(account, trade.token, { onCall });
    const isHeld = position !== null && isOfTrade(work, position);
    const shown = isHeld ? position : await findClosed(work);
    const adopted = shown === null ? null : fillOf(work, shown);
    if (shown === null || adopted === null) return null;
    const what = `${isHeld ? 'holds' : 'has closed'} a position of ${shown.quantity} ${trade.token}`;
    return { adopted, text: `${trade.exchangePlatform} shows an order of the other side, and ${what}` };
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}

/** The only position of the trade's side that was opened and closed since the trade was planned. */
async function findClosed({ account, exchange, onCall, trade }: TradeWork) {
  if (account === null) return null;
  const since = trade.createdAt;
  const history = await exchange.fetchClosedPositions(account, { since }, { onCall });
  const [closed, ...more] = history.filter(
    ({ token, side, openedAt }) =>
      token === trade.token && side === sideOpenedBy(trade.side) && openedAt >= since,
  );
  return more.length === 0 ? (closed ?? null) : null;
}

function fillOf(
  { attempt, attempts, trade: { side, protectedQuantity: seen } }: TradeWork,
  held: { quantity: string; entryPrice: string },
): AdoptedFill | null {
  const surplus = surplusOf({ side, attempts, held, seen });
  if (surplus !== null) return surplus.adopted;
  // The order was read earlier, and the position holds just that.
  const { filledQuantity, averagePrice } = attempt;
  const known = attempts.reduce((sum, one) => sum.plus(one.filledQuantity), D(0));
  return D(filledQuantity).gt(0) && known.eq(held.quantity) ? { filledQuantity, averagePrice } : null;
}
