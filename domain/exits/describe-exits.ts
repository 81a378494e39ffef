import type { PlannedExits } from './plan-exits.ts';

/** What a plan does with a position: clauses without a full stop, with prices and quantities. */
export function describeExits(planned: PlannedExits, token: string): string[] {
  const { parts, breakEven, trail, maxHoldingMinutes, notes } = planned;
  return [
    ...parts.map(({ quantity, price, atR }) => `${quantity} ${token} is closed at ${price} (${atR} R)`),
    ...(breakEven === null ? [] : [`the stop moves to ${breakEven.stopLoss} at ${breakEven.atPrice}`]),
    ...(trail === null
      ? []
      : [`the stop trails by ${'distance' in trail ? `${trail.distance} USDT` : `${trail.percent} %`}`]),
    ...(maxHoldingMinutes === null ? [] : [`the rest is closed after ${maxHoldingMinutes} minutes`]),
    ...notes,
  ];
}
