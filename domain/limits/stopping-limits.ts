import { D, type Decimal, largest, toPercent, toPlain } from '../decimal.ts';
import { inUsdt } from './check-entry.ts';
import { limitInUsdt } from './risk-limits.ts';

/*
 * The limits that stop entries: loss of the day, drawdown, losses in a row. They are computed from realised and open
 * profit, never from a difference of equities: deposits and withdrawals do not count.
 */

/** A reading's figure, and when it was read. */
export interface ReadAt<Figure> {
  at: Date;
  figure: Figure;
}

/** A reading this near counts as of the day's start. */
const NEAR_MS = 10 * 60_000;

/**
 * A position's open profit at the day's start, in USDT, from the last reading before and the first one after it; null
 * without either. If both are far away, the larger one counts, which makes the loss of the day larger.
 */
export function openProfitAtStart(options: {
  dayStart: Date;
  before: ReadAt<string> | null;
  first: ReadAt<string> | null;
}): Decimal | null {
  const { dayStart, before, first } = options;
  const known = [before, first].filter((one) => one !== null);
  const apartMs = ({ at }: ReadAt<string>) => Math.abs(at.getTime() - dayStart.getTime());
  const [nearest] = known.toSorted((one, other) => apartMs(one) - apartMs(other));
  if (nearest === undefined) return null;
  if (apartMs(nearest) <= NEAR_MS) return D(nearest.figure);
  const [one, ...others] = known.map(({ figure }) => figure);
  return one === undefined ? null : largest(one, ...others);
}

/** Profit of the day so far in USDT: realised after fees, and the change of what is open. */
export const dayProfit = (of: { realised: string; openNow: string; openAtStart: string }): Decimal =>
  D(of.realised).plus(of.openNow).minus(of.openAtStart);

/** How far a stopping limit is used. Texts are for sentences. */
export interface LimitUse {
  /** In the unit of the maximum: USDT, or losses. */
  used: string;
  maximum: string;
  isReached: boolean;
  saw: string;
  shownMaximum: string;
}

/** Null when the limit is a share of an equity that is not known. `equity`: at the day's start, in USDT. */
export function dailyLossUse(
  text: string,
  { profit, equity }: { profit: Decimal; equity: Decimal | null },
): LimitUse | null {
  const maximum = limitInUsdt(text, equity);
  if (maximum === null) return null;
  const loss = profit.lt(0) ? profit.negated() : D(0);
  return {
    used: toPlain(loss),
    maximum: toPlain(maximum),
    isReached: loss.gte(maximum),
    saw: inUsdt(loss),
    shownMaximum: text.endsWith('%') ? `${text} of ${inUsdt(equity ?? D(0))}` : `${text} USDT`,
  };
}

/** The highest profit since the limit was set, in USDT, and the equity when it was reached. */
export interface Peak {
  profit: string;
  equity: string;
  at: Date;
}

/** The peak after a reading. Profit: realised since the limit was set, and open. */
export function nextPeak(peak: Peak | null, now: { profit: Decimal; equity: Decimal; at: Date }): Peak {
  if (peak !== null && D(peak.profit).gte(now.profit)) return peak;
  return { profit: toPlain(now.profit), equity: toPlain(now.equity), at: now.at };
}

export function drawdownUse(text: string, { peak, profit }: { peak: Peak; profit: Decimal }): LimitUse {
  const equity = D(peak.equity);
  const maximum = limitInUsdt(text, equity) ?? D(0);
  const fall = D(peak.profit).minus(profit);
  const drawdown = fall.gt(0) ? fall : D(0);
  const shownShare = equity.gt(0) ? `${toPercent(drawdown.div(equity))}% of ` : '';
  return {
    used: toPlain(drawdown),
    maximum: toPlain(maximum),
    isReached: drawdown.gt(0) && drawdown.gte(maximum),
    saw: `${inUsdt(drawdown)} (${shownShare}${inUsdt(equity)} at the highest profit)`,
    shownMaximum: text,
  };
}

/** The losses since the last closed position without one; newest first. Profits are after fees, in USDT. */
export function lossesInARow(profits: readonly string[]): number {
  const first = profits.findIndex((profit) => !D(profit).lt(0));
  return first === -1 ? profits.length : first;
}

export const lossesUse = (maximum: number, losses: number): LimitUse => ({
  used: String(losses),
  maximum: String(maximum),
  isReached: losses >= maximum,
  saw: String(losses),
  shownMaximum: String(maximum),
});
