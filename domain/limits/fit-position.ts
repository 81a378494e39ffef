import { D, floorRatioToStep, floorToStep, smallest, toPlain } from '../decimal.ts';
import { checkOrderSize } from '../orders/order-checks.ts';
import type { Position } from '../sizing/position.ts';
import { describeSize } from '../sizing/size-position.ts';
import type { Room } from './check-entry.ts';

/**
 * The position with the largest quantity on the token's step that fits the room; null when that is below the minimum
 * order. Everything but the size stays as calculated, and the texts say why it is smaller.
 */
export function fitPosition(position: Position, { notional, loss, because }: Room): Position | null {
  const { entryPrice, stopLoss, rules } = position;
  const step = rules.quantityStep;
  const bounds = [
    ...(notional === null ? [] : [floorRatioToStep({ numerator: notional, denominator: entryPrice, step })]),
    ...(loss === null
      ? []
      : [floorRatioToStep({ numerator: loss, denominator: D(entryPrice).minus(stopLoss).abs(), step })]),
  ];
  const assetQuantity = toPlain(smallest(floorToStep(position.assetQuantity, step), ...bounds));
  if (!D(assetQuantity).gt(0)) return null;
  if (checkOrderSize({ quantity: assetQuantity, price: entryPrice, rules }) !== null) return null;
  const why = describeFit({ whole: position, sized: { assetQuantity }, because });
  return {
    ...position,
    ...describeSize({ ...position, assetQuantity }),
    calculationReason: `${position.calculationReason.replace(/\.$/, '')}; ${why}.`,
    calculationDetail: `${position.calculationDetail}\nRisk limits: ${why}`,
  };
}

/** Why a position is smaller than it was calculated: a clause without a full stop. */
export const describeFit = ({
  whole,
  sized,
  because,
}: {
  whole: Pick<Position, 'assetQuantity' | 'token'>;
  sized: Pick<Position, 'assetQuantity'>;
  because: readonly string[];
}): string =>
  `sized down from ${whole.assetQuantity} to ${sized.assetQuantity} ${whole.token}: ${because.join(', and ')}`;
