import { D, isPositive } from '#domain/decimal.ts';
import { type AdoptedFill, type Surplus, surplusOf } from '#domain/orders/surplus.ts';
import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { isOfTrade } from './check-protection.ts';
import {
  DOUBT_WAIT_MS,
  type KnownReport,
  lookUpWaitMs,
  newsOfDoubt,
  recordFound,
  UNREACHABLE_WAIT_MS,
} from './look-up-attempt.ts';
import {
  later,
  nextNow,
  READ_FROM_POSITION,
  record,
  reported,
  type StepResult,
  type TradeWork,
} from './trade-work.ts';

/*
 * Exchanges answer look-ups from another service than positions, and the two agree some seconds later.
 *  I3, I6 an order ends with less than it ordered only when the position shows no more than the known fills. While it
 *    does, the order is read again, and nothing is ordered.
 */

/** After this time without agreement the position counts, if the order can explain it. */
export const AGREES_WITHIN_MS = 60_000;

/** Records what the exchange reports of the order, unless the position shows more than was filled. */
export async function takeFound(
  work: TradeWork,
  report: KnownReport,
  { text, verifyNext }: { text: string; verifyNext: Date },
): Promise<StepResult> {
  if (report.state === 'cancelled' && D(report.filledQuantity).lt(work.attempt.quantity)) {
    const position = await readPosition(work);
    if (position === 'unreachable') return waitForPosition(work, report);
    const surplus = findSurplus(work, report, position);
    if (surplus !== null) return holdBehind(work, report, surplus);
  }
  await recordFound(work, report, text, verifyNext);
  return nextNow;
}

async function readPosition({
  account,
  exchange,
  onCall,
  trade,
}: TradeWork): Promise<OpenPosition | null | 'unreachable'> {
  if (account === null) return 'unreachable';
  try {
    return await exchange.fetchPosition(account, trade.token, { onCall });
  } catch (error) {
    if (error instanceof ExchangeError) return 'unreachable';
    throw error;
  }
}

function findSurplus(work: TradeWork, report: KnownReport, position: OpenPosition | null): Surplus | null {
  const { attempt, attempts, trade } = work;
  const { filledQuantity, averagePrice } = report;
  const all = attempts.map((one) => (one.id === attempt.id ? { ...one, filledQuantity, averagePrice } : one));
  const held = position !== null && isOfTrade(work, position) ? position : null;
  const surplus = surplusOf({ side: trade.side, attempts: all, held, seen: trade.protectedQuantity });
  if (surplus !== null) return surplus;
  const isKnown = all.some((one) => isPositive(one.filledQuantity));
  // A position was seen without its stop, in a size that is not known any more.
  const wasSeen = !isKnown && held === null && trade.protectionStatus !== null;
  return wasSeen ? { known: '0', shown: '', isHeld: false, adopted: null } : null;
}

/** The position shows more than the order's report: reads the order again, then adopts the rest or leaves a doubt. */
async function holdBehind(work: TradeWork, report: KnownReport, surplus: Surplus): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  const now = deps.clock.now();
  const since = attempt.finishedAt ?? now;
  const isLong = now.getTime() - since.getTime() >= AGREES_WITHIN_MS;
  // A position without its stop is closed within seconds (I4), so its order cannot be read for a minute.
  const isUrgent = trade.unprotectedSince !== null;
  // Nobody looked whether the token was flat after an account was read ahead: the rest may be the owner's.
  const adopted = trade.accountReadAt === null ? surplus.adopted : null;
  const text = textOf(work, report, surplus);
  if (adopted !== null && (isLong || isUrgent)) return adopt(work, { report, adopted, text });
  return hold(work, report, { since, doubt: isLong ? text : null, text });
}

/** Without the position nothing is concluded. */
function waitForPosition(work: TradeWork, report: KnownReport): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  const now = deps.clock.now();
  const sentAt = attempt.submittedAt ?? trade.createdAt;
  const isLong = now.getTime() - sentAt.getTime() >= DOUBT_DEADLINE_MS;
  const text = `${trade.exchangePlatform} shows the order as ended with ${report.filledQuantity} filled, and its position cannot be read`;
  return hold(work, report, { since: attempt.finishedAt ?? now, doubt: isLong ? text : null, text });
}

async function hold(
  work: TradeWork,
  report: KnownReport,
  { since, doubt, text }: { since: Date; doubt: string | null; text: string },
): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  const lookupMisses = attempt.lookupMisses + 1;
  const isNews =
    attempt.finishedAt === null ||
    attempt.doubt !== doubt ||
    !D(attempt.filledQuantity).eq(report.filledQuantity);
  if (isNews || doubt === null) {
    const line = `Attempt ${attempt.attempt}: ${doubt === null ? '' : 'in doubt: '}${text}`;
    await record(work, {
      event: 'found_unclear',
      lines: isNews ? [line] : [],
      attempt: { ...reported(report), finishedAt: since, lookupMisses, doubt },
      ...(doubt === null ? {} : { notices: newsOfDoubt(work, doubt) }),
    });
  }
  if (isNews && doubt !== null) {
    deps.log.warn({ tradeId: trade.id, userId: trade.userId, reason: doubt }, 'an order stays in doubt');
  }
  if (doubt !== null) return later(work, DOUBT_WAIT_MS);
  return later(work, Math.max(lookUpWaitMs(lookupMisses), UNREACHABLE_WAIT_MS));
}

/** The position is the proof: the order has ended and left as much open as the position holds beyond the known fills. */
export async function adopt(
  work: TradeWork,
  { report, adopted, text }: { report: KnownReport | null; adopted: AdoptedFill; text: string },
): Promise<StepResult> {
  const { attempt, deps } = work;
  const { filledQuantity } = adopted;
  await record(work, {
    event: D(filledQuantity).eq(attempt.quantity) ? 'found_filled' : 'found_closed_unfilled',
    lines: [`Attempt ${attempt.attempt}: ${text}: ${filledQuantity} of it counted as filled`],
    // The report's fee is that of a smaller fill.
    attempt: {
      ...(report === null ? {} : reported(report)),
      ...adopted,
      fee: null,
      doubt: null,
      error: READ_FROM_POSITION,
      finishedAt: deps.clock.now(),
    },
  });
  return nextNow;
}

function textOf(
  { attempts, attempt, trade: { exchangePlatform, token } }: TradeWork,
  { filledQuantity }: KnownReport,
  { known, shown, isHeld }: Surplus,
): string {
  const order = `${exchangePlatform} shows ${filledQuantity} filled`;
  const isOnly = attempts.every((one) => one.id === attempt.id);
  const all = isOnly ? order : `${order}, ${known} with the order before`;
  if (shown === '') return `${all}, but has shown a position in ${token}`;
  return `${all}, but ${isHeld ? 'holds' : 'has shown'} a position of ${shown} ${token}`;
}
