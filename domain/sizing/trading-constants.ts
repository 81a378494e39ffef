/**
 * Every number of the trading rules, defined once.
 * Fractions and money are decimal strings, waits are milliseconds, ages are minutes or seconds as named.
 */

// --- Reference price -------------------------------------------------------------------------------------

/** Above this difference the live price replaces the signal price; also the limit for client prices, custom entries and moves before submission. */
export const PRICE_DIFFERENCE_LIMIT = '0.01';
/** A signal further than this from the live price is not traded. */
export const SIGNAL_DEVIATION_LIMIT = '0.1';

/** A price that is older than this by the exchange's clock is no live price. */
export const LIVE_PRICE_MAX_AGE_MS = 10_000;

// --- Trend and leverage ----------------------------------------------------------------------------------

/** "Buy threshold plan": a number of this or more is an up trend. */
export const BUY_THRESHOLD_PLAN = 0.5;
/** "Sell threshold plan": a number of minus this or less is a down trend. */
export const SELL_THRESHOLD_PLAN = 0.75;
export const LEVERAGE_ALIGNED = 10;
/** Leverage when the signal is opposed to the trend, or no trend is known. */
export const LEVERAGE_OPPOSED = 5;

// --- Stop loss and take profit ---------------------------------------------------------------------------

/** Stops of Risk Management and Portfolio Allocation. */
export const CALCULATOR_STOP = {
  atrMultiplierAligned: '1.5',
  atrMultiplierOpposed: '2',
  rewardRatioAligned: '2',
  rewardRatioOpposed: '2',
} as const;
/** Stops of Technical Analysis. */
export const TECHNICAL_ANALYSIS_STOP = {
  atrMultiplierAligned: '2.33',
  atrMultiplierOpposed: '2.6',
  rewardRatioAligned: '1.5',
  rewardRatioOpposed: '1.2',
} as const;
/** Stop distance as a fraction of the price when no ATR is known. */
export const DEFAULT_STOP_LOSS_FRACTION = '0.02';
/** A stop distance × leverage of this or more lies beyond the liquidation distance. */
export const LIQUIDATION_DISTANCE_LIMIT = '0.8';

// --- Sizing ----------------------------------------------------------------------------------------------

/** Investment portion: at most 33% of the available balance. */
export const MAXIMUM_PORTION = '0.33';
/** Risk per trade: at most 15% of the available balance. */
export const MAXIMUM_RISK = '0.15';
/** The portion that null stands for under Portfolio Allocation. */
export const DEFAULT_PORTION_PORTFOLIO_ALLOCATION = '0.10';
/** The portion that null stands for under Technical Analysis; also the default of a new user. */
export const DEFAULT_PORTION_TECHNICAL_ANALYSIS = '0.05';
/** The risk that null stands for; also the default of a new user. */
export const DEFAULT_RISK = '0.05';
/** Options of Portfolio Allocation. */
export const INVESTMENT_PORTION_OPTIONS = ['0.02', '0.05', '0.10', '0.15', '0.20'] as const;
export const MAXIMUM_RISK_OPTIONS = ['0.02', '0.05', '0.10', '0.15'] as const;
/** The placeholder of the quantity field, in units. */
export const QUANTITY_PLACEHOLDER_UNITS = 1000;
/** Limits by method, listed in the calculator but not applied: 33% and 15% hold for every method. */
export const METHOD_CONFIGURATION_NOT_APPLIED = {
  'Technical Analysis': { active: true, maximumRisk: '0.1' },
  'Risk Management': { active: false, maximumRisk: '0.05' },
  'Portfolio Allocation': { active: true, maximumRisk: '0.1', investmentPortion: '0.1' },
  Scalping: { active: false, maximumRisk: '0.02' },
  'Smart Position': { active: false, maximumRisk: '0.15' },
} as const;
/** Bitget taker fee, 0.06% in and out: shown with the calculation, not part of the sizing. */
export const ROUND_TRIP_FEE_PERCENT = '0.12';

// --- Balance ---------------------------------------------------------------------------------------------

/** Account balance in USDT when none is known: for an estimate only, never for an order. */
export const FALLBACK_ACCOUNT_BALANCE = '318.31';
/** Available share of that balance: for an estimate only. */
export const FALLBACK_AVAILABLE_RATIO = '0.8';
/** How old the last real balance may be when the calculator's balance call fails. */
export const BALANCE_MAX_AGE_SECONDS = 60;

// --- Execution profiles ----------------------------------------------------------------------------------

export type ExecutionProfileName = 'manual' | 'automatic';

export interface ExecutionProfile {
  /** Entry epsilon in dollars, per token; takes precedence over the fractions. */
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

/** Entry epsilon and waits: orders from the calculator use `manual`, workflows use `automatic`. */
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
/** A filled entry whose stop cannot be placed within this time is closed at market. */
export const PROTECTION_DEADLINE_MS = 5_000;
/** By how many ticks a stop may be further away than planned when it is first read back: exchanges round prices. */
export const STOP_SLACK_TICKS = 5;
/** I4: a position without a stop that is not closed within this time halts the trading of its user. */
export const FLATTEN_DEADLINE_MS = 10_000;
/** An order in doubt is adopted or declared never placed within this time. */
export const DOUBT_DEADLINE_MS = 90_000;
/** Calculator price requests to an exchange per second, for all users together. The engine follows the exchanges' own limits. */
export const CALCULATOR_PRICES_PER_SECOND = 2;

// --- Token rules -----------------------------------------------------------------------------------------

/** Minimum sizes of futures, in units of the token. Other tokens: one quantity step. */
export const MINIMUM_QUANTITIES: Readonly<Record<string, string>> = {
  BTC: '0.01',
  ETH: '0.01',
  SOL: '0.1',
  XRP: '1',
  PEPE: '1000',
  TON: '0.1',
  SUI: '0.1',
};
/** Minimum notional of a futures order, in USDT. */
export const MINIMUM_NOTIONAL_FUTURES = '5';
/** Tick sizes in USDT. */
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

/** A calculation older than this cannot be submitted. */
export const CALCULATION_MAX_AGE_MINUTES = 5;
export const SIGNAL_MAX_AGE_MINUTES = 30;
/** A price log may be this many candles older than its signal … */
export const PRICE_LOG_MAX_CANDLES = 2;
/** … plus this delay, the upper end of the "15-30 minutes" that the price logs page announces. */
export const PRICE_LOG_DELAY_MINUTES = 30;
/** Magnitudes that inbound numbers may have. */
export const SMALLEST_NUMBER = '1e-12';
export const LARGEST_NUMBER = '1e12';
export const TOKEN_MAX_LENGTH = 20;
