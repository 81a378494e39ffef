import type { SizingLimits } from './size-position.ts';
import { MAXIMUM_PORTION } from './trading-constants.ts';

/** The risk limit alone decides: min(B·r / (d·L), 33% of B). The portion is Auto. */
export function riskManagementLimits({ maximumRisk }: { maximumRisk: string }): SizingLimits {
  return { portionLimit: MAXIMUM_PORTION, riskLimit: maximumRisk };
}
