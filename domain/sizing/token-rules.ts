import { D, largest, toPlain } from '../decimal.ts';
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

/** The stricter of both: the coarser tick and step, the larger minima, the exchange's leverage limit. */
export function mergeTokenRules(own: TokenRules, exchange: TokenRules | null): TokenRules {
  if (exchange === null) return own;
  if (exchange.token !== own.token) {
    throw new RangeError(`Rules of ${exchange.token} cannot be merged with those of ${own.token}`);
  }
  const maximumLeverage = Math.min(own.maximumLeverage ?? Infinity, exchange.maximumLeverage ?? Infinity);
  return {
    token: own.token,
    tickSize: toPlain(largest(own.tickSize, exchange.tickSize)),
    quantityStep: toPlain(largest(own.quantityStep, exchange.quantityStep)),
    minimumQuantity: toPlain(largest(own.minimumQuantity, exchange.minimumQuantity)),
    minimumNotional: toPlain(largest(own.minimumNotional, exchange.minimumNotional)),
    ...(exchange.maximumQuantity === undefined ? {} : { maximumQuantity: exchange.maximumQuantity }),
    ...(Number.isFinite(maximumLeverage) ? { maximumLeverage } : {}),
    ...(exchange.entryProblem === undefined ? {} : { entryProblem: exchange.entryProblem }),
  };
}

function lookUp<T>(table: Readonly<Record<string, T>>, token: string): T | undefined {
  return Object.hasOwn(table, token) ? table[token] : undefined;
}
