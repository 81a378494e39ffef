import { type CandlePicture, type LevelTitle, shownLevels } from './candle-chart-picture.ts';
import { wallClockSeconds } from './wall-clock-seconds.ts';

/** The chart library's input: numbers, and times as wall-clock seconds in the display time zone. */
export interface ChartModel {
  bars: { time: number; open: number; high: number; low: number; close: number }[];
  /** The true instant of each bar's time. */
  instants: ReadonlyMap<number, string>;
  /** Number of decimals of displayed prices. */
  decimals: number;
  lines: { title: LevelTitle; price: number }[];
  marks: ChartMark[];
  /** Index of the bar that must be in view; null means the last one. */
  focus: number | null;
}

export interface ChartMark {
  kind: 'signal' | 'candle' | 'fill';
  side: 'buy' | 'sell' | null;
  /** Time of the marked bar. */
  time: number;
  price: number;
  text: string;
}

export function toChartModel(picture: CandlePicture, timeZone: string): ChartModel {
  const { candles, mark, fills } = picture;
  const times = wallClockSeconds(
    candles.map(({ time }) => time),
    timeZone,
  );
  const barAt = (instant: string) => indexAt(candles, instant);
  const focus = mark ? barAt(mark.time) : null;
  const levels = shownLevels(picture);
  return {
    bars: candles.map(({ open, high, low, close }, index) => ({
      time: times[index] ?? 0,
      open: Number(open),
      high: Number(high),
      low: Number(low),
      close: Number(close),
    })),
    instants: new Map(candles.map(({ time }, index) => [times[index] ?? 0, time])),
    decimals: priceDecimals([
      ...candles.flatMap(({ open, high, low, close }) => [open, high, low, close]),
      ...levels.map(({ price }) => price),
    ]),
    lines: levels.map(({ title, price }) => ({ title, price: Number(price) })),
    marks: [
      ...(mark && focus !== null
        ? [
            {
              kind: mark.direction ? ('signal' as const) : ('candle' as const),
              // A signal that closes points in no direction.
              side: mark.direction === 'buy' || mark.direction === 'sell' ? mark.direction : null,
              time: times[focus] ?? 0,
              price: Number(mark.price),
              text: mark.text,
            },
          ]
        : []),
      ...fillMarks(fills, (instant) => times[barAt(instant) ?? 0] ?? 0),
    ].sort((a, b) => a.time - b.time),
    focus: picture.endsAtLast ? null : focus,
  };
}

/** Index of the candle containing an instant: the last one that starts at or before it, else the first. */
function indexAt(candles: CandlePicture['candles'], instant: string): number | null {
  if (candles.length === 0) return null;
  const at = Date.parse(instant);
  return Math.max(
    candles.findLastIndex(({ time }) => Date.parse(time) <= at),
    0,
  );
}

/** Groups the fills of a bar into one mark per side, because overlapping texts are unreadable. */
function fillMarks(fills: CandlePicture['fills'], timeAt: (instant: string) => number): ChartMark[] {
  const groups = Map.groupBy(fills, ({ time, side }) => `${timeAt(time)} ${side}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const quantity = group.reduce((sum, fill) => sum + Number(fill.quantity), 0);
    const value = group.reduce((sum, fill) => sum + Number(fill.quantity) * Number(fill.averagePrice), 0);
    const text = quantityText(quantity);
    return {
      kind: 'fill' as const,
      side: first.side,
      time: timeAt(first.time),
      price: value / quantity,
      text: group.length === 1 ? `Filled ${text}` : `${group.length} fills, ${text}`,
    };
  });
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });

/** Rounds away float noise in sums; large quantities are compact to fit. */
const quantityText = (quantity: number) =>
  quantity < 1e6 ? String(Number(quantity.toPrecision(10))) : compact.format(quantity);

const SIGNIFICANT_DIGITS = 9;
const MAX_DECIMALS = 12;

/**
 * The decimals of the most precise price, limited to nine significant digits of the largest one, and at least two
 * where prices are above 1.
 */
export function priceDecimals(prices: readonly string[]): number {
  const largest = Math.max(...prices.map(Number).filter((price) => price > 0 && Number.isFinite(price)), 0);
  if (largest === 0) return 2;
  const magnitude = Math.floor(Math.log10(largest));
  const most = Math.max(...prices.map((price) => price.split('.')[1]?.length ?? 0));
  const limit = Math.min(Math.max(SIGNIFICANT_DIGITS - 1 - magnitude, 0), MAX_DECIMALS);
  return Math.max(Math.min(most, limit), magnitude >= 0 ? 2 : 0);
}
