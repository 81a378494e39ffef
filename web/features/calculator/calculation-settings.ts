import type { UserSettings } from '#contract/settings.ts';
import {
  FORM_FALLBACK_SIZING_METHOD,
  isSizingMethod,
  PORTION_OPTIONS,
  RISK_OPTIONS,
  SIZING_METHOD_DEFAULTS,
  type SizingMethod,
} from '#domain/user-settings.ts';
import { formatFraction } from '../../lib/format.ts';

/** The settings edited in the calculator. Fractions are text; null where the method calculates them. */
export interface CalculationSettings {
  positionSizingMethod: SizingMethod;
  investmentPortion: string | null;
  maximumRiskPerTrade: string | null;
}

type StoredFractions = Pick<UserSettings, 'investmentPortion' | 'maximumRiskPerTrade'>;

/** The settings for a method: the stored fractions that it uses, else its defaults. */
export function settingsOfMethod(method: SizingMethod, stored: StoredFractions): CalculationSettings {
  const defaults = SIZING_METHOD_DEFAULTS[method];
  const take = (name: keyof StoredFractions) =>
    defaults[name] === null ? null : (stored[name] ?? defaults[name]);
  return {
    positionSizingMethod: method,
    investmentPortion: take('investmentPortion'),
    maximumRiskPerTrade: take('maximumRiskPerTrade'),
  };
}

export function storedCalculationSettings(stored: UserSettings): CalculationSettings {
  const { positionSizingMethod: method } = stored;
  return settingsOfMethod(isSizingMethod(method) ? method : FORM_FALLBACK_SIZING_METHOD, stored);
}

/** Compares fractions by value: a stored '0.1' equals the '0.10' used in a calculation. */
export function isSameSettings(a: CalculationSettings, b: CalculationSettings): boolean {
  const isSame = (one: string | null, other: string | null) =>
    one === null || other === null ? one === other : Number(one) === Number(other);
  return (
    a.positionSizingMethod === b.positionSizingMethod &&
    isSame(a.investmentPortion, b.investmentPortion) &&
    isSame(a.maximumRiskPerTrade, b.maximumRiskPerTrade)
  );
}

const LABELS = {
  positionSizingMethod: 'Position Sizing Method',
  investmentPortion: 'Investment Portion',
  maximumRiskPerTrade: 'Maximum Risk per Trade',
} as const;

/** Settings that changed in the meantime, with their stored values, for the notice. */
export function changedSettings(
  before: CalculationSettings,
  stored: CalculationSettings,
): { label: string; stored: string }[] {
  const shown = (name: keyof CalculationSettings, value: string | null) =>
    name === 'positionSizingMethod' ? `${value}` : value === null ? 'Auto' : formatFraction(value, 1);
  return (Object.keys(LABELS) as (keyof CalculationSettings)[])
    .filter((name) => !isSameSettings(before, { ...before, [name]: stored[name] }))
    .map((name) => ({ label: LABELS[name], stored: shown(name, stored[name]) }));
}

export interface Option {
  value: string;
  label: string;
}

/** Compares options by value: a stored '0.1' is the option '0.10'. A stored value outside the list stays selectable. */
function fractionOptions(listed: readonly string[], current: string): Option[] {
  return [...listed.filter((option) => Number(option) !== Number(current)), current]
    .sort((a, b) => Number(a) - Number(b))
    .map((value) => ({ value, label: formatFraction(value, 1) }));
}

export const portionOptions = (current: string): Option[] => fractionOptions(PORTION_OPTIONS, current);
export const riskOptions = (current: string): Option[] => fractionOptions(RISK_OPTIONS, current);
