import type { SettingsBody, UserSettings } from '#contract/settings.ts';
import { DEFAULT_TRADING_SOURCES, type SizingMethod } from '#domain/user-settings.ts';
import { fractionsFor, type SizingFractions, shownMethod } from '#web/forms/sizing-settings.ts';
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

/** The fractions for a method: Auto where it calculates them. */
export function shownFractions(
  method: SizingMethod,
  stored: SizingFractions,
): Pick<SettingsFormValues, keyof SizingFractions> {
  const { investmentPortion, maximumRiskPerTrade } = fractionsFor(method, stored);
  return {
    investmentPortion: investmentPortion ?? AUTO,
    maximumRiskPerTrade: maximumRiskPerTrade ?? AUTO,
  };
}

type MayBeMissing = 'exchangePlatform' | 'signalProcessor' | 'signalTimeframe';

/** Missing or null fields get the values of a new user. */
type StoredSettings = Omit<UserSettings, MayBeMissing> & {
  [name in MayBeMissing]?: UserSettings[name] | null;
};

export function formValues(settings: StoredSettings): SettingsFormValues {
  const positionSizingMethod = shownMethod(settings);
  return {
    calculationBehavior: settings.calculationBehavior,
    marketType: settings.marketType,
    positionSizingMethod,
    ...shownFractions(positionSizingMethod, settings),
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
