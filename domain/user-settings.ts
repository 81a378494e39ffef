import { D, isPositive } from './decimal.ts';
import {
  DEFAULT_PORTION_PORTFOLIO_ALLOCATION,
  DEFAULT_PORTION_TECHNICAL_ANALYSIS,
  DEFAULT_RISK,
  INVESTMENT_PORTION_OPTIONS,
  MAXIMUM_PORTION,
  MAXIMUM_RISK,
  MAXIMUM_RISK_OPTIONS,
} from './sizing/trading-constants.ts';

export const SIZING_METHODS = ['Risk Management', 'Portfolio Allocation', 'Technical Analysis'] as const;
export type SizingMethod = (typeof SIZING_METHODS)[number];
/** Shown as 'Coming Soon', refused by the API. */
export const DISABLED_SIZING_METHODS = ['Scalping', 'Smart Position'] as const;

export const EXCHANGE_PLATFORMS = ['Bitget', 'Bybit'] as const;
export type ExchangePlatform = (typeof EXCHANGE_PLATFORMS)[number];

export const SIGNAL_PROCESSORS = ['Tesla', 'UD Bot'] as const;
export const ANY_PROCESSOR = 'Any';

export const CALCULATION_BEHAVIORS = ['Futures_Limit_Classic', 'Futures_Limit_Smart'] as const;

export const MARKET_TYPES = ['Futures', 'Spot'] as const;

export const OPPOSITE_SIGNAL_CHOICES = ['reverse', 'skip'] as const;
export type OppositeSignalChoice = (typeof OPPOSITE_SIGNAL_CHOICES)[number];

/** Options of Portfolio Allocation. Compare by value: a stored '0.1' is the option '0.10'. */
export const PORTION_OPTIONS = INVESTMENT_PORTION_OPTIONS;
export const RISK_OPTIONS = MAXIMUM_RISK_OPTIONS;

/** A user's settings as stored. Texts are not narrowed: stored values may be older than the lists above. */
export interface TradingSettings {
  calculationBehavior: string;
  marketType: string;
  positionSizingMethod: string;
  /** Fraction of the available balance; null is Auto. */
  investmentPortion: string | null;
  /** Fraction of the available balance; null is auto. */
  maximumRiskPerTrade: string | null;
  exchangePlatform: string;
  signalProcessor: string;
  signalTimeframe: string;
  activeTrading: boolean;
  tradingPausedUntil: Date | null;
  /** One letter; A trades first. */
  tradeOrderSet: string;
  oppositeSignal: OppositeSignalChoice;
}

/** The exchange of a new user, and the signals that a new user trades. */
export const DEFAULT_TRADING_SOURCES = {
  exchangePlatform: 'Bitget',
  signalProcessor: 'Tesla',
  signalTimeframe: 'Any',
} as const;

/** The settings of a new user. */
export const DEFAULT_USER_SETTINGS = {
  calculationBehavior: 'Futures_Limit_Classic',
  marketType: 'Futures',
  positionSizingMethod: 'Technical Analysis',
  investmentPortion: DEFAULT_PORTION_TECHNICAL_ANALYSIS,
  maximumRiskPerTrade: DEFAULT_RISK,
  ...DEFAULT_TRADING_SOURCES,
  activeTrading: false,
  tradingPausedUntil: null,
  tradeOrderSet: 'M',
  oppositeSignal: 'reverse',
} as const satisfies TradingSettings;

/** The settings form's fallback when a stored method is absent or unknown. */
export const FORM_FALLBACK_SIZING_METHOD: SizingMethod = 'Risk Management';

/** The initial values of each method when nothing is stored; null is Auto and not selectable. */
export const SIZING_METHOD_DEFAULTS: Readonly<
  Record<SizingMethod, { investmentPortion: string | null; maximumRiskPerTrade: string | null }>
> = {
  'Risk Management': { investmentPortion: null, maximumRiskPerTrade: DEFAULT_RISK },
  'Portfolio Allocation': {
    investmentPortion: DEFAULT_PORTION_PORTFOLIO_ALLOCATION,
    maximumRiskPerTrade: DEFAULT_RISK,
  },
  'Technical Analysis': { investmentPortion: DEFAULT_PORTION_TECHNICAL_ANALYSIS, maximumRiskPerTrade: null },
};

export function isSizingMethod(text: string): text is SizingMethod {
  return (SIZING_METHODS as readonly string[]).includes(text);
}

/** The portion that sizing starts from, as a fraction. Risk Management does not use it. */
export function effectivePortion(
  settings: Pick<TradingSettings, 'positionSizingMethod' | 'investmentPortion'>,
): string {
  if (settings.investmentPortion !== null) return settings.investmentPortion;
  return settings.positionSizingMethod === 'Technical Analysis'
    ? DEFAULT_PORTION_TECHNICAL_ANALYSIS
    : DEFAULT_PORTION_PORTFOLIO_ALLOCATION;
}

/** The risk limit of sizing, as a fraction. Technical Analysis does not use it. */
export function effectiveRisk(settings: Pick<TradingSettings, 'maximumRiskPerTrade'>): string {
  return settings.maximumRiskPerTrade ?? DEFAULT_RISK;
}

/** Above zero and at most 33%; null (Auto) is allowed. */
export function isPortionAllowed(portion: string | null): boolean {
  return portion === null || (isPositive(portion) && D(portion).lte(MAXIMUM_PORTION));
}

/** Above zero and at most 15%; null (auto) is allowed. */
export function isRiskAllowed(risk: string | null): boolean {
  return risk === null || (isPositive(risk) && D(risk).lte(MAXIMUM_RISK));
}
