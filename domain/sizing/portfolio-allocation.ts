import type { SizingLimits } from './size-position.ts';

/** B·p, scaled down until p·L·d ≤ r: both are the user's choice. */
export function portfolioAllocationLimits(settings: { portion: string; maximumRisk: string }): SizingLimits {
  return { portionLimit: settings.portion, riskLimit: settings.maximumRisk };
}
