import type { OpenPositionView } from '#contract/positions.ts';

type Levels = Pick<OpenPositionView, 'side' | 'entryPrice' | 'markPrice' | 'stopLoss' | 'takeProfit'>;

/** Places on the way from the stop (0) to the target (1), so a short is mirrored; null where one is not known. */
export interface StopTargetBar {
  entry: number;
  mark: number | null;
}

const within = (share: number): number => Math.min(Math.max(share, 0), 1);

/** Null without a stop: there is no way to show. Without a target the bar ends as far from the entry as the stop is. */
export function stopTargetBar({ entryPrice, markPrice, stopLoss, takeProfit }: Levels): StopTargetBar | null {
  if (stopLoss === null) return null;
  const [entry, stop] = [Number(entryPrice), Number(stopLoss)];
  const end = takeProfit === null ? entry + (entry - stop) : Number(takeProfit);
  if (end === stop) return null;
  const share = (price: number) => within((price - stop) / (end - stop));
  const mark = markPrice === null ? null : share(Number(markPrice));
  // A price that cannot be read has no place.
  return Number.isNaN(share(entry)) ? null : { entry: share(entry), mark: Number.isNaN(mark) ? null : mark };
}

/** How far a price is from the mark: '−0.6 %', '+1.5 %'; null where one of them is missing. */
export function distanceText(price: string | null, markPrice: string | null): string | null {
  const mark = Number(markPrice ?? Number.NaN);
  if (price === null || !(mark > 0) || Number.isNaN(Number(price))) return null;
  const percent = ((Number(price) - mark) / mark) * 100;
  const digits = Math.abs(percent).toFixed(1);
  const sign = Number(digits) === 0 ? '' : percent < 0 ? '−' : '+';
  return `${sign}${digits} %`;
}
