import { type Figure, toNumber, twoDecimals } from './format.ts';

/* Formats money, prices and quantities given as decimal strings. The results are for display, not for calculation. */

const SIGNIFICANT_DIGITS = 7;
const MAX_DECIMALS = 14;

const quantityFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 8 });

/** Rounds to two decimals; never returns minus zero. */
const toCents = (amount: number): number => Number(amount.toFixed(2)) || 0;

/** As wide as a plus sign, unlike a hyphen. */
export const withMinus = (figure: string): string => figure.replace('-', '−');

/** Two decimals, with the sign before the $: '−$5.00'. A dash for null. */
export function formatMoney(amount: Figure): string {
  const number = toNumber(amount);
  if (number === null) return '–';
  const cents = toCents(number);
  return `${cents < 0 ? '−' : ''}$${twoDecimals.format(Math.abs(cents))}`;
}

/** As money, with a plus sign for a gain. */
export function formatProfit(amount: Figure): string {
  return profitDirection(amount) === 'gain' ? `+${formatMoney(amount)}` : formatMoney(amount);
}

/** Judges the displayed amount: less than half a cent is neither gain nor loss. */
export function profitDirection(amount: Figure): 'gain' | 'loss' | 'even' {
  const cents = toCents(toNumber(amount) ?? 0);
  if (cents === 0) return 'even';
  return cents > 0 ? 'gain' : 'loss';
}

/** A price with its significant decimals, at least two: '$65,000.50', '$0.00001234'. */
export function formatFullPrice(price: Figure): string {
  const number = toNumber(price);
  if (number === null) return '–';
  const magnitude = number === 0 ? 0 : Math.floor(Math.log10(Math.abs(number)));
  const decimals = Math.min(Math.max(SIGNIFICANT_DIGITS - 1 - magnitude, 2), MAX_DECIMALS);
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: decimals,
  });
  return `$${format.format(number)}`;
}

/** Like `formatFullPrice`, for prices as received: 'Unknown' for anything that is not a number. */
export const formatReceivedPrice = (price: Figure): string =>
  toNumber(price) === null ? 'Unknown' : formatFullPrice(price);

/** '1,250,000', '0.123'. */
export function formatQuantity(quantity: Figure): string {
  const number = toNumber(quantity);
  return number === null ? '–' : quantityFormat.format(number);
}

/** A part of a whole as a signed percentage: '+12.50%'; a dash when there is no whole. */
export function formatReturn(part: Figure, whole: Figure): string {
  const [numerator, denominator] = [toNumber(part), toNumber(whole)];
  if (numerator === null || denominator === null || denominator === 0) return '–';
  const percent = toCents((numerator / denominator) * 100);
  return withMinus(`${percent > 0 ? '+' : ''}${percent.toFixed(2)}%`);
}
