import {
  D,
  floorRatioToStep,
  isMultipleOf,
  largest,
  positiveOrNull,
  roundToTick,
  toPercent,
  toPlain,
} from '../decimal.ts';
import { denyWrongMode, type EligibilityMode } from '../eligibility/trading-mode.ts';
import { isWithinLimit, relativeDifference } from '../sizing/reference-price.ts';
import type { TokenRules } from '../sizing/token-rules.ts';
import {
  CALCULATION_MAX_AGE_MINUTES,
  LIQUIDATION_DISTANCE_LIMIT,
  PRICE_DIFFERENCE_LIMIT,
} from '../sizing/trading-constants.ts';
import type { Action } from '../sizing/trend.ts';
import { type Denial, deny } from '../workflow/denials.ts';

/** A denial when stop or target is not strictly on its own side of every given price. */
export function checkOrderSides(order: {
  action: Action;
  stopLoss: string;
  takeProfit: string;
  prices: readonly string[];
}): Denial | null {
  const { action, stopLoss, takeProfit, prices } = order;
  const isBelow = (a: string, b: string) => (action === 'buy' ? D(a).lt(b) : D(a).gt(b));
  for (const price of prices) {
    if (!isBelow(stopLoss, price)) return deny('stop_would_trigger', { stopLoss, action, price });
    if (!isBelow(price, takeProfit)) return deny('target_would_trigger', { takeProfit, action, price });
  }
  return null;
}

/** A denial when stop distance × leverage is 0.8 or more of the entry: liquidation would come first. */
export function checkStopBeforeLiquidation(order: {
  entryPrice: string;
  stopLoss: string;
  leverage: number;
}): Denial | null {
  const { entryPrice, stopLoss, leverage } = order;
  const distance = D(entryPrice).minus(stopLoss).abs();
  if (distance.times(leverage).lt(D(entryPrice).times(LIQUIDATION_DISTANCE_LIMIT))) return null;
  return deny('stop_beyond_liquidation', {
    distancePercent: toPercent(distance.div(entryPrice)),
    leverage: String(leverage),
    limitPercent: toPercent(LIQUIDATION_DISTANCE_LIMIT, 0),
  });
}

/** A denial when rounding moves a limit entry away from the price by more than its epsilon and one tick of the contract. */
export function checkEntryRounding(order: {
  entryPrice: string;
  price: string;
  epsilon: string;
  rules: Pick<TokenRules, 'tickSize' | 'contractTickSize'>;
}): Denial | null {
  const { entryPrice, price, epsilon, rules } = order;
  const limit = D(epsilon).plus(rules.contractTickSize ?? rules.tickSize);
  if (D(entryPrice).minus(price).abs().lte(limit)) return null;
  return deny('entry_rounded_away', {
    entryPrice: toPlain(entryPrice),
    price: toPlain(price),
    tick: toPlain(rules.tickSize),
    limit: toPlain(limit),
  });
}

/** A denial when a quantity (in units of the token) is below a minimum, above the largest order or off the step. */
export function checkOrderSize(order: { quantity: string; price: string; rules: TokenRules }): Denial | null {
  const { quantity, price, rules } = order;
  if (D(quantity).lt(rules.minimumQuantity) || D(quantity).lte(0)) {
    return deny('below_minimum_quantity', {
      token: rules.token,
      quantity: toPlain(quantity),
      minimum: toPlain(rules.minimumQuantity),
    });
  }
  const notional = D(quantity).times(price);
  if (notional.lt(rules.minimumNotional)) {
    return deny('below_minimum_notional', {
      notional: toPlain(notional),
      minimum: toPlain(rules.minimumNotional),
    });
  }
  const { maximumQuantity } = rules;
  if (maximumQuantity !== undefined && D(quantity).gt(maximumQuantity)) {
    return deny('above_maximum_quantity', {
      token: rules.token,
      quantity: toPlain(quantity),
      maximum: toPlain(maximumQuantity),
    });
  }
  if (!isMultipleOf(quantity, rules.quantityStep)) {
    return deny('quantity_off_step', { quantity: toPlain(quantity), step: toPlain(rules.quantityStep) });
  }
  return null;
}

