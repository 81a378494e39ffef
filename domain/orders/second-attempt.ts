import { D, isPositive, toPlain } from '../decimal.ts';
import { entryEpsilon, entryPrice } from '../sizing/entry-price.ts';
import { quantityAtEntry } from '../sizing/keep-plan.ts';
import type { Position } from '../sizing/position.ts';
import { EXECUTION_PROFILES, type ExecutionProfileName } from '../sizing/trading-constants.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { checkEntryRounding } from './order-checks.ts';

export type SecondAttempt =
  | { ok: true; entryPrice: string; assetQuantity: string }
  | { ok: false; denial: Denial };

/**
 * Plans the second attempt for the unfilled rest, after the first one's cancel is confirmed: a fresh price, a larger
 * epsilon, stop and target as calculated, and no more than the planned loss and margin. Quantities are in units of the
 * token. Throws when `filledQuantity` is negative.
 */
export function planSecondAttempt(input: {
  position: Pick<
    Position,
    'token' | 'action' | 'entryPrice' | 'stopLoss' | 'takeProfit' | 'leverage' | 'assetQuantity' | 'rules'
  >;
  profile: ExecutionProfileName;
  freshPrice: string;
  filledQuantity: string;
}): SecondAttempt {
  const { position, profile, freshPrice, filledQuantity } = input;
  const { token, action, rules } = position;
  if (D(filledQuantity).lt(0)) throw new RangeError(`A filled quantity cannot be ${filledQuantity}`);
  const rest = D(position.assetQuantity).minus(filledQuantity);
  if (!rest.gt(0)) return { ok: false, denial: deny('nothing_left_to_fill', {}) };
  if (!isPositive(freshPrice)) return { ok: false, denial: deny('live_price_unavailable', { token }) };

  const multiplier = EXECUTION_PROFILES[profile].secondAttemptMultiplier;
  const epsilon = entryEpsilon({ token, price: freshPrice, profile, multiplier });
  const entry = entryPrice({ action, referencePrice: freshPrice, epsilon, tick: rules.tickSize });
  const away = checkEntryRounding({ entryPrice: entry, price: freshPrice, epsilon, rules });
  if (away !== null) return { ok: false, denial: away };
  const quantity = toPlain(rest);
  const kept = quantityAtEntry({ position, quantity, entryPrice: entry, marketPrice: toPlain(freshPrice) });
  return kept.ok ? { ...kept, entryPrice: entry } : kept;
}
