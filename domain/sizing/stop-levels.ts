import { D, positiveOrNull, roundToTick, toPlain } from '../decimal.ts';
import type { SizingMethod } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { CALCULATOR_STOP, DEFAULT_STOP_LOSS_FRACTION, TECHNICAL_ANALYSIS_STOP } from './trading-constants.ts';
import type { Action } from './trend.ts';

export interface StopLevels {
  ok: true;
  stopLoss: string;
  takeProfit: string;
  /** From the reference price to the stop before rounding, in USDT. */
  distance: string;
  /** Null when the default fraction is used because no ATR is known. */
  atrMultiplier: string | null;
  rewardRatio: string;
}

/**
 * Stop loss and take profit, measured from the reference price and not from the entry, because a marketable limit order
 * fills at the market price. Both are rounded to the tick towards the entry.
 */
export function stopLevels(input: {
  action: Action;
  referencePrice: string;
  atr: string | null;
  aligned: boolean;
  method: SizingMethod;
  tick: string;
}): StopLevels | { ok: false; denial: Denial } {
  const { action, aligned, method, tick } = input;
  const table = method === 'Technical Analysis' ? TECHNICAL_ANALYSIS_STOP : CALCULATOR_STOP;
  const rewardRatio = aligned ? table.rewardRatioAligned : table.rewardRatioOpposed;
  const atr = positiveOrNull(input.atr);
  if (atr === null && method === 'Technical Analysis') return { ok: false, denial: deny('atr_required', {}) };

  const atrMultiplier =
    atr === null ? null : aligned ? table.atrMultiplierAligned : table.atrMultiplierOpposed;
  const price = D(input.referencePrice);
  const distance =
    atr === null || atrMultiplier === null
      ? price.times(DEFAULT_STOP_LOSS_FRACTION)
      : atr.times(atrMultiplier);
  const reward = distance.times(rewardRatio);
  const [stopLoss, takeProfit] =
    action === 'buy'
      ? [roundToTick(price.minus(distance), tick, 'up'), roundToTick(price.plus(reward), tick, 'down')]
      : [roundToTick(price.plus(distance), tick, 'down'), roundToTick(price.minus(reward), tick, 'up')];

  for (const [name, level] of [
    ['Stop loss', stopLoss],
    ['Take profit', takeProfit],
  ] as const) {
    if (!level.gt(0))
      return { ok: false, denial: deny('price_not_positive', { name, value: toPlain(level) }) };
  }
  return {
    ok: true,
    stopLoss: toPlain(stopLoss),
    takeProfit: toPlain(takeProfit),
    distance: toPlain(distance),
    atrMultiplier,
    rewardRatio,
  };
}
