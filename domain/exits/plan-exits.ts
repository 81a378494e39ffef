import {
  D,
  type Decimal,
  floorToStep,
  type Numeric,
  positiveOrNull,
  roundToTick,
  toPlain,
} from '../decimal.ts';
import type { TokenRules } from '../sizing/token-rules.ts';
import type { ExitPlan } from './exit-plan.ts';

/** A part of a position that is closed at its price. */
export interface ExitPart {
  atR: string;
  /** Of the entry, merged parts together. */
  percent: number;
  /** On the tick, in USDT. */
  price: string;
  /** On the step, in units of the token. */
  quantity: string;
}

/** A plan with the prices and quantities of one entry. Prices in USDT. */
export interface PlannedExits {
  /** R: the distance from entry to stop. */
  risk: string;
  /** Of the contract. */
  tickSize: string;
  /** In the order in which the price reaches them. */
  parts: ExitPart[];
  /** What the target or the stop closes. */
  rest: string;
  breakEven: { atPrice: string; stopLoss: string } | null;
  trail: Trail | null;
  maxHoldingMinutes: number | null;
  /** What of the plan is done otherwise or cannot be done: clauses without a full stop. */
  notes: string[];
}

/** How far behind the best price the stop follows: a distance in USDT, or percent of that price. */
export type Trail = { distance: string } | { percent: string };

export interface Entry {
  side: 'long' | 'short';
  entryPrice: string;
  /** As calculated for the entry. */
  stopLoss: string;
  takeProfit: string;
  /** Of the entry, in units of the token. */
  quantity: string;
  /** Of the candle that the entry was calculated with; null when it had none. */
  atr: string | null;
  rules: Pick<TokenRules, 'tickSize' | 'quantityStep' | 'minimumQuantity'>;
}

/** Whether a price is at or beyond a level in the direction of profit. */
export const hasReached = (side: Entry['side'], price: Numeric, level: Numeric): boolean =>
  side === 'long' ? D(price).gte(level) : D(price).lte(level);

/** The price that is this many R in profit, rounded to the tick towards the entry. */
function priceAt({ side, entryPrice, stopLoss, rules }: Entry, atR: string): Decimal {
  const risk = D(entryPrice).minus(stopLoss).abs();
  const price = side === 'long' ? D(entryPrice).plus(risk.times(atR)) : D(entryPrice).minus(risk.times(atR));
  return roundToTick(price, rules.tickSize, side === 'long' ? 'down' : 'up');
}

/**
 * The prices and quantities of a plan for one entry. Quantities are rounded down to the step, and the last part takes the
 * rest of what is planned. A part below the smallest order is merged into the next one, the last into the one before. A
 * part at or beyond the target is left to it. Throws on a mistake of the caller, such as a step of zero.
 */
export function planExits(plan: ExitPlan, entry: Entry): PlannedExits {
  const { side, entryPrice, stopLoss, takeProfit, rules } = entry;
  const priced = plan.takeProfits
    .map(({ atR, percent }) => ({ atR, percent, price: priceAt(entry, atR) }))
    .toSorted((one, other) => D(one.atR).cmp(other.atR));
  const isBeyond = ({ price }: PricedPart) => hasReached(side, price, takeProfit);
  const beyond = priced.filter(isBeyond);
  const { parts, merged } = divide(
    priced.filter((part) => !isBeyond(part)),
    entry,
  );
  const rest = parts.reduce((left, { quantity }) => left.minus(quantity), D(entry.quantity));
  const trail = trailOf(plan, entry);
  return {
    risk: toPlain(D(entryPrice).minus(stopLoss).abs()),
    tickSize: rules.tickSize,
    parts,
    rest: toPlain(rest),
    breakEven:
      plan.breakEvenAtR === undefined
        ? null
        : {
            atPrice: toPlain(priceAt(entry, plan.breakEvenAtR)),
            stopLoss: toPlain(roundToTick(entryPrice, rules.tickSize, side === 'long' ? 'up' : 'down')),
          },
    trail,
    maxHoldingMinutes: plan.maxHoldingMinutes ?? null,
    notes: [
      ...beyond.map(
        ({ atR }) => `the part at ${toPlain(atR)} R is left to the target ${toPlain(takeProfit)}`,
      ),
      ...merged,
      ...(plan.trail !== undefined && trail === null ? ['the stop does not trail: no ATR is known'] : []),
    ],
  };
}

interface PricedPart {
  atR: string;
  percent: number;
  price: Decimal;
}

function divide(
  priced: readonly PricedPart[],
  { quantity, rules }: Entry,
): { parts: ExitPart[]; merged: string[] } {
  const { quantityStep, minimumQuantity } = rules;
  const percent = priced.reduce((sum, part) => sum + part.percent, 0);
  const share =
    percent === 100 ? D(quantity) : floorToStep(D(quantity).times(percent).div(100), quantityStep);
  const rest = D(quantity).minus(share);
  // What is too small for an order could not be closed later.
  const total = rest.lt(minimumQuantity) && share.gt(0) ? D(quantity) : share;
  const parts: (PricedPart & { quantity: Decimal })[] = [];
  const merged: string[] = [];
  let carried = { quantity: D(0), percent: 0 };
  let planned = D(0);
  priced.forEach((part, index) => {
    const isLast = index === priced.length - 1;
    const own = isLast
      ? total.minus(planned)
      : floorToStep(D(quantity).times(part.percent).div(100), quantityStep);
    planned = planned.plus(own);
    const sum = { quantity: own.plus(carried.quantity), percent: part.percent + carried.percent };
    if (sum.quantity.gt(0) && sum.quantity.gte(minimumQuantity)) {
      parts.push({ ...part, ...sum });
      carried = { quantity: D(0), percent: 0 };
      return;
    }
    carried = sum;
    const previous = isLast ? parts.pop() : undefined;
    if (previous !== undefined) {
      parts.push({
        ...previous,
        quantity: previous.quantity.plus(sum.quantity),
        percent: previous.percent + sum.percent,
      });
    }
    const into = isLast ? (previous === undefined ? 'the target' : 'the part before') : 'the next part';
    merged.push(
      `the part at ${toPlain(part.atR)} R is below the smallest order ${toPlain(minimumQuantity)} and is merged into ${into}`,
    );
  });
  return {
    parts: parts.map((part) => ({
      atR: toPlain(part.atR),
      percent: part.percent,
      price: toPlain(part.price),
      quantity: toPlain(part.quantity),
    })),
    merged,
  };
}

function trailOf({ trail }: ExitPlan, { atr }: Entry): Trail | null {
  if (trail === undefined) return null;
  if ('percent' in trail) return { percent: trail.percent };
  const known = positiveOrNull(atr);
  return known === null ? null : { distance: toPlain(known.times(trail.atrMultiple)) };
}
