/**
 * Every number that trading rests on stands here once, with its source.
 * "2 §9" is part 2, section 9 of the specification; "D §8" is section 8 of the decisions.
 * Fractions and money are decimal strings, waits are milliseconds, ages are minutes or seconds as named.
 */

// --- Reference price -------------------------------------------------------------------------------------

/** 2 §9: above this difference the live price replaces the signal price. D §8: also the limit for client prices, custom entries and moves before submission. */
export const PRICE_DIFFERENCE_LIMIT = '0.01';
/** D §8: a signal further than this from the live price is not traded. */
export const SIGNAL_DEVIATION_LIMIT = '0.1';

// --- Trend and leverage ----------------------------------------------------------------------------------

/** 2 §9: "buy threshold plan"; D §7: a number is a trend up from here. */
export const BUY_THRESHOLD_PLAN = 0.5;
/** 2 §9: "sell threshold plan"; D §7: a number is a trend down from minus this. */
export const SELL_THRESHOLD_PLAN = 0.75;
/** 2 §9: leverage when the signal aligns with the trend. */
export const LEVERAGE_ALIGNED = 10;
/** 2 §9: leverage when the signal is opposed to the trend, or no trend is known (D §7). */
export const LEVERAGE_OPPOSED = 5;

// --- Stop loss and take profit ---------------------------------------------------------------------------

/** 2 §9, calculator description; D §8 applies it to Risk Management and Portfolio Allocation. */
export const CALCULATOR_STOP = {
  atrMultiplierAligned: '1.5',
  atrMultiplierOpposed: '2',
  rewardRatioAligned: '2',
  rewardRatioOpposed: '2',
} as const;
/** 2 §9, technical-analysis configuration; D §8 applies it to Technical Analysis. */
export const TECHNICAL_ANALYSIS_STOP = {
  atrMultiplierAligned: '2.33',
  atrMultiplierOpposed: '2.6',
  rewardRatioAligned: '1.5',
  rewardRatioOpposed: '1.2',
} as const;
/** 2 §9 "default stop loss 0.02": distance as a fraction of the price when there is no ATR (D §8). */
export const DEFAULT_STOP_LOSS_FRACTION = '0.02';
/** D §8: stop distance × leverage from here on lies beyond the liquidation distance. */
export const LIQUIDATION_DISTANCE_LIMIT = '0.8';

// --- Sizing ----------------------------------------------------------------------------------------------

/** 2 §4, §5, §9: investment portion at most 33% of the available balance. */
export const MAXIMUM_PORTION = '0.33';
/** 2 §4, §5, §9: risk per trade at most 15% of the available balance. */
export const MAXIMUM_RISK = '0.15';
/** 2 §9 portfolio allocation defaults, and D §6: what a null portion means under Portfolio Allocation. */
export const DEFAULT_PORTION_PORTFOLIO_ALLOCATION = '0.10';
/** 2 §9 user defaults and fallback portion, and D §6: what a null portion means under Technical Analysis. */
export const DEFAULT_PORTION_TECHNICAL_ANALYSIS = '0.05';
/** 2 §9 user defaults, and D §6: what a null risk means. */
export const DEFAULT_RISK = '0.05';
/** 2 §5: options of Portfolio Allocation. */
export const INVESTMENT_PORTION_OPTIONS = ['0.02', '0.05', '0.10', '0.15', '0.20'] as const;
/** 2 §5: options of Portfolio Allocation. */
export const MAXIMUM_RISK_OPTIONS = ['0.02', '0.05', '0.10', '0.15'] as const;
/** 2 §9: the quantity field's placeholder, in units. */
export const QUANTITY_PLACEHOLDER_UNITS = 1000;
/**
 * 2 §9 "Calculation methods": a second reading, kept and NOT applied, because 2 §4 and §5 give
 * 33% and 15% for every method (D §8).
 */
export const METHOD_CONFIGURATION_NOT_APPLIED = {
  'Technical Analysis': { active: true, maximumRisk: '0.1' },
  'Risk Management': { active: false, maximumRisk: '0.05' },
  'Portfolio Allocation': { active: true, maximumRisk: '0.1', investmentPortion: '0.1' },
  Scalping: { active: false, maximumRisk: '0.02' },
  'Smart Position': { active: false, maximumRisk: '0.15' },
} as const;
/** D §8: Bitget taker 0.06% in and out; said in the calculation's detail, outside of the sizing. */
export const ROUND_TRIP_FEE_PERCENT = '0.12';

// --- Balance ---------------------------------------------------------------------------------------------

/** 2 §9 fallback account balance in USDT; D §8: for an estimate only, never for an order. */
export const FALLBACK_ACCOUNT_BALANCE = '318.31';
/** 2 §9 fallback available balance ratio; D §8: for an estimate only. */
export const FALLBACK_AVAILABLE_RATIO = '0.8';
/** D §8: how old the last real balance may be when the calculator's balance call fails. */
export const BALANCE_MAX_AGE_SECONDS = 60;

