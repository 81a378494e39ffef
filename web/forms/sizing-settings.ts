import type { UserSettings } from '#contract/settings.ts';
import {
  CALCULATION_BEHAVIORS,
  DISABLED_SIZING_METHODS,
  FORM_FALLBACK_SIZING_METHOD,
  isSizingMethod,
  MARKET_TYPES,
  PORTION_OPTIONS,
  RISK_OPTIONS,
  SIZING_METHOD_DEFAULTS,
  SIZING_METHODS,
  type SizingMethod,
} from '#domain/user-settings.ts';
import { formatFraction } from '../lib/format.ts';

/* The settings by which positions are sized, as their selects offer them. */

const comingSoon = (value: string) => ({ value, label: `${value} (Coming Soon)`, disabled: true });

export const BEHAVIOR_OPTIONS = CALCULATION_BEHAVIORS.map((value) =>
  value === 'Futures_Limit_Classic' ? value : comingSoon(value),
);
export const MARKET_OPTIONS = MARKET_TYPES.map((value) => (value === 'Futures' ? value : comingSoon(value)));
export const METHOD_OPTIONS = [...SIZING_METHODS, ...DISABLED_SIZING_METHODS.map(comingSoon)];

export const shownMethod = ({
  positionSizingMethod: method,
}: {
  positionSizingMethod: string;
}): SizingMethod => (isSizingMethod(method) ? method : FORM_FALLBACK_SIZING_METHOD);

/** Texts; null where the method calculates them. */
export type SizingFractions = Pick<UserSettings, 'investmentPortion' | 'maximumRiskPerTrade'>;

/** The fractions for a method: the stored ones that it uses, else its defaults. */
export function fractionsFor(method: SizingMethod, stored: SizingFractions): SizingFractions {
  const defaults = SIZING_METHOD_DEFAULTS[method];
  const take = (name: keyof SizingFractions) =>
    defaults[name] === null ? null : (stored[name] ?? defaults[name]);
  return { investmentPortion: take('investmentPortion'), maximumRiskPerTrade: take('maximumRiskPerTrade') };
}

/** Compares options by value: a stored '0.1' is the option '0.10'. A stored value outside the list stays selectable. */
const fractionOptions = (listed: readonly string[], current: string) =>
  [...listed.filter((option) => Number(option) !== Number(current)), current]
    .sort((a, b) => Number(a) - Number(b))
    .map((value) => ({ value, label: formatFraction(value, 1) }));

export const portionOptions = (current: string) => fractionOptions(PORTION_OPTIONS, current);
export const riskOptions = (current: string) => fractionOptions(RISK_OPTIONS, current);
