import { D, floorRatioToStep, floorToStep, smallest, toPlain } from '../decimal.ts';
import { checkOrderSides, checkOrderSize, checkStopBeforeLiquidation } from '../orders/order-checks.ts';
import type { Denial } from '../workflow/denials.ts';
import type { Position } from './position.ts';

/**
 * How much of a planned quantity, in units of the token, may be ordered at another entry: no more quantity, loss at the
 * stop or margin than planned, rounded down to the step. A denial when the entry or the market price is beyond stop or
 * target, or when the quantity is too small.
 */
export function quantityAtEntry(order: {
  position: Pick<Position, 'action' | 'entryPrice' | 'stopLoss' | 'takeProfit' | 'leverage' | 'rules'>;
  quantity: string;
  entryPrice: string;
  marketPrice: string;
}): { ok: true; assetQuantity: string } | { ok: false; denial: Denial } {
  const { position, quantity, entryPrice, marketPrice } = order;
  const { action, stopLoss, takeProfit, leverage, rules } = position;
  const misplaced =
    checkOrderSides({ action, stopLoss, takeProfit, prices: [marketPrice, entryPrice] }) ??
    checkStopBeforeLiquidation({ entryPrice, stopLoss, leverage });
  if (misplaced !== null) return { ok: false, denial: misplaced };
  const step = rules.quantityStep;
  const plannedLoss = D(position.entryPrice).minus(stopLoss).abs().times(quantity);
  const plannedValue = D(position.entryPrice).times(quantity);
  const assetQuantity = toPlain(
    smallest(
      floorToStep(quantity, step),
      floorRatioToStep({ numerator: plannedLoss, denominator: D(entryPrice).minus(stopLoss).abs(), step }),
      floorRatioToStep({ numerator: plannedValue, denominator: entryPrice, step }),
    ),
  );
  const tooSmall = checkOrderSize({ quantity: assetQuantity, price: entryPrice, rules });
  return tooSmall === null ? { ok: true, assetQuantity } : { ok: false, denial: tooSmall };
}
