/**
 * Every reason not to trade, in one list. A denial is a value and not an error: this signal, user or order does not
 * trade, and the sentence gives the reason with its figures. Sentences end without a full stop, so that more text can
 * follow, except where the specification gives the whole text.
 */

type Figures<Name extends string> = Record<Name, string>;

interface DenialEntry {
  title: string;
  sentence: (context: never) => string;
}

export const DENIALS = {
  // The signal and the environment
  auto_trading_disabled: {
    title: 'Trading Disabled',
    sentence: (c: Figures<'detail'>) => `Auto-trading is disabled ${c.detail}`,
  },
  signal_expired: {
    title: 'Signal Expired',
    sentence: (c: Figures<'ageMinutes' | 'maxAgeMinutes'>) =>
      `Signal expired: it was received ${c.ageMinutes} minutes before processing started, the limit is ${c.maxAgeMinutes} minutes`,
  },
  signal_price_deviates: {
    title: 'Invalid Signal',
    sentence: (c: Figures<'signalPrice' | 'livePrice' | 'differencePercent' | 'limitPercent'>) =>
      `Signal validation failed: the signal price ${c.signalPrice} is ${c.differencePercent}% away from the live price ${c.livePrice}, the limit is ${c.limitPercent}%`,
  },

  // The user: eligibility
  user_not_found: { title: 'User Not Found', sentence: () => 'User not found' },
  user_inactive: { title: 'User Inactive', sentence: () => 'User is inactive' },
  settings_not_found: { title: 'Settings Not Found', sentence: () => 'User settings not found' },
  signal_of_another_user: {
    title: 'Signal Of Another User',
    sentence: () => 'Signal belongs to another user',
  },
  processor_differs: {
    title: 'Processor Differs',
    sentence: (c: Figures<'setting' | 'signal'>) =>
      `Signal processor ${c.signal} does not match the user's processor ${c.setting}`,
  },
  active_trading_off: { title: 'Trading Off', sentence: () => 'Active trading is off' },
  trading_paused: {
    title: 'Trading Paused',
    sentence: (c: Figures<'until'>) => `Trading is paused until ${c.until}`,
  },
  trading_stopped: {
    title: 'New Entries Stopped',
    sentence: (c: Figures<'covers' | 'since' | 'by' | 'note'>) =>
      `New entries are stopped for ${c.covers} since ${c.since} by ${c.by}${c.note}`,
  },
  outside_trading_hours: {
    title: 'Outside Trading Hours',
    sentence: (c: Figures<'scope' | 'opens'>) =>
      `Outside the trading hours of ${c.scope}: new entries are allowed again from ${c.opens}`,
  },
  canary_failed: {
    title: 'Canary Failed',
    /** `what`: a clause without a full stop. */
    sentence: (c: Figures<'what'>) =>
      `The canary of the strategy failed, so nobody else is traded: ${c.what}`,
  },
  trading_halted: {
    title: 'Trading Halted',
    sentence: (c: Figures<'since' | 'reason' | 'ending'>) =>
      `Trading of this user is halted since ${c.since}: ${c.reason}; ${c.ending}`,
  },
  sizing_method_unavailable: {
    title: 'Sizing Method Unavailable',
    sentence: (c: Figures<'method'>) => `Position sizing method ${c.method} is not available`,
  },
  market_type_unavailable: {
    title: 'Market Type Unavailable',
    sentence: (c: Figures<'marketType'>) =>
      `Market type ${c.marketType} is not available, only Futures is traded`,
  },
  exchange_unsupported: {
    title: 'Exchange Unsupported',
    sentence: (c: Figures<'exchange' | 'mode'>) =>
      `Exchange ${c.exchange} is not supported in ${c.mode} mode`,
  },
  test_user_in_live: {
    title: 'Wrong Mode',
    sentence: () => 'Test users trade only in sandbox mode, the current mode is live',
  },
  regular_user_in_sandbox: {
    title: 'Wrong Mode',
    sentence: () => 'Regular users trade only in live mode, the current mode is sandbox',
  },
  timeframe_differs: {
    title: 'Timeframe Differs',
    sentence: (c: Figures<'setting' | 'signal'>) =>
      `Signal timeframe ${c.signal} does not match the user's timeframe ${c.setting}`,
  },
  exchange_not_connected: {
    title: 'Exchange Not Connected',
    sentence: (c: Figures<'exchange'>) => `No ${c.exchange} credentials are connected`,
  },
  exchange_key_unreadable: {
    title: 'API Key Unreadable',
    sentence: (c: Figures<'exchange'>) =>
      `The stored ${c.exchange} credentials cannot be opened any more: enter them again`,
  },
  exchange_key_other_mode: {
    title: 'API Key Of Another Mode',
    sentence: (c: Figures<'exchange' | 'entered' | 'mode'>) =>
      `The ${c.exchange} API key was entered in ${c.entered} mode and is not used in ${c.mode} mode: enter one for it`,
  },
  exchange_key_rejected: {
    title: 'API Key Rejected',
    sentence: (c: Figures<'exchange' | 'since' | 'reason'>) =>
      `The ${c.exchange} API key is not used since ${c.since}: ${c.reason}`,
  },
  exchange_key_not_inspected: {
    title: 'API Key Not Verified',
    sentence: (c: Figures<'exchange' | 'message'>) =>
      `${c.exchange} has not yet said what the API key may do and to which account it belongs: ${c.message}`,
  },
  exchange_account_duplicate: {
    title: 'Account Of Another User',
    sentence: (c: Figures<'exchange' | 'usedBy'>) =>
      `The ${c.exchange} account of this API key is connected for ${c.usedBy} too, who was first: nothing is ordered here until one of the two keys is removed or replaced`,
  },
  exchange_key_may_withdraw: {
    title: 'API Key May Withdraw',
    sentence: (c: Figures<'exchange'>) =>
      `This ${c.exchange} API key may withdraw: enter one that may trade futures and may not withdraw`,
  },
  exchange_key_may_not_trade: {
    title: 'API Key May Not Trade',
    sentence: (c: Figures<'exchange'>) =>
      `This ${c.exchange} API key may not trade futures: enter one that may place futures orders and read positions`,
  },
  exchange_account_mode: {
    title: 'Account Mode Not Traded',
    sentence: (c: Figures<'exchange' | 'accountMode' | 'wanted'>) =>
      `This ${c.exchange} API key belongs to a ${c.accountMode} account, only ${c.wanted} accounts are traded: switch the account or enter the key of a ${c.wanted} one`,
  },
  exchange_margin_mode: {
    title: 'Margin Mode Not Traded',
    sentence: (c: Figures<'exchange' | 'mode'>) =>
      `This ${c.exchange} API key belongs to a unified account in ${c.mode} mode, only isolated margin mode is traded: choose isolated margin as the account mode in the settings of the unified account at ${c.exchange}`,
  },

  closed_since: {
    title: 'Closed Since',
    sentence: (c: Figures<'token' | 'processor'>) =>
      `A newer signal of ${c.processor} closes ${c.token}, so it is not opened any more`,
  },

  // The position
  setting_out_of_range: {
    title: 'Setting Out Of Range',
    sentence: (c: Figures<'setting' | 'value' | 'maximum'>) =>
      `${c.setting} ${c.value} is not above 0 and at most ${c.maximum}`,
  },
  live_price_unavailable: {
    title: 'Live Price Unavailable',
    /** `problem`: a clause without a full stop. */
    sentence: (c: Figures<'token'> & { problem?: string }) =>
      `No live price of ${c.token} is available${c.problem === undefined ? '' : `: ${c.problem}`}`,
  },
  balance_unavailable: { title: 'Balance Unavailable', sentence: () => 'Balance information unavailable' },
  exchange_unavailable: {
    title: 'Exchange Unavailable',
    sentence: (c: Figures<'exchange' | 'message'>) => `${c.exchange} could not be asked: ${c.message}`,
  },
  exchange_clock_apart: {
    title: 'Clocks Apart',
    sentence: (c: Figures<'exchange' | 'apart' | 'limitSeconds'>) =>
      `The clock of ${c.exchange} is ${c.apart} the clock of this machine, the limit is ${c.limitSeconds} s`,
  },
  token_not_listed: {
    title: 'Not Listed',
    sentence: (c: Figures<'token' | 'exchange'>) => `${c.token} is not listed on ${c.exchange}`,
  },
  contract_closed: {
    title: 'Contract Closed',
    sentence: (c: Figures<'token' | 'exchange' | 'problem'>) =>
      `${c.token} opens no positions on ${c.exchange}: ${c.problem}`,
  },
  leverage_unavailable: {
    title: 'Leverage Unavailable',
    sentence: (c: Figures<'token' | 'leverage' | 'maximum'>) =>
      `${c.token} allows a leverage of at most ${c.maximum}, the position needs ${c.leverage}`,
  },
  atr_required: { title: 'ATR Required', sentence: () => 'ATR is required for Technical Analysis' },
  candle_field_unreadable: {
    title: 'Candle Unreadable',
    sentence: (c: Figures<'field' | 'text' | 'problem'>) =>
      `The candle cannot be used: ${c.field} "${c.text}" ${c.problem}`,
  },
  price_not_positive: {
    title: 'Price Not Positive',
    sentence: (c: Figures<'name' | 'value'>) => `${c.name} must be above zero but is ${c.value}`,
  },
  entry_rounded_away: {
    title: 'Tick Too Coarse',
    sentence: (c: Figures<'entryPrice' | 'price' | 'tick' | 'limit'>) =>
      `Entry price ${c.entryPrice} is too far from the price ${c.price}: rounding to ${c.tick} moves it by more than its epsilon and one tick of the contract, ${c.limit}`,
  },
  stop_would_trigger: {
    title: 'Stop Loss On The Wrong Side',
    sentence: (c: Figures<'stopLoss' | 'action' | 'price'>) =>
      `Stop loss would trigger at once: ${c.stopLoss} is not ${c.action === 'buy' ? 'below' : 'above'} the price ${c.price}`,
  },
  target_would_trigger: {
    title: 'Take Profit On The Wrong Side',
    sentence: (c: Figures<'takeProfit' | 'action' | 'price'>) =>
      `Take profit would trigger at once: ${c.takeProfit} is not ${c.action === 'buy' ? 'above' : 'below'} the price ${c.price}`,
  },
  stop_beyond_liquidation: {
    title: 'Stop Loss Beyond Liquidation',
    sentence: (c: Figures<'distancePercent' | 'leverage' | 'limitPercent'>) =>
      `Stop loss lies beyond the liquidation distance: ${c.distancePercent}% away at leverage ${c.leverage} uses up ${c.limitPercent}% or more of the margin`,
  },
  below_minimum_quantity: {
    title: 'Below Minimum Size',
    sentence: (c: Figures<'token' | 'quantity' | 'minimum'>) =>
      `Quantity ${c.quantity} ${c.token} is below the minimum size of ${c.minimum} ${c.token}`,
  },
  below_minimum_notional: {
    title: 'Below Minimum Notional',
    sentence: (c: Figures<'notional' | 'minimum'>) =>
      `Order value ${c.notional} USDT is below the minimum notional of ${c.minimum} USDT`,
  },
  above_maximum_quantity: {
    title: 'Above Maximum Size',
    sentence: (c: Figures<'token' | 'quantity' | 'maximum'>) =>
      `Quantity ${c.quantity} ${c.token} is above the exchange's largest order of ${c.maximum} ${c.token}`,
  },
  minimum_exceeds_limit: {
    title: 'Balance Too Small',
    sentence: (c: Figures<'token' | 'minimum' | 'investment' | 'limit' | 'availableBalance'>) =>
      `The minimum order of ${c.minimum} ${c.token} needs ${c.investment} USDT, above the 33% limit of ${c.limit} USDT; the available balance is ${c.availableBalance} USDT`,
  },
  quantity_off_step: {
    title: 'Quantity Off Step',
    sentence: (c: Figures<'quantity' | 'step'>) =>
      `Quantity ${c.quantity} is not a multiple of the step ${c.step}`,
  },

  // The order
  protection_missing: {
    title: 'SAFETY VIOLATION',
    sentence: () => 'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.',
  },
  position_data_missing: {
    title: 'No Position Data',
    sentence: () => 'Please calculate position parameters first.',
  },
  estimate_only: {
    title: 'Estimate Only',
    sentence: () => 'The calculation is an estimate without a real account balance and cannot be submitted',
  },
  calculation_too_old: {
    title: 'Calculation Too Old',
    sentence: (c: Figures<'ageMinutes' | 'maxAgeMinutes'>) =>
      `The calculation is ${c.ageMinutes} minutes old, the limit is ${c.maxAgeMinutes} minutes`,
  },
  live_price_moved: {
    title: 'Price Moved',
    sentence: (c: Figures<'livePrice' | 'referencePrice' | 'differencePercent' | 'limitPercent'>) =>
      `The live price ${c.livePrice} has moved ${c.differencePercent}% from the calculated price ${c.referencePrice}, the limit is ${c.limitPercent}%`,
  },
  live_price_beyond_stop: {
    title: 'Price Beyond Stop Loss',
    sentence: (c: Figures<'livePrice' | 'stopLoss'>) =>
      `The live price ${c.livePrice} has reached the stop loss ${c.stopLoss}`,
  },
  live_price_beyond_target: {
    title: 'Price Beyond Take Profit',
    sentence: (c: Figures<'livePrice' | 'takeProfit'>) =>
      `The live price ${c.livePrice} has reached the take profit ${c.takeProfit}`,
  },
  already_traded: {
    title: 'Already Traded',
    sentence: () => 'This calculation or signal was already traded for the user',
  },
  position_open: {
    title: 'Position Open',
    sentence: (c: Figures<'token'>) => `A position in ${c.token} is already open`,
  },
  entry_open: {
    title: 'Entry Open',
    sentence: (c: Figures<'token'>) => `An entry order in ${c.token} is already open`,
  },
  same_direction_held: {
    title: 'Position Held',
    sentence: (c: Figures<'token' | 'side'>) => `A ${c.side} position in ${c.token} is already held`,
  },
  opposite_position_kept: {
    title: 'Opposite Position Kept',
    sentence: (c: Figures<'token' | 'side'>) =>
      `A ${c.side} position in ${c.token} is held and the user's settings keep it on an opposite signal`,
  },
  foreign_position_held: {
    title: 'Position Not Ours',
    sentence: (c: Figures<'token' | 'side'>) =>
      `A ${c.side} position in ${c.token} is held that was not opened here and is never touched`,
  },
  held_elsewhere: {
    title: 'Position Held',
    sentence: (c: Figures<'token' | 'side' | 'exchange'>) =>
      `A ${c.side} position in ${c.token} is held on ${c.exchange}`,
  },
  perhaps_held_elsewhere: {
    title: 'Position Not Known',
    sentence: (c: Figures<'token' | 'exchange' | 'problem'>) =>
      `A position in ${c.token} that was opened here may still be open on ${c.exchange}, which could not be asked: ${c.problem}`,
  },
  custom_entry_invalid: {
    title: 'Custom Entry Price Invalid',
    sentence: (c: Figures<'customEntryPrice'>) =>
      `Custom entry price ${c.customEntryPrice} is not a number above zero`,
  },
  custom_entry_too_far: {
    title: 'Custom Entry Price Too Far',
    sentence: (c: Figures<'customEntryPrice' | 'livePrice' | 'differencePercent' | 'limitPercent'>) =>
      `Custom entry price ${c.customEntryPrice} is ${c.differencePercent}% away from the live price ${c.livePrice}, the limit is ${c.limitPercent}%`,
  },

  // Risk limits
  risk_limit_stopped: {
    title: 'Risk Limit',
    sentence: (c: Figures<'limit' | 'scope' | 'saw' | 'maximum' | 'until'>) =>
      `The ${c.limit} of ${c.scope} is ${c.saw}, the limit is ${c.maximum}: new entries are stopped until ${c.until}`,
  },
  risk_limit_reached: {
    title: 'Risk Limit',
    sentence: (c: Figures<'limit' | 'scope' | 'saw' | 'maximum' | 'allowed'>) =>
      `With this entry the ${c.limit} of ${c.scope} would be ${c.saw}, the limit is ${c.maximum}; allowed: ${c.allowed}`,
  },
  risk_limit_unknown: {
    title: 'Risk Limit Unknown',
    sentence: (c: Figures<'limit' | 'scope' | 'unknown'>) =>
      `The ${c.limit} of ${c.scope} cannot be checked: ${c.unknown}`,
  },
  risk_limit_token: {
    title: 'Token Not Allowed',
    sentence: (c: Figures<'token' | 'scope' | 'rule'>) =>
      `The limits of ${c.scope} do not allow ${c.token}: ${c.rule}`,
  },
  nothing_left_to_fill: { title: 'Nothing Left', sentence: () => 'Nothing is left to fill' },
} as const satisfies Record<string, DenialEntry>;

