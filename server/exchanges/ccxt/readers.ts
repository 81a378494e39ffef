import { D, isDecimal, isPositive, toPlain } from '#domain/decimal.ts';
import {
  asExchangeError,
  type ClosedPosition,
  type ClosingOrder,
  type Contract,
  ExchangeError,
  type OrderReport,
  type Ticker,
  UNREADABLE,
} from '../exchange.ts';
import type { CcxtDialect, Envelope, LargestOrders, Market } from './dialect.ts';

/* Readers of an exchange's own JSON. A missing required field throws, and the outcome counts as unknown. */

export type Json = Record<string, unknown>;

/** An unreadable answer leaves the outcome unknown. */
export const unreadable = (message: string) => new ExchangeError('unknown', message, { code: UNREADABLE });

export function record(value: unknown): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw unreadable('The exchange answered something else than an object');
  }
  return value as Json;
}

/** Rows as they are, for lists where one that cannot be read must not hide the others. */
export function rows(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw unreadable('The exchange answered something else than a list');
  return value;
}

export const list = (value: unknown): Json[] => rows(value).map(record);

export const textOf = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** Longer than any number an exchange quotes; reading millions of digits would block the program. */
const MAX_NUMBER_LENGTH = 64;

/** The text of a number, which need not be one. */
export function numberTextOf(value: unknown): string {
  const text = textOf(value);
  if (text.length <= MAX_NUMBER_LENGTH) return text;
  throw unreadable(`The exchange answered a number of ${text.length} characters`);
}

export function decimal(from: Json, name: string): string {
  const text = numberTextOf(from[name]);
  if (!isDecimal(text)) throw unreadable(`The exchange answered no number as ${name}`);
  return toPlain(text);
}

/** Several times all USDT that exist. */
const MOST_USDT = '1e12';

/** A balance; an order must not be sized by one that cannot be. */
export function usdtBalance(from: Json, name: string): string {
  const value = decimal(from, name);
  if (D(value).abs().lte(MOST_USDT)) return value;
  throw unreadable(`The exchange answered more USDT than there can be as ${name}`);
}

/** A volume in the base coin. */
export function volume(from: Json, name: string): string {
  const value = decimal(from, name);
  if (D(value).lt(0)) throw unreadable(`The exchange answered a negative ${name}`);
  return value;
}

/** For figures that are omitted or empty where they do not apply. */
export function decimalOrZero(from: Json, name: string, read = decimal): string {
  const value = from[name];
  return value === undefined || value === null || value === '' ? '0' : read(from, name);
}

export function priceOrNull(value: unknown): string | null {
  const text = numberTextOf(value);
  return isPositive(text) ? toPlain(text) : null;
}

export function instant(from: Json, name: string): Date {
  const at = instantOrNull(from[name]);
  if (at === null) throw unreadable(`The exchange answered no time as ${name}`);
  return at;
}

export function instantOrNull(value: unknown): Date | null {
  const at = new Date(Number(numberTextOf(value) || Number.NaN));
  return at.getTime() > 0 ? at : null;
}

export function orderIdOf(info: unknown): string {
  const orderId = textOf(record(info).orderId);
  if (orderId === '') throw unreadable('The order that was answered has no id');
  return orderId;
}

/** An order of another contract is not the one that was asked for. */
export function requireSymbol(order: Json, token: string): void {
  const symbol = textOf(order.symbol);
  if (symbol !== `${token}USDT`)
    throw unreadable(`The order that was answered is one in ${symbol || 'no contract'}`);
}

/** The token of a USDT-settled contract; null for any other. */
export function tokenOf({ symbol }: Json): string | null {
  const name = textOf(symbol);
  return name.endsWith('USDT') ? name.slice(0, -'USDT'.length) : null;
}

/** A future with a delivery date, such as BTCUSDT-25DEC26, which is never opened here. */
const DATED = /^[A-Z0-9]+USDT-\d{1,2}[A-Z]{3}\d{2}$/;

/**
 * The token of a held contract; a dated one is a token of its own. Any other contract may be a renamed one that was
 * opened here, and cannot be read.
 */
export function heldTokenOf(position: Json): string {
  const symbol = textOf(position.symbol);
  const token = DATED.test(symbol) ? symbol : tokenOf(position);
  if (token !== null) return token;
  throw unreadable(
    symbol === ''
      ? 'The exchange answered a position of no contract'
      : 'No contract of that name is known here',
  );
}

export type TokenDoubts = ReturnType<typeof createTokenDoubts>;

/** Keeps what cannot be read of one token's history from hiding the history of others. */
export function createTokenDoubts() {
  const doubts = new Map<string, ExchangeError>();
  const isKnown = (token: string | null) => token === null || !doubts.has(token);
  function about(token: string, work: () => void): void {
    if (!isKnown(token)) return;
    try {
      work();
    } catch (error) {
      doubts.set(token, asExchangeError(error));
    }
  }
  return {
    about,
    /** Reads every row. One that names no contract may be any token's: it is thrown. */
    each(infos: readonly unknown[], read: (info: unknown) => void): void {
      for (const info of infos) {
        const symbol = textOf(record(info).symbol);
        const token = tokenOf({ symbol });
        if (token === null) read(info);
        else about(token, () => read(info));
      }
    },
    /** The positions of the tokens that are not in doubt. Throws when nothing else is there. */
    told(positions: ClosedPosition[]): ClosedPosition[] {
      const known = positions.filter(({ token }) => isKnown(token));
      const [doubt] = doubts.values();
      if (known.length === 0 && doubt !== undefined) throw doubt;
      return known;
    },
  };
}

