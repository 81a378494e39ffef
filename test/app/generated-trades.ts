import { D, toPlain } from '#domain/decimal.ts';
import { closedPositionOf } from '#server/exchanges/ccxt/bitget-readers.ts';
import { closedPositionsOf } from '#server/exchanges/ccxt/bybit-history.ts';
import type { ClosedPosition } from '#server/exchanges/exchange.ts';
import { closedPositions, type StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import { closedPosition } from '#server/exchanges/paper/paper-views.ts';
import { closedPositionView } from '#test/venues/bitget/views.ts';

/** Numbers of a generated trade as integers of 10^-4 (prices, funding), 10^-3 (sizes) and 10^-8 (fees). */
export interface GeneratedTrade {
  index: number;
  source: 'paper' | 'Bitget' | 'Bybit';
  token: string;
  side: 'long' | 'short';
  entry: bigint;
  /** Closed in two parts. */
  closes: { price: bigint; size: bigint }[];
  fees: bigint[];
  funding: bigint;
  openedAt: Date;
  closedAt: Date;
}

/** mulberry32: the same numbers for the same seed on every platform. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** One after the other in each token, so that each is a position of its own. */
export function generateTrades(count: number, seed: number, since: Date): GeneratedTrade[] {
  const random = randomOf(seed);
  const free = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    const source = (['paper', 'Bitget', 'Bybit'] as const)[index % 3] ?? 'paper';
    const token = ['BTC', 'ETH', 'SOL', 'XRP'][random(4)] ?? 'BTC';
    const opened = Math.max(free.get(source + token) ?? 0, since.getTime()) + 1_000 + random(20 * 3_600_000);
    const closed = opened + 1_000 + random(30 * 3_600_000);
    free.set(source + token, closed);
    const entry = BigInt(900_000 + random(200_000));
    const price = () => entry + BigInt(random(60_000) - 30_000);
    return {
      index,
      source,
      token,
      side: random(2) === 0 ? ('long' as const) : ('short' as const),
      entry,
      closes: [
        { price: price(), size: BigInt(1 + random(900)) },
        { price: price(), size: BigInt(1 + random(900)) },
      ],
      fees: [0, 0, 0].map(() => BigInt(random(20_000_000))),
      funding: source === 'paper' ? 0n : BigInt(random(2_000) - 1_000),
      openedAt: new Date(opened),
      closedAt: new Date(closed),
    };
  });
}

export const decimalOf = (value: bigint, decimals: number): string =>
  toPlain(D(value.toString()).div(D(10).pow(decimals)));

const sizeOf = ({ closes }: GeneratedTrade) => closes.reduce((total, { size }) => total + size, 0n);

/** The trade as its exchange reports it: paper from its fills, the others from their answers. */
export function asReported(trade: GeneratedTrade): ClosedPosition {
  if (trade.source === 'Bybit') return fromBybit(trade);
  const [past] = closedPositions(fillsOf(trade));
  if (past === undefined) throw new Error('the fills close the position');
  if (trade.source === 'paper') return closedPosition(past);
  const view = closedPositionView(past);
  const funding = decimalOf(trade.funding, 4);
  const told = closedPositionOf({
    ...view,
    totalFunding: funding,
    netProfit: toPlain(D(view.netProfit).plus(funding)),
  });
  if (told === null) throw new Error('the answer is a position');
  return told;
}

function fillsOf(trade: GeneratedTrade): StoredFill[] {
  const [opening, closing] = trade.side === 'long' ? (['buy', 'sell'] as const) : (['sell', 'buy'] as const);
  const fill = (number: number, part: { side: 'buy' | 'sell'; price: bigint; size: bigint; at: Date }) => {
    const { price, size } = part;
    const gained =
      part.side === opening ? 0n : (price - trade.entry) * size * (trade.side === 'long' ? 1n : -1n);
    return {
      id: BigInt(trade.index * 10 + number),
      userId: '',
      platform: 'Bitget',
      token: trade.token,
      orderId: BigInt(trade.index * 10 + number),
      side: part.side,
      price: D(decimalOf(price, 4)),
      size: D(decimalOf(size, 3)),
      value: D(decimalOf(price * size, 7)),
      fee: D(decimalOf(trade.fees[number] ?? 0n, 8)),
      profit: D(decimalOf(gained, 7)),
      liquidity: 'taker',
      createdAt: part.at,
    } as StoredFill;
  };
  return [
    fill(0, { side: opening, price: trade.entry, size: sizeOf(trade), at: trade.openedAt }),
    ...trade.closes.map((close, number) => fill(number + 1, { side: closing, ...close, at: trade.closedAt })),
  ];
}

function fromBybit(trade: GeneratedTrade): ClosedPosition {
  const fills = fillsOf(trade).map((fill) => ({
    symbol: `${fill.token}USDT`,
    side: fill.side === 'buy' ? 'Buy' : 'Sell',
    execId: String(fill.id),
    orderId: String(fill.orderId),
    execType: 'Trade',
    execQty: toPlain(fill.size),
    execPrice: toPlain(fill.price),
    execFee: toPlain(fill.fee),
    feeCurrency: '',
    execTime: String(fill.createdAt.getTime()),
    seq: Number(fill.id),
  }));
  const [opening, ...closings] = fills;
  const paid = {
    ...opening,
    execId: `f${trade.index}`,
    execType: 'Funding',
    // A fee is what the account paid.
    execFee: decimalOf(-trade.funding, 4),
    execTime: String(trade.openedAt.getTime() + 500),
    seq: trade.index * 10 + 0.5,
  };
  const [told] = closedPositionsOf({
    executions: [...closings.toReversed(), paid, opening],
    closedOrders: closings.map(({ orderId, execQty }) => ({
      orderId,
      closedSize: execQty,
      updatedTime: '1',
    })),
    openNow: [],
  });
  if (told === undefined) throw new Error('the fills close the position');
  return told;
}
