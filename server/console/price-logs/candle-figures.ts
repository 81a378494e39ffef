import type { Candle } from '#contract/charts.ts';
import { isDecimal, largest, parsePositiveNumber, smallest, toPlain } from '#domain/decimal.ts';

type Parameters = Record<string, unknown>;

/** Reads a figure of a candle by case-insensitive name; null unless it is a decimal. */
export function figureReader(parameters: Parameters): (name: string) => string | null {
  const figures = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = figures.get(name);
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && isDecimal(text) ? toPlain(text) : null;
  };
}

/**
 * The bar of a stored candle. Open, high and low come from the charting platform and may be absent or unusable: the close
 * replaces a missing open, and a missing high or low is taken from open and close.
 */
export function toCandle(row: { candleTimeServer: Date; price: string; parameters: Parameters }): Candle {
  const figure = figureReader(row.parameters);
  const price = (name: string) => {
    const text = figure(name);
    const parsed = text === null ? null : parsePositiveNumber(text);
    return parsed?.ok ? parsed.value : null;
  };
  const close = toPlain(row.price);
  const open = price('open') ?? close;
  return {
    time: row.candleTimeServer.toISOString(),
    open,
    high: price('high') ?? toPlain(largest(open, close)),
    low: price('low') ?? toPlain(smallest(open, close)),
    close,
  };
}
