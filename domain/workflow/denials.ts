/**
 * Every reason not to trade, in one list. A denial is a value and not an error: this signal, user or order
 * does not trade, and the sentence says why with its figures. Sentences end without a full stop, so that
 * they can be continued, except where the specification gives the whole text.
 */

interface DenialEntry {
  title: string;
  sentence: (context: never) => string;
}

export const DENIALS = {
  // The signal and the environment
  auto_trading_disabled: {
    title: 'Trading Disabled',
    sentence: (c: { detail: string }) => `Auto-trading is disabled ${c.detail}`,
  },
  signal_expired: {
    title: 'Signal Expired',
    sentence: (c: { ageMinutes: string; maxAgeMinutes: string }) =>
      `Signal expired: it was received ${c.ageMinutes} minutes before processing started, the limit is ${c.maxAgeMinutes} minutes`,
  },
  signal_price_deviates: {
    title: 'Invalid Signal',
    sentence: (c: {
      signalPrice: string;
      livePrice: string;
      differencePercent: string;
      limitPercent: string;
    }) =>
      `Signal validation failed: the signal price ${c.signalPrice} is ${c.differencePercent}% away from the live price ${c.livePrice}, the limit is ${c.limitPercent}%`,
  },
  manual_trigger_disabled: {
    title: 'Manual Triggers Disabled',
    sentence: () => 'Manual triggers disabled in production',
  },
  live_mode_disabled: {
    title: 'Trading Disabled',
    sentence: () => 'Trading operations are disabled in live mode for safety',
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
    sentence: (c: { setting: string; signal: string }) =>
      `Signal processor ${c.signal} does not match the user's processor ${c.setting}`,
  },
  active_trading_off: { title: 'Trading Off', sentence: () => 'Active trading is off' },
  trading_paused: {
    title: 'Trading Paused',
    sentence: (c: { until: string }) => `Trading is paused until ${c.until}`,
  },
  trading_halted: {
    title: 'Trading Halted',
    sentence: (c: { since: string; reason: string; ending: string }) =>
      `Trading of this user is halted since ${c.since}: ${c.reason}; ${c.ending}`,
  },
  sizing_method_unavailable: {
    title: 'Sizing Method Unavailable',
    sentence: (c: { method: string }) => `Position sizing method ${c.method} is not available`,
  },
  market_type_unavailable: {
    title: 'Market Type Unavailable',
    sentence: (c: { marketType: string }) =>
      `Market type ${c.marketType} is not available, only Futures is traded`,
  },
  exchange_unsupported: {
    title: 'Exchange Unsupported',
    sentence: (c: { exchange: string; mode: string }) =>
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
    sentence: (c: { setting: string; signal: string }) =>
      `Signal timeframe ${c.signal} does not match the user's timeframe ${c.setting}`,
  },
  exchange_not_connected: {
    title: 'Exchange Not Connected',
    sentence: (c: { exchange: string }) => `No ${c.exchange} credentials are connected`,
  },
  exchange_key_unreadable: {
    title: 'API Key Unreadable',
    sentence: (c: { exchange: string }) =>
      `The stored ${c.exchange} credentials cannot be opened any more: enter them again`,
  },
  exchange_key_other_mode: {
    title: 'API Key Of Another Mode',
    sentence: (c: { exchange: string; entered: string; mode: string }) =>
      `The ${c.exchange} API key was entered in ${c.entered} mode and is not used in ${c.mode} mode: enter one for it`,
  },
  exchange_key_rejected: {
    title: 'API Key Rejected',
    sentence: (c: { exchange: string; since: string; reason: string }) =>
      `The ${c.exchange} API key is not used since ${c.since}: ${c.reason}`,
  },
  exchange_key_not_inspected: {
    title: 'API Key Not Verified',
    sentence: (c: { exchange: string; message: string }) =>
      `${c.exchange} has not yet said what the API key may do and to which account it belongs: ${c.message}`,
  },
  exchange_account_duplicate: {
    title: 'Account Of Another User',
    sentence: (c: { exchange: string; usedBy: string }) =>
      `The ${c.exchange} account of this API key is connected for ${c.usedBy} too, who was first: nothing is ordered here until one of the two keys is removed or replaced`,
  },
  exchange_key_may_withdraw: {
    title: 'API Key May Withdraw',
    sentence: (c: { exchange: string }) =>
      `This ${c.exchange} API key may withdraw: enter one that may trade futures and may not withdraw`,
  },
  exchange_key_may_not_trade: {
    title: 'API Key May Not Trade',
    sentence: (c: { exchange: string }) =>
      `This ${c.exchange} API key may not trade futures: enter one that may place futures orders and read positions`,
  },
  exchange_account_mode: {
    title: 'Account Mode Not Traded',
    sentence: (c: { exchange: string; accountMode: string; wanted: string }) =>
      `This ${c.exchange} API key belongs to a ${c.accountMode} account, only ${c.wanted} accounts are traded: switch the account or enter the key of a ${c.wanted} one`,
  },

  // The position
  setting_out_of_range: {
    title: 'Setting Out Of Range',
    sentence: (c: { setting: string; value: string; maximum: string }) =>
      `${c.setting} ${c.value} is not above 0 and at most ${c.maximum}`,
  },
  live_price_unavailable: {
    title: 'Live Price Unavailable',
    sentence: (c: { token: string }) => `No live price of ${c.token} is available`,
  },
  balance_unavailable: {
    title: 'Balance Unavailable',
    sentence: () => 'Balance information unavailable',
  },
  exchange_unavailable: {
    title: 'Exchange Unavailable',
    sentence: (c: { exchange: string; message: string }) => `${c.exchange} could not be asked: ${c.message}`,
  },
  token_not_listed: {
    title: 'Not Listed',
    sentence: (c: { token: string; exchange: string }) => `${c.token} is not listed on ${c.exchange}`,
  },
  leverage_unavailable: {
    title: 'Leverage Unavailable',
    sentence: (c: { token: string; leverage: string; maximum: string }) =>
      `${c.token} allows a leverage of at most ${c.maximum}, the position needs ${c.leverage}`,
  },
  atr_required: {
    title: 'ATR Required',
    sentence: () => 'ATR is required for Technical Analysis',
  },
  price_not_positive: {
    title: 'Price Not Positive',
    sentence: (c: { name: string; value: string }) => `${c.name} must be above zero but is ${c.value}`,
  },
  stop_would_trigger: {
    title: 'Stop Loss On The Wrong Side',
    sentence: (c: { stopLoss: string; action: string; price: string }) =>
      `Stop loss would trigger at once: ${c.stopLoss} is not ${c.action === 'buy' ? 'below' : 'above'} the price ${c.price}`,
  },
  target_would_trigger: {
    title: 'Take Profit On The Wrong Side',
    sentence: (c: { takeProfit: string; action: string; price: string }) =>
      `Take profit would trigger at once: ${c.takeProfit} is not ${c.action === 'buy' ? 'above' : 'below'} the price ${c.price}`,
  },
  stop_beyond_liquidation: {
    title: 'Stop Loss Beyond Liquidation',
    sentence: (c: { distancePercent: string; leverage: string; limitPercent: string }) =>
      `Stop loss lies beyond the liquidation distance: ${c.distancePercent}% away at leverage ${c.leverage} uses up ${c.limitPercent}% or more of the margin`,
  },
  below_minimum_quantity: {
    title: 'Below Minimum Size',
    sentence: (c: { token: string; quantity: string; minimum: string }) =>
      `Quantity ${c.quantity} ${c.token} is below the minimum size of ${c.minimum} ${c.token}`,
  },
  below_minimum_notional: {
    title: 'Below Minimum Notional',
    sentence: (c: { notional: string; minimum: string }) =>
      `Order value ${c.notional} USDT is below the minimum notional of ${c.minimum} USDT`,
  },
  minimum_exceeds_limit: {
    title: 'Balance Too Small',
    sentence: (c: {
      token: string;
      minimum: string;
      investment: string;
      limit: string;
      availableBalance: string;
    }) =>
      `The minimum order of ${c.minimum} ${c.token} needs ${c.investment} USDT, above the 33% limit of ${c.limit} USDT; the available balance is ${c.availableBalance} USDT`,
  },
  quantity_off_step: {
    title: 'Quantity Off Step',
    sentence: (c: { quantity: string; step: string }) =>
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
    sentence: (c: { ageMinutes: string; maxAgeMinutes: string }) =>
      `The calculation is ${c.ageMinutes} minutes old, the limit is ${c.maxAgeMinutes} minutes`,
  },
  live_price_moved: {
    title: 'Price Moved',
    sentence: (c: {
      livePrice: string;
      referencePrice: string;
      differencePercent: string;
      limitPercent: string;
    }) =>
      `The live price ${c.livePrice} has moved ${c.differencePercent}% from the calculated price ${c.referencePrice}, the limit is ${c.limitPercent}%`,
  },
  live_price_beyond_stop: {
    title: 'Price Beyond Stop Loss',
    sentence: (c: { livePrice: string; stopLoss: string }) =>
      `The live price ${c.livePrice} has reached the stop loss ${c.stopLoss}`,
  },
  live_price_beyond_target: {
    title: 'Price Beyond Take Profit',
    sentence: (c: { livePrice: string; takeProfit: string }) =>
      `The live price ${c.livePrice} has reached the take profit ${c.takeProfit}`,
  },
  already_traded: {
    title: 'Already Traded',
    sentence: () => 'This calculation or signal was already traded for the user',
  },
  position_open: {
    title: 'Position Open',
    sentence: (c: { token: string }) => `A position in ${c.token} is already open`,
  },
  entry_open: {
    title: 'Entry Open',
    sentence: (c: { token: string }) => `An entry order in ${c.token} is already open`,
  },
  same_direction_held: {
    title: 'Position Held',
    sentence: (c: { token: string; side: string }) => `A ${c.side} position in ${c.token} is already held`,
  },
  opposite_position_kept: {
    title: 'Opposite Position Kept',
    sentence: (c: { token: string; side: string }) =>
      `A ${c.side} position in ${c.token} is held and the user's settings keep it on an opposite signal`,
  },
  foreign_position_held: {
    title: 'Position Not Ours',
    sentence: (c: { token: string; side: string }) =>
      `A ${c.side} position in ${c.token} is held that was not opened here and is never touched`,
  },
  held_elsewhere: {
    title: 'Position Held',
    sentence: (c: { token: string; side: string; exchange: string }) =>
      `A ${c.side} position in ${c.token} is held on ${c.exchange}`,
  },
  perhaps_held_elsewhere: {
    title: 'Position Not Known',
    sentence: (c: { token: string; exchange: string; problem: string }) =>
      `A position in ${c.token} that was opened here may still be open on ${c.exchange}, which could not be asked: ${c.problem}`,
  },
  custom_entry_invalid: {
    title: 'Custom Entry Price Invalid',
    sentence: (c: { customEntryPrice: string }) =>
      `Custom entry price ${c.customEntryPrice} is not a number above zero`,
  },
  custom_entry_too_far: {
    title: 'Custom Entry Price Too Far',
    sentence: (c: {
      customEntryPrice: string;
      livePrice: string;
      differencePercent: string;
      limitPercent: string;
    }) =>
      `Custom entry price ${c.customEntryPrice} is ${c.differencePercent}% away from the live price ${c.livePrice}, the limit is ${c.limitPercent}%`,
  },
  nothing_left_to_fill: {
    title: 'Nothing Left',
    sentence: () => 'Nothing is left to fill',
  },
  account_not_prepared: {
    title: 'Account Not Prepared',
    sentence: (c: { detail: string }) =>
      `Margin mode, position mode or leverage could not be set: ${c.detail}`,
  },
} as const satisfies Record<string, DenialEntry>;

export type DenialCode = keyof typeof DENIALS;

/** The figures that a denial's sentence needs; more may be given and are kept in its context. */
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

/** Builds the denial of this code; `context` holds the figures that its sentence names, as text. */
export function deny<Code extends DenialCode>(code: Code, context: DenialContext<Code>): Denial {
  const sentence = DENIALS[code].sentence as (context: DenialContext<Code>) => string;
  return { code, reason: sentence(context), context: { ...context } };
}

export function denialTitle(code: DenialCode): string {
  return DENIALS[code].title;
}

const SKIPPED = '; user will be skipped';

/** How a workflow step says that a user is left out; results are read back from this ending. */
export function skipMessage(reason: string): string {
  return `${reason.replace(/\.$/, '')}${SKIPPED}`;
}

/** Why a user was left out, as the step was told it; any other text as it is. */
export function reasonOfSkip(message: string): string {
  return message.endsWith(SKIPPED) ? message.slice(0, -SKIPPED.length) : message;
}
