import { D } from './decimal.ts';

export const PRICE_DECIMALS = 4;
export const ATR_DECIMALS = 2;

/** A price for reading: at least four decimals, and the tick's where that has more. No digit is cut off. */
export function showPrice(price: string, tickSize: string, leastDecimals = PRICE_DECIMALS): string {
  const value = D(price);
  return value.toFixed(Math.max(value.decimalPlaces(), D(tickSize).decimalPlaces(), leastDecimals));
}
