import type { ExitPlanAnswer, PlannedExitsView } from '#contract/exit-plans.ts';

export const EXIT_PLANS = '/api/exit-plans';
export const strategyExits = (processor: string) =>
  `${EXIT_PLANS}/strategies/${encodeURIComponent(processor)}`;
export const userExits = (userId: string) => `${EXIT_PLANS}/users/${encodeURIComponent(userId)}`;
export const calculationExits = (id: string) => `${EXIT_PLANS}/calculations/${encodeURIComponent(id)}`;

export type Plan = NonNullable<ExitPlanAnswer['plan']>;

/** A plan in words, one step each; empty for one without any. */
export function planSteps({ takeProfits, breakEvenAtR, trail, maxHoldingMinutes }: Plan): string[] {
  return [
    ...takeProfits.map(({ atR, percent }) => `Close ${percent} % at ${atR} R`),
    ...(breakEvenAtR === undefined ? [] : [`Move the stop to the entry at ${breakEvenAtR} R`]),
    ...(trail === undefined
      ? []
      : [
          'atrMultiple' in trail
            ? `Trail the stop by ${trail.atrMultiple} × ATR`
            : `Trail the stop by ${trail.percent} %`,
        ]),
    ...(maxHoldingMinutes === undefined ? [] : [`Close the rest after ${maxHoldingMinutes} minutes`]),
  ];
}

/** The same with the prices and quantities of one position. */
export function plannedSteps(exits: PlannedExitsView, token: string): string[] {
  const { parts, breakEven, trail, maxHoldingMinutes, notes } = exits;
  return [
    ...parts.map(({ quantity, price, atR }) => `Close ${quantity} ${token} at ${price} (${atR} R)`),
    ...(breakEven === null ? [] : [`Move the stop to ${breakEven.stopLoss} at ${breakEven.atPrice}`]),
    ...(trail === null
      ? []
      : [`Trail the stop by ${'distance' in trail ? `${trail.distance} USDT` : `${trail.percent} %`}`]),
    ...(maxHoldingMinutes === null ? [] : [`Close the rest after ${maxHoldingMinutes} minutes`]),
    ...notes.map((note) => `Note: ${note}`),
  ];
}
