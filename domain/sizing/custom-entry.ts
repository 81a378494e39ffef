import { cutFraction, D, isPositive, positiveOrNull, toPercent, toPlain } from '../decimal.ts';
import { checkEntryRounding } from '../orders/order-checks.ts';
import { deny } from '../workflow/denials.ts';
import { entryPrice } from './entry-price.ts';
import { quantityAtEntry } from './keep-plan.ts';
import type { Position, PositionResult } from './position.ts';
import { isWithinLimit, relativeDifference } from './reference-price.ts';
import { describeSize } from './size-position.ts';
import { PRICE_DIFFERENCE_LIMIT } from './trading-constants.ts';

/**
 * The position with an operator's own entry price: on the tick, within 1% of the live price, stop and target unchanged,
 * quantity and risk recalculated and never above the calculated ones.
 */
export function applyCustomEntryPrice(input: {
  position: Position;
  customEntryPrice: string;
  livePrice: string | null;
}): PositionResult {
  const { position, customEntryPrice } = input;
  const { token, action, stopLoss, leverage, rules } = position;
  const custom = positiveOrNull(customEntryPrice);
  const live = positiveOrNull(input.livePrice);
  if (custom === null) return { ok: false, denial: deny('custom_entry_invalid', { customEntryPrice }) };
  if (live === null) return { ok: false, denial: deny('live_price_unavailable', { token }) };

  const entry = entryPrice({ action, referencePrice: toPlain(custom), epsilon: '0', tick: rules.tickSize });
  if (!isPositive(entry)) return { ok: false, denial: deny('custom_entry_invalid', { customEntryPrice }) };
  const away = checkEntryRounding({ entryPrice: entry, price: toPlain(custom), epsilon: '0', rules });
  if (away !== null) return { ok: false, denial: away };
  if (!isWithinLimit(entry, live)) {
    return {
      ok: false,
      denial: deny('custom_entry_too_far', {
        customEntryPrice: entry,
        livePrice: toPlain(live),
        differencePercent: toPercent(relativeDifference(entry, live)),
        limitPercent: toPercent(PRICE_DIFFERENCE_LIMIT, 0),
      }),
    };
  }
  const kept = quantityAtEntry({
    position,
    quantity: position.assetQuantity,
    entryPrice: entry,
    marketPrice: toPlain(live),
  });
  if (!kept.ok) return kept;
  const { availableBalance } = position;
  const { assetQuantity } = kept;
  const size = describeSize({ entryPrice: entry, stopLoss, leverage, availableBalance, assetQuantity });
  return {
    ok: true,
    position: {
      ...position,
      ...size,
      entryPrice: entry,
      distanceFraction: cutFraction(D(entry).minus(stopLoss).abs().div(entry)),
      hyperparameters: { ...position.hyperparameters, customEntryPrice: entry },
      calculationDetail: [
        position.calculationDetail,
        `Custom entry price E = ${entry} in place of ${position.entryPrice}: asset quantity ${size.assetQuantity} ${token}, ` +
          `quantity ${size.quantity} USDT, investment ${size.investment} USDT, risk ${toPercent(size.riskPercentage)}% of the available balance`,
      ].join('\n'),
    },
  };
}
