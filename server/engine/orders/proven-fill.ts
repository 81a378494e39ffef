import { D } from '#domain/decimal.ts';
import { plannedProtection } from '#domain/orders/protection.ts';
import { isWithinLimits } from '#domain/orders/surplus.ts';
import type { AttemptRow } from '#server/engine/records/trades.store.ts';
import type { Finding } from './check-protection.ts';
import type { SafeFinding } from './record-protection.ts';
import type { TradeWork } from './trade-work.ts';

/** A fill that the position proves, with what it shows of its protection. */
export interface ProvenFill {
  fill: Pick<AttemptRow, 'filledQuantity' | 'averagePrice'>;
  safe: SafeFinding;
}

/**
 * Whether the position shows what was ordered, whole: its size, an entry price within the order's limit, its stop and its
 * target. No order of that size can fill more, so it has ended (I3, I6), and its stop was read back (I4): it need not be
 * looked up now. Only for a first order that was accepted and is in no doubt. Null: it is looked up.
 */
export function provenFill(work: TradeWork, finding: Finding): ProvenFill | null {
  const { trade, attempts, attempt } = work;
  if (attempts.length > 1 || attempt.state !== 'open' || attempt.doubt !== null) return null;
  if (trade.restoredAt !== null || trade.unprotectedSince !== null) return null;
  if (finding.found !== 'protected' || finding.holding === undefined) return null;
  const { position, protection } = finding.holding;
  const planned = plannedProtection(trade);
  const isAsOrdered =
    D(position.quantity).eq(attempt.quantity) &&
    isWithinLimits(trade.side, position.entryPrice, attempts) &&
    isSame(protection.stopLoss, planned.stopLoss) &&
    isSame(protection.takeProfit, planned.takeProfit);
  if (!isAsOrdered) return null;
  return { fill: { filledQuantity: attempt.quantity, averagePrice: position.entryPrice }, safe: finding };
}

const isSame = (shown: string | null, planned: string | null): boolean =>
  shown !== null && planned !== null && D(shown).eq(planned);
