import { toPlain } from '#domain/decimal.ts';
import { tickForPrice } from '#domain/sizing/token-rules.ts';
import { SMALLEST_NUMBER } from '#domain/sizing/trading-constants.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Statements } from '#server/platform/db/database.ts';
import type { Contract } from '../exchange.ts';
import type { MarkSource } from './mark-source.ts';

/* Tradable paper contracts and their terms. */

export const MAKER_FEE = '0.0002';
export const TAKER_FEE = '0.0006';
export const MAINTENANCE_MARGIN_RATE = '0.004';

type Steps = Pick<Contract, 'tickSize' | 'quantityStep' | 'minimumQuantity'>;

/** As Bitget lists them for USDT-margined perpetuals; steps are finer than the product's own rules, as in reality. */
const LISTED: Record<string, Steps> = {
  BTC: { tickSize: '0.1', quantityStep: '0.0001', minimumQuantity: '0.0001' },
  ETH: { tickSize: '0.01', quantityStep: '0.01', minimumQuantity: '0.01' },
  SOL: { tickSize: '0.001', quantityStep: '0.1', minimumQuantity: '0.1' },
  XRP: { tickSize: '0.0001', quantityStep: '1', minimumQuantity: '1' },
  TON: { tickSize: '0.0001', quantityStep: '0.1', minimumQuantity: '0.1' },
  SUI: { tickSize: '0.0001', quantityStep: '0.1', minimumQuantity: '0.1' },
  PEPE: { tickSize: '0.00000001', quantityStep: '1', minimumQuantity: '1000' },
};

/**
 * Contracts whose steps differ on Bybit. Not verified against the running exchange; its contract list is authoritative.
 */
const LISTED_BY_BYBIT: Record<string, Steps> = {
  BTC: { tickSize: '0.1', quantityStep: '0.001', minimumQuantity: '0.001' },
  SOL: { tickSize: '0.01', quantityStep: '0.1', minimumQuantity: '0.1' },
  XRP: { tickSize: '0.0001', quantityStep: '0.1', minimumQuantity: '0.1' },
  SUI: { tickSize: '0.0001', quantityStep: '10', minimumQuantity: '10' },
};

/** Bybit trades PEPE only in thousands (1000PEPEUSDT): there is no 1:1 contract. */
const NOT_LISTED: Record<ExchangePlatform, ReadonlySet<string>> = {
  Bitget: new Set(),
  Bybit: new Set(['PEPE']),
};

const MAXIMUM_LEVERAGE: Record<ExchangePlatform, number> = { Bitget: 125, Bybit: 100 };

/**
 * All other tokens that have a price share one generic contract, so that demonstrations are not limited to seven names.
 * Its tick follows from the price.
 */
const GENERIC = { quantityStep: '0.001', minimumQuantity: '0.001' };

const TOKEN = /^[A-Z0-9]{1,20}$/;

export const BUILT_IN_TOKENS = Object.keys(LISTED);

export const isTokenName = (token: string) => TOKEN.test(token);

const hasContract = (platform: ExchangePlatform, token: string) =>
  isTokenName(token) && !NOT_LISTED[platform].has(token);

const listedSteps = (token: string, platform: ExchangePlatform): Steps | undefined =>
  (platform === 'Bybit' ? LISTED_BY_BYBIT[token] : undefined) ?? LISTED[token];

/** `mark`: the token's price, from which the tick of a contract follows that is not built in. */
export function paperContract(
  token: string,
  platform: ExchangePlatform = 'Bitget',
  mark: string | null = null,
): Contract {
  if (!isTokenName(token))
    throw new RangeError(`A token is 1 to 20 of A-Z and 0-9, not ${JSON.stringify(token)}`);
  return {
    token,
    symbol: `${token}USDT`,
    ...(listedSteps(token, platform) ?? { ...GENERIC, tickSize: tickForPrice(mark) }),
    minimumNotional: '5',
    maximumLeverage: MAXIMUM_LEVERAGE[platform],
  };
}

/** The tick that prices of orders are held to: the price of a contract that is not built in may have moved since it was read. */
export const paperTick = (token: string, platform: ExchangePlatform): string =>
  listedSteps(token, platform)?.tickSize ?? toPlain(SMALLEST_NUMBER);

/** Whether the terms of the token's contract follow from its price. */
export const isGeneric = (token: string, platform: ExchangePlatform): boolean =>
  listedSteps(token, platform) === undefined;

interface Listing {
  db: Statements;
  marks: MarkSource;
  knownTokens: Set<string>;
}

/** Tokens with a contract: the built-in ones and every other token that has a price. */
export async function listedTokens(
  { db, marks, knownTokens }: Listing,
  platform: ExchangePlatform,
): Promise<string[]> {
  for (const token of await marks.tokens({ db })) if (isTokenName(token)) knownTokens.add(token);
  return [...knownTokens].filter((token) => hasContract(platform, token));
}

export async function isListed(books: Listing, platform: ExchangePlatform, token: string): Promise<boolean> {
  if (!hasContract(platform, token)) return false;
  return books.knownTokens.has(token) || (await listedTokens(books, platform)).includes(token);
}
