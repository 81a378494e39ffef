import { D, type Decimal, smallest, toPlain } from '#domain/decimal.ts';
import type { ClosedPosition } from '../exchange.ts';
import { positionOf } from './bybit-readers.ts';
import {
  createTokenDoubts,
  decimal,
  decimalOrZero,
  instant,
  type Json,
  record,
  type TokenDoubts,
  textOf,
  tokenOf,
  unreadable,
} from './readers.ts';

/*
 * Bybit reports fills and the size each order closed, but no positions: neither when one was opened nor its total when
 * it was closed in parts. Positions are reconstructed by walking back from those open now. The three lists are read one
 * after the other and may lag behind each other, so the result counts only if the size closed by each order matches
 * Bybit's own figure.
 */

/** One fill or one funding payment. */
interface Execution {
  id: string;
  orderId: string;
  token: string;
  /** Positive for buys. */
  change: Decimal;
  price: Decimal;
  fee: Decimal;
  isFunding: boolean;
  /** The size of an open position that this fill closed according to the exchange; null when not reported. */
  closed: Decimal | null;
  at: Date;
  sequence: string;
}

/** A position reconstructed so far while walking back through its fills. */
interface Walked {
  token: string;
  side: 'long' | 'short';
  opened: Decimal;
  openedValue: Decimal;
  closedValue: Decimal;
  fees: Decimal;
  funding: Decimal;
  closedAt: Date;
  /** Closed size per order. */
  closings: Map<string, Decimal>;
}

/**
 * The positions opened and closed within these executions, derived from the positions open after them. A token whose
 * rows cannot be read or do not add up is left out, and keeps no other from being told.
 */
export function closedPositionsOf(lists: {
  executions: unknown[];
  /** One row per order, with the size it closed. */
  closedOrders: unknown[];
  openNow: unknown[];
}): ClosedPosition[] {
  const tokens = createTokenDoubts();
  const byToken = new Map<string, Map<string, Execution>>();
  tokens.each(lists.executions, (info) => {
    const execution = executionOf(info);
    if (execution === null) return;
    const ofToken = byToken.get(execution.token) ?? new Map<string, Execution>();
    byToken.set(execution.token, ofToken.set(execution.id, execution));
  });
  const sizes = new Map<string, Decimal>();
  tokens.each(lists.openNow, (info) => {
    const position = positionOf(info);
    if (position) sizes.set(position.token, signed(position.side === 'long', D(position.quantity)));
  });
  const closedBy = closedSizes(lists.closedOrders, tokens);
  const found: ClosedPosition[] = [];
  for (const [token, ofToken] of byToken) {
    tokens.about(token, () => {
      const walks = walkBack([...ofToken.values()].sort(newestFirst), sizes.get(token) ?? D(0));
      for (const { closings } of walks) {
        for (const [orderId, size] of closings)
          if (!closedBy.get(orderId)?.eq(size)) throw doesNotAddUp(token);
      }
      found.push(...walks.map(closedPosition));
    });
  }
  return tokens.told(found);
}

/** An order may span several rows, and a row may occur twice. */
function closedSizes(closedOrders: unknown[], tokens: TokenDoubts): Map<string, Decimal> {
  const rows = new Map<string, { orderId: string; size: string }>();
  tokens.each(closedOrders, (info) => {
    const order = record(info);
    const [orderId, size] = [textOf(order.orderId), decimal(order, 'closedSize')];
    rows.set(`${orderId} ${textOf(order.updatedTime)} ${size}`, { orderId, size });
  });
  const sizes = new Map<string, Decimal>();
  for (const { orderId, size } of rows.values()) sizes.set(orderId, D(size).plus(sizes.get(orderId) ?? 0));
  return sizes;
}

/** A fill arrived between two reads, or one list lags behind: the next read resolves it. */
const doesNotAddUp = (token: string) => unreadable(`The fills of ${token} do not add up to its position`);