/** NaN if the leverages differ: it never equals a requested leverage. */
export const onlyLeverage = (leverages: number[]): number =>
  new Set(leverages).size === 1 ? (leverages[0] ?? Number.NaN) : Number.NaN;

/**
 * USDT-margined, one coin per contract, and named exactly like the token: a scaled or renamed contract is not the
 * token's. One that opens nothing is still known: what is held in it is read, protected and closed.
 */
export function contractOf(
  market: Market,
  token: string,
  { entryProblemOf, largestOrdersOf }: Pick<CcxtDialect, 'entryProblemOf' | 'largestOrdersOf'>,
): Contract | null {
  if (!market?.swap || !market.linear || market.settle !== 'USDT') return null;
  if (market.id !== `${token}USDT` || market.baseId !== token || market.contractSize !== 1) return null;
  const { precision, limits } = market;
  const entryProblem = entryProblemOf(market.info);
  return {
    token,
    symbol: `${token}USDT`,
    tickSize: numberText(precision.price, 'price step'),
    quantityStep: numberText(precision.amount, 'quantity step'),
    minimumQuantity: numberText(limits.amount?.min ?? precision.amount, 'minimum quantity'),
    minimumNotional: numberText(limits.cost?.min ?? 0, 'minimum notional'),
    ...largestOrdersOf(market.info),
    maximumLeverage: Number(limits.leverage?.max ?? 1),
    ...(entryProblem === null ? {} : { entryProblem }),
  };
}

/** The status of a contract in plain words; one that is not in the table counts as closed. `notCoin`: what it is on instead. */
export function entryProblemFrom(
  contract: Json,
  {
    status,
    open,
    words,
    ends,
    notCoin,
  }: {
    status: string;
    open: string;
    words: Record<string, string>;
    ends: string[];
    notCoin: string | null;
  },
): string | null {
  const name = textOf(contract[status]);
  if (name !== open)
    return `${(Object.hasOwn(words, name) && words[name]) || 'it does not trade'} (${name || 'no status'})`;
  if (notCoin !== null) return `it is not on a coin (${notCoin})`;
  const end = ends.map((field) => instantOrNull(contract[field])).find((at) => at !== null);
  return end === undefined ? null : `it ends on ${end?.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Left out where the exchange names none: empty, zero or below. */
export function largestOrdersFrom(limit: unknown, market: unknown): LargestOrders {
  const [maximumQuantity, maximumMarketQuantity] = [priceOrNull(limit), priceOrNull(market)];
  return {
    ...(maximumQuantity === null ? {} : { maximumQuantity }),
    ...(maximumMarketQuantity === null ? {} : { maximumMarketQuantity }),
  };
}

function numberText(value: number | undefined, name: string): string {
  if (value === undefined || !Number.isFinite(value)) throw unreadable(`The contract has no ${name}`);
  return toPlain(value);
}

/** The fields of an order that tell whether it ended a position. */
export interface PastOrder {
  symbol: string;
  side: 'buy' | 'sell' | null;
  filledQuantity: string;
  at: Date;
  canOnlyReduce: boolean;
  clientOrderId: string;
  source: ClosingOrder['source'];
}

/** Order and position timestamps come from different parts of the exchange. */
const STAMP_SLACK_MS = 5_000;

/**
 * In one-way mode, an order that filled on the opposite side while the position was open has reduced it; the one
 * closest to the position's end ended it. Orders that can only reduce take precedence: the opposite position may have
 * been opened a moment later.
 */
export function closingOrderAmong(orders: PastOrder[], position: ClosedPosition): ClosingOrder | null {
  const [openedMs, closedMs] = [position.openedAt.getTime(), position.closedAt.getTime()];
  const opposite = orders.filter(
    ({ symbol, side, filledQuantity, at }) =>
      symbol === `${position.token}USDT` &&
      side === (position.side === 'long' ? 'sell' : 'buy') &&
      isPositive(filledQuantity) &&
      at.getTime() >= openedMs - STAMP_SLACK_MS &&
      at.getTime() <= closedMs + STAMP_SLACK_MS,
  );
  const reducing = opposite.filter(({ canOnlyReduce }) => canOnlyReduce);
  const apart = ({ at }: PastOrder) => Math.abs(at.getTime() - closedMs);
  const [last] = (reducing.length > 0 ? reducing : opposite).sort((a, b) => apart(a) - apart(b));
  return last === undefined ? null : { clientOrderId: last.clientOrderId, source: last.source };
}

/** Code, message and time of an answer, under the exchange's own field names. */
export function envelopeIn(
  body: string,
  names: { code: string; message: string; at: string },
): Envelope | null {
  try {
    const { [names.code]: code, [names.message]: message, [names.at]: at } = JSON.parse(body) as Json;
    if (code === undefined) return null;
    return { code: String(code), message: String(message ?? ''), at: instantOrNull(at) };
  } catch {
    return null;
  }
}

/** Null while there is no price. Falls back to the last price if there is no mark price. */
export function tickerFrom(token: string, last: unknown, mark: unknown, at: () => Date): Ticker | null {
  const lastPrice = priceOrNull(last);
  if (lastPrice === null) return null;
  return { token, lastPrice, markPrice: priceOrNull(mark) ?? lastPrice, at: at() };
}

/** The state of an order with this filled quantity; a status that is not in the table is unknown. */
export function stateOf(
  states: Readonly<Record<string, OrderReport['state']>>,
  status: unknown,
  filledQuantity: string,
): OrderReport['state'] {
  const name = textOf(status);
  const state = Object.hasOwn(states, name) ? (states[name] ?? 'unknown') : 'unknown';
  return state === 'open' && isPositive(filledQuantity) ? 'partially-filled' : state;
}
