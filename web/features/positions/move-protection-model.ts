import type { OpenPositionView } from '#contract/positions.ts';

/* What the dialog for stop and target shows while a price is typed. The server decides; numbers here are for display. */

type Position = Pick<OpenPositionView, 'side' | 'quantity' | 'entryPrice' | 'markPrice'>;
export type ProtectionSide = 'stopLoss' | 'takeProfit';

const PRICE = /^\d+(\.\d+)?$/;

/** The number of a typed price; null for anything that is not a price above 0. */
export function typedPrice(text: string): number | null {
  const number = PRICE.test(text.trim()) ? Number(text) : 0;
  return number > 0 ? number : null;
}

const decimalsOf = (tick: string): number => tick.split('.')[1]?.length ?? 0;

/** The next price on the tick, up or down; from a price between two ticks, the nearer one in that direction. */
export function stepPrice(text: string, tick: string, direction: 1 | -1): string {
  const price = typedPrice(text);
  const size = Number(tick);
  if (price === null || !(size > 0)) return text;
  const ticks = price / size;
  const whole = Math.round(ticks);
  const isOnTick = Math.abs(ticks - whole) < 1e-6;
  const between = direction === 1 ? Math.ceil(ticks) : Math.floor(ticks);
  const next = isOnTick ? whole + direction : between;
  return (Math.max(next, 1) * size).toFixed(decimalsOf(tick));
}

/** Whether the price lies between two ticks. */
function isOffTick(price: number, tick: string): boolean {
  const ticks = price / Number(tick);
  return Math.abs(ticks - Math.round(ticks)) > 1e-6;
}

/** What is wrong with a typed price; null when nothing is. `tick`: null while it is not known. */
export function priceProblem(
  text: string,
  { side, position, tick }: { side: ProtectionSide; position: Position; tick: string | null },
): string | null {
  const price = typedPrice(text);
  if (price === null) return 'Enter a price above 0';
  if (tick !== null && isOffTick(price, tick)) return `Has to be a multiple of the tick ${tick}`;
  const mark = position.markPrice === null ? null : Number(position.markPrice);
  if (mark === null) return null;
  const isBelow = (position.side === 'long') === (side === 'stopLoss');
  if (isBelow ? price < mark : price > mark) return null;
  return `Has to be ${isBelow ? 'below' : 'above'} the mark price ${position.markPrice}`;
}

/** The way from the mark to a price, in percent of the mark, and what closing there brings before fees, in USDT. */
export function effectOf(
  text: string,
  { side, quantity, entryPrice, markPrice }: Position,
): { percent: number | null; profit: number } | null {
  const price = typedPrice(text);
  if (price === null) return null;
  const mark = markPrice === null ? null : Number(markPrice);
  const sign = side === 'long' ? 1 : -1;
  return {
    percent: mark === null || mark === 0 ? null : ((price - mark) / mark) * 100,
    profit: (price - Number(entryPrice)) * Number(quantity) * sign,
  };
}

/** Whether a stop at the typed price loses more than the present one. */
export function growsRisk(
  text: string,
  { side, stopLoss }: Pick<OpenPositionView, 'side' | 'stopLoss'>,
): boolean {
  const price = typedPrice(text);
  if (price === null || stopLoss === null) return false;
  return side === 'long' ? price < Number(stopLoss) : price > Number(stopLoss);
}

/** The prices that differ from what the exchange holds. */
export function changedPrices(
  typed: Record<ProtectionSide, string>,
  held: Pick<OpenPositionView, ProtectionSide>,
): Partial<Record<ProtectionSide, string>> {
  const changed: Partial<Record<ProtectionSide, string>> = {};
  for (const side of ['stopLoss', 'takeProfit'] as const) {
    const price = typedPrice(typed[side]);
    if (price !== null && price !== Number(held[side] ?? Number.NaN)) changed[side] = typed[side].trim();
  }
  return changed;
}
