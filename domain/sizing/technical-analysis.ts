import type { SizingLimits } from './size-position.ts';
import { MAXIMUM_RISK } from './trading-constants.ts';

/** B·p, scaled down until p·L·d ≤ 15%. The risk is auto: it follows from the stop loss. */
export function technicalAnalysisLimits({ portion }: { portion: string }): SizingLimits {
  return { portionLimit: portion, riskLimit: MAXIMUM_RISK };
}
