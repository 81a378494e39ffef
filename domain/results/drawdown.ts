import { D, type Decimal, largest, roundHalfUp, toPlain } from '../decimal.ts';

/** What accounts were worth at a time, in USDT, and what they gained since the first point. */
export interface WorthAndChange {
  equity: string;
  /** Accounts and deposits that come or go change `equity`, not this. */
  change: string;
}

export interface Drawdown {
  /** The largest fall of `change` below its highest value so far, in USDT. */
  amount: string;
  /** The largest fall of the growth below its highest value so far, in percent with two decimals. */
  percent: string | null;
}

/**
 * The largest falls of equity, oldest point first, without what was deposited, withdrawn, or came and went with accounts.
 * The growth is the product of each step's gain ÷ the equity that it began with (time-weighted), so that both falls need
 * not be the same one. Percent is null where a step began with nothing.
 */
export function largestDrawdown(points: readonly WorthAndChange[]): Drawdown {
  const [first] = points;
  let before = D(first?.change ?? 0);
  let highest = before;
  let fall = D(0);
  let growth: Decimal | null = D(1);
  let highestGrowth = D(1);
  let share = D(0);
  for (const { equity, change } of points.slice(1)) {
    const gain = D(change).minus(before);
    before = D(change);
    highest = largest(highest, change);
    fall = largest(fall, highest.minus(change));
    const start = D(equity).minus(gain);
    if (growth === null || start.lte(0)) {
      growth = null;
      continue;
    }
    growth = largest(growth.times(gain.div(start).plus(1)), 0);
    highestGrowth = largest(highestGrowth, growth);
    share = largest(share, highestGrowth.minus(growth).div(highestGrowth));
  }
  return {
    amount: toPlain(fall),
    percent: growth === null ? null : roundHalfUp(share.times(100), 2),
  };
}
