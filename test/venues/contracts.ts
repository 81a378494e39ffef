import { toPlain } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { NewPaperOrder } from '#server/exchanges/paper/paper-orders.ts';
import { VenueRefusal } from './refusals.ts';

/* What a test says about a contract; every other one trades, without an end. */

export interface VenueContract {
  platform: ExchangePlatform;
  token: string;
  /** In the exchange's own word, such as `limit_open` or `Closed`. */
  status?: string;
  endsAt?: Date;
  /** Positions in it are answered without a size. */
  isSizeMissing?: boolean;
  /** Positions in it are answered under this name: the contract was renamed while they are held, or is another one. */
  symbol?: string;
  /** Bitget lists stops and targets of positions in it without their prices. */
  unreadablePlans?: readonly ('stop' | 'target')[];
  /** The largest limit order and the largest market order, in units of the token. */
  maximumQuantity?: string;
  maximumMarketQuantity?: string;
  /** Bybit's `symbolType` or Bitget's `isRwa`; a coin's by default. */
  kind?: string;
  /** Bybit lists an execution of this kind, which is no fill, beside those of the contract. */
  execution?: { execType: string; at: Date };
}

export interface VenueContracts {
  set(contracts: readonly VenueContract[]): void;
  of(platform: ExchangePlatform, token: string): VenueContract;
  /** A position as the exchange answers it. `sizeField`: its name in the exchange's dialect. */
  shown<View extends { symbol: string }>(
    platform: ExchangePlatform,
    token: string,
    view: View,
    sizeField: keyof View,
  ): View;
  /** What was said about the exchange's contracts. */
  said(platform: ExchangePlatform): VenueContract[];
  statusOf(platform: ExchangePlatform, token: string): string;
  /** Refuses an order that opens a position in a contract that does not. */
  requireOpen(platform: ExchangePlatform, token: string): void;
  /** Refuses an order that is larger than the contract's largest of its type, reduce-only ones too. */
  requireSize(platform: ExchangePlatform, order: Pick<NewPaperOrder, 'token' | 'type' | 'size'>): void;
}

const OPEN: Record<ExchangePlatform, string> = { Bitget: 'normal', Bybit: 'Trading' };

export function createVenueContracts(): VenueContracts {
  let known: readonly VenueContract[] = [];
  const of = (platform: ExchangePlatform, token: string) =>
    known.find((one) => one.platform === platform && one.token === token) ?? { platform, token };
  const statusOf = (platform: ExchangePlatform, token: string) =>
    of(platform, token).status ?? OPEN[platform];
  return {
    set(contracts) {
      known = contracts;
    },
    of,
    shown(platform, token, view, sizeField) {
      const { isSizeMissing, symbol = view.symbol } = of(platform, token);
      return { ...view, symbol, ...(isSizeMissing ? { [sizeField]: '' } : {}) };
    },
    said: (platform) => known.filter((one) => one.platform === platform),
    statusOf,
    requireOpen(platform, token) {
      if (statusOf(platform, token) === OPEN[platform]) return;
      if (platform === 'Bybit') throw new VenueRefusal('110023', 'Can only reduce position');
      throw new VenueRefusal('22004', `This symbol ${token}USDT not support API trade`);
    },
    requireSize(platform, { token, type, size }) {
      const { maximumQuantity, maximumMarketQuantity } = of(platform, token);
      const maximum = type === 'market' ? maximumMarketQuantity : maximumQuantity;
      if (maximum === undefined || size.lte(maximum)) return;
      if (platform === 'Bitget') throw new VenueRefusal('45112', 'more than the maximum order quantity');
      const figures = `order_qty:${toPlain(size)} > max_qty:${maximum}`;
      throw new VenueRefusal(
        '10001',
        `The number of contracts exceeds maximum limit allowed: too large, ${figures}`,
      );
    },
  };
}
