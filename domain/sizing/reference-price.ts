import { D, type Decimal, positiveOrNull, toPercent, toPlain } from '../decimal.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { PRICE_DIFFERENCE_LIMIT, SIGNAL_DEVIATION_LIMIT } from './trading-constants.ts';

export type PriceSource = 'signal' | 'live';

export interface ReferencePrice {
  price: string;
  source: PriceSource;
  /** Difference of the live price from the signal price, in percent of the signal price; null without a live price. */
  differencePercent: string | null;
  /** A clause without a full stop. */
  reason: string;
}

/** |price − base| / base. */
export function relativeDifference(price: string | Decimal, base: string | Decimal): Decimal {
  return D(price).minus(base).abs().div(base);
}

/** Whether `price` is within 1% of `base`; compared without a division, so exactly 1% is within. */
export function isWithinLimit(
  price: string | Decimal,
  base: string | Decimal,
  limit = PRICE_DIFFERENCE_LIMIT,
): boolean {
  return D(price).minus(base).abs().lte(D(base).times(limit));
}

/** The signal price, or the live price when they differ by more than 1%. */
export function chooseReferencePrice(prices: {
  signalPrice: string;
  livePrice: string | null;
  /** Why there is no live price: a clause without a full stop. */
  livePriceProblem?: string | null;
}): ReferencePrice {
  const signal = D(prices.signalPrice);
  const live = positiveOrNull(prices.livePrice);
  const price = toPlain(signal);
  if (live === null) {
    return {
      price,
      source: 'signal',
      differencePercent: null,
      reason: `${prices.livePriceProblem ?? 'no live price was available'}, so the signal price is used`,
    };
  }
  const differencePercent = toPercent(relativeDifference(live, signal));
  const limitPercent = toPercent(PRICE_DIFFERENCE_LIMIT, 0);
  return isWithinLimit(live, signal)
    ? {
        price,
        source: 'signal',
        differencePercent,
        reason: `the live price differs by ${differencePercent}%, not more than ${limitPercent}%, so the signal price is used`,
      }
    : {
        price: toPlain(live),
        source: 'live',
        differencePercent,
        reason: `the live price differs by ${differencePercent}%, more than ${limitPercent}%, so the live price is used`,
      };
}

/** A denial when the signal price is more than 10% away from the live price. */
export function signalPriceDeviates(prices: { signalPrice: string; livePrice: string }): Denial | null {
  const { signalPrice, livePrice } = prices;
  if (isWithinLimit(livePrice, signalPrice, SIGNAL_DEVIATION_LIMIT)) return null;
  return deny('signal_price_deviates', {
    signalPrice: toPlain(signalPrice),
    livePrice: toPlain(livePrice),
    differencePercent: toPercent(relativeDifference(livePrice, signalPrice)),
    limitPercent: toPercent(SIGNAL_DEVIATION_LIMIT, 0),
  });
}

/** Accepts a client's price only within 1% of the server's own price. */
export function acceptClientPrice(prices: { clientPrice: string; serverPrice: string }): boolean {
  const client = positiveOrNull(prices.clientPrice);
  const server = positiveOrNull(prices.serverPrice);
  return client !== null && server !== null && isWithinLimit(client, server);
}
