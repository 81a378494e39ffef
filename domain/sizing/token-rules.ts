import { D, isPositive, largest, smallest, toPlain } from '../decimal.ts';
import {
  DEFAULT_QUANTITY_DECIMALS,
  DEFAULT_TICK_SIZE,
  MINIMUM_NOTIONAL_FUTURES,
  MINIMUM_QUANTITIES,
  QUANTITY_DECIMALS,
  TICK_SIZES,
} from './trading-constants.ts';

/** The limits of an order in a token. Decimal strings; quantities in the token, notional in USDT. */
export interface TokenRules {
  token: string;
  tickSize: string;
  quantityStep: string;
  minimumQuantity: string;
  minimumNotional: string;
  /** The largest limit order; absent: the exchange names none. */
  maximumQuantity?: string;
  maximumLeverage?: number;
  /** The contract's own tick, where our constant is coarser. */
  contractTickSize?: string;
  /** Why the exchange opens no positions in the token: a clause without a full stop. */
  entryProblem?: string;
}

/** Built-in rules for a token: its constants or their defaults. */
export function ownTokenRules(token: string): TokenRules {
  const quantityStep = toPlain(D(10).pow(-(lookUp(QUANTITY_DECIMALS, token) ?? DEFAULT_QUANTITY_DECIMALS)));
  return {
    token,
    tickSize: lookUp(TICK_SIZES, token) ?? DEFAULT_TICK_SIZE,
    quantityStep,
    minimumQuantity: lookUp(MINIMUM_QUANTITIES, token) ?? quantityStep,
    minimumNotional: MINIMUM_NOTIONAL_FUTURES,
  };
}

/** A tick for a token whose contract is not known: four significant digits of its price, or the default if finer. */
export function tickForPrice(price: string | null): string {
  if (!isPositive(price)) return DEFAULT_TICK_SIZE;
  const fourDigits = D(10).pow(D(price ?? '').e - 3);
  return toPlain(smallest(DEFAULT_TICK_SIZE, fourDigits));
}

/** Our rules for an estimate while the contract is not known. */
export function estimatedTokenRules(token: string, price: string | null): TokenRules {
  const own = ownTokenRules(token);
  return Object.hasOwn(TICK_SIZES, token) ? own : { ...own, tickSize: tickForPrice(price) };
}

/**
 * The contract's terms. For a token that our constants name, the stricter of both: the coarser tick and step and the
 * larger minimum quantity. The larger minimum notional holds for every token.
 */
export function mergeTokenRules(own: TokenRules, exchange: TokenRules | null): TokenRules {
  if (exchange === null) return own;
  if (exchange.token !== own.token) {
    throw new RangeError(`Rules of ${exchange.token} cannot be merged with those of ${own.token}`);
  }
  const stricter = (
    table: Readonly<Record<string, unknown>>,
    key: 'tickSize' | 'quantityStep' | 'minimumQuantity',
  ) => toPlain(Object.hasOwn(table, own.token) ? largest(own[key], exchange[key]) : exchange[key]);
  const tickSize = stricter(TICK_SIZES, 'tickSize');
  const maximumLeverage = Math.min(own.maximumLeverage ?? Infinity, exchange.maximumLeverage ?? Infinity);
  return {
    token: own.token,
    tickSize,
    quantityStep: stricter(QUANTITY_DECIMALS, 'quantityStep'),
    minimumQuantity: stricter(MINIMUM_QUANTITIES, 'minimumQuantity'),
    minimumNotional: toPlain(largest(own.minimumNotional, exchange.minimumNotional)),
    ...(D(tickSize).gt(exchange.tickSize) ? { contractTickSize: toPlain(exchange.tickSize) } : {}),
    ...(exchange.maximumQuantity === undefined ? {} : { maximumQuantity: exchange.maximumQuantity }),
    ...(Number.isFinite(maximumLeverage) ? { maximumLeverage } : {}),
    ...(exchange.entryProblem === undefined ? {} : { entryProblem: exchange.entryProblem }),
  };
}

function lookUp<T>(table: Readonly<Record<string, T>>, token: string): T | undefined {
  return Object.hasOwn(table, token) ? table[token] : undefined;
}
