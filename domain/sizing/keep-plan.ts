import { D, floorRatioToStep, floorToStep, smallest, toPlain } from '../decimal.ts';

/**
 * How much of a planned quantity may be ordered at another entry: not more than planned, not more loss at the
 * stop than planned, not more margin than planned; down to the step. In units of the token.
 */
export function quantityWithinPlan(plan: {
  quantity: string;
  plannedEntry: string;
  newEntry: string;
  stopLoss: string;
  step: string;
}): string {
  const { quantity, plannedEntry, newEntry, stopLoss, step } = plan;
  const plannedLoss = D(plannedEntry).minus(stopLoss).abs().times(quantity);
  const plannedValue = D(plannedEntry).times(quantity);
  return toPlain(
    smallest(
      floorToStep(quantity, step),
      floorRatioToStep({ numerator: plannedLoss, denominator: D(newEntry).minus(stopLoss).abs(), step }),
      floorRatioToStep({ numerator: plannedValue, denominator: newEntry, step }),
    ),
  );
}
