import type { PositionsAnswer } from '#contract/positions.ts';
import { wallClockSeconds } from '#web/charts/wall-clock-seconds.ts';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';

export type ProfitPoints = PositionsAnswer['cumulativeProfit'];

/** The chart library's input: numbers, and times as wall-clock seconds in the display time zone. */
export interface ProfitModel {
  points: { time: number; value: number }[];
  /** The true instant of each point's time. */
  instants: ReadonlyMap<number, string>;
}

/** Drops points without a time or a profit. */
export const readablePoints = (points: ProfitPoints): ProfitPoints =>
  points.filter(({ at, profit }) => !Number.isNaN(Date.parse(at)) && profit !== '');

export function toProfitModel(points: ProfitPoints, timeZone: string): ProfitModel {
  const times = wallClockSeconds(
    points.map(({ at }) => at),
    timeZone,
  );
  return {
    points: points.map(({ profit }, index) => ({ time: times[index] ?? 0, value: Number(profit) })),
    instants: new Map(points.map(({ at }, index) => [times[index] ?? 0, at])),
  };
}

/** Describes the chart in words. */
export function describeProfit(
  points: ProfitPoints,
  formatInstant: (instant: string | null | undefined) => string,
): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return 'No closed positions yet.';
  const profits = points.map(({ profit }) => Number(profit));
  return [
    `Cumulative profit after fees of ${formatCount(points.length)} closed position${points.length === 1 ? '' : 's'}`,
    `from ${formatInstant(first.at)} to ${formatInstant(last.at)}:`,
    `${formatProfit(last.profit)} at the end,`,
    `highest ${formatMoney(Math.max(...profits))}, lowest ${formatMoney(Math.min(...profits))}.`,
  ].join(' ');
}
