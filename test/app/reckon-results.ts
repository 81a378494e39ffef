/*
 * The formulas of docs/results.md once more, with integers and without the database or the domain: what the program
 * answers has to agree to the last digit.
 */

/** A closed trade; money as integers of 10^-8, null where it is unknown. */
export interface ReckonedTrade {
  userId: string;
  username: string;
  processor: string;
  token: string;
  timeframe: string;
  sizingMethod: string;
  side: 'long' | 'short';
  closedAt: Date;
  holdingMs: number;
  gross: bigint | null;
  fees: bigint | null;
  funding: bigint | null;
  net: bigint | null;
  plannedLoss: bigint;
  /** Fill, signal and planned entry: any unit, the same for all. */
  fill: bigint;
  signal: bigint;
  entry: bigint;
}

/** An order that has ended. */
export interface ReckonedOrder
  extends Pick<
    ReckonedTrade,
    'userId' | 'username' | 'processor' | 'token' | 'timeframe' | 'sizingMethod' | 'side'
  > {
  beganAt: Date;
  isFilled: boolean;
}

const UNIT = 8;

/** numerator / denominator with so many decimals, half away from zero; with `isFixed` trailing zeros stay. */
export function quotient(numerator: bigint, denominator: bigint, decimals: number, isFixed = true): string {
  const [top, bottom] = denominator < 0n ? [-numerator, -denominator] : [numerator, denominator];
  const scaled = (top < 0n ? -top : top) * 10n ** BigInt(decimals);
  return textOf(((2n * scaled + bottom) / (2n * bottom)) * (top < 0n ? -1n : 1n), decimals, isFixed);
}

export function textOf(value: bigint, decimals: number, isFixed = false): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  const text = isFixed ? `${whole}.${fraction}` : `${whole}.${fraction}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
}

const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
const known = (values: (bigint | null)[]) => values.filter((value) => value !== null);
/** As an integer of 10^-decimals. */
const rounded = (numerator: bigint, denominator: bigint, decimals: number) =>
  BigInt(quotient(numerator, denominator, decimals).replace('.', ''));

const rOf = ({ net, plannedLoss }: ReckonedTrade) =>
  net === null || plannedLoss === 0n ? null : rounded(net, plannedLoss, 6);

const worse = ({ side, fill }: ReckonedTrade, wanted: bigint) =>
  rounded((side === 'long' ? fill - wanted : wanted - fill) * 10_000n, wanted, 4);

/** The smallest value of the sorted ones that is not below the share of them, raised to its step. */
function slippageAt(values: bigint[], percent: number): string | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const value = sorted[Math.ceil((values.length * percent) / 100) - 1] ?? 0n;
  return textOf(raise(value), 4);
}

/** Steps of 0.1 up to 2, 0.5 up to 10, 2 up to 50, 10 up to 200; in 10^-4. */
function raise(value: bigint): bigint {
  if (value > 2_000_000n) return 2_000_000n;
  if (value <= -2_000_000n) return -2_000_000n;
  const size = value < 0n ? -value : value;
  // Below zero the upper edge is nearer to zero, so a value on a border belongs to the finer step.
  const isFiner = (border: bigint) => (value > 0n ? size <= border : size < border + 1n);
  const step = isFiner(20_000n)
    ? 1_000n
    : isFiner(100_000n)
      ? 5_000n
      : isFiner(500_000n)
        ? 20_000n
        : 100_000n;
  if (value <= 0n) return -(size / step) * step;
  return ((size + step - 1n) / step) * step;
}

export function reckon(trades: ReckonedTrade[]) {
  const nets = known(trades.map(({ net }) => net));
  const rs = trades.map(rOf);
  const risked = trades.filter((trade) => rOf(trade) !== null);
  const won = nets.filter((net) => net > 0n);
  const lost = nets.filter((net) => net < 0n);
  const count = BigInt(nets.length);
  const sorted = [...nets].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const total = (of: (trade: ReckonedTrade) => bigint | null) => textOf(sum(known(trades.map(of))), UNIT);
  const missing = (of: (trade: ReckonedTrade) => bigint | null) =>
    trades.filter((trade) => of(trade) === null).length;
  const slippage = (wanted: (trade: ReckonedTrade) => bigint) => {
    const values = trades.map((trade) => worse(trade, wanted(trade)));
    return { median: slippageAt(values, 50), p95: slippageAt(values, 95) };
  };
  const heldMs = trades.filter(({ net }) => net !== null).reduce((ms, { holdingMs }) => ms + holdingMs, 0);
  return {
    trades: trades.length,
    wins: won.length,
    losses: lost.length,
    winRate: count === 0n ? null : quotient(BigInt(won.length) * 100n, count, 2),
    net: total(({ net }) => net),
    gross: total(({ gross }) => gross),
    fees: total(({ fees }) => fees),
    funding: total(({ funding }) => funding),
    profitFactor: lost.length === 0 ? null : quotient(sum(won), -sum(lost), 4),
    averageNet: count === 0n ? null : quotient(sum(nets), count * 10n ** 8n, 2),
    expectancyR: risked.length === 0 ? null : quotient(sum(known(rs)), BigInt(risked.length) * 10n ** 6n, 4),
    averageR:
      risked.length === 0
        ? null
        : quotient(sum(known(risked.map(({ net }) => net))), sum(risked.map((one) => one.plannedLoss)), 4),
    best: sorted.length === 0 ? null : textOf(sorted.at(-1) ?? 0n, UNIT),
    worst: sorted.length === 0 ? null : textOf(sorted[0] ?? 0n, UNIT),
    averageHoldingMinutes: count === 0n ? null : quotient(BigInt(heldMs), count * 60_000n, 2),
    slippageBps: { signal: slippage(({ signal }) => signal), entry: slippage(({ entry }) => entry) },
    unknown: {
      net: missing(({ net }) => net),
      gross: missing(({ gross }) => gross),
      fees: missing(({ fees }) => fees),
      funding: missing(({ funding }) => funding),
      r: rs.filter((r) => r === null).length,
      slippageSignal: 0,
      slippageEntry: 0,
    },
  };
}

export function reckonOrders(orders: ReckonedOrder[]) {
  const filled = orders.filter(({ isFilled }) => isFilled).length;
  const fillRate = orders.length === 0 ? null : quotient(BigInt(filled) * 100n, BigInt(orders.length), 2);
  return { orders: orders.length, filled, fillRate };
}

/** The largest fall of the running net, looked at at the end of each hour or day (UTC). */
export function reckonFall(trades: ReckonedTrade[], unitMs: number): string {
  const ends = new Map<number, bigint>();
  for (const { closedAt, net } of trades) {
    const unit = Math.floor(closedAt.getTime() / unitMs);
    ends.set(unit, (ends.get(unit) ?? 0n) + (net ?? 0n));
  }
  let [running, highest, fall] = [0n, 0n, 0n];
  for (const [, net] of [...ends].sort(([a], [b]) => a - b)) {
    running += net;
    if (running > highest) highest = running;
    if (highest - running > fall) fall = highest - running;
  }
  return textOf(fall, UNIT);
}

/** Trades by R to the nearest half, from -3 to 5; exactly between two counts as the lower. */
export function reckonDistribution(trades: ReckonedTrade[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const trade of trades) {
    const r = rOf(trade);
    if (r === null) continue;
    // Half steps of 10^-6: up from just above a quarter below the step.
    let halves = -6n;
    while (halves < 10n && r > halves * 500_000n + 250_000n) halves += 1n;
    const name = textOf(halves * 5n, 1);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