export type DenialCode = keyof typeof DENIALS;

/** The figures that a denial's sentence needs; extra figures are allowed and kept in its context. */
export type DenialContext<Code extends DenialCode> = (Parameters<(typeof DENIALS)[Code]['sentence']> extends [
  infer C,
]
  ? C
  : unknown) &
  Record<string, string>;

export interface Denial {
  code: DenialCode;
  reason: string;
  context: Record<string, string>;
}

/** Builds the denial of this code; `context` holds the figures of its sentence, as text. */
export function deny<Code extends DenialCode>(code: Code, context: DenialContext<Code>): Denial {
  const sentence = DENIALS[code].sentence as (context: DenialContext<Code>) => string;
  return { code, reason: sentence(context), context: { ...context } };
}

export function denialTitle(code: DenialCode): string {
  return DENIALS[code].title;
}

const SKIPPED = '; user will be skipped';

/** The text of a workflow step that skips a user; its ending identifies skips when results are read back. */
export function skipMessage(reason: string): string {
  return `${reason.replace(/\.$/, '')}${SKIPPED}`;
}

/** The reason given to `skipMessage`; any other text unchanged. */
export function reasonOfSkip(message: string): string {
  return message.endsWith(SKIPPED) ? message.slice(0, -SKIPPED.length) : message;
}
