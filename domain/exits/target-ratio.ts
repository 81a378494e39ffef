import { D, largest, toPlain } from '../decimal.ts';
import { CALCULATOR_STOP, TECHNICAL_ANALYSIS_STOP } from '../sizing/trading-constants.ts';
import type { SizingMethod } from '../user-settings.ts';

/**
 * How many R away the target of a calculation is at most; `method`: null for any. The entry costs a little of it, so that
 * a part just below may still be left to the target.
 */
export function farthestTargetAtR(method: SizingMethod | null): string {
  const ofMethod = (name: SizingMethod) => {
    const table = name === 'Technical Analysis' ? TECHNICAL_ANALYSIS_STOP : CALCULATOR_STOP;
    return largest(D(table.rewardRatioAligned), table.rewardRatioOpposed);
  };
  if (method !== null) return toPlain(ofMethod(method));
  return toPlain(largest(ofMethod('Risk Management'), ofMethod('Technical Analysis')));
}