function walkBack(executions: Execution[], openNow: Decimal): (Walked & { opening: Execution })[] {
  const found: (Walked & { opening: Execution })[] = [];
  let after = openNow;
  let walked: Walked | null = null;
  for (const execution of executions) {
    if (execution.isFunding) {
      if (walked) walked.funding = walked.funding.plus(execution.fee);
      continue;
    }
    const { change, price, fee } = execution;
    const before = after.minus(change);
    const size = change.abs();
    const closing: Decimal = before.times(change).lt(0) ? smallest(before.abs(), size) : D(0);
    const opening = size.minus(closing);
    if (execution.closed !== null && !execution.closed.eq(closing)) throw doesNotAddUp(execution.token);
    if (opening.gt(0) && walked) {
      walked.opened = walked.opened.plus(opening);
      walked.openedValue = walked.openedValue.plus(opening.times(price));
      walked.fees = walked.fees.plus(fee.times(opening).div(size));
    }
    if (opening.gt(0) && before.times(change).lte(0)) {
      if (walked) found.push({ ...walked, opening: execution });
      walked = null;
    }
    if (closing.gt(0)) {
      if (after.times(before).lte(0)) walked = newWalk(execution, before);
      if (walked) {
        walked.closedValue = walked.closedValue.plus(closing.times(price));
        walked.fees = walked.fees.plus(fee.times(closing).div(size));
        const { orderId } = execution;
        walked.closings.set(orderId, closing.plus(walked.closings.get(orderId) ?? 0));
      }
    }
    after = before;
  }
  return found;
}

const newWalk = ({ token, at }: Execution, before: Decimal): Walked => ({
  token,
  side: before.gt(0) ? 'long' : 'short',
  opened: D(0),
  openedValue: D(0),
  closedValue: D(0),
  fees: D(0),
  funding: D(0),
  closedAt: at,
  closings: new Map(),
});

function closedPosition(walked: Walked & { opening: Execution }): ClosedPosition {
  const { token, side, opened, openedValue, closedValue, fees, funding, closedAt, opening } = walked;
  const gained = closedValue.minus(openedValue);
  return {
    positionId: `${token}USDT-${opening.id}`,
    token,
    side,
    quantity: toPlain(opened),
    entryPrice: toPlain(openedValue.div(opened).toDecimalPlaces(12)),
    closePrice: toPlain(closedValue.div(opened).toDecimalPlaces(12)),
    realisedProfit: toPlain((side === 'long' ? gained : gained.negated()).minus(funding)),
    fees: toPlain(fees),
    funding: toPlain(funding.negated()),
    openedAt: opening.at,
    closedAt,
  };
}

/** The kinds that change a position by a trade. Any other, such as a split, makes the token's history unknown. */
const FILLS = new Set([
  'Trade',
  'AdlTrade',
  'BustTrade',
  'Delivery',
  'Settle',
  'BlockTrade',
  'MovePosition',
  'FutureSpread',
]);

function executionOf(info: unknown): Execution | null {
  const execution = record(info);
  if (textOf(execution.symbol) === '') throw unreadable('A fill names its contract');
  const token = tokenOf(execution);
  if (token === null) return null;
  const kind = textOf(execution.execType);
  if (!FILLS.has(kind) && kind !== 'Funding')
    throw unreadable(`An execution of ${token} is of an unknown kind: ${kind || 'none'}`);
  const { side, closedSize } = execution;
  if (side !== 'Buy' && side !== 'Sell') throw unreadable('A fill is bought or sold');
  const id = textOf(execution.execId);
  if (id === '') throw unreadable('A fill has an id');
  return {
    id,
    orderId: textOf(execution.orderId),
    token,
    change: signed(side === 'Buy', D(decimal(execution, 'execQty'))),
    price: D(decimal(execution, 'execPrice')),
    fee: feeOf(execution),
    isFunding: kind === 'Funding',
    closed: textOf(closedSize) === '' ? null : D(decimal(execution, 'closedSize')),
    at: instant(execution, 'execTime'),
    sequence: textOf(execution.seq),
  };
}

/** Fees paid in another coin are not part of the profit in USDT. */
function feeOf(execution: Json): Decimal {
  const currency = textOf(execution.feeCurrency);
  return D(currency === '' || currency === 'USDT' ? decimalOrZero(execution, 'execFee') : 0);
}

function newestFirst(a: Execution, b: Execution): number {
  const apart = b.at.getTime() - a.at.getTime();
  if (apart !== 0 || !/^\d+$/.test(a.sequence) || !/^\d+$/.test(b.sequence)) return apart;
  const [first, second] = [BigInt(a.sequence), BigInt(b.sequence)];
  return first === second ? 0 : second > first ? 1 : -1;
}

const signed = (isLong: boolean, size: Decimal) => (isLong ? size : size.negated());
