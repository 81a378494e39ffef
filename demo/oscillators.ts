import { lastValues, through, wilder } from './smoothing.ts';
import type { Bar } from './walk.ts';

type Part = (bar: Bar) => Record<string, number | null>;

const PERIOD = 14;

/** RSI from 0 to 100, and the momentum that it is made of. */
export function relativeStrength(): Part {
  const [gains, losses] = [wilder(PERIOD), wilder(PERIOD)];
  const closes = lastValues(11);
  let previousClose: number | null = null;
  return ({ close }) => {
    const change = previousClose === null ? null : close - previousClose;
    previousClose = close;
    const gain = through(gains, change === null ? null : Math.max(change, 0));
    const loss = through(losses, change === null ? null : Math.max(-change, 0));
    const earlier = closes(close)?.[0];
    return {
      RSI: gain === null || loss === null ? null : share(gain, loss),
      Momentum: earlier === undefined ? null : close - earlier,
      ROC: earlier === undefined ? null : (100 * (close - earlier)) / earlier,
    };
  };
}

/** ADX and the two directional indicators that it is made of. */
export function directionalMovement(): Part {
  const [range, rising, falling, strength] = [wilder(PERIOD), wilder(PERIOD), wilder(PERIOD), wilder(PERIOD)];
  let previous: Bar | null = null;
  return (bar) => {
    const before = previous;
    previous = bar;
    if (before === null) return {};
    const [up, down] = [bar.high - before.high, before.low - bar.low];
    const trueRange = Math.max(bar.high, before.close) - Math.min(bar.low, before.close);
    const whole = range(trueRange);
    const plus = rising(up > down && up > 0 ? up : 0);
    const minus = falling(down > up && down > 0 ? down : 0);
    if (whole === null || plus === null || minus === null || whole === 0) return {};
    const [diPlus, diMinus] = [(100 * plus) / whole, (100 * minus) / whole];
    const sum = diPlus + diMinus;
    return {
      DIPlus: diPlus,
      DIMinus: diMinus,
      ADX: sum === 0 ? null : strength((100 * Math.abs(diPlus - diMinus)) / sum),
    };
  };
}

/** MFI: the share of money that came with rising prices, from 0 to 100. */
export function moneyFlow(): Part {
  const [inflows, outflows] = [lastValues(PERIOD), lastValues(PERIOD)];
  let previousPrice: number | null = null;
  return ({ high, low, close, volume }) => {
    const price = (high + low + close) / 3;
    const direction = previousPrice === null ? 0 : Math.sign(price - previousPrice);
    previousPrice = price;
    const inflow = inflows(direction > 0 ? price * volume : 0);
    const outflow = outflows(direction < 0 ? price * volume : 0);
    if (inflow === null || outflow === null) return {};
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return { MFI: share(sum(inflow), sum(outflow)) };
  };
}

/** What `part` is of both together, in percent; 50 when there is nothing. */
const share = (part: number, other: number) => (part + other === 0 ? 50 : (100 * part) / (part + other));
