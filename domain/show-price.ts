import { D } from './decimal.ts';

export const PRICE_DECIMALS = 4;
export const ATR_DECIMALS = 2;

/** A price for display: at least four decimals, more if the tick has more. Cuts off no digit. */
export function showPrice(price: string, tickSize: string, leastDecimals = PRICE_DECIMALS): string {
  const value = D(price);
  return value.toFixed(Math.max(value.decimalPlaces(), D(tickSize).decimalPlaces(), leastDecimals));
}
