import type { SettingsBody, UserSettings } from '#contract/settings.ts';
import {
  DEFAULT_TRADING_SOURCES,
  FORM_FALLBACK_SIZING_METHOD,
  isSizingMethod,
  PORTION_OPTIONS,
  RISK_OPTIONS,
  SIZING_METHOD_DEFAULTS,
  type SizingMethod,
} from '#domain/user-settings.ts';
import { formatFraction } from '../../lib/format.ts';

export const AUTO = 'Auto';

/** Message after saving; names the other user in admin mode. */
export const savedMessage = (otherUser: { username: string } | null): string =>
  otherUser
    ? `${otherUser.username}'s settings have been updated successfully.`
    : 'Your settings have been saved successfully.';

export interface SettingsFormValues {
  calculationBehavior: string;
  marketType: string;
  positionSizingMethod: SizingMethod;
  /** A fraction as text, or Auto. */
  investmentPortion: string;
  maximumRiskPerTrade: string;
  exchangePlatform: string;
  signalProcessor: string;
  signalTimeframe: string;
}

export const FIELD_LABELS: Record<keyof SettingsFormValues, string> = {
  calculationBehavior: 'Stop loss / take profit calculation',
  marketType: 'Market type',
  positionSizingMethod: 'Position sizing method',
  investmentPortion: 'Investment portion',
  maximumRiskPerTrade: 'Maximum risk per trade',
  exchangePlatform: 'Exchange platform',
  signalProcessor: 'Signal processor',
  signalTimeframe: 'Signal timeframe',
};

/** A field's label and its value as shown in its select. */
export function settingsField(
  name: keyof SettingsFormValues,
  values: SettingsFormValues,
): { label: string; stored: string } {
  const value = values[name];
  const isFraction = name === 'investmentPortion' || name === 'maximumRiskPerTrade';
  return {
    label: FIELD_LABELS[name],
    stored: isFraction && value !== AUTO ? formatFraction(value, 1) : value,
  };
}

const method = (settings: Pick<UserSettings, 'positionSizingMethod'>): SizingMethod =>
  isSizingMethod(settings.positionSizingMethod) ? settings.positionSizingMethod : FORM_FALLBACK_SIZING_METHOD;

/** The fractions for a method: Auto where it calculates them, else the stored or the default ones. */
export function fractionsFor(
  sizing: SizingMethod,
  stored: Pick<UserSettings, 'investmentPortion' | 'maximumRiskPerTrade'>,
): Pick<SettingsFormValues, 'investmentPortion' | 'maximumRiskPerTrade'> {
  const defaults = SIZING_METHOD_DEFAULTS[sizing];
  return {
    investmentPortion:
      defaults.investmentPortion === null ? AUTO : (stored.investmentPortion ?? defaults.investmentPortion),
    maximumRiskPerTrade:
      defaults.maximumRiskPerTrade === null
        ? AUTO
        : (stored.maximumRiskPerTrade ?? defaults.maximumRiskPerTrade),
  };
}

type MayBeMissing = 'exchangePlatform' | 'signalProcessor' | 'signalTimeframe';

/** Missing or null fields get the values of a new user. */
type StoredSettings = Omit<UserSettings, MayBeMissing> & {
  [name in MayBeMissing]?: UserSettings[name] | null;
};

export function formValues(settings: StoredSettings): SettingsFormValues {
  const positionSizingMethod = method(settings);
  return {
    calculationBehavior: settings.calculationBehavior,
    marketType: settings.marketType,
    positionSizingMethod,
    ...fractionsFor(positionSizingMethod, settings),
    exchangePlatform: settings.exchangePlatform ?? DEFAULT_TRADING_SOURCES.exchangePlatform,
    signalProcessor: settings.signalProcessor ?? DEFAULT_TRADING_SOURCES.signalProcessor,
    signalTimeframe: settings.signalTimeframe ?? DEFAULT_TRADING_SOURCES.signalTimeframe,
  };
}

const toNullable = (fraction: string): string | null =>
  fraction === '' || fraction.toLowerCase() === 'auto' ? null : fraction;

/** Sends Auto and empty fractions as null. */
export function settingsBody(values: SettingsFormValues): SettingsBody {
  return {
    ...values,
    calculationBehavior: values.calculationBehavior as NonNullable<SettingsBody['calculationBehavior']>,
    marketType: values.marketType as NonNullable<SettingsBody['marketType']>,
    exchangePlatform: values.exchangePlatform as NonNullable<SettingsBody['exchangePlatform']>,
    investmentPortion: toNullable(values.investmentPortion),
    maximumRiskPerTrade: toNullable(values.maximumRiskPerTrade),
  };
}

interface Option {
  value: string;
  label: string;
}

/** Compares options by value: a stored '0.1' is the option '0.10'. A stored value outside the list stays selectable. */
function fractionOptions(listed: readonly string[], current: string): Option[] {
  const values = listed.filter((option) => Number(option) !== Number(current));
  if (current !== AUTO) values.push(current);
  return values
    .sort((a, b) => Number(a) - Number(b))
    .map((value) => ({ value, label: formatFraction(value, 1) }));
}

export const portionOptions = (current: string): Option[] => fractionOptions(PORTION_OPTIONS, current);
export const riskOptions = (current: string): Option[] => fractionOptions(RISK_OPTIONS, current);
