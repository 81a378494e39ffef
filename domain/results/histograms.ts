import { D, type Decimal, toPlain } from '../decimal.ts';

/*
 * Histograms are kept as one number each: eight decimal digits a bin, the lowest bin in the last digits. Adding two such
 * numbers adds all their bins. The edges are repeated in the migration that keeps them (histogram_of); a test compares.
 */
const DIGITS_A_BIN = 8;

export type HistogramKind = 'r' | 'slippage' | 'holding';

/** From `first` to `last`, in whole multiples of `step`. */
const steps = (first: number, last: number, step: string): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => toPlain(D(step).times(first + index)));

const SLIPPAGE_ABOVE_ZERO = [
  ...steps(1, 20, '0.1'),
  ...steps(5, 20, '0.5'),
  ...steps(6, 25, '2'),
  ...steps(6, 20, '10'),
];

/**
 * Ascending edges of the bins. R: the nearest half. Slippage in basis points: steps of 0.1 up to 2, 0.5 up to 10, 2 up
 * to 50, 10 up to 200. Holding in minutes.
 */
export const EDGES: Record<HistogramKind, readonly string[]> = {
  r: steps(0, 15, '0.5').map((step) => toPlain(D('-2.75').plus(step))),
  slippage: [...SLIPPAGE_ABOVE_ZERO.map((edge) => `-${edge}`).reverse(), '0', ...SLIPPAGE_ABOVE_ZERO],
  holding: ['1', '5', '15', '30', '60', '120', '240', '480', '720', '1440', '2880', '10080', '43200'],
};

/** Counts by bin; one more bin than edges: below the first, between two, above the last. */
export function unpackHistogram(kind: HistogramKind, packed: string): number[] {
  const bins = EDGES[kind].length + 1;
  const digits = packed.padStart(bins * DIGITS_A_BIN, '0');
  if (digits.length > bins * DIGITS_A_BIN || !/^\d+$/.test(digits)) {
    throw new RangeError(`Not a histogram of ${bins} bins: ${packed.slice(0, 40)}`);
  }
  return Array.from({ length: bins }, (_, bin) => {
    const end = digits.length - bin * DIGITS_A_BIN;
    return Number(digits.slice(end - DIGITS_A_BIN, end));
  });
}

export const countOf = (bins: readonly number[]): number => bins.reduce((total, count) => total + count, 0);

/**
 * The value that the given share of the values does not exceed, to the width of its bin: the upper edge of the bin, or
 * the last edge for what lies above it. Null without values.
 */
export function quantile(
  kind: HistogramKind,
  bins: readonly number[],
  share: Decimal | string,
): string | null {
  const count = countOf(bins);
  if (count === 0) return null;
  const wanted = D(share).times(count).ceil().toNumber();
  let passed = 0;
  for (const [bin, of] of bins.entries()) {
    passed += of;
    if (passed >= wanted) return EDGES[kind][Math.min(bin, EDGES[kind].length - 1)] ?? null;
  }
  return null;
}
