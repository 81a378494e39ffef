import { ema } from './smoothing.ts';

export type Action = 'buy' | 'sell';

export interface Crossings {
  /** Buy or sell when the fast average of the closes has just crossed the slow one. */
  next(close: number): Action | null;
  /** The side on which the fast average is now. */
  side(): Action | null;
}

export function createCrossings(options: { fast: number; slow: number }): Crossings {
  const [fast, slow] = [ema(options.fast), ema(options.slow)];
  let side: Action | null = null;
  return {
    next(close) {
      const [near, far] = [fast(close), slow(close)];
      if (near === null || far === null || near === far) return null;
      const before = side;
      side = near > far ? 'buy' : 'sell';
      return before === null || before === side ? null : side;
    },
    side: () => side,
  };
}
