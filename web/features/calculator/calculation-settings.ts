import type { UserSettings } from '#contract/settings.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { fractionsFor, type SizingFractions, shownMethod } from '#web/forms/sizing-settings.ts';
import { formatFraction } from '../../lib/format.ts';

/** The settings edited in the calculator. Fractions are text; null where the method calculates them. */
export interface CalculationSettings extends SizingFractions {
  positionSizingMethod: SizingMethod;
}

export const settingsOfMethod = (method: SizingMethod, stored: SizingFractions): CalculationSettings => ({
  positionSizingMethod: method,
  ...fractionsFor(method, stored),
});

export const storedCalculationSettings = (stored: UserSettings): CalculationSettings =>
  settingsOfMethod(shownMethod(stored), stored);

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
