import { D, roundHalfUp, toPercent, toPlain } from '../decimal.ts';
import { countOf, EDGES, quantile, unpackHistogram } from './histograms.ts';

/**
 * Sums over closed trades, as the database adds them up. Money in USDT; each sum is over the trades where it is known.
 * Histograms are packed (histograms.ts).
 */
export interface ResultSums {
  trades: number;
  knownNet: number;
  knownGross: number;
  knownFees: number;
  knownFunding: number;
  knownR: number;
  wins: number;
  losses: number;
  net: string;
  won: string;
  lost: string;
  gross: string;
  fees: string;
  funding: string;
  r: string;
  /** Net and planned loss of the trades whose R is known. */
  riskedNet: string;
  plannedLoss: string;
  best: string | null;
  worst: string | null;
  /** Of the trades whose net is known. */
  holdingMs: string;
  rHistogram: string;
  slippageSignalHistogram: string;
  slippageEntryHistogram: string;
  holdingHistogram: string;
}

export interface OrderCounts {
  /** Orders that ended, each of one user. */
  orders: number;
  /** Of these, wholly or partly filled ones. */
  filled: number;
}

export interface Slippage {
  median: string | null;
  p95: string | null;
}

/** Figures of some closed trades as decimal strings; null: not defined, because no trade has what it is made of. */
export interface ResultFigures {
  trades: number;
  wins: number;
  losses: number;
  /** Percent with two decimals: wins ÷ trades with a known net. */
  winRate: string | null;
  /** USDT. net = gross − fees + funding where all of them are known. */
  net: string;
  gross: string;
  fees: string;
  funding: string;
  /** Net of the wins ÷ net of the losses, four decimals; null without losses. */
  profitFactor: string | null;
  /** USDT, two decimals: net ÷ trades with a known net. */
  averageNet: string | null;
  /** The mean of each trade's R, four decimals. */
  expectancyR: string | null;
  /** Net ÷ planned loss of all trades together, four decimals: a trade weighs as much as it risked. */
  averageR: string | null;
  /** The highest and lowest net of a trade. */
  best: string | null;
  worst: string | null;
  averageHoldingMinutes: string | null;
  /** Basis points, to the width of a bin; positive is worse. From the signal's price, and from the planned entry, to the fill. */
  slippageBps: { signal: Slippage; entry: Slippage };
  /** How many trades each figure leaves out. */
  unknown: {
    net: number;
    gross: number;
    fees: number;
    funding: number;
    r: number;
    slippageSignal: number;
    slippageEntry: number;
  };
}

const RATIO_DECIMALS = 4;

export function figuresOf(sums: ResultSums): ResultFigures {
  const { trades, knownNet, knownR, wins, losses, won, lost } = sums;
  const signal = unpackHistogram('slippage', sums.slippageSignalHistogram);
  const entry = unpackHistogram('slippage', sums.slippageEntryHistogram);
  const risk = D(sums.plannedLoss);
  return {
    trades,
    wins,
    losses,
    winRate: knownNet === 0 ? null : toPercent(D(wins).div(knownNet)),
    net: toPlain(sums.net),
    gross: toPlain(sums.gross),
    fees: toPlain(sums.fees),
    funding: toPlain(sums.funding),
    profitFactor: D(lost).isZero() ? null : roundHalfUp(D(won).div(D(lost).abs()), RATIO_DECIMALS),
    averageNet: knownNet === 0 ? null : roundHalfUp(D(sums.net).div(knownNet), 2),
    expectancyR: knownR === 0 ? null : roundHalfUp(D(sums.r).div(knownR), RATIO_DECIMALS),
    averageR: risk.isZero() ? null : roundHalfUp(D(sums.riskedNet).div(risk), RATIO_DECIMALS),
    best: sums.best === null ? null : toPlain(sums.best),
    worst: sums.worst === null ? null : toPlain(sums.worst),
    averageHoldingMinutes:
      knownNet === 0 ? null : roundHalfUp(D(sums.holdingMs).div(60_000).div(knownNet), 2),
    slippageBps: { signal: slippageOf(signal), entry: slippageOf(entry) },
    unknown: {
      net: trades - knownNet,
      gross: trades - sums.knownGross,
      fees: trades - sums.knownFees,
      funding: trades - sums.knownFunding,
      r: trades - knownR,
      slippageSignal: trades - countOf(signal),
      slippageEntry: trades - countOf(entry),
    },
  };
}

/** Percent with two decimals: filled ÷ orders; null without orders. */
export const fillRateOf = ({ orders, filled }: OrderCounts): string | null =>
  orders === 0 ? null : toPercent(D(filled).div(orders));

const slippageOf = (bins: readonly number[]): Slippage => ({
  median: quantile('slippage', bins, '0.5'),
  p95: quantile('slippage', bins, '0.95'),
});

/** Trades by R, to the nearest half; the first and last bar hold everything below and above. */
export const distributionOfR = (packed: string): { r: string; trades: number }[] =>
  unpackHistogram('r', packed).map((trades, bin) => ({
    r: toPlain(
      D(EDGES.r[0] ?? '0')
        .minus('0.25')
        .plus(D('0.5').times(bin)),
    ),
    trades,
  }));

/** Trades by holding, up to so many minutes; null: longer than the last. */
export const distributionOfHolding = (packed: string): { upToMinutes: string | null; trades: number }[] =>
  unpackHistogram('holding', packed).map((trades, bin) => ({
    upToMinutes: EDGES.holding[bin] ?? null,
    trades,
  }));

/** Sums of several disjoint sets of trades. */
export function addSums(parts: readonly ResultSums[]): ResultSums {
  const count = (of: (sums: ResultSums) => number) => parts.reduce((total, sums) => total + of(sums), 0);
  const sum = (of: (sums: ResultSums) => string) =>
    toPlain(parts.reduce((total, sums) => total.plus(of(sums)), D(0)));
  // Histograms have more digits than decimals keep.
  const histogram = (of: (sums: ResultSums) => string) =>
    parts.reduce((total, sums) => total + BigInt(of(sums)), 0n).toString();
  const nets = (of: (sums: ResultSums) => string | null) =>
    parts
      .flatMap((sums) => of(sums) ?? [])
      .map((net) => D(net))
      .sort((a, b) => a.cmp(b));
  return {
    trades: count((sums) => sums.trades),
    knownNet: count((sums) => sums.knownNet),
    knownGross: count((sums) => sums.knownGross),
    knownFees: count((sums) => sums.knownFees),
    knownFunding: count((sums) => sums.knownFunding),
    knownR: count((sums) => sums.knownR),
    wins: count((sums) => sums.wins),
    losses: count((sums) => sums.losses),
    net: sum((sums) => sums.net),
    won: sum((sums) => sums.won),
    lost: sum((sums) => sums.lost),
    gross: sum((sums) => sums.gross),
    fees: sum((sums) => sums.fees),
    funding: sum((sums) => sums.funding),
    r: sum((sums) => sums.r),
    riskedNet: sum((sums) => sums.riskedNet),
    plannedLoss: sum((sums) => sums.plannedLoss),
    best:
      nets((sums) => sums.best)
        .at(-1)
        ?.toFixed() ?? null,
    worst: nets((sums) => sums.worst)[0]?.toFixed() ?? null,
    holdingMs: sum((sums) => sums.holdingMs),
    rHistogram: histogram((sums) => sums.rHistogram),
    slippageSignalHistogram: histogram((sums) => sums.slippageSignalHistogram),
    slippageEntryHistogram: histogram((sums) => sums.slippageEntryHistogram),
    holdingHistogram: histogram((sums) => sums.holdingHistogram),
  };
}
