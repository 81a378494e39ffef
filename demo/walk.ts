import { createRandom } from './random.ts';
import type { DemoToken } from './tokens.ts';

export interface Bar {
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

export interface Walk {
  next(): Bar;
  /** Multiplies the price by a factor; the walk continues from there. */
  jump(factor: number): void;
}

/** Steps inside a bar, so highs and lows differ from open and close. */
const TICKS = 12;
/** Drift of a trend per bar, in standard deviations of a bar. */
const TREND_DRIFT = 0.22;
/** Pull toward the start price per bar, which keeps a walk of weeks near it. */
const HOME_PULL = 0.0008;

/** Endless bars of a seeded random walk with phases up, down and sideways. The same options give the same bars. */
export function createWalk(
  options: Pick<DemoToken, 'startPrice' | 'volatility' | 'volume'> & { seed: string },
): Walk {
  const { seed, volatility, volume } = options;
  const random = createRandom(seed);
  let home = options.startPrice;
  let price = home;
  let phase = { trend: 0, barsLeft: 0, liveliness: 1 };

  return {
    next() {
      if (phase.barsLeft <= 0) {
        const trend = Math.floor(random.uniform() * 3) - 1;
        const barsLeft = 20 + random.uniform() * 70;
        phase = { trend, barsLeft, liveliness: 0.6 + 1.2 * random.uniform() ** 2 };
      }
      phase.barsLeft -= 1;
      const deviation = volatility * phase.liveliness;
      const drift = phase.trend * TREND_DRIFT * deviation + HOME_PULL * Math.log(home / price);
      const open = price;
      const ticks = Array.from({ length: TICKS }, () => {
        price *= Math.exp(drift / TICKS + (deviation / Math.sqrt(TICKS)) * random.normal());
        return price;
      });
      const move = Math.abs(Math.log(price / open)) / volatility;
      return {
        open,
        high: Math.max(open, ...ticks),
        low: Math.min(open, ...ticks),
        close: price,
        volume: volume * (0.4 + 0.6 * move + 0.5 * random.uniform()),
      };
    },
    jump(factor) {
      home *= factor;
      price *= factor;
    },
  };
}
