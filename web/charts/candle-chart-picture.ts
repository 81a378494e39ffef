import type { Candle, ChartFill, ChartLevels } from '#contract/charts.ts';
import type { SignalAction } from '#domain/exits/signal-action.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { formatCount } from '../lib/format.ts';

/** Content of one chart. Prices are decimal strings, times are instants. */
export interface CandlePicture {
  token: string;
  timeframe: string;
  candles: readonly Candle[];
  /** The chart's subject: a signal, or one candle, which has no direction. */
  mark: { time: string; price: string; text: string; direction: SignalAction | null } | null;
  /** A position may lack a stop or a target. */
  levels: { [Name in keyof ChartLevels]: string | null } | null;
  fills: readonly ChartFill[];
  /** The last candles are in view, not those around the mark. */
  endsAtLast?: boolean;
}

export const LEVELS = [
  { name: 'entryPrice', title: 'Entry' },
  { name: 'stopLoss', title: 'Stop' },
  { name: 'takeProfit', title: 'Target' },
] as const satisfies { name: keyof ChartLevels; title: string }[];
export type LevelTitle = (typeof LEVELS)[number]['title'];

/** The levels that have a price. */
export const shownLevels = ({
  levels,
}: Pick<CandlePicture, 'levels'>): { title: LevelTitle; price: string }[] =>
  LEVELS.flatMap(({ name, title }) => {
    const price = levels?.[name] ?? null;
    return price === null ? [] : [{ title, price }];
  });

const isTime = (instant: string): boolean => !Number.isNaN(Date.parse(instant));

/** Drops entries without a time or a price, which cannot be placed in the chart. */
export function readablePart({ candles, mark, levels, fills, ...rest }: CandlePicture): CandlePicture {
  const arePrices = (prices: readonly string[]) => prices.every((price) => Number(price) > 0);
  return {
    ...rest,
    candles: candles.filter(
      ({ time, open, high, low, close }) => isTime(time) && arePrices([open, high, low, close]),
    ),
    mark: mark && isTime(mark.time) && arePrices([mark.price]) ? mark : null,
    levels: levels && arePrices(shownLevels({ levels }).map(({ price }) => price)) ? levels : null,
    fills: fills.filter(
      ({ time, quantity, averagePrice }) => isTime(time) && arePrices([quantity, averagePrice]),
    ),
  };
}

/** Describes the picture in words. */
export function describePicture(
  picture: CandlePicture,
  formatInstant: (instant: string | null | undefined) => string,
): string {
  const { token, timeframe, candles } = picture;
  const [first, last] = [candles[0], candles.at(-1)];
  const series =
    first && last
      ? [
          `${count(candles.length, 'candle')} from ${formatInstant(first.time)} to ${formatInstant(last.time)}`,
          `Last close ${last.close}`,
        ]
      : [];
  return [`${token} ${displayTimeframe(timeframe)}`, ...series, ...describeEvents(picture, formatInstant)]
    .map((sentence) => `${sentence}.`)
    .join(' ');
}

/** Describes the mark, the levels and the fills in words; also used for a chart without candles. */
export function describeEvents(
  { mark, levels, fills }: CandlePicture,
  formatInstant: (instant: string | null | undefined) => string,
): string[] {
  return [
    ...(mark ? [`${mark.text} at ${mark.price} on ${formatInstant(mark.time)}`] : []),
    ...(levels
      ? [
          shownLevels({ levels })
            .map(({ title, price }) => `${title} ${price}`)
            .join(', '),
        ]
      : []),
    ...(fills.length > 0 ? [count(fills.length, 'fill')] : []),
  ];
}

const count = (number: number, noun: string) => `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
