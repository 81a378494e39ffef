/** The newest value of a running calculation; null until enough has come in. */
export type Running = (value: number) => number | null;

/** Exponential moving average that begins with the mean of its first values. */
export function ema(period: number): Running {
  return smoothed(period, 2 / (period + 1));
}

/** Wilder's smoothing, the one of ATR and RSI: each value counts 1/period. */
export function wilder(period: number): Running {
  return smoothed(period, 1 / period);
}

function smoothed(period: number, weight: number): Running {
  let count = 0;
  let current = 0;
  return (value) => {
    count += 1;
    if (count <= period) current += (value - current) / count;
    else current += weight * (value - current);
    return count < period ? null : current;
  };
}

/** The last values, oldest first; null until there are `length` of them. */
export function lastValues(length: number): (value: number) => readonly number[] | null {
  const values: number[] = [];
  return (value) => {
    values.push(value);
    if (values.length > length) values.shift();
    return values.length < length ? null : values;
  };
}

export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of a whole population, as charts draw their bands. */
export function standardDeviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** Applies a running calculation to what may not be there yet. */
export const through = (running: Running, value: number | null) => (value === null ? null : running(value));
