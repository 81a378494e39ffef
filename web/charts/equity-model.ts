import type { EquityAnswer } from '#contract/performance.ts';

export interface WorthPoint {
  at: string;
  worth: number;
  /** How far the change is below its highest value so far; deposits, and accounts that come or go, do not count. */
  fall: number;
  complete: boolean;
}

/** The points of a picture, oldest first. For display. */
export function worthPoints(points: EquityAnswer['points']): WorthPoint[] {
  let highest = Number.NEGATIVE_INFINITY;
  return points.map(({ at, equity, change, complete }) => {
    highest = Math.max(highest, Number(change));
    return { at, worth: Number(equity), fall: highest - Number(change), complete };
  });
}

/** A line through values over time, as the points of an SVG of this size. Time stands at its own place: gaps are long. */
export function linePoints(
  values: readonly { at: string; value: number }[],
  { width, height, low, high }: { width: number; height: number; low: number; high: number },
): string {
  const [first, last] = [Date.parse(values[0]?.at ?? ''), Date.parse(values.at(-1)?.at ?? '')];
  const length = last - first || 1;
  return values
    .map(({ at, value }) => {
      const x = values.length < 2 ? width : ((Date.parse(at) - first) / length) * width;
      const y = height - ((value - low) / (high - low || 1)) * height;
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
}