// --- Execution profiles ----------------------------------------------------------------------------------

export type ExecutionProfileName = 'manual' | 'automatic';

export interface ExecutionProfile {
  /** Entry epsilon in dollars, per token; goes before the fractions. */
  epsilonDollars: Readonly<Record<string, string>>;
  /** Entry epsilon as a fraction of the price, per token. */
  epsilonFractions: Readonly<Record<string, string>>;
  /** Entry epsilon as a fraction of the price for every other token. */
  defaultEpsilonFraction: string;
  /** The second attempt's epsilon is this many times the first one's. */
  secondAttemptMultiplier: number;
  firstWaitMs: number;
  secondWaitMs: number;
  cancelDelayMs: number;
}

/**
 * 2 §9 gives two readings of epsilon and waits; both hold, each in its profile (D §9):
 * manual is the calculator description, automatic is the configuration of the position maker.
 */
export const EXECUTION_PROFILES: Readonly<Record<ExecutionProfileName, ExecutionProfile>> = {
  manual: {
    epsilonDollars: { BTC: '2.50', ETH: '1.50' },
    epsilonFractions: {},
    defaultEpsilonFraction: '0.005',
    secondAttemptMultiplier: 2,
    firstWaitMs: 10_000,
    secondWaitMs: 15_000,
    cancelDelayMs: 2_000,
  },
  automatic: {
    epsilonDollars: {},
    epsilonFractions: { BTC: '0.0001', ETH: '0.0003', TON: '0.0005', SOL: '0.0004', SUI: '0.0005' },
    defaultEpsilonFraction: '0.0006',
    secondAttemptMultiplier: 2.5,
    firstWaitMs: 5_000,
    secondWaitMs: 8_000,
    cancelDelayMs: 2_000,
  },
};
/** D §9: a filled entry whose stop cannot be placed within this time is closed at market. */
export const PROTECTION_DEADLINE_MS = 5_000;
/** I4: a position without a stop that is not closed within this time halts the trading of its user. */
export const FLATTEN_DEADLINE_MS = 10_000;
/** D §9: an order in doubt is adopted or declared never placed within this time. */
export const DOUBT_DEADLINE_MS = 90_000;
/** 2 §9: prices that the calculator asks an exchange for in a second, of all who look. The engine's limits are the exchanges' own. */
export const CALCULATOR_PRICES_PER_SECOND = 2;

// --- Token rules -----------------------------------------------------------------------------------------

/** 2 §9: futures minimum sizes, in units of the token. Other tokens: one quantity step. */
export const MINIMUM_QUANTITIES: Readonly<Record<string, string>> = {
  BTC: '0.01',
  ETH: '0.01',
  SOL: '0.1',
  XRP: '1',
  PEPE: '1000',
  TON: '0.1',
  SUI: '0.1',
};
/** 2 §9: minimum notional of a futures order, in USDT. */
export const MINIMUM_NOTIONAL_FUTURES = '5';
/** 2 §9: minimum notional of a spot order, in USDT. Kept, not applied: automation trades futures only (D §1). */
export const MINIMUM_NOTIONAL_SPOT_NOT_APPLIED = '1';
/** 2 §9: tick sizes. */
export const TICK_SIZES: Readonly<Record<string, string>> = {
  BTC: '0.1',
  ETH: '0.01',
  SOL: '0.001',
  TON: '0.0001',
  SUI: '0.0001',
  XRP: '0.0001',
  PEPE: '0.00000001',
};
export const DEFAULT_TICK_SIZE = '0.0001';
/** 2 §9: decimals of a quantity. */
export const QUANTITY_DECIMALS: Readonly<Record<string, number>> = {
  BTC: 2,
  ETH: 2,
  SOL: 1,
  TON: 1,
  SUI: 1,
  XRP: 0,
  PEPE: 0,
};
export const DEFAULT_QUANTITY_DECIMALS = 3;

// --- Ages and windows ------------------------------------------------------------------------------------

/** D §8: a calculation older than this cannot be submitted. */
export const CALCULATION_MAX_AGE_MINUTES = 5;
/** D §10: default of SIGNAL_MAX_AGE_MINUTES. */
export const SIGNAL_MAX_AGE_MINUTES = 30;
/** D §7: a price log may be this many candles older than its signal … */
export const PRICE_LOG_MAX_CANDLES = 2;
/** … plus this delay, the upper end of the "15-30 minutes" that 2 §2.1 announces. */
export const PRICE_LOG_DELAY_MINUTES = 30;
/** D §5: magnitudes that inbound numbers may have. */
export const SMALLEST_NUMBER = '1e-12';
export const LARGEST_NUMBER = '1e12';
/** D §5: length of a token. */
export const TOKEN_MAX_LENGTH = 20;