/** The smallest quantity on the step that meets both minima at this price. */
export function minimumOrderQuantity({ price, rules }: { price: string; rules: TokenRules }): string {
  const { minimumQuantity, minimumNotional, quantityStep: step } = rules;
  const bySize = roundToTick(minimumQuantity, step, 'up');
  const floor = floorRatioToStep({ numerator: minimumNotional, denominator: price, step });
  const byNotional = floor.times(price).lt(minimumNotional) ? floor.plus(step) : floor;
  return toPlain(largest(bySize, byNotional));
}

export interface OrderToAssess {
  position: {
    token: string;
    action: Action;
    referencePrice: string;
    stopLoss: string | null;
    takeProfit: string | null;
  };
  calculatedAt: Date;
  now: Date;
  livePrice: string | null;
  user: { isActive: boolean; isTestUser: boolean };
  mode: EligibilityMode;
  /** Present, or not needed: the paper exchange has none. */
  hasCredentials: boolean;
  /** Any position in the token, including one opened elsewhere. */
  openPosition: boolean;
  /** An unsettled entry order in the token. */
  openEntry: boolean;
  alreadyTraded: boolean;
  /** The calculation uses a fallback balance. */
  isEstimate: boolean;
}

export type Assessment = { valid: true } | { valid: false; denial: Denial };

/** The pre-assessment of a calculated order, shared by preparation and submission. */
export function assessOrder(order: OrderToAssess): Assessment {
  const denial =
    checkProtected(order.position) ??
    denyCalculation(order) ??
    denyMovedPrice(order) ??
    denyUser(order) ??
    denyExposure(order);
  return denial === null ? { valid: true } : { valid: false, denial };
}

/** A denial when stop loss or take profit is missing: a strict safety rule. */
export function checkProtected(position: {
  stopLoss: string | null;
  takeProfit: string | null;
}): Denial | null {
  const isProtected =
    positiveOrNull(position.stopLoss) !== null && positiveOrNull(position.takeProfit) !== null;
  return isProtected ? null : deny('protection_missing', {});
}

function denyCalculation({ calculatedAt, now, isEstimate }: OrderToAssess): Denial | null {
  if (isEstimate) return deny('estimate_only', {});
  const ageMs = now.getTime() - calculatedAt.getTime();
  if (ageMs <= CALCULATION_MAX_AGE_MINUTES * 60_000) return null;
  return deny('calculation_too_old', {
    ageMinutes: (ageMs / 60_000).toFixed(1),
    maxAgeMinutes: String(CALCULATION_MAX_AGE_MINUTES),
  });
}

function denyMovedPrice({ position, livePrice }: OrderToAssess): Denial | null {
  const { token, action, referencePrice } = position;
  const live = positiveOrNull(livePrice);
  const stopLoss = positiveOrNull(position.stopLoss);
  const takeProfit = positiveOrNull(position.takeProfit);
  if (live === null) return deny('live_price_unavailable', { token });
  if (stopLoss === null || takeProfit === null) return deny('protection_missing', {});
  const shown = toPlain(live);
  const isBuy = action === 'buy';
  if (isBuy ? live.lte(stopLoss) : live.gte(stopLoss)) {
    return deny('live_price_beyond_stop', { livePrice: shown, stopLoss: toPlain(stopLoss) });
  }
  if (isBuy ? live.gte(takeProfit) : live.lte(takeProfit)) {
    return deny('live_price_beyond_target', { livePrice: shown, takeProfit: toPlain(takeProfit) });
  }
  if (isWithinLimit(live, referencePrice)) return null;
  return deny('live_price_moved', {
    livePrice: shown,
    referencePrice: toPlain(referencePrice),
    differencePercent: toPercent(relativeDifference(live, referencePrice)),
    limitPercent: toPercent(PRICE_DIFFERENCE_LIMIT, 0),
  });
}

function denyUser({ user, mode, hasCredentials }: OrderToAssess): Denial | null {
  if (!user.isActive) return deny('user_inactive', {});
  return (
    denyWrongMode({ isTestUser: user.isTestUser, mode }) ??
    (hasCredentials ? null : deny('exchange_not_connected', { exchange: 'exchange' }))
  );
}

function denyExposure({ position, openPosition, openEntry, alreadyTraded }: OrderToAssess): Denial | null {
  const { token } = position;
  if (alreadyTraded) return deny('already_traded', {});
  if (openPosition) return deny('position_open', { token });
  return openEntry ? deny('entry_open', { token }) : null;
}
