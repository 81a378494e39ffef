import { D } from '#domain/decimal.ts';
import { plannedProtection, targetText } from '#domain/orders/protection.ts';
import { isWithinLimits } from '#domain/orders/surplus.ts';
import type { AttemptRow } from '#server/engine/records/trades.store.ts';
import {
  asExchangeError,
  type CallPriority,
  ExchangeError,
  type OrderReport,
  type Protection,
} from '#server/exchanges/exchange.ts';
import type { Finding } from './check-protection.ts';
import type { SafeFinding } from './record-protection.ts';
import { record, type TradeWork } from './trade-work.ts';

/** A whole fill that one reading proves, with what it shows of its protection. */
export interface ProvenFill {
  /** Fee and report are the order's own: null where the position proves the fill, so that the order is looked up later. */
  fill: Pick<AttemptRow, 'filledQuantity' | 'averagePrice' | 'fee' | 'raw'>;
  shownBy: 'position' | 'order';
  safe: SafeFinding;
}

/**
 * Whether the position shows what was ordered, whole: its size, an entry price within the order's limit, its stop and its
 * target. No order of that size can fill more, so it has ended (I3, I6), and its stop was read back (I4): it need not be
 * looked up now. Only for a first order that was accepted and is in no doubt. Null: it is looked up.
 */
export function provenFill(work: TradeWork, finding: Finding): ProvenFill | null {
  const { attempt } = work;
  if (!mayBeProven(work)) return null;
  if (finding.found !== 'protected' || finding.holding === undefined) return null;
  const { position, protection } = finding.holding;
  const isAsOrdered =
    D(position.quantity).eq(attempt.quantity) &&
    isWithinLimit(work, position.entryPrice) &&
    isAsPlanned(work, protection);
  if (!isAsOrdered) return null;
  const { quantity: filledQuantity } = attempt;
  const fill = { filledQuantity, averagePrice: position.entryPrice, fee: null, raw: null };
  return { fill, shownBy: 'position', safe: finding };
}

/**
 * The same by the order itself and the stops, where positions show none: the order has ended filled (I3, I6), its stop was
 * read back after it (I4), and its fee is known. Once for each order: one that rests is followed by its position. Not
 * after a reading ahead, whose surplus only the position shows.
 */
export async function readProvenFill(work: TradeWork, priority: CallPriority): Promise<ProvenFill | null> {
  const { account, attempt, exchange, onCall, trade } = work;
  if (account === null || !mayBeProven(work)) return null;
  if (attempt.raw !== null || trade.accountReadAt !== null) return null;
  const { clientOrderId } = attempt;
  const order = { token: trade.token, clientOrderId };
  const found = await exchange.fetchFill(account, order, { onCall, priority }).catch(asExchangeError);
  if (found === null || found instanceof ExchangeError) return null;
  const { report, protection } = found;
  const fill = protection === null ? null : wholeFillOf(work, report);
  if (fill === null || protection === null || !isAsPlanned(work, protection)) {
    await record(work, { attempt: { raw: report.raw ?? {} } });
    return null;
  }
  const text = `Protection read back: stop ${protection.stopLoss}, target ${targetText(protection)}`;
  const safe = { found: 'protected' as const, status: 'verified' as const, quantity: attempt.quantity, text };
  return { fill, shownBy: 'order', safe };
}

function mayBeProven({ trade, attempts, attempt }: TradeWork): boolean {
  if (attempts.length > 1 || attempt.state !== 'open' || attempt.doubt !== null) return false;
  return trade.restoredAt === null && trade.unprotectedSince === null;
}

function wholeFillOf(work: TradeWork, report: OrderReport): ProvenFill['fill'] | null {
  const { attempt, trade } = work;
  const { filledQuantity, averagePrice, fee, raw } = report;
  const isWhole =
    report.state === 'filled' &&
    report.side === trade.side &&
    D(report.quantity).eq(attempt.quantity) &&
    D(filledQuantity).eq(attempt.quantity);
  if (!isWhole || averagePrice === null || !isWithinLimit(work, averagePrice)) return null;
  return { filledQuantity, averagePrice, fee, raw: raw ?? {} };
}

const isWithinLimit = ({ trade, attempts }: TradeWork, price: string): boolean =>
  isWithinLimits(trade.side, price, attempts);

function isAsPlanned({ trade }: TradeWork, { stopLoss, takeProfit }: Protection): boolean {
  const planned = plannedProtection(trade);
  return isSame(stopLoss, planned.stopLoss) && isSame(takeProfit, planned.takeProfit);
}

const isSame = (shown: string | null, planned: string | null): boolean =>
  shown !== null && planned !== null && D(shown).eq(planned);
